"""Least makespan for costs that never fall: no table is needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.partition.model.curves import Curves
from makespan.partition.needs import LEAST_MAKESPAN, LEXICOGRAPHIC, MONOTONE
from makespan.partition.plan import no_plan, plan_of_counts
from makespan.partition.problem import Partition
from makespan.partition.threshold.inverse import greatest, least_threshold, lexicographic

NEVER_FALL = "costs never fall, as affine costs do not and curves are declared not to"


@register(
    "partition",
    name="monotone",
    needs=(LEAST_MAKESPAN, LEXICOGRAPHIC, MONOTONE),
    proves="no lower threshold lets the resources take all tasks",
    complexity="O(n log T) evaluations of 32 costs, O(n) memory",
    source="bisection on the threshold, e.g. Lastovetsky and Reddy 2007",
)
def monotone(problem: Partition, control: Control) -> Solution:
    """Optimum where costs never fall: the least threshold by which all tasks are taken.

    Works on functions without a table; a few hundred costs of each resource are looked at.
    """
    if isinstance(problem.costs, Curves):
        costs = problem.costs.evaluator()
        lower, upper = np.array(problem.costs.lower), np.array(problem.costs.upper)
        structure = NEVER_FALL
    else:
        choices = problem.choices
        if len(choices.empty_rows):
            return no_plan(_no_count(problem, int(choices.empty_rows[0])))
        lower, upper = choices.least_counts, choices.greatest_counts
        costs = _of_table(problem)
        structure = f"costs: {choices.structure()}"
    return _solve(problem, costs, lower, upper, structure, control)


def counts_of_curves(problem: Partition, control: Control) -> Integers | str:
    """Return counts with a low makespan of functions, or why there is no plan."""
    assert isinstance(problem.costs, Curves)
    costs = problem.costs.evaluator()
    lower, upper = np.array(problem.costs.lower), np.array(problem.costs.upper)
    upper = np.minimum(upper, problem.tasks)
    tasks = _tasks(problem, costs, lower, upper)
    if isinstance(tasks, str):
        return tasks
    found = least_threshold(costs, lower, upper, tasks, control)
    if problem.deadline is not None and found.value > problem.deadline:
        return f"no plan by the deadline {problem.deadline!r} was found"
    return lexicographic(lower, found.counts, tasks)


def _solve(
    problem: Partition,
    costs: Callable[[Integers], Floats],
    lower: Integers,
    upper: Integers,
    structure: str,
    control: Control,
) -> Solution:
    upper = np.minimum(upper, problem.tasks)
    tasks = _tasks(problem, costs, lower, upper)
    if isinstance(tasks, str):
        return no_plan(tasks)
    notes = [structure]
    if tasks < problem.tasks:
        notes.append(f"{tasks} of {problem.tasks} tasks can be split at most")
    found = least_threshold(costs, lower, upper, tasks, control)
    if problem.deadline is not None and found.value > problem.deadline:
        if not found.proved:
            return Solution(schedule=None, lower_bound=found.bound)
        return no_plan(
            f"the least makespan is {found.value!r}, above the deadline {problem.deadline!r}"
        )
    amounts = lexicographic(lower, found.counts, tasks)
    return plan_of_counts(
        problem,
        amounts,
        optimal=found.proved,
        lower_bound=found.bound,
        notes=tuple(notes),
        details={"structure": structure.removeprefix("costs: ")},
    )


def _tasks(
    problem: Partition, costs: Callable[[Integers], Floats], lower: Integers, upper: Integers
) -> int | str:
    """Return how many tasks are to be split, or why that is impossible."""
    if (lower > upper).any():
        return _no_count(problem, int(np.argmax(lower > upper)))
    if problem.deadline is not None:
        beyond = np.flatnonzero(costs(lower[:, None])[:, 0] > problem.deadline)
        if len(beyond):
            name = problem.machines[int(beyond[0])]
            return f"{name!r} can't meet the deadline {problem.deadline!r} with any count"
    least, most = int(lower.sum()), int(upper.sum())
    if least > problem.tasks:
        return f"the least allowed counts add up to {least}, above the {problem.tasks} tasks"
    if problem.require == "most":
        return _most(problem, costs, lower, upper)
    if most < problem.tasks:
        return f"the greatest allowed counts add up to {most}, below the {problem.tasks} tasks"
    return problem.tasks


def _most(
    problem: Partition, costs: Callable[[Integers], Floats], lower: Integers, upper: Integers
) -> int:
    """Return the most tasks that can be split, by the deadline if there is one."""
    if problem.deadline is not None:
        upper = greatest(costs, lower, upper, problem.deadline)
    return min(problem.tasks, int(upper.sum()))


def _of_table(problem: Partition) -> Callable[[Integers], Floats]:
    table = problem.choices.table
    if table.counts is None:
        base = table.base[:, None]
    else:
        base = (table.counts_at(problem.choices.low) - problem.choices.low)[:, None]

    def costs(amounts: Integers) -> Floats:
        found: Floats = table.values[amounts - base]
        return found

    return costs


def _no_count(problem: Partition, row: int) -> str:
    return f"{problem.machines[row]!r} has no allowed count up to {problem.tasks}"
