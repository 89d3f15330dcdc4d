"""What a method returns: a plan, a bound, a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from makespan.core.schedule import Schedule

MAX_GRAINS = 1e8  # beyond, rounding to whole grains would be within the error of floats
GRAIN_ERROR = 1e-6  # grains: what a bound may owe to rounding


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

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> makespan.lower_bound(tasks)
    Bound(value=6.0, name='average load', source='McNaughton 1959')
    """

    value: float
    name: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What was optimised if not the makespan; ``maximise`` says on which side the ``bound`` is.

    Of two goals, ``first`` is what was made least before it, or ``then`` what was after it.
    """

    name: str
    value: float
    bound: float | None = None
    maximise: bool = False
    first: float | None = None
    then: float | None = None

    @property
    def rank(self) -> float:
        """What values are compared by: less is better."""
        return -self.value if self.maximise else self.value

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
    """What a method returns; only ``solve`` makes a :class:`~makespan.flow.result.Result` of it.

    ``details`` are what can't be derived from the schedule.
    """

    schedule: Schedule | None  # the plan, or None where none was found
    lower_bound: float | None = None  # on the makespan, as the method proved, seconds
    optimal: bool = False  # whether the method proved the schedule optimal for the problem as it is
    infeasible: str | None = None  # why there is no plan, where the method proved that
    stopped: bool = False  # whether a budget of the method's own (nodes, moves) ended its search
    objective: Objective | None = None  # the value optimised, where it is not the makespan
    notes: tuple[str, ...] = ()  # sentences for the reader
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def makespan(self) -> float:
        """The makespan of the schedule, infinite where there is none."""
        return self.schedule.makespan if self.schedule is not None else float("inf")

    @property
    def rank(self) -> float:
        """What solutions of one problem are compared by, of two goals the later: less is better."""
        if self.schedule is None:
            return float("inf")
        return self.makespan if self.objective is None else self.objective.rank

    @property
    def goals(self) -> tuple[float, ...]:
        return goals_of(self.schedule, self.objective)


def goals_of(schedule: Schedule | None, objective: Objective | None) -> tuple[float, ...]:
    """Return what plans of one problem are compared by, one after another: less is better."""
    if schedule is None or objective is None:
        return (float("inf") if schedule is None else schedule.makespan,)
    every = (objective.first, objective.rank, objective.then)
    return tuple(goal for goal in every if goal is not None)


def precede(goals: Sequence[float], others: Sequence[float], slack: float) -> bool:
    """Whether ``goals`` are better than ``others`` by more than rounding, the first that differs.

    >>> precede((1.0, 5.0), (1.0, 7.0), 1e-9), precede((2.0, 5.0), (1.0, 7.0), 1e-9)
    (True, False)
    """
    for mine, other in zip(goals, others, strict=False):
        if mine == other:
            continue
        if not abs(mine - other) <= slack * abs(mine):
            return mine < other
    return False


def relative_gap(value: float, bound: float) -> float:
    """Return ``(value - bound) / value``, and 0 where both agree to within rounding.

    >>> relative_gap(10.0, 9.0), relative_gap(0.0, 0.0)
    (0.1, 0.0)
    """
    if value == bound or abs(value - bound) <= 1e-12 * abs(value):
        return 0.0
    return (value - bound) / value


FrontValues = tuple[tuple[str, float], ...]  # names of both objectives, and a point's values


FrontGap = Sequence[float | None]
"""Two times between which points may be missing; the second is None where there is no last one."""


def gaps_in_words(unknown: Sequence[FrontGap]) -> str:
    """Return between which times points may be missing, from the first to the last of them.

    >>> gaps_in_words([[1.0, 2.0], [5.0, None]]), gaps_in_words([[1.0, 2.0]])
    ('others may lie from 1 s on', 'others may lie between 1 and 2 s')
    """
    low, high = unknown[0][0], unknown[-1][1]
    if high is None:
        return f"others may lie from {low:.4g} s on"
    return f"others may lie between {low:.4g} and {high:.4g} s"


def front_in_words(
    points: Sequence[tuple[float, float]], other: str, unknown: Sequence[FrontGap] = ()
) -> str:
    """Return how many points there are, and of the first and last three time and ``other``.

    Behind them stands where points may be missing.

    >>> front_in_words([(1.0, 30.0), (2.0, 12.5)], "price")
    '2 points on the front (time and price): 1 s 30; 2 s 12.5'
    """
    shown = [f"{time:.4g} s {value:.4g}" for time, value in points]
    few = shown if len(shown) <= 6 else [*shown[:3], "…", *shown[-3:]]
    word = f"point{'s' if len(points) > 1 else ''}"
    if unknown:
        few.append(gaps_in_words(unknown))
    return f"{len(points)} {word} on the front (time and {other}): {'; '.join(few)}"


def front_points(
    details: Mapping[str, Any], other: str
) -> Iterator[tuple[FrontValues, Mapping[str, Any]]]:
    """Yield what each point in the ``details`` of a result reaches, and the point, by time.

    >>> details = {"front": [{"time": 2, "price": 1}, {"time": 1, "price": 3}]}
    >>> [values for values, _ in front_points(details, "price")]
    [(('time', 1.0), ('price', 3.0)), (('time', 2.0), ('price', 1.0))]
    """
    for point in sorted(details.get("front", ()), key=lambda point: float(point["time"])):
        yield tuple((name, float(point[name])) for name in ("time", other)), point


def whole_grains(value: float, grain: float | None) -> float:
    """Return ``value`` rounded up to a whole multiple of ``grain``, where there is one.

    >>> whole_grains(65.5, 1.0), whole_grains(65.0000000001, 1.0), whole_grains(65.5, None)
    (66.0, 65.0, 65.5)
    """
    if grain is None or not value / grain <= MAX_GRAINS:
        return value
    return math.ceil(value / grain - GRAIN_ERROR) * grain
