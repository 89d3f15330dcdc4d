"""Lower bounds for independent tasks."""

import math

import numpy as np

from makespan import balance
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Bound
from makespan.independent.limits import tightened
from makespan.independent.problem import IndependentTasks

AVERAGE = "McNaughton 1959"
WHOLE = "the average load, rounded up: sums of whole durations are whole"
LONGEST = "a task never runs on two machines at a time"
STACKED = (
    "of the k m + r longest tasks, r machines run k + 1 each; for k = r = 1: Dell'Amico and "
    "Martello 1995, lifted: Haouari, Gharbi and Jemmali 2006"
)
PACKED = (
    "in bins of C, tasks above C - a have none of at least a beside them (Martello and Toth 1990, "
    "L2), for the least C: Dell'Amico and Martello 1995"
)
FASTEST = (
    "k tasks run on k machines at a time: Liu and Yang 1974; Horvath, Lam and Sethi 1977: "
    "the optimum with preemption"
)
RELEASED = (
    "what is left at a release, of tasks that had run alone since theirs: Horn 1974; Carlier 1987"
)
COUNTED = (
    "of the j longest tasks two run together, or each beside as few of the shortest as a machine "
    "may have: after Dell'Amico and Martello 2001"
)
ROUNDING = 1e-13
MAX_STACKED = 100
LARGEST_WHOLE = 2.0**53
FINEST = 20  # halvings of a second that are tried as a unit
FEW = 1000
MAX_PARTS = 1_000_000  # parts of a unit that loads of machines with whole speeds are multiples of
MANY = 1_000_000
MOST_PACKED, STEPS = 100_000, 50  # tasks of which a packing is looked at, and bisections
CLEARLY = 1e-12  # the share by which sums of floats differ where the tasks do


def bounds(problem: IndependentTasks) -> tuple[Bound, ...]:
    """Return lower bounds on the makespan, in O(n log n), of a table O(n m).

    The average load and the longest task hold with preemption too, and their maximum is then the
    optimum. Without it, the average of whole durations is rounded up, and some r machines run at
    least r (k + 1) of the k m + r longest tasks. A task also waits for its release, and what tasks
    must leave at a release t, however fast they run before, is shared after it. Of machines that
    differ: the sum and the longest of the tasks, each where it is fastest; of uniform ones also the
    k longest tasks on the k fastest machines, and all tasks on all.
    """
    if problem.limited:
        return (*_from_the_start(problem), *_of_counts(problem))
    if problem.release is None:
        return _from_the_start(problem)
    least = problem.least_seconds
    released = (
        Bound(
            value=float((problem.release + least).max(initial=0.0)),
            name="longest task",
            source=LONGEST,
        ),
        Bound(
            value=_left_at_a_release(problem, least, problem.release),
            name="load after a release",
            source=RELEASED,
        ),
    )
    return (*_from_the_start(problem), *released)


def _of_counts(problem: IndependentTasks) -> tuple[Bound, ...]:
    """Return the bound by numbers of tasks, on identical machines."""
    if not problem.identical or problem.counts is None or not len(problem.durations):
        return ()
    least, machines = tightened(problem)[0], problem.useful_machines
    value = balance.lower_bound(problem.durations.tolist(), min(least), machines)
    return (Bound(value=value, name="longest tasks by counts", source=COUNTED),)


def best_bound(problem: IndependentTasks) -> float:
    """Return the greatest of the lower bounds."""
    return max(bound.value for bound in bounds(problem))


