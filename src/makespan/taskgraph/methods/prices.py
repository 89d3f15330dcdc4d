"""Plans between fast and cheap ones: LOSS and GAIN, and the whole front of makespan and price."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import applicability, at_most, find_method, register, within_reach
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Objective, Solution, front_in_words
from makespan.taskgraph.bounds import bounds, enforce_limits
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.limits import ALLOWED, price_of, violation, worth
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.methods.local_search import local_search
from makespan.taskgraph.needs import A_FRONT, NO_DUPLICATION, NO_GIVEN_PLAN, PRICES
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

MOST_PLANS = 400
"""Plans that are made on the way from one end to the other; of more steps, every second or so."""
step_by_step = partial(
    register,
    needs=(NO_GIVEN_PLAN, NO_DUPLICATION, PRICES),
    reach=(at_most(1e5, "tasks on machines", lambda p: float(len(p.dag)) * len(p.network)),),
    complexity="O(n² m + k n m), k up to 400 plans by insertion",
    source="Sakellariou, Zhao, Tsiakkouri and Dikaiakos 2007",
)


@step_by_step(name="loss")
def loss(problem: TaskGraph, control: Control) -> Solution:
    """From the plan of ``heft``, tasks move where they lose least time for the price saved.

    The plan on this way that keeps the limits best, then has the least objective, is taken.
    """
    plans = plans_between(problem, control, saves=True)
    return Solution(schedule=min(plans, key=lambda plan: worth(problem, plan)))


@step_by_step(name="gain")
def gain(problem: TaskGraph, control: Control) -> Solution:
    """From the cheapest machine of each task, tasks move where they gain most time for the price.

    The plan on this way that keeps the limits best, then has the least objective, is taken.
    """
    plans = plans_between(problem, control, saves=False)
    return Solution(schedule=min(plans, key=lambda plan: worth(problem, plan)))


def plans_between(problem: TaskGraph, control: Control, *, saves: bool) -> Iterator[Schedule]:
    """Yield plans from that of ``heft`` to the cheapest, or else from the cheapest to a fast one.

    Weights are those of LOSS1 and GAIN1, from the durations of the tasks alone, with what starting
    or leaving a machine costs. No task goes back to a machine.
    """
    count, durations = len(problem.dag), problem.durations
    charge = problem.charges
    order = by_level(problem.dag, ranks(problem))
    if saves:
        start = heft(problem, control).schedule
        assert start is not None
        machine = machine_of_tasks(problem, start)
        yield start
        if control.expired():
            return
    else:
        machine = _cheapest(problem, charge)
    tried = ~np.isfinite(durations)
    step, pause = 0, max(1, count // (MOST_PLANS // 2))
    while True:
        tried[np.arange(count), machine] = True
        task, place = _next(problem, durations, charge, machine, tried, saves=saves)
        if task < 0 or step % pause == 0:
            yield inserted(problem, control, order, pinned=machine)
        if task < 0 or control.expired():
            return
        machine[task] = place
        step += 1


def _cheapest(problem: TaskGraph, charge: Floats) -> Integers:
    """Return the cheapest machine for each task, or one for all where starts make that cheaper."""
    network = problem.network
    apart: Integers = np.argmin(charge, axis=1)
    alone = charge.sum(axis=0) + network.start_price
    cost = charge.min(axis=1).sum() + network.start_price[np.unique(apart)].sum()
    if alone.min() <= cost:
        return np.full(len(charge), int(np.argmin(alone)))
    return apart


def _next(
    problem: TaskGraph, seconds: Floats, charge: Floats, machine: Integers, tried: np.ndarray,
    *, saves: bool,
) -> tuple[int, int]:  # fmt: skip
    """Return the task that moves next, and where to; -1 for none."""
    every, starts = np.arange(len(machine)), problem.network.start_price
    number = np.bincount(machine, minlength=len(starts))
    left = np.where(number[machine] == 1, starts[machine], 0.0)
    cost = charge - charge[every, machine][:, None]
    cost += np.where(number == 0, starts, 0.0)[None, :] - left[:, None]
    time = seconds - seconds[every, machine][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        if saves:  # the time lost for what is saved: least
            weight = np.where((cost < 0.0) & ~tried, time / -cost, np.inf)
        else:  # the time gained for what is paid: most
            free = np.where(time < 0.0, -np.inf, np.inf)
            weight = np.where(cost > 0.0, time / cost, free)
            weight[tried | (time >= 0.0)] = np.inf
    best = int(np.argmin(weight))
    if weight.flat[best] == np.inf:
        return -1, -1
    return best // weight.shape[1], best % weight.shape[1]


APART = 1e-6  # points whose times differ by less, relative to them, are not told apart
SEARCHED = 8  # budgets between the ends within which local search looks for the fastest plan
SHARE = 0.5  # what part of the time left one exact search may take


class Point(NamedTuple):
    """A plan, and what it takes and costs."""

    time: float
    price: float
    plan: Schedule


@register(
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
        ways = (saves for saves in (True, False) if saves or not control.expired())
        for plan in (plan for saves in ways for plan in plans_between(one, control, saves=saves)):
            if violation(problem, plan) == 0.0:
                points = _front([*points, _priced(problem, plan)])
        method = find_method("taskgraph", "cp-sat")
        if applicability(method, one).applies and within_reach(method, one):
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
        if control.expired():
            return
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
    item = plan.item[rows]
    rows = rows[np.lexsort((problem.dag.position[item], plan.start[rows], plan.machine[rows]))]
    machine, starts = np.unique(plan.machine[rows], return_index=True)
    order = np.lexsort((problem.dag.position[plan.item[rows[starts]]], plan.start[rows[starts]]))
    names, items = list(problem.dag.names), np.split(plan.item[rows], starts[1:])
    sequence = {
        problem.machines[machine[each]]: [names[task] for task in items[each].tolist()]
        for each in order.tolist()
    }
    return {"time": time, "price": price, "sequence": sequence}
