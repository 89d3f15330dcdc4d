"""The optimum with preemption: McNaughton's wrap-around rule, and the level algorithm."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.steps import Slot, Step, number
from makespan.independent.bounds import total
from makespan.independent.needs import IDENTICAL, NO_RELEASES, PREEMPTION, SAME_ORDER
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import Piece, computed, cut

ROUNDING = 2.0**-50
BOUND_IS_MET = 1e-9


@register(
    needs=(IDENTICAL, PREEMPTION, NO_RELEASES),
    proves="no plan ends before max(sum / m, longest), and this one ends then",
    complexity="O(n + m), at most m - 1 tasks cut",
    source="McNaughton 1959, theorem 3.1",
)
def mcnaughton(problem: IndependentTasks, control: Control) -> Solution:
    """Fill the machines one after another up to the optimum; cut the task that does not fit."""
    seconds = problem.durations
    optimum = max(total(seconds) / problem.machine_count, float(seconds.max(initial=0.0)))
    schedule = _wrapped_around(problem, optimum)
    _log_wrapping(problem, control, schedule)
    return Solution(
        schedule=schedule,
        lower_bound=optimum,
        optimal=schedule.makespan <= optimum * (1 + BOUND_IS_MET),
    )


def _wrapped_around(problem: IndependentTasks, optimum: float) -> Schedule:
    """Return the schedule: what does not fit before ``optimum`` starts the next machine at 0."""
    seconds = problem.durations
    last, slack = problem.machine_count - 1, ROUNDING * optimum
    room = len(seconds) + problem.useful_machines
    columns = (
        np.empty(room, np.int64), np.empty(room, np.int64),
        np.empty(room), np.empty(room), np.empty(room),
    )  # fmt: skip
    rows = wrap_around.at(len(seconds))(seconds, optimum, slack, last, *columns)
    return computed(problem, *(column[:rows] for column in columns))


@loop(pays_from=100_000)  # tasks
def wrap_around(
    seconds: Floats,
    optimum: float,
    slack: float,
    last: int,
    machine: Integers,
    task: Integers,
    amount: Floats,
    start: Floats,
    end: Floats,
) -> int:
    """Fill the columns of McNaughton's schedule; return the number of rows.

    What does not fit before ``optimum`` starts the next machine at 0; a remainder within
    ``slack`` is not cut off. ``last`` is the last machine.
    """
    row, now, time = 0, 0, 0.0
    for index in range(len(seconds)):
        duration = seconds[index]
        if duration == 0.0:
            continue
        if now < last and optimum - time <= slack:
            now, time = now + 1, 0.0
        whole = now == last or time + duration <= optimum + slack
        machine[row], task[row], start[row] = now, index, time
        amount[row] = duration if whole else optimum - time
        end[row] = time + duration if whole else optimum
        time += duration
        row += 1
        if not whole:
            rest = duration - amount[row - 1]
            now += 1
            machine[row], task[row], start[row] = now, index, 0.0
            amount[row], end[row] = rest, rest
            time = rest
            row += 1
    return row


def _log_wrapping(problem: IndependentTasks, control: Control, schedule: Schedule) -> None:
    """Log how McNaughton's rule fills one machine after another."""
    if not control.log_steps:
        return
    rows = zip(schedule.item, schedule.machine, schedule.start, schedule.end, strict=True)
    pieces = np.bincount(schedule.item, minlength=len(problem.durations))
    for item, machine, start, end in rows:
        name, where = problem.tasks[item], problem.machines[machine]
        part = ", a part of it" if pieces[item] > 1 else ""
        control.step(
            Step(
                text=f"{name} to {where}, {number(start)} to {number(end)}{part}",
                cells={
                    "task": name, "seconds": float(problem.durations[item]), "to": where,
                    "start": float(start), "end": float(end), "": part.removeprefix(", "),
                },
                items={"chosen": (int(item),), "placed": (int(item),)},
                slots=(Slot(where, float(start), float(end), "chosen"),),
            )
        )  # fmt: skip


OF_LEVELS = 1e-11


@register(
    needs=(PREEMPTION, SAME_ORDER),
    proves="as much as can be is done of the longest tasks until the last release; what is left "
    "takes the least time, that of k tasks on the k fastest machines or of all",
    complexity="O(n log n + n m), at most 2 (m - 1) cuts; that for each release",
    source="Horvath, Lam and Sethi 1977; the pieces by Gonzalez and Sahni 1978; with releases: "
    "Labetoulle, Lawler, Lenstra and Rinnooy Kan 1984",
)
def level_algorithm(problem: IndependentTasks, control: Control) -> Solution:
    """The tasks with most work left on the fastest machines, sharing where equal, at any time."""
    count = problem.machine_count if problem.speeds is not None else problem.useful_machines
    speeds = np.ones(count) if problem.speeds is None else problem.speeds
    order = np.argsort(-speeds, kind="stable")
    left, pieces = problem.durations.copy(), []
    release = np.zeros(len(left)) if problem.release is None else problem.release
    release = np.where(left > 0, release, 0.0)
    times = np.unique(release).tolist() or [0.0]
    start, finished = 0.0, True
    for start, until in zip(times, [*times[1:], None], strict=True):
        if until is not None and control.expired():
            finished = False
            continue
        tasks = np.flatnonzero((release <= start) & (left > 0))
        tasks = tasks[np.argsort(-left[tasks], kind="stable")]
        length = needed(left[tasks], speeds[order]) if until is None else until - start
        after = np.zeros(len(tasks))
        if until is not None:
            after = worked_off(left[tasks], speeds[order], length)
        work = left[tasks] - after
        left[tasks] = after
        most = np.argsort(-work, kind="stable")
        most = most[work[most] > 0]
        shared = list(zip(tasks[most].tolist(), work[most].tolist(), strict=True))
        pieces += composed(shared, speeds, start, length)
    schedule = cut(problem, pieces)
    return Solution(
        schedule=schedule,
        lower_bound=schedule.makespan * (1 - OF_LEVELS) if finished else None,
        optimal=finished,
    )


