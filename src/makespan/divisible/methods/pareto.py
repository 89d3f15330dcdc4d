"""The front of makespan and price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.front import in_words
from makespan.core.inputs.mistakes import refusal
from makespan.core.inputs.rules import whole
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Objective, Solution
from makespan.divisible.methods.returns.orders import return_programme
from makespan.divisible.methods.rounds.sequence_search import sequence_search
from makespan.divisible.model.plan import price_of
from makespan.divisible.model.points import entry_of
from makespan.divisible.needs import A_FRONT, ANY_STAR
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decided import Decided
from makespan.divisible.timing import matched

POINTS = whole("points are", 2)
ALLOWED = 1e-9
"""Relative: by so much a limit that is the value of another plan is raised."""


class Point(NamedTuple):
    """A plan, what it takes and costs, and whether it is proved that no plan beats it in both."""

    time: float
    price: float
    plan: Schedule
    proved: bool


@register(
    "divisible",
    name="pareto",
    needs=(ANY_STAR, A_FRONT),
    proves="of each point, by trying every sequence: no plan as fast is cheaper",
    complexity="a search over sequences a point",
    source="Haimes, Lasdon and Wismer 1971 (ε-constraint)",
)
def pareto(problem: DivisibleLoad, control: Control, *, points: int = 12) -> Solution:
    """Pairs of makespan and price that no plan beats in both; the schedule is the fastest.

    The front is a curve. Of it the details hold the ends, the fastest plan and the cheapest, and
    the cheapest plans by deadlines at equal distances in between: ``front`` has their time, price
    and chunks by increasing time. ``unknown`` are the times between which some are not proved.
    """
    text = refusal(points, POINTS)
    if text is not None:
        raise MethodError(f"points: {text}")
    found: list[Point] = []
    for each in _ends_and_between(problem, control, points):
        if isinstance(each, Solution):
            return each
        found.append(each)
    return _solution(problem, _front(found))


def _ends_and_between(
    problem: DivisibleLoad, control: Control, points: int
) -> Iterator[Point | Solution]:
    """Yield points, or a solution that says why there are none.

    The fastest plan is made as cheap, the cheapest as fast as it can be.
    """
    by_time = replace(problem, objective="makespan", options={})
    by_price = replace(problem, objective="price", options={})
    left = points + 2

    def best(limited: DivisibleLoad) -> Solution:
        nonlocal left
        seconds = None if control.remaining is None else max(0.0, control.remaining) / max(1, left)
        left -= 1
        with control.aside(), control.limited(seconds):
            search = sequence_search if problem.transfers is None else return_programme
            return search(limited, control)

    fastest, cheapest = best(by_time), best(by_price)
    if fastest.schedule is None or cheapest.schedule is None:
        why = fastest if fastest.schedule is None else cheapest
        yield Solution(schedule=None, infeasible=why.infeasible, notes=why.notes, stopped=True)
        return
    least = _price(problem, cheapest.schedule)
    end = best(replace(by_time, budget=_raised(least, problem.budget)))
    slowest = cheapest if end.schedule is None else end
    yield _point(problem, slowest, proved=cheapest.optimal and end.optimal)
    for deadline in np.linspace(fastest.makespan, slowest.makespan, points)[:-1].tolist():
        by_then = best(replace(by_price, deadline=_raised(deadline, problem.deadline)))
        if by_then.schedule is not None:
            yield _point(problem, by_then, proved=by_then.optimal)
        elif deadline == fastest.makespan:
            yield _point(problem, fastest, proved=False)


def _raised(limit: float, most: float | None) -> float:
    """Return a limit that is the value of another plan, but no more than the problem's own."""
    raised = limit * (1 + ALLOWED)
    return raised if most is None else min(raised, most)


def _point(problem: DivisibleLoad, found: Solution, *, proved: bool) -> Point:
    assert found.schedule is not None
    price = _price(problem, found.schedule)
    return Point(found.makespan, price, found.schedule, proved)


def _price(problem: DivisibleLoad, schedule: Schedule) -> float:
    given, plan = matched(problem, schedule)
    return price_of(given.star, plan)


def _front(points: list[Point]) -> list[Point]:
    """Return the points that no other beats, to within what solvers tell apart, by time."""
    found: list[Point] = []
    for point in sorted(points, key=lambda each: (each.time, not each.proved, each.price)):
        if not found or point.price < found[-1].price * (1 - ALLOWED) - ALLOWED * point.price:
            if found and point.time <= found[-1].time * (1 + 2 * ALLOWED):
                found.pop()
            found.append(point)
    return found


def _solution(problem: DivisibleLoad, points: list[Point]) -> Solution:
    open_ = [point.time for point in points if not point.proved]
    details: dict[str, Any] = {
        "front": [_entry(problem, point) for point in points],
        "unknown": [[min(open_), max(open_)]] if open_ else [],
    }
    goal = Objective(name="price", value=points[0].price) if open_ else None
    return Solution(
        schedule=points[0].plan,
        optimal=not open_,
        stopped=bool(open_),
        objective=goal,
        notes=(_shown(points, len(open_)),),
        details=details,
    )


def _entry(problem: DivisibleLoad, point: Point) -> dict[str, Any]:
    given, plan = matched(problem, point.plan)
    decided = Decided.of(given, plan)
    entry = entry_of(given.star.names, decided.plan(plan), decided.behind)
    holder = {"holder": given.machines[0]} if problem.chooses_master else {}
    return {"time": point.time, "price": point.price, **holder, **entry}


def _shown(points: list[Point], unproved: int) -> str:
    text = in_words([(point.time, point.price) for point in points], "price")
    return f"{text}; {unproved} of them are not proved" if unproved else text
