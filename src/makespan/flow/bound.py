"""problem → the best lower bound; plan → whether a bound proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.kind import Kind
from makespan.core.problem import Problem
from makespan.core.solution import Bound, Solution
from makespan.flow.kinds import kind_of

CONTRADICTED = 1e-6  # relative: a bound this far above a plan is wrong, not rounded
MAX_GRAINS = 1e8  # beyond, rounding to whole grains would be within the error of floats
GRAIN_ERROR = 1e-6  # grains: what a bound may owe to rounding


@suggesting
def lower_bound(problem: Problem) -> Bound:
    """Return the greatest known lower bound on the makespan, with its name and source.

    Raises
    ------
    InputError
        If none is known: a load without an amount, to be made as large as a deadline allows.

    >>> from makespan import IndependentTasks
    >>> lower_bound(IndependentTasks(machines=2, durations=[3, 3, 3])).value
    6.0
    """
    kind = kind_of(problem)
    bounds = kind.bounds.bounds(problem)
    if not bounds:
        raise InputError(
            f"no bound on the makespan is known for this {kind.name} problem; "
            "the result of solve says what bounds its objective"
        )
    best = max(bounds, key=lambda bound: bound.value)
    return replace(best, value=whole_grains(best.value, kind.grain(problem)))


def whole_grains(value: float, grain: float | None) -> float:
    """Return ``value`` rounded up to a whole multiple of ``grain``, where there is one.

    >>> whole_grains(65.5, 1.0), whole_grains(65.0000000001, 1.0), whole_grains(65.5, None)
    (66.0, 65.0, 65.5)
    """
    if grain is None or not value / grain <= MAX_GRAINS:
        return value
    return math.ceil(value / grain - GRAIN_ERROR) * grain


OF_METHOD = "of the method"
MET = {OF_METHOD: "the method's own lower bound", "refuted": "every earlier end was refuted"}
"""Why a plan is optimal that meets a bound of this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The best lower bound known, whether the plan meets it, and what there is to say."""

    value: float | None
    met: bool = False
    notes: tuple[str, ...] = ()


def best_bound(kind: Kind, problem: Problem, solution: Solution, makespan: float) -> Proof:
    """Return the best lower bound on a refereed plan; one above the plan is not believed."""
    candidates = [(bound.value, bound.name) for bound in kind.bounds.bounds(problem)]
    if solution.lower_bound is not None:
        candidates.append((solution.lower_bound, OF_METHOD))
    grain = kind.grain(problem)
    candidates = [(whole_grains(value, grain), name) for value, name in candidates]
    limit = makespan * (1 + CONTRADICTED)
    doubts = [
        f"the bound {value!r} ({name}) is above the plan: not believed"
        for value, name in candidates
        if value > limit
    ]
    sound = [(value, name) for value, name in candidates if value <= limit]
    if not sound:
        return Proof(value=None, notes=tuple(doubts))
    value, name = max(sound)
    if makespan - value <= kind.met_within * makespan:
        why = MET.get(name, f"lower bound: {name}")
        note = f"optimal: no plan ends earlier ({why})"
        return Proof(value=makespan, met=True, notes=(*doubts, note))
    return Proof(value=value, notes=tuple(doubts))
