"""result, schedule or problem → a picture, or a file with one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from makespan.core.display import Axes
from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.kind import HasAlternatives
from makespan.core.picture import Diagram, Picture
from makespan.core.problem import Problem, is_problem
from makespan.core.schedule import Schedule
from makespan.drawing.gantt.layout import MAX_ROWS
from makespan.drawing.page.html import Chart, page
from makespan.drawing.page.tables import answer_tables, still_page
from makespan.drawing.render import FORMS, LARGEST, as_bytes, as_svg, on_axes, own_figure
from makespan.drawing.svg import escaped
from makespan.drawing.text import percent, short
from makespan.drawing.trace import trace
from makespan.flow.kinds import kind_of
from makespan.flow.picture import drawing, misfits_refused, page_diagrams, picture
from makespan.flow.result import Result

AN_INCH = 96.0  # pixels of an SVG
MOST_OTHERS = 1000  # plans of a front that a page holds


def html(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
) -> str:
    """Return a plan, and one ``beside`` it on the same axis, as a page, or raise InputError."""
    if not isinstance(result_or_schedule, Schedule):
        problem = result_or_schedule.problem
    charts = [chart(result_or_schedule, problem)]
    title = charts[0].picture.title
    if beside is not None:
        below = chart(beside, problem)
        drawn = below.picture.with_rows_as(charts[0].picture)
        if isinstance(beside, Schedule):
            drawn = replace(drawn, title=f"beside it: makespan {short(beside.makespan)} s")
        charts.append(replace(below, picture=drawn))
        kind = f"{problem.kind}: " if problem is not None else ""
        title = f"{kind}{_name(result_or_schedule)} and {_name(beside)}"
    return page(charts, title=title)


def run_page(schedule: Schedule, said: Sequence[str], plan: Result | None) -> str:
    """Return what was measured as a page, below the plan if there was one.

    The first line of what is ``said`` of the run stands above it, the others are notes. The bound
    that is marked is that of the plan.
    """
    known = () if plan is None else plan.problem.machines
    problem = plan.problem if plan is not None and set(schedule.machines) <= set(known) else None
    measured = chart(schedule, problem)
    drawn = replace(measured.picture, title=said[0])
    charts = []
    if plan is not None:
        planned = chart(plan)
        above = replace(planned.picture, title=f"planned: {planned.picture.title}")
        charts.append(replace(planned, picture=above))
        drawn = drawn.with_rows_as(above).with_limits_of(above)
    charts.append(replace(measured, picture=drawn, notes=tuple(said[1:])))
    return page(charts, title=said[0] if plan is None else f"plan and run: {said[0]}")


def _name(plan: Result | Schedule) -> str:
    return "a schedule" if isinstance(plan, Schedule) else plan.method


def trace_events(
    result_or_schedule: Result | Schedule, *, problem: Problem | None = None
) -> dict[str, Any]:
    """Return a plan in the Trace Event Format, which Perfetto and chrome://tracing open."""
    return trace(picture(result_or_schedule, problem=problem), _schedule(result_or_schedule))


