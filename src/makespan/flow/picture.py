"""result or schedule → what a picture of it shows."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from makespan.core.errors import InputError
from makespan.core.kind import HasGroups
from makespan.core.picture import Drawn, Groups, Mark, Picture
from makespan.core.problem import Problem, is_problem
from makespan.core.schedule import Schedule
from makespan.core.solution import Status
from makespan.drawing.gantt.assemble import schedule_picture
from makespan.drawing.render import as_svg
from makespan.drawing.text import percent, short
from makespan.flow.check import broken_rows, foreign_machines
from makespan.flow.kinds import kind_of
from makespan.flow.result import MISFIT, Result, unwarned

BOUND_IS_MET = 1e-9


def picture(
    result_or_schedule: Result | Schedule,
    *,
    problem: Problem | None = None,
    title: str | None = None,
    by: str | None = None,
    fold: bool = False,
) -> Picture:
    """Return what a picture of a plan shows, coloured ``by``; with ``fold`` without transfers."""
    result, schedule, problem = _parts_of(result_or_schedule, problem)
    if problem is None:
        drawn = schedule_picture(schedule)
    else:
        with misfits_refused():
            drawn = kind_of(problem).pictures.picture(problem, schedule)
            if by is not None:
                details = {} if result is None else result.details
                drawn = replace(drawn, groups=_grouped(problem, schedule, by, details))
    if fold:
        drawn = drawn.folded()
    bound = None if result is None else result.lower_bound
    if result is None and problem is not None:
        bound = max((each.value for each in kind_of(problem).bounds.bounds(problem)), default=None)
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


def _grouped(problem: Problem, schedule: Schedule, by: str, details: Mapping[str, Any]) -> Groups:
    room = kind_of(problem).pictures
    if not isinstance(room, HasGroups):
        raise InputError(f"by: Gantt charts of {problem.kind} problems have one way of colours")
    return room.grouped(problem, schedule, by, details)


@contextmanager
def misfits_refused() -> Iterator[None]:
    """Refuse a schedule in which a kind's picture does not find what it looks for."""
    try:
        with unwarned():
            yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the schedule can't be drawn: {MISFIT}") from error


def _parts_of(
    plan: Result | Schedule, problem: Problem | None
) -> tuple[Result | None, Schedule, Problem | None]:
    """Return a plan's result, if any, schedule and problem; raise InputError if undrawable."""
    if isinstance(plan, Schedule):
        result, schedule = None, plan
    elif not hasattr(plan, "schedule"):
        raise TypeError(f"a {type(plan).__name__} is neither a result nor a schedule")
    elif plan.schedule is None:
        raise InputError(f"there is no plan to draw: the result is {plan.status.value}")
    else:
        result, schedule, problem = plan, plan.schedule, plan.problem
    faults = broken_rows(schedule)
    if problem is not None and not faults:
        faults = foreign_machines(problem, schedule)
    if faults:
        raise InputError(f"the schedule can't be drawn: {faults[0].message}")
    return result, schedule, problem


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


GANTT = "gantt"
CHART = "chart"  # what colours tell apart beside a Gantt chart: what they do there


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
    """Return what a picture of a thing shows, or raise InputError if that can't be drawn."""
    stated, views = _stated(thing, problem), views_of(thing, problem)
    chosen = views[0] if view is None else view
    if chosen not in views:
        raise InputError(
            f"view: {chosen!r} is not a picture of {_word(thing, problem)}; "
            f"there {'is' if len(views) == 1 else 'are'} {', '.join(views)}"
        )
    if chosen == GANTT:
        return picture(
            cast("Result | Schedule", thing), problem=problem, title=title, by=by, fold=fold
        )
    if fold:
        raise InputError("fold: only Gantt charts have lanes of transfers")
    assert stated is not None
    result, schedule = None, None
    if thing is not stated:
        result, schedule, _ = _parts_of(cast("Result | Schedule", thing), stated)
    with misfits_refused():
        make = kind_of(stated).pictures.VIEWS[chosen]
        drawn = make(stated, schedule, by=by, details={} if result is None else result.details)
    return drawn if title is None else replace(drawn, title=title)


def page_diagrams(
    result: Result | Schedule | Problem, problem: Problem | None = None, *, by: str | None = CHART
) -> tuple[tuple[str, str], ...]:
    """Return the pictures of a plan's problem that stand beside its chart on a page.

    Each comes with its title, as an SVG element in the colours of the page and of the chart; see
    :func:`makespan.drawing.diagram.draw.diagram_svg` for the data attributes of boxes and lines.
    A kind's picture that needs more than this plan has is left out.
    """
    stated = _stated(result, problem)
    found = []
    views = () if stated is None else kind_of(stated).pictures.VIEWS
    for view in sorted(views, key=lambda name: name != "front"):
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