def _from_the_start(problem: IndependentTasks) -> tuple[Bound, ...]:
    """Return the bounds that hold wherever the releases are."""
    if not problem.identical:
        return _of_unlike(problem)
    seconds = problem.durations
    work = total(seconds)
    average, longest = work / problem.machine_count, float(seconds.max(initial=0.0))
    found = [
        Bound(value=average, name="average load", source=AVERAGE),
        Bound(value=longest, name="longest task", source=LONGEST),
    ]
    if not problem.preemptive:
        if work < LARGEST_WHOLE and _whole(seconds):
            rounded = float(-(-int(work) // problem.machine_count))
            found.append(Bound(value=rounded, name="whole average load", source=WHOLE))
        if len(seconds) > problem.machine_count:
            stacked = _stacked(seconds, problem.machine_count)
            found.append(Bound(value=stacked, name="stacked tasks", source=STACKED))
            packed = _packed(seconds, problem.machine_count, max(average, longest, stacked))
            found.append(Bound(value=packed, name="packed tasks", source=PACKED))
    return tuple(found)


def _of_unlike(problem: IndependentTasks) -> tuple[Bound, ...]:
    least = problem.least_seconds
    if problem.speeds is None:
        average = total(least) / problem.machine_count
    else:
        speeds = np.sort(problem.speeds)[::-1]
        average = total(problem.durations) / total(speeds)
    found = [
        Bound(value=average, name="average load", source=AVERAGE),
        Bound(value=float(least.max(initial=0.0)), name="longest task", source=LONGEST),
    ]
    few = min(problem.machine_count, len(problem.durations))
    if problem.speeds is not None and few:
        longest = np.sort(np.partition(problem.durations, -few)[-few:])[::-1]
        value = float((np.cumsum(longest) / np.cumsum(speeds[:few])).max()) * (1 - ROUNDING)
        found.append(Bound(value=value, name="longest on fastest", source=FASTEST))
    return tuple(found)


def _left_at_a_release(problem: IndependentTasks, least: Floats, release: Floats) -> float:
    """Return the greatest sum of a release and the mean load of what is left then."""
    speeds = problem.speeds
    capacity = problem.machine_count if speeds is None else total(speeds) / float(speeds.max())
    end = release + least
    times, ends = np.sort(release), np.sort(end)
    order = np.argsort(release, kind="stable")
    later = np.cumsum((least - end)[order][::-1])[::-1]
    over = np.append(np.cumsum(ends[::-1])[::-1], 0.0)
    gone = np.searchsorted(ends, times, side="right")
    first = np.searchsorted(times, times)
    left = later[first] + over[gone] + (gone - first) * times
    time = float(times[(times + left / capacity).argmax()])
    rest = np.minimum(least, np.maximum(end - time, 0.0))
    return (time + total(rest) / capacity) * (1 - ROUNDING)


def total(seconds: Floats) -> float:
    """Return the sum: correctly rounded, of very many to within 1e-14 of itself.

    Sums of whole numbers are exact up to 2^53, however they are taken.
    """
    return math.fsum(seconds) if len(seconds) < MANY else float(seconds.sum())


def _stacked(seconds: Floats, machines: int) -> float:
    """Return the largest mean load of r machines that share the r (k + 1) shortest of the k m + r
    longest tasks, over k and r < m (r = 1 where there is one machine).

    The best place is found by running sums, its value by a sum of its own, correctly rounded.
    """
    wanted = min(len(seconds), MAX_STACKED * machines + 1)
    longest = np.sort(np.partition(seconds, -wanted)[-wanted:])[::-1]
    upto = np.concatenate([[0.0], np.cumsum(longest)])
    count = np.arange(machines + 1, wanted + 1)
    depth, share = np.divmod(count - 1, machines)
    share += 1
    first = count - share * (depth + 1)
    best = int(((upto[count] - upto[first]) / share).argmax())
    return math.fsum(longest[first[best] : count[best]]) / int(share[best])


def _packed(seconds: Floats, machines: int, least: float) -> float:
    """Return a capacity, from ``least`` up to twice that, within which the tasks don't fit.

    A capacity is refuted where, for some a, tasks of at least a that are no longer than the rest of
    a machine beside such a task fill more than the machines without longer ones.
    Complexity: O(n log n), for each of 50 steps where ``least`` is refuted.
    """
    if len(seconds) > MOST_PACKED:
        return least
    ascending = np.sort(seconds)
    upto = np.append(0.0, np.cumsum(ascending))

    def refuted(capacity: float) -> bool:
        half = int(np.searchsorted(ascending, capacity / 2, side="right"))
        longer = np.searchsorted(ascending, capacity - ascending[:half], side="right")
        room = (machines - (len(seconds) - longer)) * capacity
        return bool((upto[longer] - upto[:half] > room * (1 + CLEARLY) + CLEARLY * upto[-1]).any())

    low, high = least * (1 - CLEARLY), 2 * least
    if not refuted(low):
        return low
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def grain(problem: IndependentTasks) -> float | None:
    """Return the greatest common divisor of durations and releases, where tasks run in one piece.

    Of uniform machines with whole speeds, that over their least common multiple. Else it is
    exact: the durations are whole multiples of a power of two, and their sum has no more of them
    than floats tell apart. None where there is no such unit.
    """
    seconds = problem.durations[np.isfinite(problem.durations)]
    if problem.release is not None:
        seconds = np.append(seconds, problem.release)
    work, parts = total(seconds), _parts(problem)
    if parts is None or problem.preemptive or not 0 < work < LARGEST_WHOLE:
        return None
    few = seconds[:FEW]  # mostly enough to see that a unit is none
    for halvings in range(FINEST + 1):
        if work * 2.0**halvings >= LARGEST_WHOLE:
            return None
        if not _whole(few * 2.0**halvings):
            continue
        units = seconds * 2.0**halvings
        if _whole(units):
            return float(np.gcd.reduce(units.astype(np.int64))) / 2.0**halvings / parts
    return None


def _parts(problem: IndependentTasks) -> int | None:
    """Return the least common multiple of the speeds; None where they are not small and whole."""
    if problem.speeds is None:
        return 1
    if len(problem.speeds) > FEW or not _whole(problem.speeds):
        return None
    parts = math.lcm(*map(int, problem.speeds.tolist()))
    return parts if parts <= MAX_PARTS else None


def _whole(values: Floats) -> bool:
    return bool((values == np.rint(values)).all())
