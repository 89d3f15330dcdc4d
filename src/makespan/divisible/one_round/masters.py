"""The master as part of the answer: every machine of the bus is tried."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from makespan.core.control import Control
from makespan.core.numeric.sorting import sorted_by
from makespan.core.solution import Solution
from makespan.core.steps import Step, number
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound

Run = Callable[..., Solution]
MAX_RANKED = 200


def tries_masters(run: Run) -> Run:
    """Let a method for a given master also choose it: try each, the most promising first.

    The master with the least bound comes first; those whose bound does not beat the best plan
    are not tried. The choice is optimal if the method proves every plan that it is asked for.
    """

    @wraps(run)
    def chosen(problem: DivisibleLoad, control: Control, **options: Any) -> Solution:
        if not problem.chooses_master:
            return run(problem, control, **options)
        return best_master(problem, control, lambda each: run(each, control, **options))

    return chosen


def best_master(
    problem: DivisibleLoad, control: Control, solve_one: Callable[[DivisibleLoad], Solution]
) -> Solution:
    """Return the best of the solutions with each machine as the master, and what they prove."""
    found: list[Solution] = []
    untried: list[float] = []  # the bounds of masters that were not tried for lack of time
    best: Solution | None = None
    steps: list[Step] = []  # of the best
    for tried, (bound, each) in enumerate(_by_bound(problem)):
        if best is not None and best.objective is None and bound >= best.rank:
            break
        if best is not None and control.expired():
            untried.append(bound)  # those behind have no lower one
            break
        left = control.remaining
        if left is not None and problem.load is None:  # no bound tells that a master needs no time
            left /= max(1, len(problem.star) - tried)
        with control.aside() as own, control.limited(left):
            solution = solve_one(each)
        if control.log_steps and solution.schedule is not None:
            end = number(solution.schedule.makespan)
            control.step(f"{each.machines[0]} as the master: makespan {end}")
        if problem.load is None and solution.schedule is None and solution.infeasible is None:
            return solution  # there is no maximum, or no time
        found.append(solution)
        if best is None or solution.rank < best.rank:
            best, steps = solution, own
    for step in steps:
        control.step(step)
    assert best is not None
    if best.schedule is None:
        open_ = [solution for solution in found if solution.infeasible is None]
        if not untried and not open_:
            return found[0]
        bounds = [*untried, *(_bound(solution) for solution in open_)]
        notes = open_[0].notes if open_ else ()
        return Solution(schedule=None, lower_bound=min(bounds), notes=notes)
    proved = not untried and all(
        each.optimal
        or each.infeasible is not None
        or (best.objective is None and _bound(each) >= best.rank)
        for each in found
    )
    if best.objective is not None:
        return _most_of_masters(best, found, proved=proved, tried=not untried)
    bounds = [*untried, best.rank, *(_bound(solution) for solution in found)]
    return replace(best, optimal=proved, lower_bound=min(bounds))


def _by_bound(problem: DivisibleLoad) -> Iterator[tuple[float, DivisibleLoad]]:
    """Yield the problem with each master, by what it can reach at best, ties by index.

    Of many machines the fastest come first, with a bound for all of them.
    """
    count = len(problem.star)
    if problem.load is None or count > MAX_RANKED:
        every = quick_bound(problem)
        order = sorted_by(problem.star.compute_per_unit)
        for index in range(count) if count <= MAX_RANKED else order.tolist():
            yield every, problem.with_master(index)
        return
    each = [problem.with_master(index) for index in range(count)]
    bounds = [quick_bound(given) for given in each]
    for index in sorted(range(count), key=bounds.__getitem__):
        yield bounds[index], each[index]


def _bound(solution: Solution) -> float:
    if solution.infeasible is not None:
        return float("inf")
    if solution.optimal:
        return solution.rank
    return solution.lower_bound or 0.0


def _most_of_masters(
    best: Solution, found: list[Solution], *, proved: bool, tried: bool
) -> Solution:
    """Return the plan with the most load, or the least price, and the bound of all masters."""
    assert best.objective is not None
    open_ = [solution.objective for solution in found if solution.infeasible is None]
    limits = [None if each is None else each.bound for each in open_]
    bound: float | None = None
    if proved:
        bound = best.objective.value
    elif tried and None not in limits:
        outermost = max if best.objective.maximise else min
        bound = outermost(limit for limit in limits if limit is not None)
    return replace(best, optimal=proved, objective=replace(best.objective, bound=bound))
