"""The whole front of makespan and price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import applicability, find_method, register, within_reach
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Objective, Solution, front_in_words
from makespan.taskgraph.bounds import bounds, enforce_limits
from makespan.taskgraph.limits import ALLOWED, price_of, violation
from makespan.taskgraph.methods.lists.loss_gain import plans_between
from makespan.taskgraph.methods.local_search import local_search
from makespan.taskgraph.needs import A_FRONT, NO_DUPLICATION
from makespan.taskgraph.problem import TaskGraph

APART = 1e-6
"""Points whose times differ by less, relative to them, are not told apart."""
SEARCHED = 8
"""Budgets between the ends within which local search looks for the fastest plan."""
SHARE = 0.5
"""What part of the time left one exact search may take."""


class Point(NamedTuple):
    """A plan, and what it takes and costs."""

    time: float
    price: float
    plan: Schedule


@register(
    "taskgraph",
    name="pareto",
    needs=(A_FRONT, NO_DUPLICATION),
    proves="of each point, by complete search: no plan as fast is cheaper, none as cheap is faster",
    complexity="the plans of loss and gain, then local searches, or two searches of cp-sat a point",
    source="Haimes, Lasdon and Wismer 1971 (ε-constraint)",
)
def pareto(problem: TaskGraph, control: Control) -> Solution:
    """Every pair of makespan and price that no plan beats in both; the schedule is the fastest.

    The details hold ``front``: time, price and sequences by increasing time; and ``unknown``: pairs
    of times between which there may be other points, the second None where any later plan may be
    cheaper. Small graphs are searched completely, from
    the cheapest plan on; of others the front is that of the plans found.
    """
    one = replace(problem, objective="makespan", options={})
    points: list[Point] = []
    with control.aside():
        for plan in _quick(one, control):
            if violation(problem, plan) == 0.0:
                points = _front([*points, _priced(problem, plan)])
        method = find_method("taskgraph", "cp-sat")
        exact = applicability(method, one).applies and within_reach(method, one)
        if exact:
            unknown, why = _searched(problem, control, method.run, points)
            points = _front(points)
            if why is not None:
                return Solution(schedule=None, infeasible=why)
        else:
            points = _front([*points, *_local(one, control, points)])
            unknown = [(max(bound.value for bound in bounds(one)), np.inf)]
    if not points:
        return Solution(schedule=None, stopped=True)
    ranges = [[low, None if np.isinf(high) else high] for low, high in unknown]
    return Solution(
        schedule=points[0].plan,
        optimal=not unknown,
        stopped=bool(unknown),
        objective=Objective(name="price", value=points[0].price) if unknown else None,
        notes=(front_in_words([each[:2] for each in points], "price", ranges),),
        details={"front": [_entry(problem, point) for point in points], "unknown": ranges},
    )


def _quick(problem: TaskGraph, control: Control) -> Iterator[Schedule]:
    yield from plans_between(problem, control, saves=True)
    if not control.expired():
        yield from plans_between(problem, control, saves=False)


def _priced(problem: TaskGraph, plan: Schedule) -> Point:
    return Point(plan.makespan, price_of(problem, plan), plan)


def _front(points: list[Point]) -> list[Point]:
    """Return the points that no other beats, by increasing time."""
    found: list[Point] = []
    for point in sorted(points, key=lambda each: each[:2]):
        if not found or point.price < found[-1].price:
            found.append(point)
    return found


def _local(problem: TaskGraph, control: Control, points: list[Point]) -> Iterator[Point]:
    """Yield what local search finds within some budgets, each from the fastest plan known."""
    if not points or problem.transfers_wait:
        return
    before = control.incumbent
    for budget in np.linspace(points[-1].price, points[0].price, SEARCHED).tolist():
        start = next(point.plan for point in points if point.price <= budget)
        within = replace(problem, budget=budget)
        control.incumbent = Solution(schedule=start)
        found = enforce_limits(within, local_search(within, control)).schedule
        control.incumbent = before
        if found is not None:
            yield _priced(problem, found)


def _searched(
    problem: TaskGraph, control: Control, search: Any, points: list[Point]
) -> tuple[list[tuple[float, float]], str | None]:
    """Add those of the front to ``points``, the cheapest first, until the time is up.

    Returns the times between which points may be missing, and why there is no plan at all.
    """
    latest = np.inf if problem.deadline is None else problem.deadline
    least = max(bound.value for bound in bounds(problem))
    first = True
    while True:
        limit = None if latest == np.inf else latest
        cheapest = replace(problem, objective="price", deadline=limit, options={})
        cheap = _limited(cheapest, control, search, points)
        if cheap.infeasible is not None:
            return [], cheap.infeasible if first else None
        if cheap.schedule is not None:
            points.append(_priced(problem, cheap.schedule))
        if not cheap.optimal or cheap.schedule is None:
            return [(least, latest)], None
        fastest = replace(cheapest, objective="makespan", budget=points[-1].price)
        fast = _limited(fastest, control, search, points)
        if fast.schedule is not None:
            points.append(_priced(problem, fast.schedule))
        if not fast.optimal:
            return [(least, latest)], None
        first, latest = False, fast.makespan * (1 - APART)
        if latest < least * (1 - APART):
            return [], None


def _limited(problem: TaskGraph, control: Control, search: Any, points: list[Point]) -> Solution:
    """Return what exact search finds in a share of the time, from the best plan known."""
    before = control.incumbent
    fit = [point for point in points if violation(problem, point.plan) == 0.0]
    control.incumbent = None
    if fit:
        by_price = problem.objective == "price"
        start = min(fit, key=lambda point: point.price if by_price else point.time)
        control.incumbent = Solution(schedule=start.plan)
    with control.sharing(SHARE):
        found: Solution = enforce_limits(problem, search(problem, control))
    control.incumbent = before
    if problem.objective == "makespan" and found.schedule is not None and not found.optimal:
        met = found.lower_bound is not None and found.makespan <= found.lower_bound * (1 + ALLOWED)
        return replace(found, optimal=met)
    return found


def _entry(problem: TaskGraph, point: Point) -> dict[str, Any]:
    """Return time, price, and the tasks of each machine in the order of their starts."""
    time, price, plan = point
    rows = np.flatnonzero(plan.kind == Activity.COMPUTE)
    rows = rows[np.lexsort((problem.dag.position[plan.item[rows]], plan.start[rows]))]
    sequence: dict[str, list[str]] = {}
    for row in rows.tolist():
        machine = problem.machines[plan.machine[row]]
        sequence.setdefault(machine, []).append(problem.dag.names[plan.item[row]])
    return {"time": time, "price": price, "sequence": sequence}
