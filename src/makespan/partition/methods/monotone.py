"""Costs that never fall need no table: the least makespan; of any costs, some plan quickly."""

import math
from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Objective, Solution
from makespan.partition.model.curves import Curves
from makespan.partition.needs import LEAST_MAKESPAN, LEXICOGRAPHIC, MONOTONE
from makespan.partition.plan import NOT_LOOKED_AT, no_count, no_plan, out_of_reach
from makespan.partition.problem import Partition
from makespan.partition.threshold.inverse import Threshold, greatest, least_threshold, lexicographic
from makespan.partition.threshold.target import quick_plan
from makespan.partition.timing import timed

NEVER_FALL = "costs never fall, as affine costs do not and curves are declared not to"


@register(
    needs=(LEAST_MAKESPAN, LEXICOGRAPHIC, MONOTONE),
    proves="no lower threshold lets the resources take all tasks",
    complexity="O(n log T) evaluations of 32 costs, O(n) memory",
    source="bisection on the threshold, e.g. Lastovetsky and Reddy 2007",
)
def monotone(problem: Partition, control: Control) -> Solution:
    """Optimum where costs never fall: the least threshold by which all tasks are taken.

    Works on functions without a table; a few hundred costs of each resource are looked at.
    """
    found = threshold_of(problem, control)
    if isinstance(found, str):
        return no_plan(found)
    least, amounts = found
    tasks, structure, notes = int(amounts.sum()), NEVER_FALL, [NEVER_FALL]
    if not isinstance(problem.costs, Curves):
        structure = problem.choices.structure()
        notes = [f"costs: {structure}"]
    if tasks < problem.tasks:
        notes.append(f"{tasks} of {problem.tasks} tasks can be split at most")
    if problem.deadline is not None and least.value > problem.deadline:
        if not least.proved:
            return Solution(schedule=None, lower_bound=least.bound)
        return no_plan(
            f"the least makespan is {least.value!r}, above the deadline {problem.deadline!r}"
        )
    return Solution(
        schedule=timed(problem, amounts),
        optimal=least.proved,
        lower_bound=least.bound,
        notes=tuple(notes),
        details={"structure": structure},
    )


def threshold_of(problem: Partition, control: Control) -> tuple[Threshold, Integers] | str:
    """Return the least threshold of costs that never fall, and the counts; or why there is none."""
    if isinstance(problem.costs, Curves):
        costs = problem.costs.evaluator()
        lower, upper = np.array(problem.costs.lower), np.array(problem.costs.upper)
    else:
        choices = problem.choices
        if len(choices.empty_rows):
            return no_count(problem, int(choices.empty_rows[0]))
        lower, upper = choices.least_counts, choices.greatest_counts
        costs = _of_table(problem)
    upper = np.minimum(upper, problem.tasks)
    tasks = _tasks(problem, costs, lower, upper)
    if isinstance(tasks, str):
        return tasks
    found = least_threshold(costs, lower, upper, tasks, control)
    return found, lexicographic(lower, found.counts, tasks)


def _tasks(
    problem: Partition, costs: Callable[[Integers], Floats], lower: Integers, upper: Integers
) -> int | str:
    """Return how many tasks are to be split, by the deadline if there is one, or why none can."""
    if (lower > upper).any():
        return no_count(problem, int(np.argmax(lower > upper)))
    if problem.deadline is not None:
        beyond = np.flatnonzero(costs(lower[:, None])[:, 0] > problem.deadline)
        if len(beyond):
            name = problem.machines[int(beyond[0])]
            return f"{name!r} can't meet the deadline {problem.deadline!r} with any count"
    why = out_of_reach(problem, int(lower.sum()), int(upper.sum()))
    if why is not None or problem.require == "all":
        return why or problem.tasks
    if problem.deadline is not None:
        upper = greatest(costs, lower, upper, problem.deadline)
    return min(problem.tasks, int(upper.sum()))


def _of_table(problem: Partition) -> Callable[[Integers], Floats]:
    table = problem.choices.table
    base = (table.counts_at(problem.choices.low) - problem.choices.low)[:, None]

    def costs(amounts: Integers) -> Floats:
        found: Floats = table.values[amounts - base]
        return found

    return costs


NOTHING_PROVED = "this is any feasible plan; no better plan was searched for"


@register(
    complexity="O(table) for each of about ten thresholds; of functions, as monotone",
    source="common practice: the largest step that is not too much, at growing thresholds",
)
def any_plan(problem: Partition, control: Control) -> Solution:
    """Some plan with a low makespan whatever the objective, in little time and memory.

    Where it meets a bound it is optimal, but not the preferred of such plans.
    """
    notes = (
        (NOTHING_PROVED, NOT_LOOKED_AT) if problem.objective == "makespan" else (NOTHING_PROVED,)
    )
    if not isinstance(problem.costs, Curves):
        return quick_plan(problem, None, None, notes)
    found = threshold_of(problem, control)
    if isinstance(found, str):
        return Solution(schedule=None)
    least, amounts = found
    if problem.deadline is not None and least.value > problem.deadline:
        return Solution(schedule=None)
    objective = None
    if problem.objective == "total":
        objective = Objective(name="total", value=math.fsum(problem.costs_of(amounts).tolist()))
    return Solution(schedule=timed(problem, amounts), notes=notes, objective=objective)
