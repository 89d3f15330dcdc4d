"""What a method returns: a plan, a bound, a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from makespan.core.schedule import Schedule


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"  # proved
    FEASIBLE = "feasible"  # a valid plan, with a bound
    INFEASIBLE = "infeasible"  # proved that there is no plan
    LIMIT = "limit"  # a limit was reached before any plan was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A value that no plan can beat.

    Parameters
    ----------
    value
        A lower bound on the makespan, seconds (an upper bound where an objective is maximised).
    name
        What the bound is called.
    source
        Where it is proved.
    """

    value: float
    name: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What was optimised where it is not the makespan.

    ``maximise`` says which side of ``value`` the ``bound`` is on.
    """

    name: str
    value: float
    bound: float | None = None
    maximise: bool = False

    @property
    def gap(self) -> float | None:
        if self.bound is None:
            return None
        best, worst = (self.bound, self.value) if self.maximise else (self.value, self.bound)
        return relative_gap(best, worst)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "value": self.value, "bound": self.bound}


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a method returns; only ``solve`` makes a
    :class:`~makespan.flow.result.Result` of it.

    Parameters
    ----------
    schedule
        The plan, or None where none was found.
    lower_bound
        A lower bound on the makespan that the method proved, seconds.
    optimal
        Whether the method proved the schedule optimal for the problem as stated.
    infeasible
        Why there is no plan, where the method proved that; None otherwise.
    objective
        The value optimised, where it is not the makespan.
    stopped
        Whether a budget of the method's own (nodes, moves) ended its search.
    notes
        Sentences for the reader.
    details
        What can't be derived from the schedule.
    """

    schedule: Schedule | None
    lower_bound: float | None = None
    optimal: bool = False
    infeasible: str | None = None
    stopped: bool = False
    objective: Objective | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def makespan(self) -> float:
        """The makespan of the schedule, infinite where there is none."""
        return self.schedule.makespan if self.schedule is not None else float("inf")

    @property
    def rank(self) -> float:
        """What solutions of one problem are compared by: less is better."""
        if self.schedule is None:
            return float("inf")
        if self.objective is None:
            return self.makespan
        return -self.objective.value if self.objective.maximise else self.objective.value


def relative_gap(value: float, bound: float) -> float:
    """Return ``(value - bound) / value``, and 0 where both agree to within rounding.

    >>> relative_gap(10.0, 9.0), relative_gap(0.0, 0.0)
    (0.1, 0.0)
    """
    if value == bound or abs(value - bound) <= 1e-12 * abs(value):
        return 0.0
    return (value - bound) / value
