"""Results: what leaves ``solve``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from makespan.core.cached import cached_property
from makespan.core.errors import InputError
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.core.shown import Framed, Shown, Table
from makespan.core.solution import Objective, Status
from makespan.core.steps import Step
from makespan.flow.answer import answer, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Shown, Framed):
    """A plan with its proof or its gap.

    Parameters
    ----------
    problem
        The problem that was solved.
    status
        ``optimal`` (proved), ``feasible``, ``infeasible`` (proved) or ``limit``.
    schedule
        The plan, re-timed and accepted by the referee; None if there is none.
    makespan, lower_bound
        Seconds; None where there is no plan, or where the objective is another.
    gap
        ``(makespan - lower_bound) / makespan``; of the objective where that is another.
    method
        The method that found the plan.
    options
        The options it was given.
    seed
        The seed of random choices; None if a generator was given.
    runtime
        The seconds taken.
    notes
        Sentences for the reader.
    objective
        Name, value and bound of what was optimised where it is not the makespan.
    details
        What can't be derived from the schedule.
    log
        The steps of the method, a line each, where it logs them.
    steps
        The same steps with what a page shows of them.
    """

    problem: Problem
    status: Status
    schedule: Schedule | None
    makespan: float | None
    lower_bound: float | None
    gap: float | None
    method: str
    options: Mapping[str, Any]
    seed: int | None
    runtime: float
    notes: tuple[str, ...] = ()
    objective: Objective | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Who does what, derived from the schedule; empty where there is none."""
        return answer(self)

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the plan with matplotlib; see :func:`makespan.plot`."""
        from makespan.flow.pictures.plot import plot

        return plot(self, ax=ax, **options)

    def __str__(self) -> str:
        return summary(self)

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        if self.schedule is None:
            raise InputError(f"the result is {self.status}, without a plan")
        return self.schedule._columns()

    def _facts(self) -> Sequence[str]:
        from makespan.flow.pictures.picture import title_of

        return [title_of(self)]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        from makespan.drawing.page.tables import answer_tables

        return answer_tables(self.answer)

    def _picture(self) -> str:
        from makespan.flow.pictures.plot import svg

        return "" if self.schedule is None else svg(self, title="")
