"""Chosen entries → a solution."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.solution import Objective, Solution
from makespan.partition.problem import Partition
from makespan.partition.timing import timed

NOT_LOOKED_AT = "'prefer' was ignored: other plans may have the same makespan"


def no_plan(reason: str) -> Solution:
    return Solution(schedule=None, infeasible=reason)


def no_count(problem: Partition, row: int) -> str:
    """Say that a resource allows nothing."""
    return f"{problem.machines[row]!r} has no allowed count up to {problem.tasks}"


def out_of_reach(problem: Partition, least: int, greatest: int) -> str | None:
    """Say why the tasks are not between the sums of the least and the greatest counts, or None."""
    tasks = problem.tasks
    if least > tasks:
        return f"the least allowed counts add up to {least}, above the {tasks} tasks"
    if greatest < tasks and problem.require == "all":
        return f"the greatest allowed counts add up to {greatest}, below the {tasks} tasks"
    return None


def plan(
    problem: Partition,
    entries: Integers,
    *,
    notes: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
    objective: Objective | None = None,
    **parts: Any,
) -> Solution:
    """Return the solution of ``entries[i]`` for resource i, with its other ``parts``."""
    choices = problem.choices
    schedule = timed(problem, choices.table.counts_at(entries))
    if objective is not None and problem.objective == "time-then-energy":
        objective = replace(objective, first=schedule.makespan)
    elif objective is not None and problem.objective == "energy-then-time":
        objective = replace(objective, then=schedule.makespan)
    return Solution(
        schedule=schedule,
        objective=objective,
        notes=(f"costs: {choices.structure()}", *notes),
        details={"structure": choices.structure(), **(details or {})},
        **parts,
    )


def sum_at(weights: Floats, entries: Integers) -> float:
    """Return the sum of the weights of one entry per resource, rounded once."""
    return math.fsum(weights[entries].tolist())
