"""One segment alone: how long it takes from each machine to all, and from all to each.

A machine that has a segment sends its next copy at once, or never again. Its first copy goes to
some machine, which informs some group of others; it informs the rest itself. Whoever informs a
group alone can begin as soon as the copy is there, so the least time from a machine to a group is
found from the times to smaller groups, over all groups, of machines in classes. It is the optimum
of a broadcast of one segment over ports, where no others count as alike than those that are; shared
links only add to it. Reversed in time, so is that of a reduction.

Before an all-reduce ends, every segment is reduced to some machine and broadcast from there.
In a broadcast, the segment that the root begins with last has its port after all others, and
nobody else has it then.

Source: Bellman's recursion over subsets; one-port broadcast on unlike links as in Banikazemi,
Moorthy and Panda 1998, "Efficient collective communication on heterogeneous networks".
"""

from functools import lru_cache

import numpy as np

from makespan.core.numeric.arrays import Floats, frozen
from makespan.reduction.bounding import distances
from makespan.reduction.bounding.classes import NOBODY, Groups, classes_of, least
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.problem import ROOT, Reduction

MOST_MACHINES = 64
MOST_STEPS, QUICK_STEPS = (count**2 * 3**count for count in (10, 8))
"""Divisions of groups, for each pair of classes: as many as ten and eight unlike machines have."""


@lru_cache(maxsize=32)
def one_segment(problem: Reduction, size: float, *, back: bool, quick: bool) -> Floats:
    """Return how long a segment takes at least from each machine to all others, seconds.

    ``back``: in reversed time, from all others to each machine, combined on the way. Beyond 64
    machines, and with ports for each link, the longest way counts; so it does in every case.
    Complexity: O(n³), and 6 million steps at most, each of O(1).
    """
    count = len(problem.machines)
    ways = distances(problem, size, back=back, combining=back)
    farthest = ways.max(axis=1)
    if count > MOST_MACHINES or problem.ports is not None:
        return np.asarray(farthest * (1 - ROUNDING))
    latency, transfer = problem.latencies, problem.transfers
    if back:
        latency, transfer = latency.T, transfer.T
    linked = np.isfinite(latency + transfer) & ~np.eye(count, dtype=bool)
    latency, lasts = (np.where(linked, table, 0.0) for table in (latency, size * transfer))
    work = size * problem.reduces[:, None] if back else np.zeros((count, 1))
    # a unit that is slower than all ways makes the pace; one that is slower than some need not
    period = np.where(work >= lasts.max(axis=1, keepdims=True), work, lasts)
    tables = [np.where(linked, each, np.inf) for each in (latency + work + lasts, period)]
    classes = classes_of(tables, QUICK_STEPS if quick else MOST_STEPS)
    times = (tuple(map(tuple, least(each, classes).tolist())) for each in tables)
    soonest = _to_all(tuple(map(len, classes)), *times)
    found = np.empty(count)
    for one, machines in enumerate(classes):
        found[machines] = soonest[one]
    return np.asarray(np.maximum(farthest, found) * (1 - ROUNDING))


Times = tuple[tuple[float, ...], ...]


@lru_cache(maxsize=32)
def _to_all(counts: tuple[int, ...], lengths: Times, periods: Times) -> Floats:
    """Return the least time from a machine of each class to all others, from group to group.

    ``lengths``: until a copy arrives. ``periods``: until the giver can begin with the next. Times
    there and back, and those of the halves of an all-reduce, are often the same.
    """
    groups, length, period = Groups.of(np.array(counts)), np.array(lengths), np.array(periods)
    soonest = np.zeros((len(counts), len(groups.without)))
    for group, without in enumerate(groups.without[1:].tolist(), start=1):
        best = np.full(len(counts), np.inf)
        for first, rest in enumerate(without):
            if rest == NOBODY:
                continue
            # what the first one informs; the giver informs what is left
            handed = groups.parts[groups.first[rest] : groups.first[rest + 1]]
            there = length[:, first, None] + soonest[first, handed]
            here = period[:, first, None] + soonest[:, rest - handed]
            np.minimum(best, np.maximum(there, here).min(axis=1), out=best)
        soonest[:, group] = best
    return frozen(soonest[np.arange(len(counts)), groups.without[-1]])


def last_begun(problem: Reduction, *, quick: bool) -> float:
    """Return when the last segment of a reduction or broadcast can be everywhere, seconds.

    In reversed time, a reduction's root prepares and sends each segment at least once; the one
    that it begins with last then takes what one segment takes.
    """
    back = problem.collective == "reduce"
    least, total = float(problem.sizes.min()), float(problem.sizes.sum())
    table = problem.transfers[:, ROOT] if back else problem.transfers[ROOT]
    port = float(np.delete(table, ROOT).min())
    most = float(one_segment(problem, float(problem.sizes.max()), back=back, quick=quick)[ROOT])
    if problem.ports is not None:  # the root has several
        return most
    each = max(port, float(problem.reduces[ROOT]) if back else 0.0)
    one = float(one_segment(problem, least, back=back, quick=quick)[ROOT])
    others = each * (total - least) if np.isfinite(each) else 0.0
    return max(most, others * (1 - ROUNDING) + one)
