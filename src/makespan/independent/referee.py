"""The referee: does a schedule keep to the statement of independent tasks?

Times are compared to within 1e-9 of the makespan, amounts (seconds of a task) to within 1e-9 of
the least makespan that any plan can have; what pieces on machines that differ leave of a task is
counted in seconds where it is fastest. Idle time is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.independent.problem import IndependentTasks

TOLERANCE = 1e-9
BLOCK = 100_000  # rows
MANY = 100_000  # from so many rows on, compiled loops are worth loading


def violations(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in which ``schedule`` breaks the statement, in O(rows log rows)."""
    schedule = schedule.renamed(problem.machines)
    misplaced = list(_misplaced(problem, schedule))
    yield from misplaced
    if misplaced:
        return
    yield from _durations(problem, schedule)
    yield from _work(problem, schedule)
    yield from _releases(problem, schedule)
    yield from _limits(problem, schedule)
    yield from _overlaps(schedule, schedule.machine, "machine", problem)
    if problem.preemptive:
        yield from _overlaps(schedule, schedule.item, "task", problem)


def _misplaced(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that can't belong to such a problem at all."""
    count = len(problem.durations)
    tests = (
        ("kind", schedule.kind != Activity.COMPUTE, "is not a computation; only those happen here"),
        ("peer", schedule.peer != -1, "has a peer; independent tasks exchange nothing"),
        (
            "task",
            (schedule.item < 0) | (schedule.item >= count),
            f"is of no task of the problem, which has {count}",
        ),
    )
    for rule, wrong, what in tests:
        for row in np.flatnonzero(wrong).tolist():
            yield Violation(rule=rule, message=f"activity {row} {what}", activities=(row,))


def _found(count: int, test: Callable[[slice], NDArray[np.bool_]]) -> list[int]:
    """Return where a test holds, block by block: memory for one block is taken again and again."""
    found: list[int] = []
    for first in range(0, count, BLOCK):
        found += (first + np.flatnonzero(test(slice(first, first + BLOCK)))).tolist()
    return found


def _durations(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that last longer or shorter than the seconds of the task they process."""
    tolerance = TOLERANCE * schedule.makespan

    def wrong(rows: slice) -> NDArray[np.bool_]:
        length = schedule.end[rows] - schedule.start[rows]
        return np.abs(length - schedule.amount[rows]) > tolerance

    for row in _found(len(schedule), wrong):
        length = float(schedule.end[row] - schedule.start[row])
        yield Violation(
            rule="duration",
            message=(
                f"activity {row} processes {float(schedule.amount[row])!r} s of task "
                f"{problem.tasks[schedule.item[row]]} but lasts {length!r} s"
            ),
            activities=(row,),
            times=(float(schedule.start[row]), float(schedule.end[row])),
            excess=abs(length - float(schedule.amount[row])),
        )


def _releases(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that start before their task is released."""
    if problem.release is None:
        return
    early = problem.release[schedule.item] - schedule.start
    for row in np.flatnonzero(early > TOLERANCE * schedule.makespan).tolist():
        start, task = float(schedule.start[row]), int(schedule.item[row])
        release = float(problem.release[task])
        yield Violation(
            rule="release",
            message=f"task {problem.tasks[task]} starts at {start!r}, before its release at "
            f"{release!r}",
            activities=(row,),
            times=(start, release),
            excess=float(early[row]),
        )


def _limits(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield the machines with too few or too many tasks, or where their sizes are too much."""
    machines = problem.machine_count
    if problem.counts is not None:
        count = np.bincount(schedule.machine, minlength=machines)
        least, most = problem.count_limits
        for machine in np.flatnonzero((count < least) | (count > most)).tolist():
            low, high, runs = int(least[machine]), int(most[machine]), int(count[machine])
            name = problem.machines[machine]
            yield Violation(
                rule="count",
                message=f"{name} runs {runs} tasks; it may run {low} to {high}",
                activities=tuple(np.flatnonzero(schedule.machine == machine).tolist()),
                excess=float(max(low - runs, runs - high)),
            )
    if problem.sizes is not None and problem.capacity is not None:
        sizes = problem.sizes[schedule.item]
        used = np.bincount(schedule.machine, weights=sizes, minlength=machines)
        over = used - problem.capacity
        for machine in np.flatnonzero(over > TOLERANCE * used).tolist():
            yield Violation(
                rule="capacity",
                message=f"the sizes on {problem.machines[machine]} add up to "
                f"{float(used[machine])!r}; its capacity is {float(problem.capacity[machine])!r}",
                activities=tuple(np.flatnonzero(schedule.machine == machine).tolist()),
                excess=float(over[machine]),
            )


def _work(problem: IndependentTasks, schedule: Schedule) -> Iterator[Violation]:
    """Yield the tasks that are missing, cut though they may not be, or not done exactly once."""
    wanted = problem.least_seconds
    tolerance = TOLERANCE * _least_makespan(problem)
    amount = schedule.amount
    if not problem.identical:
        strays = list(_off_their_machines(problem, schedule, tolerance))
        yield from strays
        if problem.preemptive and not strays:
            amount = _where_fastest(problem, schedule)
    rows, done = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted))
    if tally.pays(len(schedule)):
        tally.compiled(*readonly(schedule.item, amount), rows, done)
    else:
        np.add.at(rows, schedule.item, 1)
        np.add.at(done, schedule.item, amount)
    some_time = wanted > 0
    if problem.release is not None:
        some_time |= problem.release > 0
    if problem.counts is not None or problem.sizes is not None:
        some_time[:] = True  # each has a place, whether it takes time or not
    for task in _found(len(wanted), lambda some: some_time[some] & (rows[some] == 0)):
        yield Violation(
            rule="missing-task",
            message=f"task {problem.tasks[task]} ({float(wanted[task])!r} s) is never run",
            excess=float(wanted[task]),
        )
    if not problem.preemptive:
        for task in _found(len(wanted), lambda some: rows[some] > 1):
            pieces = np.flatnonzero(schedule.item == task).tolist()
            yield Violation(
                rule="preemption",
                message=f"task {problem.tasks[task]} has {len(pieces)} activities; "
                "it must run in one",
                activities=tuple(pieces),
                times=tuple(schedule.start[pieces].tolist()),
            )
    if not problem.identical and (strays or not problem.preemptive):
        return

    def undone(some: slice) -> NDArray[np.bool_]:
        return (np.abs(done[some] - wanted[some]) > tolerance) & (rows[some] > 0)

    where = "" if problem.identical else " where it is fastest, and the others count as such"
    for task in _found(len(wanted), undone):
        yield Violation(
            rule="work",
            message=(
                f"{float(done[task])!r} s of task {problem.tasks[task]} are processed; "
                f"it takes {float(wanted[task])!r} s{where}"
            ),
            activities=tuple(np.flatnonzero(schedule.item == task).tolist()),
            excess=float(abs(done[task] - wanted[task])),
        )


def _off_their_machines(
    problem: IndependentTasks, schedule: Schedule, tolerance: float
) -> Iterator[Violation]:
    """Yield the rows of tasks that can't run there, or that are not done whole in one piece."""
    task, machine = schedule.item, schedule.machine
    wanted = problem.seconds_on(task, machine)
    if problem.preemptive:
        missed = np.where(np.isfinite(wanted), 0.0, np.inf)
    else:
        missed = np.abs(schedule.amount - wanted)
    for row in np.flatnonzero(missed > tolerance).tolist():
        name, place = problem.tasks[task[row]], problem.machines[machine[row]]
        seconds, amount = float(wanted[row]), float(schedule.amount[row])
        can = np.isfinite(seconds)
        yield Violation(
            rule="work" if can else "eligibility",
            message=f"{amount!r} s of task {name} are processed; it takes {seconds!r} s on {place}"
            if can
            else f"task {name} can't run on {place}",
            activities=(row,),
            excess=float(missed[row]) if can else amount,
        )


def _where_fastest(problem: IndependentTasks, schedule: Schedule) -> Floats:
    """Return how long what each row does takes where its task is fastest."""
    there = problem.seconds_on(schedule.item, schedule.machine)
    instant = there == 0
    share = problem.least_seconds[schedule.item] / np.where(instant, 1.0, there)
    found: Floats = schedule.amount * np.where(instant, 1.0, share)
    return found


def _least_makespan(problem: IndependentTasks) -> float:
    """Return what no plan can beat: the average load and the longest task, where fastest."""
    seconds = problem.least_seconds
    return max(float(seconds.sum()) / problem.machine_count, float(seconds.max(initial=0.0)))


def _overlaps(
    schedule: Schedule, group: Integers, what: str, problem: IndependentTasks
) -> Iterator[Violation]:
    """Yield the rows of a group (a machine, or a task) that run while the next one in it does."""
    rows = np.flatnonzero(schedule.end > schedule.start)
    if what == "task":  # only pieces of one task can be in each other's way
        rows = rows[np.bincount(group[rows], minlength=1)[group[rows]] > 1]
    if _in_turn(schedule, rows, group):
        return
    rows, start, end, same = _sorted(schedule, rows, group)
    excess = end[:-1] - start[1:]
    for index in np.flatnonzero(same & (excess > TOLERANCE * schedule.makespan)).tolist():
        first, second = int(rows[index]), int(rows[index + 1])
        one, other = (problem.tasks[schedule.item[row]] for row in (first, second))
        before, after = (problem.machines[schedule.machine[row]] for row in (first, second))
        begin, until = float(schedule.start[second]), float(schedule.end[first])
        yield Violation(
            rule=f"one-{'task' if what == 'machine' else 'machine'}-at-a-time",
            message=f"{after} starts task {other} at {begin!r}, but runs task {one} until {until!r}"
            if what == "machine"
            else f"task {one} starts on {after} at {begin!r}, but runs on {before} until {until!r}",
            activities=(first, second),
            times=(begin, until),
            excess=float(excess[index]),
        )


def _in_turn(schedule: Schedule, rows: Integers, group: Integers) -> bool:
    """Whether many rows stand in order, and none of a group starts before the last has ended."""
    if not longest_overlap.pays(len(rows)):
        return False
    groups = int(group.max(initial=-1)) + 1
    if groups > len(rows):
        return False
    last = np.full((2, groups), -np.inf)
    columns = readonly(rows, group, schedule.start, schedule.end)
    return bool(longest_overlap.compiled(*columns, *last) <= TOLERANCE * schedule.makespan)


def _sorted(schedule: Schedule, rows: Integers, group: Integers) -> _Sorted:
    """Return the rows by group, start and end; quickly where each group's rows are in order."""
    key = group[rows]
    narrow = key.astype(np.uint16) if key.max(initial=0) < 1 << 16 else key
    found = _columns(schedule, rows[np.argsort(narrow, kind="stable")], group)
    wrong = (found.start[1:] < found.start[:-1]) | (
        (found.start[1:] == found.start[:-1]) & (found.end[1:] < found.end[:-1])
    )
    if not (wrong & found.same).any():
        return found
    order = np.lexsort((schedule.end[rows], schedule.start[rows], key))
    return _columns(schedule, rows[order], group)


class _Sorted(NamedTuple):
    """Rows in order, when they start and end, and whether the next is of the same group."""

    rows: Integers
    start: Floats
    end: Floats
    same: NDArray[np.bool_]


def _columns(schedule: Schedule, rows: Integers, group: Integers) -> _Sorted:
    key = group[rows]
    return _Sorted(rows, schedule.start[rows], schedule.end[rows], key[1:] == key[:-1])


@loop(pays_from=MANY)
def longest_overlap(rows, group, start, end, last_start, last_end):  # type: ignore[no-untyped-def]
    """Return by how much a row of a group starts, at most, before the one before it has ended.

    Infinity where the rows of a group don't stand in the order of their starts and ends. The last
    two columns hold minus infinity for each group.
    """
    most = -np.inf
    for row in rows:
        one, begin, stop = group[row], start[row], end[row]
        if begin < last_start[one] or (begin == last_start[one] and stop < last_end[one]):
            return np.inf
        most = max(most, last_end[one] - begin)
        last_start[one], last_end[one] = begin, stop
    return most


@loop(pays_from=MANY)
def tally(item, amount, rows, done):  # type: ignore[no-untyped-def]
    """Count the rows of each task, and add up what they do."""
    for row in range(len(item)):
        rows[item[row]] += 1
        done[item[row]] += amount[row]