def chart(
    plan: Result | Schedule, problem: Problem | None = None, *, diagrams: bool = True
) -> Chart:
    """Return what a page shows of a plan; pictures beside its chart take the longest."""
    drawn = picture(plan, problem=problem)
    schedule = _schedule(plan)
    if not isinstance(plan, Schedule):
        shown = {
            name: value for name, value in plan.details.items() if not (name == "log" and plan.log)
        }
        return Chart(
            picture=drawn,
            schedule=schedule,
            facts=_facts(plan, drawn),
            notes=plan.notes,
            log=plan.log,
            steps=plan.steps,
            diagrams=_diagrams(plan) if diagrams else (),
            tables=(*answer_tables(plan.answer), *answer_tables(shown)),
            others=_others(plan),
        )
    derived: dict[str, Any] = {}
    if problem is not None:
        with suppress(InputError), misfits_refused():  # who does what may not be told of any plan
            derived = kind_of(problem).answer.answer(problem, schedule)
    return Chart(
        picture=drawn,
        schedule=schedule,
        facts=(("makespan", f"{schedule.makespan:.10g} s"), *_counts(schedule, drawn)),
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


@suggesting
def plot(
    thing: Result | Schedule | Problem,
    *,
    view: str | None = None,
    ax: Axes | None = None,
    problem: Problem | None = None,
    title: str | None = None,
    by: str | None = None,
    fold: bool = False,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
) -> Axes:
    """Draw a plan or a problem with matplotlib.

    Parameters
    ----------
    thing
        A result, a schedule alone, or a problem.
    view
        Which picture: of a plan ``"gantt"``, its Gantt chart, if omitted; else, and of a problem,
        those of its kind: ``"graph"``, ``"platform"``, ``"costs"``, ``"front"``, ``"tasks"``.
    ax
        The axes to draw into; None makes a new figure with pyplot.
    problem
        The problem of a schedule that comes alone: its kind then says what is drawn, and its
        bound is marked. Without it there is a lane for each kind of activity.
    title
        The title; None says what is shown, "" leaves it out.
    by
        What colours tell apart in a task graph: ``"type"``, ``"level"``, ``"path"``,
        ``"machine"`` or ``"cluster"``; in the Gantt chart of a reduction ``"transfer"``.
    fold
        Whether a Gantt chart leaves transfers out.
    max_rows
        How many machines a Gantt chart shows; one row sums the others up.
    legend
        Whether a Gantt chart explains its colours.

    Returns
    -------
    Axes
        The axes; of a Gantt chart, x is the time in seconds.

    Raises
    ------
    InputError
        If there is no such picture, the result has no schedule, or the schedule can't be drawn
        (times that are not finite numbers, machines that the problem does not have).

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> from matplotlib.figure import Figure
    >>> plan = solve(DivisibleLoad(load=1.0, platform=Star([Worker(send=1.0, compute=3.0)])))
    >>> plot(plan, ax=Figure().add_subplot()).get_xlabel()
    'time (s)'
    """
    drawn = drawing(thing, view, problem=problem, title=title, by=by, fold=fold)
    return on_axes(drawn, ax, max_rows=_checked_rows(max_rows), legend=legend)


def svg(
    thing: Result | Schedule | Problem,
    *,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
    width: float | None = None,
    landscape: bool = False,
    **asked: Any,
) -> str:
    """Return a picture as an SVG element, ``width`` pixels wide.

    ``landscape`` puts the layers of a graph side by side; what is ``asked`` is as for :func:`plot`.
    """
    drawn = drawing(thing, **asked)
    drawn = replace(drawn, landscape=landscape) if isinstance(drawn, Diagram) else drawn
    return as_svg(drawn, width=width, max_rows=_checked_rows(max_rows), legend=legend)


def picture_file(
    thing: Result | Schedule | Problem,
    suffix: str,
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
    view: str | None = None,
    by: str | None = None,
    fold: bool = False,
    width: float | None = None,
    landscape: bool = False,
) -> str | bytes:
    """Return what stands in the file of a picture of a plan or a problem; a page has all views.

    ``suffix``: ``.svg``, ``.png``, ``.pdf`` or ``.html``; for plans also ``.trace.json``. ``width``
    is in inches. Raises InputError if there is no such picture.
    """
    if width is not None and not 0.5 <= width <= LARGEST:
        raise InputError(f"width: {width:g} is not allowed; it is from 0.5 to {LARGEST:g} inches")
    asked: dict[str, Any] = {"problem": problem, "view": view, "by": by, "fold": fold}
    if suffix == ".svg":
        pixels = None if width is None else AN_INCH * width
        return svg(thing, **asked, width=pixels, landscape=landscape)
    if suffix in FORMS:  # pyplot and its backend are left alone
        drawn, figure = drawing(thing, **asked), own_figure()
        drawn = replace(drawn, landscape=landscape) if isinstance(drawn, Diagram) else drawn
        on_axes(drawn, None, figure=figure, width=width)
        return as_bytes(figure, suffix)
    if view is not None or by is not None or fold or width is not None or landscape:
        raise InputError(
            "view, by, fold, width, landscape: are for pictures (.svg, .png, .pdf), "
            f"not for {suffix}"
        )
    if is_problem(thing):
        parts = [
            part
            for name, drawn in page_diagrams(thing, by=None)
            for part in (f"<h2>{escaped(name)}</h2>", drawn)
        ]
        return still_page(f"A {thing.kind} problem", parts)
    plan = cast("Result | Schedule", thing)
    if suffix == ".html":
        return html(plan, problem=problem, beside=beside)
    return json.dumps(trace_events(plan, problem=problem), allow_nan=False, separators=(",", ":"))


def _checked_rows(max_rows: object) -> int:
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise InputError(f"max_rows: {max_rows!r} is not allowed; it is a whole number from 1")
    return max_rows
