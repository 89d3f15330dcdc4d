"""Chosen entries → a solution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.solution import Objective, Solution
from makespan.partition.problem import Partition
from makespan.partition.timing import timed


def no_plan(reason: str) -> Solution:
    """Return the proof that there is no plan."""
    return Solution(schedule=None, infeasible=reason)


def plan(
    problem: Partition,
    entries: Integers,
    *,
    notes: tuple[str, ...] = (),
    details: Mapping[str, Any] | None = None,
    **parts: Any,
) -> Solution:
    """Return the solution that takes ``entries[i]`` of the table for resource i.

    The other ``parts`` are those of :func:`plan_of_counts`.
    """
    choices = problem.choices
    return plan_of_counts(
        problem,
        choices.table.counts_at(entries),
        notes=(f"costs: {choices.structure()}", *notes),
        details={"structure": choices.structure(), **(details or {})},
        **parts,
    )


def plan_of_counts(
    problem: Partition,
    amounts: Integers,
    *,
    optimal: bool,
    notes: tuple[str, ...] = (),
    lower_bound: float | None = None,
    objective: Objective | None = None,
    details: Mapping[str, Any] | None = None,
) -> Solution:
    """Return the solution that gives ``amounts[i]`` tasks to resource i."""
    return Solution(
        schedule=timed(problem, amounts),
        lower_bound=lower_bound,
        optimal=optimal,
        notes=notes,
        objective=objective,
        details=details or {},
    )


def sum_at(weights: Floats, entries: Integers) -> float:
    """Return the sum of the weights of one entry per resource, rounded once."""
    return math.fsum(weights[entries].tolist())
