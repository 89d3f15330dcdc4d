"""How early tasks start, and how much comes behind them, on machines that lack a certain task."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.taskgraph.model.dag import Dag


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
