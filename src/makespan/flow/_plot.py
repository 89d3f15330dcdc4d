"""result or schedule → picture."""

from __future__ import annotations

import json
import math
import os
import warnings
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from makespan.core.errors import FileError, InputError
from makespan.core.files import write_whole
from makespan.core.picture import Mark, Picture
from makespan.core.problem import Problem
from makespan.core.result import Result, Status
from makespan.core.schedule import Schedule
from makespan.core.suggest import did_you_mean
from makespan.drawing.assemble import schedule_picture
from makespan.drawing.gantt_svg import gantt_svg
from makespan.drawing.layout import MOST_ROWS
from makespan.drawing.svg import escaped
from makespan.drawing.text import percent, short
from makespan.flow._answer import MISFIT, unwarned
from makespan.flow._check import _broken_rows as broken_rows, _foreign_machines as foreign_machines
from makespan.flow._kinds import kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOTS_PER_INCH = 144
BOUND_IS_MET = 1e-9


def plot(
    result_or_schedule: Result | Schedule,
    *,
    ax: Axes | None = None,
    problem: Problem | None = None,
    title: str | None = None,
    max_rows: int = MOST_ROWS,
    legend: bool = True,
) -> Axes:
    """Draw a plan as a Gantt chart with matplotlib.

    Parameters
    ----------
    result_or_schedule
        A result, or a schedule alone.
    ax
        The axes to draw into; None makes a new figure with pyplot.
    problem
        The problem of a schedule that comes alone: its kind then says what is drawn, and its
        bound is marked. Without it there is a lane for each kind of activity.
    title
        The title; None says kind, method, makespan and gap, "" leaves it out.
    max_rows
        How many machines are shown; the others are counted below.
    legend
        Whether to explain the colours.

    Returns
    -------
    Axes
        The axes; x is the time in seconds.

    Raises
    ------
    InputError
        If the result has no schedule, or the schedule can't be drawn (times that are no finite
        numbers, machines that the problem does not have).

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> from matplotlib.figure import Figure
    >>> plan = solve(DivisibleLoad(load=1.0, platform=Star([Worker(send=1.0, compute=3.0)])))
    >>> plot(plan, ax=Figure().add_subplot()).get_xlabel()
    'time (s)'
    """
    from makespan.drawing.mpl import FigureFrame, gantt

    drawn = picture(result_or_schedule, problem=problem, title=title)
    rows = _checked_rows(max_rows)
    if ax is None:
        import matplotlib.pyplot as plt

        frame = FigureFrame.of(drawn, max_rows=rows, legend=legend)
        _, ax = plt.subplots(figsize=frame.size, gridspec_kw=frame.margins)
    return gantt(drawn, ax, max_rows=rows, legend=legend)


def svg(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    title: str | None = None,
    max_rows: int = MOST_ROWS,
    legend: bool = True,
    width: float = 1000.0,
) -> str:
    """Return a plan's Gantt chart as an SVG element, ``width`` pixels wide.

    The other parameters are those of :func:`plot`.
    """
    drawn = picture(result_or_schedule, problem=problem, title=title)
    return gantt_svg(drawn, width=width, max_rows=_checked_rows(max_rows), legend=legend)


def html_fragment(result: Result) -> str:
    """Return a result as HTML for a notebook: what is known of it, and its chart."""
    parts = [f"<p><strong>{escaped(title_of(result))}</strong></p>"]
    parts += [f"<p>{escaped(note)}</p>" for note in result.notes]
    if result.schedule is not None:
        parts.append(svg(result, title=""))
    return f'<div class="makespan-result" style="overflow-x:auto">{"".join(parts)}</div>'


