"""result, schedule or problem → a picture, or a file with one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.problem import Problem, is_problem
from makespan.core.schedule import Schedule
from makespan.drawing.figure import FORMS, as_bytes, own_figure
from makespan.drawing.gantt.layout import MAX_ROWS
from makespan.drawing.render import as_svg, on_axes
from makespan.flow.pictures.page import html, problem_page, trace_events
from makespan.flow.pictures.views import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from makespan.flow.result import Result


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
    view: str | None = None,
    problem: Problem | None = None,
    title: str | None = None,
    by: str | None = None,
    fold: bool = False,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
    width: float = 1000.0,
) -> str:
    """Return a picture as an SVG element, a Gantt chart ``width`` pixels wide.

    The other parameters are those of :func:`plot`.
    """
    drawn = drawing(thing, view, problem=problem, title=title, by=by, fold=fold)
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
) -> str | bytes:
    """Return what stands in the file of a picture of a plan or a problem.

    Parameters
    ----------
    thing, problem, view, by, fold
        Those of :func:`plot`; a page has all views.
    suffix
        ``.svg``, ``.png``, ``.pdf`` or ``.html``; for plans also ``.trace.json``.
    beside
        A second plan for a page.

    Raises
    ------
    InputError
        If there is no such picture.
    """
    if suffix == ".svg":
        return svg(thing, problem=problem, view=view, by=by, fold=fold)
    if suffix in FORMS:  # pyplot and its backend are left alone
        drawn, figure = drawing(thing, view, problem=problem, by=by, fold=fold), own_figure()
        on_axes(drawn, None, figure=figure)
        return as_bytes(figure, suffix)
    if view is not None or by is not None or fold:
        raise InputError(f"view, by, fold: are for pictures (.svg, .png, .pdf), not for {suffix}")
    if is_problem(thing):
        return problem_page(thing)
    plan = cast("Result | Schedule", thing)
    if suffix == ".html":
        return html(plan, problem=problem, beside=beside)
    events = trace_events(plan, problem=problem)
    return json.dumps(events, allow_nan=False, separators=(",", ":"))


def _checked_rows(max_rows: object) -> int:
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise InputError(f"max_rows: {max_rows!r} is not allowed; it is a whole number from 1")
    return max_rows
