"""Problem → how much longer a method takes than another one, the optimum or a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from makespan.core.problem import Problem
from makespan.core.solution import goals_of
from makespan.flow.result import Result
from makespan.flow.solve import attempt

OPTIMUM, BOUND = "optimum", "bound"
EARLIER = 1e-6  # relative: a plan that is earlier than a proved optimum by more contradicts it
FAULT = "a mistake: "
UNPROVED = "no optimum was proved within the limit of a solve"

Named = tuple[str, Mapping[str, Any]]


class Outcome(NamedTuple):
    """What a problem brought: a ratio, or why there is none."""

    ratio: float | None
    note: str = ""
    result: Result | None = None
    reference: Result | None = None
    base: float | None = None

    @property
    def is_fault(self) -> bool:
        """Whether it shows a mistake of makespan's own, or of a registered method."""
        return self.note.startswith(FAULT)


class Duel(NamedTuple):
    """A method and what it is compared with: another method, ``optimum`` or ``bound``."""

    method: Named
    against: Named
    limit: float
    seed: int

    def fought(self, problem: Problem) -> Outcome:
        """Return the ratio of what the method reaches to what it is compared with.

        Where more is better, the ratio is turned around: it is 1 or more against an optimum.
        Every plan has been before the referee; of an optimum only a proved one counts.
        """
        result, note = self._solved(problem, self.method)
        if result is None:
            return Outcome(None, note)
        to = self.against[0]
        objective = result.objective
        if to == BOUND and objective is not None and objective.first is not None:
            return Outcome(None, "of two goals there is no bound")
        if to == BOUND:
            bound = result.lower_bound if objective is None else objective.bound
            value = result.makespan if objective is None else objective.value
            return _ratio(result, None, value, bound)
        if to == OPTIMUM and str(result.status) == "optimal":
            return _compared(result, result)
        other, note = self._solved(problem, ("auto", {}) if to == OPTIMUM else self.against)
        if other is None:
            return Outcome(None, note)
        if to == OPTIMUM and str(other.status) != "optimal":
            return Outcome(None, UNPROVED)
        found = _compared(result, other)
        if to == OPTIMUM and found.ratio is not None and found.ratio < 1 - EARLIER:
            return Outcome(
                None, f"{FAULT}{self.method[0]} is {found.ratio:.6g} of a proved optimum"
            )
        return found

    def _solved(self, problem: Problem, named: Named) -> tuple[Result | None, str]:
        """Return a plan; or none, and why."""
        name, options = named
        tried = attempt(problem, name, time_limit=self.limit, rng=self.seed, options=options)
        if tried.interrupted:
            raise KeyboardInterrupt
        if tried.result is not None and tried.result.schedule is not None:
            return tried.result, ""
        failed = tried.status == "failed"
        return None, f"{FAULT}{name}: {tried.note}" if failed else f"{name}: {tried.status}"


def _compared(result: Result, other: Result) -> Outcome:
    """Compare two plans; of two goals by the first one that differs."""
    mine, theirs = (goals_of(each.schedule, each.objective) for each in (result, other))
    pairs = [*zip(mine, theirs, strict=False)]
    goal, base = next((pair for pair in pairs if not math.isclose(*pair)), pairs[-1])
    return _ratio(result, other, abs(goal), abs(base))  # what is maximised is negative


def _ratio(
    result: Result, reference: Result | None, value: float | None, base: float | None
) -> Outcome:
    objective = result.objective
    if value is None or base is None:
        return Outcome(None, "there is nothing to compare with")
    above, below = (base, value) if objective is not None and objective.maximise else (value, base)
    if above == below:
        return Outcome(1.0, "", result, reference, base)
    if min(above, below) <= 0:
        return Outcome(None, "a ratio to 0 says nothing")
    return Outcome(above / below, "", result, reference, base)
