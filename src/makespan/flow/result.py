"""Results: what leaves ``solve``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.display import Axes, Displayable, HasFrame, Table, renderers
from makespan.core.errors import InputError, one_line
from makespan.core.problem import Problem
from makespan.core.report import InvalidSchedule
from makespan.core.schedule import Schedule
from makespan.core.solution import Objective, Status
from makespan.core.steps import Step
from makespan.flow.kinds import kind_of

MISFIT = "the schedule does not fit its problem; check says why"


def unwarned() -> np.errstate:
    """Let a schedule made elsewhere, which may hold any numbers, be shown without warnings."""
    return np.errstate(all="ignore")


class _Notes:
    """The notes of a result, or what says them when they are first read.

    Advice on what else to ask for may take as long as a small plan, and is seldom read.
    """

    def __get__(self, result: Any, owner: type | None = None) -> tuple[str, ...]:
        if result is None:
            return ()  # the default
        held = vars(result)["_held_notes"]
        if callable(held):
            held = vars(result)["_held_notes"] = tuple(held())
        return held  # type: ignore[no-any-return]

    def __set__(self, result: Any, notes: tuple[str, ...] | Callable[[], Iterable[str]]) -> None:
        vars(result)["_held_notes"] = notes


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Displayable, HasFrame):
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

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> result = makespan.solve(tasks)
    >>> print(result.status, result.makespan, result.gap)
    optimal 6.0 0.0
    >>> [str(machine) for machine in result.schedule.machines]
    ['M1', 'M2']
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
    notes: tuple[str, ...] = _Notes()  # type: ignore[assignment]
    objective: Objective | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Who does what, derived from the schedule; empty where there is none.

        Raises
        ------
        InvalidSchedule
            If the schedule, made elsewhere, is not one of the problem's machines and items.
        """
        if self.schedule is None:
            return {}
        try:
            with unwarned():
                return kind_of(self.problem).answer.answer(self.problem, self.schedule)
        except (LookupError, ValueError) as error:
            raise InvalidSchedule(MISFIT) from error

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_held_notes": self.notes}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as it stands in a file; :func:`makespan.read_result` reads it.

        >>> import makespan
        >>> result = makespan.solve(makespan.IndependentTasks(2, {"a": 3, "b": 1}))
        >>> result.to_dict()["answer"]["machine_of"]
        {'a': 'M1', 'b': 'M2'}
        """
        from makespan.flow.serialize import result_as_dict

        return result_as_dict(self)

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON in one line, with null for what JSON can't hold."""
        from makespan.flow.serialize import as_json

        return as_json(self.to_dict())

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the plan with matplotlib; see :func:`makespan.plot`."""
        return renderers().plot(self, ax, **options)

    def __str__(self) -> str:
        return summary(self)

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        if self.schedule is None:
            raise InputError(f"the result is {self.status}, without a plan")
        return self.schedule._columns()

    def _facts(self) -> Sequence[str]:
        return [renderers().title(self)]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        from makespan.drawing.page.tables import answer_tables

        return answer_tables(self.answer)

    def _picture(self) -> str:
        return "" if self.schedule is None else str(renderers().image(self, ".svg", title=""))


def summary(result: Result, **most: int) -> str:
    """Return the result as text: status, makespan, bound and gap, the answer, the notes.

    ``most`` is how many machines or tasks are shown, those of the kind if omitted.
    """
    lines = [f"{result.status} ({result.method})", *_values(result)]
    if result.schedule is not None:
        try:
            with unwarned():
                answers = kind_of(result.problem).answer
                table = answers.lines(result.problem, result.schedule, **most)
        except (LookupError, ValueError):
            table = [MISFIT]
        lines += ["", *table] if table else []
    if result.notes:
        lines += ["", *(f"note: {note}" for note in result.notes)]
    return "\n".join(map(one_line, lines))


def _values(result: Result) -> list[str]:
    """Return what was reached and what is proved, one value a line."""
    objective, gap = result.objective, _percent(result.gap)
    values = []
    if objective is not None:
        bound = "" if objective.bound is None else f"  (bound {objective.bound:.10g}{gap})"
        values.append((objective.name, f"{objective.value:.10g}{bound}"))
    if result.makespan is not None:
        values.append(("makespan", f"{result.makespan:.10g}"))
    if result.lower_bound is not None:
        shown_gap = f"  ({gap[2:]})" if gap and objective is None else ""
        values.append(("lower bound", f"{result.lower_bound:.10g}{shown_gap}"))
    width = max((len(name) for name, _ in values), default=0)
    return [f"{name:<{width}}  {value}" for name, value in values]


def _percent(gap: float | None) -> str:
    if gap is None:
        return ""
    return ", gap 0 %" if gap == 0 else f", gap {100 * gap:.3g} %"
