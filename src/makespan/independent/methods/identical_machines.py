"""The largest differencing method of Karmarkar and Karp, and MULTIFIT."""

import heapq
from itertools import count
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.rules import quoted
from makespan.core.registry import Need, at_most, register
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.independent.bounds import best_bound
from makespan.independent.list_scheduling import first_fit, first_plan, longest_first
from makespan.independent.needs import IN_ONE_PIECE, NO_LIMITS, NO_SIZES
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

CLOSE = 1e-12


@register(
    needs=(*IN_ONE_PIECE, NO_LIMITS),
    complexity="O(n log n + n log m) for each of k iterations",
    source="Coffman, Garey and Johnson 1978; at most 13/11 + 2^-k times the optimum (Yue 1990); "
    "started from LPT (Lee and Massey 1988)",
)
def multifit(problem: IndependentTasks, control: Control, *, iterations: int = 20) -> Solution:
    """Bisect for the least time within which first fit decreasing packs all tasks.

    Starts from the plan of LPT, or a better one, so it is never worse.
    """
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 0:
        raise MethodError(
            f"iterations: {quoted(iterations)} is not allowed; it is a whole number from 0"
        )
    best = first_plan(problem, control)
    if control.expired():
        return Solution(schedule=best)
    bound = best_bound(problem)
    lower, upper = bound, best.makespan
    if upper - lower <= CLOSE * upper:
        return Solution(schedule=best)
    tasks, seconds = longest_first(problem)
    some = np.count_nonzero(seconds)
    tasks, seconds = tasks[:some], seconds[:some]
    for _ in range(iterations):
        if upper - lower <= CLOSE * upper or control.expired():
            break
        capacity = (lower + upper) / 2
        machine = first_fit(seconds, problem.useful_machines, capacity, control)
        if machine is None and control.expired():
            break
        if machine is None:
            lower = capacity
            _log_capacity(control, capacity, fits=False, lower=lower, upper=upper)
            continue
        upper = capacity
        plan = scheduled(problem, tasks, seconds, machine)
        if plan.makespan < best.makespan:
            best, upper = plan, min(capacity, plan.makespan)
            control.report(best.makespan, bound)
        _log_capacity(control, capacity, fits=True, lower=lower, upper=upper)
    return Solution(schedule=best)


def _log_capacity(
    control: Control, capacity: float, *, fits: bool, lower: float, upper: float
) -> None:
    """Log a try of MULTIFIT: whether first fit packs all tasks into machines of ``capacity``."""
    word = "all tasks fit" if fits else "not all tasks fit"
    at, low, high = (f"{value:.8g}" for value in (capacity, lower, upper))
    control.step(
        Step(
            text=f"capacity {at}: {word}; the least is between {low} and {high}",
            cells={"capacity": at, "first fit": word, "from": low, "to": high},
            values={"capacity": capacity, "from": lower, "to": upper},
        )
    )


MAX_PAIRS = 200_000


def _pairs(problem: IndependentTasks) -> int:
    return len(problem.durations) * problem.useful_machines


def _uneven(problem: IndependentTasks) -> str | None:
    if problem.counts is None:
        return None
    least, most = problem.count_limits
    low, high = divmod(len(problem.durations), problem.machine_count)
    if int(least.max()) <= low and int(most.min()) >= low + (high > 0):
        return None
    return "counts that are equal are not allowed"


@register(
    needs=(*IN_ONE_PIECE, NO_SIZES, Need("counts that equal ones keep", _uneven)),
    reach=(at_most(MAX_PAIRS, "pairs of a task and a machine", _pairs),),
    complexity="O(n log n + n m log m)",
    source="Karmarkar and Karp 1982; at most 4/3 - 1/(3 (m - 1)) times the optimum for m >= 3, 7/6 "
    "for m = 2 (Fischetti and Martello 1987; Michiels, Korst, Aarts and van Leeuwen 2003); with "
    "counts: Yakir 1996; Michiels, Aarts, Korst, van Leeuwen and Spieksma 2012",
)
def largest_differencing(problem: IndependentTasks, control: Control) -> Solution:
    """Join the two partial plans whose loads differ most, long machines with short, to the last.

    With counts, each machine has one task in the partial plans at first: of as many of like
    duration as there are machines.
    """
    machines, numbers = problem.useful_machines, count()
    tasks, seconds = longest_first(problem)
    counted = problem.counts is not None
    some = len(seconds) if counted else int(np.count_nonzero(seconds))
    together = max(1, machines) if counted else 1
    # a partial plan: minus its difference, a number, its loads, the longest first, what makes them
    partial: list[Any] = [
        _started(seconds[row : row + together].tolist(), row, machines, next(numbers))
        for row in range(0, some, together)
    ]
    heapq.heapify(partial)
    while len(partial) > 1:
        if control.expired():
            return Solution(schedule=first_plan(problem, control))
        largest, _, loads, rows = heapq.heappop(partial)
        following, _, others, with_rows = heapq.heappop(partial)
        joined = [
            (load + other, (one, two))
            for load, other, one, two in zip(
                loads, reversed(others), rows, reversed(with_rows), strict=True
            )
        ]
        joined.sort(key=lambda each: -each[0])
        loads, rows = _above_the_least([load for load, _ in joined]), [row for _, row in joined]
        heapq.heappush(partial, (-loads[0], next(numbers), loads, rows))
        _log_joined(control, (-largest, -following), len(partial), loads[0])
    machine = np.zeros(some, dtype=np.int64)
    for index, rows in enumerate(partial[0][3] if partial else ()):
        machine[_leaves(rows)] = index
    return Solution(schedule=scheduled(problem, tasks[:some], seconds[:some], machine))


def _started(seconds: list[float], row: int, machines: int, number: int) -> Any:
    """Return the partial plan that has a task each on as many machines, the longest first."""
    idle = machines - len(seconds)
    loads = _above_the_least(seconds + [0.0] * idle)
    return -loads[0], number, loads, [*range(row, row + len(seconds)), *[None] * idle]


def _above_the_least(loads: list[float]) -> list[float]:
    return [load - loads[-1] for load in loads]


def _leaves(tree: Any) -> list[int]:
    """Return the rows in nested pairs; None stands for no row."""
    found, left = [], [tree]
    while left:
        node = left.pop()
        if isinstance(node, tuple):
            left += node
        elif node is not None:
            found.append(node)
    return found


def _log_joined(control: Control, differences: tuple[float, float], left: int, now: float) -> None:
    """Log two partial plans that are joined, by their differences, and how many are left."""
    if not control.log_steps:
        return
    one, other = differences
    control.step(
        Step(
            text=f"differences {number(one)} and {number(other)} become {number(now)}; partial "
            f"plans left: {left}",
            cells={"largest": one, "next": other, "joined": now, "left": left},
            values={"difference": now},
        )
    )
