"""One segment alone: how long it takes from each machine to all, and from all to each.

A machine that has a segment sends its next copy at once, or never again. Its first copy goes to
some machine, which informs some group of others; it informs the rest itself. Whoever informs a
group alone can begin as soon as the copy is there, so the least time from a machine to a group is
found from the times to smaller groups, over all groups. It is the optimum of a broadcast of one
segment over ports; shared links only add to it. Reversed in time, so is that of a reduction.

Of machines that are alike, only their number in a group counts. Where groups are too many still,
those that are nearly alike count as alike, with the least of their times: copies are counted then,
as of equal machines, but class by class.

Before an all-reduce ends, every segment is reduced to some machine and broadcast from there.
In a broadcast, the segment that the root begins with last has its port after all others, and
nobody else has it then.

Source: Bellman's recursion over subsets; one-port broadcast on unlike links as in Banikazemi,
Moorthy and Panda 1998, "Efficient collective communication on heterogeneous networks".
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.reduction.bounding import distances
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
    classes = _Classes.of(tables, QUICK_STEPS if quick else MOST_STEPS)
    times = (tuple(map(tuple, table.tolist())) for table in (classes.length, classes.period))
    least = _to_all(tuple(classes.sizes.tolist()), *times)[classes.of_machine]
    return np.asarray(np.maximum(farthest, least) * (1 - ROUNDING))


class _Classes(NamedTuple):
    """Machines that count as alike: the class of each, their sizes, and least times between them.

    ``length``: until a copy arrives. ``period``: until the giver can begin with the next.
    """

    of_machine: Integers
    sizes: Integers
    length: Floats
    period: Floats

    @classmethod
    def of(cls, tables: list[Floats], most: int) -> "_Classes":
        """Join machines whose times are the same, and then the nearest until divisions are few."""
        count = len(tables[0])
        members = np.eye(count, dtype=bool)
        apart = np.max([_difference(table) for table in tables], axis=0)
        np.fill_diagonal(apart, np.inf)
        while len(members) > 1:
            one, other = sorted(divmod(int(np.argmin(apart)), len(apart)))
            sizes = members.sum(axis=1).tolist()
            divisions = prod((size + 1) * (size + 2) // 2 for size in sizes)
            if apart[one, other] > 0 and len(sizes) ** 2 * divisions <= most:
                break
            members[one] |= members[other]
            apart[one] = apart[:, one] = np.maximum(apart[one], apart[other])
            members = np.delete(members, other, axis=0)
            apart = np.delete(np.delete(apart, other, axis=0), other, axis=1)
        rows = [np.flatnonzero(row) for row in members]
        length, period = (
            np.array([[table[np.ix_(one, two)].min() for two in rows] for one in rows])
            for table in tables
        )
        return cls(members.argmax(axis=0), members.sum(axis=1), length, period)


def _difference(table: Floats) -> Floats:
    """Return how far the times of two machines, to and from all others, are apart at most."""
    finite = np.where(np.isfinite(table), table, 0.0)
    far = np.where(np.isfinite(table), table, 2 * finite.sum() + 1)
    count = len(far)
    found = np.zeros((count, count))
    for machine in range(count):
        between = np.maximum(abs(far - far[machine]), abs(far.T - far[:, machine]))
        between[:, machine] = 0.0
        np.fill_diagonal(between, 0.0)
        found[machine] = between.max(axis=1)
    return found


Times = tuple[tuple[float, ...], ...]


@lru_cache(maxsize=32)
def _to_all(counts: tuple[int, ...], lengths: Times, periods: Times) -> Floats:
    """Return the least time from a machine of each class to all others, from group to group.

    A group is numbered by how many of each class are in it; so are its parts. Times there and back,
    and those of the halves of an all-reduce, are often the same.
    """
    sizes, length, period = map(np.array, (counts, lengths, periods))
    strides = np.cumprod([1, *(sizes + 1)])
    groups = np.arange(strides[-1])
    members = groups[:, None] // strides[:-1] % (sizes + 1)
    everyone = len(groups) - 1
    least = np.zeros((len(sizes), len(groups)))
    parts: dict[int, Integers] = {}
    for group in np.argsort(members.sum(axis=1), kind="stable").tolist():
        numbers = np.zeros(1, dtype=np.int64)
        for stride, inside in zip(strides, members[group].tolist(), strict=False):
            numbers = (numbers + stride * np.arange(inside + 1)[:, None]).ravel()
        parts[group] = numbers
        best = np.full(len(sizes), np.inf if group else 0.0)
        for first in np.flatnonzero(members[group]).tolist():
            rest = group - int(strides[first])
            handed = parts[rest]  # what the first one informs; the giver informs what is left
            there = length[:, first, None] + least[first, handed]
            here = period[:, first, None] + least[:, rest - handed]
            np.minimum(best, np.maximum(there, here).min(axis=1), out=best)
        least[:, group] = best
    return frozen(np.asarray(least[np.arange(len(sizes)), everyone - strides[:-1]]))


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
