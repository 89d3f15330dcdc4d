"""One segment alone: how long it takes from each machine to all, and from all to each.

A machine that has a segment sends its next copy at once, or never again. Its first copy goes to
some machine, which informs some group of others; it informs the rest itself. Whoever informs a
group alone can begin as soon as the copy is there, so the least time from a machine to a group is
found from the times to smaller groups, over all groups. It is the optimum of a broadcast of one
segment over ports; shared links only add to it. Reversed in time, so is that of a reduction.

Before an all-reduce ends, every segment is reduced to some machine and broadcast from there.
In a broadcast, the segment that the root begins with last has its port after all others, and
nobody else has it then.

Source: Bellman's recursion over subsets; one-port broadcast on unlike links as in Banikazemi,
Moorthy and Panda 1998, "Efficient collective communication on heterogeneous networks".
"""

from functools import lru_cache

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.reduction.bounding import distances
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.problem import ROOT, Reduction

MOST_MACHINES = 12
QUICK_MACHINES = 8


@lru_cache(maxsize=8)
def one_segment(problem: Reduction, size: float, *, back: bool, quick: bool = False) -> Floats:
    """Return how long a segment takes at least from each machine to all others, seconds.

    ``back``: in reversed time, from all others to each machine, combined on the way. Beyond twelve
    machines (eight if ``quick``), and with ports for each link, the longest way counts.
    Complexity: O(n² 3ⁿ), 0.4 seconds for twelve machines; O(n³) beyond.
    """
    count = len(problem.machines)
    if count > (QUICK_MACHINES if quick else MOST_MACHINES) or problem.ports is not None:
        ways = distances(problem, size, back=back, combining=back)
        return np.asarray(ways.max(axis=1) * (1 - ROUNDING))
    latency, transfer = problem.latencies, problem.transfers
    if back:
        latency, transfer = latency.T, transfer.T
    transfer = np.where(np.eye(count, dtype=bool), np.inf, transfer)
    if size > 0:
        transfer = transfer * size
    else:
        transfer = np.where(np.isfinite(transfer), 0.0, np.inf)
    work = size * problem.reduces[:, None] if back else np.zeros((count, 1))
    # a unit that is slower than all ways makes the pace; one that is slower than some need not
    slowest = np.where(np.isfinite(transfer), transfer, 0.0).max(axis=1, keepdims=True)
    period = np.where(work >= slowest, np.maximum(transfer, work), transfer)
    least = _to_groups(latency + work + transfer, period)
    return np.asarray(least * (1 - ROUNDING))


def _to_groups(length: Floats, period: Floats) -> Floats:
    """Return the least time from each machine to all, by those to groups of 1, 2, … machines.

    ``length``: until a copy arrives. ``period``: until the giver can begin with the next.
    """
    count = len(length)
    groups = np.arange(1 << count)
    members = (groups[:, None] >> np.arange(count)) & 1
    counts = members.sum(axis=1)
    least = np.zeros((count, 1 << count))
    for number in range(1, count):
        mine = groups[counts == number]
        inside = np.nonzero(members[mine])[1].reshape(-1, number)
        chosen = members[: 1 << (number - 1), : number - 1]
        best = np.full((count, len(mine)), np.inf)
        for place in range(number):
            first, rest = inside[:, place], np.delete(inside, place, axis=1)
            handed = (1 << rest) @ chosen.T  # a row for each group: what the first one informs
            kept = (mine - (1 << first))[:, None] - handed
            there = length[:, first, None] + least[first[:, None], handed]
            here = period[:, first, None] + least[:, kept]
            np.minimum(best, np.maximum(there, here).min(axis=2), out=best)
        least[:, mine] = best
    everyone = (1 << count) - 1
    return np.array([least[machine, everyone - (1 << machine)] for machine in range(count)])


def last_begun(problem: Reduction, *, quick: bool) -> float:
    """Return when the last segment of a reduction or broadcast can be everywhere, seconds.

    In reversed time, a reduction's root prepares and sends each segment at least once; the one
    that it begins with last then takes what one segment takes.
    """
    back = problem.collective == "reduce"
    least, total = float(problem.sizes.min()), float(problem.sizes.sum())
    table = problem.transfers[:, ROOT] if back else problem.transfers[ROOT]
    port = float(np.delete(table, ROOT).min())
    each = max(port, float(problem.reduces[ROOT]) if back else 0.0)
    one = float(one_segment(problem, least, back=back, quick=quick)[ROOT])
    most = float(one_segment(problem, float(problem.sizes.max()), back=back, quick=quick)[ROOT])
    others = each * (total - least) if np.isfinite(each) else 0.0
    return max(most, others * (1 - ROUNDING) + one)
