"""Rules that look at when each machine would end a task: MCT, LPT by speeds, MinMin and its kin."""

from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import at_most, register
from makespan.core.solution import Solution
from makespan.core.steps import MAX_COLUMNS, MAX_ROWS, Slot, Step, Table, listed, number
from makespan.independent.assignment import assigned
from makespan.independent.limits import Places
from makespan.independent.list_scheduling import handed_out
from makespan.independent.needs import NO_LIMITS, NO_RELEASES, SPEEDS, UNLIKE
from makespan.independent.problem import IndependentTasks

MAX_STEPS = 10**9
HANDED_OUT = 1e-6  # seconds a task, once no machine is asked when it would end that one


SHOWN = 6  # tasks and machines in a line of the log


def _steps(problem: IndependentTasks) -> int:
    return len(problem.durations) ** 2 * problem.machine_count


REACH = (at_most(MAX_STEPS, "sums of a load and a duration", _steps),)


@register(
    needs=(UNLIKE,),
    complexity="O(n m)",
    source="Ibarra and Kim 1977 (algorithm D); Maheswaran et al. 1999: minimum completion time",
)
def mct(problem: IndependentTasks, control: Control) -> Solution:
    """Tasks in the given order, or as they are released, each on the machine that ends it first."""
    return _in_order(problem, control, problem.by_release)


@register(
    needs=(SPEEDS, NO_RELEASES),
    complexity="O(n log n + n m)",
    source="Gonzalez, Ibarra and Sahni 1977: at most 2 - 2/(m + 1) times the optimum",
)
def uniform_lpt(problem: IndependentTasks, control: Control) -> Solution:
    """Longest task first, each on the machine that ends it first, by speeds."""
    return _in_order(problem, control, np.argsort(-problem.durations, kind="stable"))


@register(
    needs=(UNLIKE, NO_LIMITS),
    reach=REACH,
    complexity="O(n² m)",
    source="Ibarra and Kim 1977; Maheswaran et al. 1999",
)
def min_min(problem: IndependentTasks, control: Control) -> Solution:
    """Of all tasks, next the one that can end first, on the machine that ends it first."""
    return _chosen(problem, control, lambda ends: ends.min(axis=1).argmin())


@register(
    needs=(UNLIKE, NO_RELEASES, NO_LIMITS),
    reach=REACH,
    published=True,
    complexity="O(n² m)",
    source="Ibarra and Kim 1977; Maheswaran et al. 1999",
)
def max_min(problem: IndependentTasks, control: Control) -> Solution:
    """Of all tasks, next the one whose earliest end is latest, on the machine where that is."""
    return _chosen(problem, control, lambda ends: ends.min(axis=1).argmax())


@register(
    needs=(UNLIKE, NO_RELEASES, NO_LIMITS),
    reach=REACH,
    complexity="O(n² m)",
    source="Maheswaran et al. 1999, one task at a time",
)
def sufferage(problem: IndependentTasks, control: Control) -> Solution:
    """Next the task that would lose most by its second-best machine, on its best."""

    def suffers_most(ends: Floats) -> int:
        if ends.shape[1] == 1:
            return 0
        best = np.partition(ends, 1, axis=1)
        return int((best[:, 1] - best[:, 0]).argmax())

    return _chosen(problem, control, suffers_most)


def _in_order(problem: IndependentTasks, control: Control, order: Integers) -> Solution:
    """Place the tasks in that order; by speeds, those for which no time is left as if alike."""
    load, machine = np.zeros(problem.machine_count), np.zeros(len(order), dtype=np.int64)
    if problem.limited:
        return _within_limits(problem, control, order)
    if problem.durations.ndim == 2:
        for task in order.tolist():
            machine[task] = _placed(problem, control, task, load, problem.durations[task])
        return Solution(schedule=assigned(problem, machine, order))
    assert problem.speeds is not None
    with control.reserving(HANDED_OUT * len(order)):
        left = order.tolist()[::-1]
        while left and not control.expired():
            task = left.pop()
            own = problem.durations[task] / problem.speeds
            machine[task] = _placed(problem, control, task, load, own)
    if left:  # each to the machine that would end one of mean duration first
        rest, pace = order[-len(left) :], 1.0 / problem.speeds
        mean = float(problem.durations[rest].mean())
        machine[rest] = handed_out(problem.durations[rest], pace, load + mean * pace)
    return Solution(schedule=assigned(problem, machine, order), stopped=bool(left))


def _within_limits(problem: IndependentTasks, control: Control, order: Integers) -> Solution:
    """Place the tasks in that order where the limits leave a place, if they do."""
    load, places = np.zeros(problem.machine_count), Places(problem)
    machine, table = np.zeros(len(order), dtype=np.int64), problem.table
    for task in order.tolist():
        own = np.where(places.closed(task), np.inf, table[task])
        if not np.isfinite(own).any():
            return Solution(schedule=None, stopped=True)
        machine[task] = _placed(problem, control, task, load, own)
        places.take(task, machine[task])
    return Solution(schedule=assigned(problem, machine, order))


def _placed(
    problem: IndependentTasks, control: Control, task: int, load: Floats, own: Floats
) -> int:
    """Put a task, given its seconds everywhere, on the machine that ends it first; return that."""
    begins = load if problem.release is None else np.maximum(load, problem.release[task])
    ends = begins + own
    machine = int(ends.argmin())
    _log_end(problem, control, task, ends, float(begins[machine]))
    load[machine] = ends[machine]
    return machine


def _chosen(
    problem: IndependentTasks, control: Control, choose: Callable[[Floats], np.intp | int]
) -> Solution:
    """Place the task that ``choose`` picks from the ends of those left; without time, in order."""
    table, load = problem.table, np.zeros(problem.machine_count)
    left = np.arange(len(table))
    machine, order = np.zeros(len(table), dtype=np.int64), []
    while len(left) and not control.expired():
        begins = load
        if problem.release is not None:
            begins = np.maximum(load, problem.release[left, None])
        at = int(choose(table[left] + begins))
        task = int(left[at])
        machine[task] = _placed(problem, control, task, load, table[task])
        order.append(task)
        left = np.delete(left, at)
    if len(left):
        return _in_order(problem, control, problem.by_release)
    return Solution(schedule=assigned(problem, machine, np.array(order, dtype=np.int64)))


def _log_end(
    problem: IndependentTasks, control: Control, task: int, ends: Floats, start: float
) -> None:
    """Log a task that goes where it ends first, given its end on every machine."""
    if not control.log_steps:
        return
    name, machines, machine = problem.tasks[task], problem.machines, int(ends.argmin())
    best, end = np.argsort(ends, kind="stable")[:MAX_ROWS].tolist(), float(ends[machine])
    rows = tuple((machines[each], float(ends[each])) for each in best)
    cells: dict[str, str | float] = {"task": name}
    if len(machines) <= MAX_COLUMNS:
        cells |= {f"on {machines[each]}": float(value) for each, value in enumerate(ends)}
    cells |= {"to": machines[machine], "start": start, "end": end}
    shown = listed((f"{each}: {number(value)}" for each, value in rows), SHOWN)
    control.step(
        Step(
            text=f"{name} would end at {shown}; {name} to {machines[machine]}, "
            f"{number(start)} to {number(end)}",
            cells=cells,
            items={"chosen": (task,), "placed": (task,)},
            slots=(Slot(machines[machine], start, end, "chosen"),),
            tables=(Table(f"{name} on the machines", ("machine", "end"), rows, 0),),
        )
    )
