"""How early tasks can start at the best: by the work before them, and by data that cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.taskgraph.model.dag import Dag


def heads(
    order: Sequence[int],
    before: Sequence[Sequence[int]],
    least: Integers,
    cores: int,
    area: Integers | None = None,
) -> tuple[Integers, list[int]]:
    """Return the earliest start of each task, and the tasks before it as bits of one integer.

    All tasks before one that can't start until ``t`` take their time on ``cores`` cores behind
    ``t``; that holds for every ``t``, and for paths. Of a graph that is turned round, these are
    the tails: what comes behind the end of each task.

    Parameters
    ----------
    order
        All tasks, those of ``before`` first.
    before
        The direct predecessors of each task.
    least
        The least duration of each task, in whole units.
    area
        What it takes of all cores; None: its least duration on one.

    Source: the relaxation to parallel machines of Carlier 1987, "Scheduling jobs with release
    dates and tails on identical machines to minimize makespan", proposition 1, applied to the
    ancestors of each task. Complexity: O(n² log n).

    >>> heads([0, 1, 2, 3], [[], [], [], [0, 1, 2]], np.array([2, 3, 4, 1]), 2)[0].tolist()
    [0, 0, 0, 5]
    """
    area = least if area is None else area
    found = np.zeros(len(least), dtype=np.int64)
    ancestors = np.zeros((len(least), len(least)), dtype=bool)
    for task in order:
        for each in before[task]:
            ancestors[task] |= ancestors[each]
            ancestors[task, each] = True
        earlier = np.flatnonzero(ancestors[task])
        if len(earlier):
            latest = earlier[np.argsort(-found[earlier], kind="stable")]
            work = np.cumsum(area[latest])
            path = (found[earlier] + least[earlier]).max()
            found[task] = max(path, (found[latest] - -work // cores).max())
    packed = np.packbits(ancestors, axis=1)
    return found, [int.from_bytes(row.tobytes(), "big") for row in packed]


def heads_apart(dag: Dag, root: int, least: Integers, across: Integers) -> Integers:
    """Return the earliest starts of tasks on machines that don't execute ``root``.

    A predecessor that is not on the machine of ``root`` either begins no earlier than such tasks
    do; the data of one that is there come across. So data from ``root`` cross somewhere on each
    path that leads here.

    Parameters
    ----------
    least
        The least duration of each task, in whole units.
    across
        The least time of the data of each edge between two machines.

    Complexity: O(n + e). The graph that is turned round gives the tails.

    >>> fork = Dag({"a": 2, "b": 1, "c": 1}, [("a", "b", 3), ("a", "c", 5)])
    >>> heads_apart(fork, 0, np.array([2, 1, 1]), np.array([3, 5])).tolist()[1:]
    [5, 7]
    """
    anywhere = np.zeros(len(dag), dtype=np.int64)
    here = np.zeros(len(dag), dtype=np.int64)
    for task in dag.order.tolist():
        for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
            source = int(dag.source[edge])
            ended = anywhere[source] + least[source]
            anywhere[task] = max(anywhere[task], ended)
            late = ended + across[edge]
            if source != root:
                late = min(late, here[source] + least[source])
            here[task] = max(here[task], late)
    return here
