"""result or schedule → a Gantt chart."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import TYPE_CHECKING

from makespan.core.errors import InputError
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.core.system.extras import optional
from makespan.drawing.gantt.layout import MAX_ROWS
from makespan.drawing.gantt.svg import gantt_svg
from makespan.drawing.svg import escaped
from makespan.flow.pictures.picture import picture, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from makespan.flow.result import Result

DOTS_PER_INCH = 144


def plot(
    result_or_schedule: Result | Schedule,
    *,
    ax: Axes | None = None,
    problem: Problem | None = None,
    title: str | None = None,
    max_rows: int = MAX_ROWS,
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
        If the result has no schedule, or the schedule can't be drawn (times that are not finite
        numbers, machines that the problem does not have).

    >>> from makespan import DivisibleLoad, Star, Worker, solve
    >>> from matplotlib.figure import Figure
    >>> plan = solve(DivisibleLoad(load=1.0, platform=Star([Worker(send=1.0, compute=3.0)])))
    >>> plot(plan, ax=Figure().add_subplot()).get_xlabel()
    'time (s)'
    """
    from makespan.drawing.gantt.mpl import FigureFrame, gantt

    drawn = picture(result_or_schedule, problem=problem, title=title)
    rows = _checked_rows(max_rows)
    if ax is None:
        plt = optional("matplotlib.pyplot")

        frame = FigureFrame.of(drawn, max_rows=rows, legend=legend)
        _, ax = plt.subplots(figsize=frame.size, gridspec_kw=frame.margins)
    return gantt(drawn, ax, max_rows=rows, legend=legend)


def svg(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    title: str | None = None,
    max_rows: int = MAX_ROWS,
    legend: bool = True,
    width: float = 1000.0,
) -> str:
    """Return a plan's Gantt chart as an SVG element, ``width`` pixels wide.

    The other parameters are those of :func:`plot`.
    """
    drawn = picture(result_or_schedule, problem=problem, title=title)
    return gantt_svg(drawn, width=width, max_rows=_checked_rows(max_rows), legend=legend)


def png(result_or_schedule: Result | Schedule, *, problem: Problem | None = None) -> bytes:
    """Return a plan's Gantt chart as a PNG image; pyplot and its backend are left alone."""
    from makespan.drawing.gantt.mpl import agg_axes, gantt

    drawn = picture(result_or_schedule, problem=problem)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = gantt(drawn, agg_axes(drawn)).get_figure()
        image = BytesIO()
        figure.savefig(image, format="png", dpi=DOTS_PER_INCH)  # type: ignore[union-attr]
    return image.getvalue()


def html_fragment(result: Result) -> str:
    """Return a result as HTML for a notebook: what is known of it, and its chart."""
    parts = [f"<p><strong>{escaped(title_of(result))}</strong></p>"]
    parts += [f"<p>{escaped(note)}</p>" for note in result.notes]
    if result.schedule is not None:
        parts.append(svg(result, title=""))
    return f'<div class="makespan-result" style="overflow-x:auto">{"".join(parts)}</div>'


def _checked_rows(max_rows: object) -> int:
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise InputError(f"max_rows: {max_rows!r} is not allowed; it is a whole number from 1")
    return max_rows