def write_picture(
    result_or_schedule: Result | Schedule,
    path: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
) -> None:
    """Write a picture of a plan to a file, whole or not at all.

    Parameters
    ----------
    result_or_schedule
        A result, or a schedule alone.
    path
        ``.svg``, ``.png``, ``.html`` or ``.trace.json``.
    problem
        The problem of a schedule that comes alone.
    beside
        A second plan for a page.

    Raises
    ------
    FileError
        If the suffix is another, or the file can't be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        write_whole(path, svg(result_or_schedule, problem=problem))
    elif suffix == ".png":
        write_whole(path, png(result_or_schedule, problem=problem))
    elif suffix == ".html":
        from makespan.flow._page import html

        write_whole(path, html(result_or_schedule, problem=problem, beside=beside))
    elif Path(path).name.lower().endswith(".trace.json"):
        from makespan.flow._page import trace_events

        events = trace_events(result_or_schedule, problem=problem)
        write_whole(path, json.dumps(events, allow_nan=False, separators=(",", ":")))
    else:
        hint = did_you_mean(suffix, (".svg", ".png", ".html", ".trace.json"))
        raise FileError(f"{os.fspath(path)}: {suffix!r} is no suffix of a picture{hint}")


def png(result_or_schedule: Result | Schedule, *, problem: Problem | None = None) -> bytes:
    """Return a plan's Gantt chart as a PNG image; pyplot and its backend are left alone."""
    from makespan.drawing.mpl import agg_axes, gantt

    drawn = picture(result_or_schedule, problem=problem)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = gantt(drawn, agg_axes(drawn)).get_figure()
        image = BytesIO()
        figure.savefig(image, format="png", dpi=DOTS_PER_INCH)  # type: ignore[union-attr]
    return image.getvalue()


def picture(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    title: str | None = None,
) -> Picture:
    """Return what a picture of a plan shows: the kind's rows and bars, the title and marks."""
    result = result_or_schedule if isinstance(result_or_schedule, Result) else None
    schedule = result.schedule if result is not None else result_or_schedule
    if result is not None:
        problem = result.problem
    if not isinstance(schedule, Schedule):
        if result is None:
            raise TypeError(f"a {type(schedule).__name__} is neither a result nor a schedule")
        raise InputError(f"there is no plan to draw: the result is {result.status.value}")
    _refuse_broken(schedule, problem)
    if problem is None:
        drawn = schedule_picture(schedule)
    else:
        try:
            with unwarned():
                drawn = kind_of(problem).picture(problem, schedule)
        except (LookupError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"the schedule can't be drawn: {MISFIT}") from error
    bound = result.lower_bound if result is not None else _known_bound(problem)
    marks = [Mark("makespan", schedule.makespan)] if len(schedule) else []
    if bound is not None and math.isfinite(bound):
        met = abs(schedule.makespan - bound) <= BOUND_IS_MET * schedule.makespan
        marks.append(Mark("bound", schedule.makespan if met else bound, limit=True))
    if title is None:
        if result is not None:
            title = title_of(result)
        else:
            kind = f"{problem.kind}: " if problem is not None else ""
            title = drawn.title or f"{kind}makespan {short(schedule.makespan, 6)} s"
    return drawn.with_marks(title, (*marks, *drawn.marks))


def title_of(result: Result) -> str:
    """Return a result in a line: kind, method, makespan, and how far from the best it is."""
    name = f"{result.problem.kind}, {result.method}"
    if result.makespan is None:
        return f"{name}: {_WHY_NO_PLAN[result.status]}"
    said = [f"makespan {short(result.makespan, 6)} s"]
    if result.objective is not None:
        said.insert(0, f"{result.objective.name} {short(result.objective.value, 6)}")
    if result.status is Status.OPTIMAL:
        said.append("optimal")
    elif result.gap is not None:
        said.append(f"gap {percent(result.gap)}")
    return f"{name}: {', '.join(said)}"


_WHY_NO_PLAN = {
    Status.OPTIMAL: "no plan",
    Status.FEASIBLE: "no plan",
    Status.INFEASIBLE: "infeasible, there is no plan",
    Status.LIMIT: "no plan found within the limit",
}


def _refuse_broken(schedule: Schedule, problem: Problem | None) -> None:
    """Refuse what can't be drawn; a schedule that is only invalid can be."""
    faults = broken_rows(schedule)
    if problem is not None and not faults:
        faults = foreign_machines(problem, schedule)
    if faults:
        raise InputError(f"the schedule can't be drawn: {faults[0].message}")


def _known_bound(problem: Problem | None) -> float | None:
    """Return the greatest of the kind's bounds; None without a problem, or without any."""
    if problem is None:
        return None
    return max((bound.value for bound in kind_of(problem).bounds(problem)), default=None)


def _checked_rows(max_rows: object) -> int:
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise InputError(f"max_rows: {max_rows!r} is not allowed; it is a whole number from 1")
    return max_rows
