"""What is shown, and which pictures of it there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from makespan.core.errors import InputError
from makespan.core.picture import Drawn, Picture
from makespan.core.problem import Problem, is_problem
from makespan.core.schedule import Schedule
from makespan.drawing.render import as_svg
from makespan.flow.kinds import kind_of
from makespan.flow.pictures.picture import drawable, misfits_refused, picture

if TYPE_CHECKING:
    from makespan.flow.result import Result

GANTT = "gantt"
CHART = "chart"
"""What colours tell apart beside a Gantt chart: what they do there."""


def views_of(thing: Result | Schedule | Problem, problem: Problem | None = None) -> tuple[str, ...]:
    """Return the names of the pictures that there are of a thing, the usual one first."""
    stated = _stated(thing, problem)
    others = () if stated is None else tuple(kind_of(stated).pictures.VIEWS)
    return others if stated is thing else (GANTT, *others)


def drawing(
    thing: Result | Schedule | Problem,
    view: str | None = None,
    *,
    problem: Problem | None = None,
    title: str | None = None,
    by: str | None = None,
    fold: bool = False,
) -> Picture | Drawn:
    """Return what a picture of a result, a schedule or a problem shows.

    Raises
    ------
    InputError
        If there is no such view of it, or it can't be drawn.
    """
    views = views_of(thing, problem)
    chosen = views[0] if view is None else view
    if chosen not in views:
        raise InputError(
            f"view: {chosen!r} is not a picture of {_word(thing, problem)}; "
            f"there {'is' if len(views) == 1 else 'are'} {', '.join(views)}"
        )
    stated = _stated(thing, problem)
    if chosen == GANTT:
        return picture(
            cast("Result | Schedule", thing), problem=problem, title=title, by=by, fold=fold
        )
    if fold:
        raise InputError("fold: only Gantt charts have lanes of transfers")
    assert stated is not None
    schedule: Schedule | None = None
    details: Mapping[str, Any] = {}
    if thing is not stated:
        schedule, details = drawable(cast("Result | Schedule", thing), stated)
    with misfits_refused():
        make = kind_of(stated).pictures.VIEWS[chosen]
        drawn = make(stated, schedule, by=by, details=details)
    return drawn if title is None else replace(drawn, title=title)


def page_diagrams(
    result: Result | Schedule | Problem,
    problem: Problem | None = None,
    *,
    by: str | None = CHART,
) -> tuple[tuple[str, str], ...]:
    """Return the pictures of a plan's problem that stand beside its chart on a page.

    Each comes with its title, as an SVG element in the colours of the page and of the chart; see
    :func:`makespan.drawing.diagram.draw.diagram_svg` for the data attributes of boxes and lines.
    A kind's picture that needs more than this plan has is left out.
    """
    stated = _stated(result, problem)
    found = []
    for view in () if stated is None else kind_of(stated).pictures.VIEWS:
        try:
            drawn = drawing(result, view, problem=problem, by=by)
        except InputError:
            continue
        assert not isinstance(drawn, Picture)
        found.append((drawn.title, as_svg(drawn, on_page=True)))
    return tuple(found)


def _stated(thing: object, problem: Problem | None) -> Problem | None:
    """Return the problem of a result, of a schedule that came with it, or the problem itself."""
    if is_problem(thing):
        return thing
    return problem if isinstance(thing, Schedule) else getattr(thing, "problem", None)


def _word(thing: object, problem: Problem | None) -> str:
    if isinstance(thing, Schedule):
        return "a schedule alone" if problem is None else "this schedule"
    return f"this {thing.kind} problem" if is_problem(thing) else "this result"
