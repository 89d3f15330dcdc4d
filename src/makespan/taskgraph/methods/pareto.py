"""The whole front of makespan and price."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import applicability, find_method, register, within_reach
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Objective, Solution
from makespan.taskgraph.bounds import bounds, kept
from makespan.taskgraph.limits import price_of, violation
from makespan.taskgraph.methods.lists.heft import heft
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
    of times between which there may be other points. Small graphs are searched completely, from
    the cheapest plan on; of others the front is that of the plans found.
    """
    one = replace(problem, objective="makespan", options={})
    plans: list[Schedule] = []
    with control.aside():
        for plan in _quick(one, control):
            if violation(problem, plan) == 0.0:
                plans = _front(problem, [*plans, plan])
        method = find_method("taskgraph", "cp-sat")
        exact = applicability(method, one).applies and within_reach(method, one)
        if exact:
            unknown, why = _searched(problem, control, method.run, plans)
            plans = _front(problem, plans)
            if why is not None:
                return Solution(schedule=None, infeasible=why)
        else:
            plans = _front(problem, [*plans, *_local(one, control, plans)])
            unknown = [(max(bound.value for bound in bounds(one)), np.inf)]
    if not plans:
        return Solution(schedule=None, stopped=True)
    slowest = plans[-1].makespan
    ranges = [[low, min(high, slowest)] for low, high in unknown]
    price = price_of(problem, plans[0])
    return Solution(
        schedule=plans[0],
        optimal=not unknown,
        stopped=bool(unknown),
        objective=Objective(name="price", value=price) if unknown else None,
        notes=(_shown(problem, plans, ranges),),
        details={"front": [_point(problem, plan) for plan in plans], "unknown": ranges},
    )


def _quick(problem: TaskGraph, control: Control) -> Iterator[Schedule]:
    start = heft(problem, control).schedule
    assert start is not None
    yield from plans_between(problem, control, start)
    if not control.expired():
        yield from plans_between(problem, control, None)


def _front(problem: TaskGraph, plans: list[Schedule]) -> list[Schedule]:
    """Return the plans that no other beats, by increasing time."""
    found: list[Schedule] = []
    least = np.inf
    for plan in sorted(plans, key=lambda each: (each.makespan, price_of(problem, each))):
        price = price_of(problem, plan)
        if price < least:
            found.append(plan)
            least = price
    return found


def _local(problem: TaskGraph, control: Control, plans: list[Schedule]) -> Iterator[Schedule]:
    """Yield what local search finds within some budgets, each from the fastest plan known."""
    if not plans or problem.is_blocking or problem.contention != "none":
        return
    prices = [price_of(problem, plan) for plan in plans]
    before = control.incumbent
    for budget in np.linspace(min(prices), max(prices), SEARCHED).tolist():
        start = next(p for p, price in zip(plans, prices, strict=True) if price <= budget)
        within = replace(problem, budget=budget)
        control.incumbent = Solution(schedule=start)
        found = kept(within, local_search(within, control)).schedule
        control.incumbent = before
        if found is not None:
            yield found


def _searched(
    problem: TaskGraph, control: Control, search: Any, plans: list[Schedule]
) -> tuple[list[tuple[float, float]], str | None]:
    """Add the points of the front to ``plans``, the cheapest first, until the time is up.

    Returns the times between which points may be missing, and why there is no plan at all.
    """
    latest = np.inf if problem.deadline is None else problem.deadline
    least = max(bound.value for bound in bounds(problem))
    first = True
    while True:
        limit = None if latest == np.inf else latest
        cheapest = replace(problem, objective="price", deadline=limit, options={})
        cheap = _limited(cheapest, control, search, plans)
        if cheap.infeasible is not None:
            return [], cheap.infeasible if first else None
        if cheap.schedule is not None:
            plans.append(cheap.schedule)
        if not cheap.optimal or cheap.schedule is None:
            return [(least, latest)], None
        price = price_of(problem, cheap.schedule)
        fastest = replace(cheapest, objective="makespan", budget=price)
        fast = _limited(fastest, control, search, plans)
        if fast.schedule is not None:
            plans.append(fast.schedule)
        if not fast.optimal:
            return [(least, latest)], None
        first, latest = False, fast.makespan * (1 - APART)
        if latest < least * (1 - APART):
            return [], None


def _limited(problem: TaskGraph, control: Control, search: Any, plans: list[Schedule]) -> Solution:
    """Return what exact search finds in a share of the time, from the best plan known."""
    left, before = control.remaining, control.incumbent
    fit = [plan for plan in plans if violation(problem, plan) == 0.0]
    control.incumbent = None
    if fit:
        by_price = problem.objective == "price"
        start = min(fit, key=lambda p: price_of(problem, p) if by_price else p.makespan)
        control.incumbent = Solution(schedule=start)
    with control.limited(None if left is None else SHARE * left):
        found: Solution = kept(problem, search(problem, control))
    control.incumbent = before
    if problem.objective == "makespan" and found.schedule is not None and not found.optimal:
        met = found.lower_bound is not None and found.makespan <= found.lower_bound * (1 + 1e-9)
        return replace(found, optimal=met)
    return found


def _point(problem: TaskGraph, plan: Schedule) -> dict[str, Any]:
    """Return time, price, and the tasks of each machine in the order of their starts."""
    rows = np.flatnonzero(plan.kind == Activity.COMPUTE)
    rows = rows[np.lexsort((problem.dag.position[plan.item[rows]], plan.start[rows]))]
    sequence: dict[str, list[str]] = {}
    for row in rows.tolist():
        machine = problem.machines[plan.machine[row]]
        sequence.setdefault(machine, []).append(problem.dag.names[plan.item[row]])
    return {"time": plan.makespan, "price": price_of(problem, plan), "sequence": sequence}


def _shown(problem: TaskGraph, plans: list[Schedule], unknown: list[list[float]]) -> str:
    ends = [f"{plan.makespan:.4g} s {price_of(problem, plan):.4g}" for plan in plans]
    few = ends if len(ends) <= 6 else [*ends[:3], "…", *ends[-3:]]
    text = f"{len(plans)} point{'s' if len(plans) > 1 else ''} on the front (time and price): "
    text += "; ".join(few)
    if not unknown:
        return text
    return f"{text}; others may lie between {unknown[0][0]:.4g} s and {unknown[-1][1]:.4g} s"