def needed(work: Floats, speeds: Floats) -> float:
    """Return the least time in which machines do the work of tasks that may be cut.

    ``work`` and ``speeds`` have the most first. Complexity: O(n + m).
    Source: Horvath, Lam and Sethi 1977.
    """
    few = min(len(work), len(speeds))
    if not few:
        return 0.0
    most = np.cumsum(work[:few]) / np.cumsum(speeds[:few])
    return float(max(most.max(), work.sum() / speeds.sum()))


def worked_off(work: Floats, speeds: Floats, length: float) -> Floats:
    """Return what is left of ``work``, the most first, after so many seconds, in O(n) events."""
    values, counts = np.unique(-work, return_counts=True)
    levels = [list(each) for each in zip((-values).tolist(), counts.tolist(), strict=True)]
    running = np.concatenate([[0.0], np.cumsum(speeds)])
    left = length
    while left > 0 and levels:
        rates, used = [], 0
        for _, count in levels:
            upto = min(used + count, len(speeds))
            rates.append(float(running[upto] - running[used]) / count)
            used = upto
            if used == len(speeds):
                break
        step, meets = left, -1
        for at, rate in enumerate(rates):
            slower = rates[at + 1] if at + 1 < len(rates) else 0.0
            gap = levels[at][0] - (levels[at + 1][0] if at + 1 < len(levels) else 0.0)
            if rate > slower and gap <= step * (rate - slower):
                step, meets = gap / (rate - slower), at
        for at, rate in enumerate(rates):
            levels[at][0] -= rate * step
        left -= step
        if meets >= 0:
            _, count = levels.pop(meets)
            if meets < len(levels):  # the next has the level now, else there is none left
                levels[meets][1] += count
    rest = np.repeat([level for level, _ in levels], [count for _, count in levels])
    return np.concatenate([rest, np.zeros(len(work) - len(rest))])


SLIVER = 2.0**-50

Part = tuple[float, float, int]  # from when until when, and the machine


def composed(
    work: Sequence[tuple[int, float]], speeds: Floats, start: float, length: float
) -> list[Piece]:
    """Return the pieces of tasks that all end within ``length`` seconds from ``start``.

    A machine of which a task has taken the beginning, and another of which it has taken the end,
    are one composite machine from then on: the first's end behind the other's beginning. ``work``:
    tasks and their work, above 0, the most first; k tasks have no more than the k fastest machines
    do in ``length``, all no more than all do. Complexity: O(n (m + log m)), at most 2 (m - 1) cuts.
    Source: Gonzalez and Sahni 1978, section 3.
    """
    rate = speeds.tolist()
    # what is left of machines: its work, a number that tells equal ones apart, its parts
    left: list[tuple[float, int, list[Part]]] = sorted(
        (speed * length, machine, [(0.0, length, machine)]) for machine, speed in enumerate(rate)
    )
    number, pieces = len(left), []
    for task, amount in work:
        place = min(bisect_left(left, (amount, -1, [])), len(left) - 1)
        if place == 0 and len(left[0][2]) == 1:  # it goes on what is left of one machine
            _, name, [(begin, end, machine)] = left[0]
            until = min(end, begin + amount / rate[machine])
            pieces.append(Piece(task, machine, start + begin, start + until))
            left[0] = (rate[machine] * (end - until), name, [(until, end, machine)])
            continue
        fast = left.pop(place)
        slow = left.pop(place - 1) if place else (0.0, -1, [])
        turn = _turn(fast[2], slow, amount, rate, length)
        for begin, end, machine in (*_until(fast[2], turn), *_since(slow[2], turn)):
            if end - begin > SLIVER * length:
                pieces.append(Piece(task, machine, start + begin, start + end))
        rest = [*_until(slow[2], turn), *_since(fast[2], turn)]
        if rest or len(left) == 0:
            insort(left, (_work(rest, rate), number, rest))
            number += 1
    return pieces


def _turn(
    fast: list[Part],
    slow: tuple[float, int, list[Part]],
    amount: float,
    rate: list[float],
    length: float,
) -> float:
    """Return when to change from the fast machine to the slow one, so that both do ``amount``."""
    changes = sorted({0.0, length, *(time for part in (*fast, *slow[2]) for time in part[:2])})
    done = slow[0]  # by the slow one alone
    for begin, end in pairwise(changes):
        middle = (begin + end) / 2
        gain = _rate(fast, middle, rate) - _rate(slow[2], middle, rate)
        if gain > 0 and done + gain * (end - begin) >= amount:
            return min(end, begin + max(0.0, amount - done) / gain)
        done += gain * (end - begin)
    return length


def _rate(parts: list[Part], time: float, rate: list[float]) -> float:
    return next((rate[machine] for begin, end, machine in parts if begin <= time < end), 0.0)


def _work(parts: list[Part], rate: list[float]) -> float:
    return sum(rate[machine] * (end - begin) for begin, end, machine in parts)


def _until(parts: list[Part], turn: float) -> Iterator[Part]:
    return ((begin, min(end, turn), machine) for begin, end, machine in parts if begin < turn)


def _since(parts: list[Part], turn: float) -> Iterator[Part]:
    return ((max(begin, turn), end, machine) for begin, end, machine in parts if end > turn)
