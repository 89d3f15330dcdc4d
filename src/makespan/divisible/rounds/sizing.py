"""Sequences of chunks on a star: their amounts by the chain, in which every chunk is critical."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from makespan.backends.answer import WITHIN
from makespan.core.numeric.arrays import Integers
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import Plan
from makespan.divisible.model.platform import NUMBERS
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rounds.chain import COMPILE_FROM, Chain, ChainCosts, chain, is_optimal

MAX_CANCELLED = 1e5
"""How many times the load the parts of an amount may be that cancel out: beyond that, a chain
in floats has too few digits left to be trusted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """The best amounts for a sequence: a plan, when it ends, whether that is proved, and whether
    the search for the sequence ended before it was done.
    """

    plan: Plan
    makespan: float
    optimal: bool
    stopped: bool = False


def costs_of(problem: DivisibleLoad) -> ChainCosts:
    """Return what the workers and the master cost."""
    star = problem.star
    own = star.master_cost
    columns = {name: getattr(star, name) for name in NUMBERS[:4]}
    if len(star) < COMPILE_FROM:
        columns = {name: column.tolist() for name, column in columns.items()}
    return ChainCosts(
        **columns,
        master=(own.fixed, own.per_unit) if problem.master_computes else None,
    )


def chained(problem: DivisibleLoad, sequence: Integers) -> Sized | None:
    """Return the plan in which every chunk is critical, or None where there is none.

    All workers of the sequence compute at a finite speed. Complexity: O(chunks).
    """
    assert problem.load is not None
    if not problem.star.compute_per_unit[sequence].all():
        return None
    if problem.master_computes and problem.star.master_cost.per_unit == 0:
        return None
    costs = costs_of(problem)
    found = chain(problem.load, sequence, costs)  # type: ignore[arg-type]
    if not is_sound(problem.load, found) or not found.is_plan:
        return None
    plan = Plan.of(sequence, found.amounts, master=found.master)
    if not abs(plan.total - problem.load) <= WITHIN * problem.load:
        return None  # long sequences of shrinking chunks lose their digits
    plan = plan.fitted(problem.load)
    optimal = is_optimal(sequence, costs, 1e-9)  # type: ignore[arg-type]
    return Sized(plan=plan, makespan=float(found.makespan), optimal=optimal)


def is_sound(load: float, found: Chain) -> bool:
    """Whether a chain keeps enough digits in floats."""
    return bool(found.cancelled <= MAX_CANCELLED * load)


def with_idle_master(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem with a master that does not compute."""
    star = problem.star
    assert isinstance(star.master, Master)
    idle = star.changed(master=replace(star.master, compute=None))
    return replace(problem, platform=idle)


def only_costs(problem: DivisibleLoad) -> bool:
    """Whether nothing but costs limits the chunks."""
    star = problem.star
    return bool(np.isinf(star.memory).all() and not star.release.any())
