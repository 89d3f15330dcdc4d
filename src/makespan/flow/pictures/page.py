"""result or schedule → an HTML page, or a trace."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from makespan.core.display import Table
from makespan.core.errors import InputError
from makespan.core.kind import HasAlternatives
from makespan.core.picture import Picture
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.drawing.page.html import Chart, page
from makespan.drawing.page.tables import answer_tables
from makespan.drawing.still import still_page
from makespan.drawing.svg import escaped
from makespan.drawing.text import percent, short
from makespan.drawing.trace import trace
from makespan.flow.kinds import kind_of
from makespan.flow.pictures.picture import misfits_refused, picture
from makespan.flow.pictures.views import page_diagrams

if TYPE_CHECKING:
    from makespan.flow.result import Result

MOST_OTHERS = 1000
"""Plans of a front that a page holds."""


def html(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
) -> str:
    """Return a plan as one self-contained HTML page.

    Parameters
    ----------
    result_or_schedule
        A result, or a schedule alone.
    problem
        The problem of a schedule that comes alone, as for :func:`makespan.plot`.
    beside
        A second result or schedule, drawn below the first on the same time axis.

    Raises
    ------
    InputError
        If there is nothing that can be drawn.
    """
    if not isinstance(result_or_schedule, Schedule):
        problem = result_or_schedule.problem
    charts = [chart(result_or_schedule, problem)]
    if beside is not None:
        below = chart(beside, problem)
        drawn = below.picture.with_rows_as(charts[0].picture)
        if isinstance(beside, Schedule):
            drawn = replace(drawn, title=f"beside it: makespan {short(beside.makespan)} s")
        charts.append(replace(below, picture=drawn))
    title = charts[0].picture.title
    if beside is not None:
        kind = f"{problem.kind}: " if problem is not None else ""
        title = f"{kind}{_name(result_or_schedule)} and {_name(beside)}"
    return page(charts, title=title)


def problem_page(problem: Problem) -> str:
    """Return the pictures of a problem as one page without scripts."""
    parts = [
        f'<h2>{escaped(title)}</h2>\n<div class="wide">{drawn}</div>'
        for title, drawn in page_diagrams(problem, by=None)
    ]
    return still_page(f"A {problem.kind} problem", parts)


def _name(plan: Result | Schedule) -> str:
    """Return what a plan is called beside another."""
    return "a schedule" if isinstance(plan, Schedule) else plan.method


def trace_events(
    result_or_schedule: Result | Schedule, *, problem: Problem | None = None
) -> dict[str, Any]:
    """Return a plan in the Trace Event Format, which Perfetto and chrome://tracing open."""
    drawn = picture(result_or_schedule, problem=problem)
    return trace(drawn, _schedule(result_or_schedule))


def chart(
    plan: Result | Schedule, problem: Problem | None = None, *, diagrams: bool = True
) -> Chart:
    """Return what a page shows of a plan; pictures beside its chart take the longest."""
    drawn = picture(plan, problem=problem)
    schedule = _schedule(plan)
    if not isinstance(plan, Schedule):
        return Chart(
            picture=drawn,
            schedule=schedule,
            facts=_facts(plan, drawn),
            notes=plan.notes,
            log=plan.log,
            steps=plan.steps,
            diagrams=_diagrams(plan) if diagrams else (),
            tables=(*answer_tables(plan.answer), *_details(plan)),
            others=_others(plan),
        )
    derived: dict[str, Any] = {}
    if problem is not None:
        with suppress(InputError), misfits_refused():  # who does what may not be told of any plan
            derived = kind_of(problem).answer.answer(problem, schedule)
    facts = (("makespan", f"{schedule.makespan:.10g} s"), *_counts(schedule, drawn))
    return Chart(
        picture=drawn,
        schedule=schedule,
        facts=facts,
        tables=answer_tables(derived),
        diagrams=page_diagrams(plan, problem) if diagrams else (),
    )


def _others(result: Result) -> tuple[Chart, ...]:
    """Return the plans that a result offers beside its own, such as those of a Pareto front."""
    room = kind_of(result.problem).pictures
    if not isinstance(room, HasAlternatives):
        return ()
    try:
        with misfits_refused():
            found = room.alternatives(result.problem, result.details)[:MOST_OTHERS]
    except InputError:  # details of a file that are not what this version writes
        return ()
    return tuple(
        Chart(
            picture=picture(schedule, problem=result.problem),
            schedule=schedule,
            facts=tuple((name, short(value, 6)) for name, value in values),
        )
        for values, schedule in found
    )


def _diagrams(result: Result) -> tuple[tuple[str, str], ...]:
    """Return the pictures beside a plan; where its steps are shown, first those of the problem."""
    own = page_diagrams(result)
    if not any(step.items for step in result.steps):
        return own
    return tuple(dict((*page_diagrams(result.problem, by=None), *own)).items())


def _schedule(plan: Result | Schedule) -> Schedule:
    schedule = plan if isinstance(plan, Schedule) else plan.schedule
    assert schedule is not None  # `picture` refuses a result without one
    return schedule


def _facts(result: Result, drawn: Picture) -> tuple[tuple[str, str], ...]:
    facts = [("kind", result.problem.kind), ("method", result.method)]
    facts.append(("status", result.status.value))
    if result.objective is not None:
        facts.append((result.objective.name, f"{result.objective.value:.10g}"))
        if result.objective.bound is not None:
            facts.append((f"bound on {result.objective.name}", f"{result.objective.bound:.10g}"))
    if result.makespan is not None:
        facts.append(("makespan", f"{result.makespan:.10g} s"))
    if result.lower_bound is not None:
        facts.append(("lower bound", f"{result.lower_bound:.10g} s"))
    if result.gap is not None:
        facts.append(("gap", percent(result.gap)))
    if result.schedule is not None:
        facts += _counts(result.schedule, drawn)
    facts.append(("solved in", f"{short(result.runtime, 3)} s"))
    facts += [(name, str(value)) for name, value in result.options.items()]
    return tuple(facts)


def _counts(schedule: Schedule, drawn: Picture) -> list[tuple[str, str]]:
    return [("machines", f"{len(drawn.rows):,}"), ("activities", f"{len(schedule):,}")]


def _details(result: Result) -> tuple[Table, ...]:
    """Return what the schedule can't show; the steps only where they don't stand on their own."""
    shown = {
        name: value for name, value in result.details.items() if not (name == "log" and result.log)
    }
    return answer_tables(shown)
