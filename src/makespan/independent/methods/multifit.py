"""MULTIFIT: bisection on the makespan, with first fit decreasing as the test."""

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.rules import quoted
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import Step
from makespan.independent.bounds import best_bound
from makespan.independent.list_scheduling import first_fit, first_plan, longest_first
from makespan.independent.needs import IN_ONE_PIECE, NO_LIMITS
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
