"""Limits that plans keep or miss: deadlines and the budget; and what plans cost."""

import math

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.problem import TaskGraph

ALLOWED = 1e-9
"""How far above a limit, relative to it, plans may be: what sums of floats may be off.

The referee lets a task end later by as much of the makespan, which is more.
"""


def latest_ends(problem: TaskGraph) -> Floats:
    """Return when tasks have to end: their deadlines, with what rounding may add."""
    return problem.due * (1 + ALLOWED)


def most_allowed(problem: TaskGraph) -> float:
    """Return what a plan may cost: the budget, with what rounding may add; inf without one."""
    return math.inf if problem.budget is None else problem.budget * (1 + ALLOWED)


def lateness(problem: TaskGraph, schedule: Schedule) -> Floats:
    """Return by how many seconds each task ends too late, at most 0 for those in time."""
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    ends = np.full(len(problem.dag), np.inf)
    np.minimum.at(ends, schedule.item[rows], schedule.end[rows])
    return np.asarray(ends - latest_ends(problem))


def price_of(problem: TaskGraph, schedule: Schedule) -> float:
    """Return what a plan costs: the seconds of all cores held, and the machines that are used."""
    network = problem.network
    if not network.is_priced:
        return 0.0
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    machine = schedule.machine[rows]
    seconds = problem.durations_on(schedule.item[rows], machine)
    seconds = seconds * problem.dag.cores[schedule.item[rows]]
    starts = network.start_price[np.unique(machine)]
    return math.fsum([*(seconds * network.price[machine]).tolist(), *starts.tolist()])


def least_price(problem: TaskGraph) -> float:
    """Return a price that no plan is below: each task where it is cheapest, and one start."""
    dag, network = problem.dag, problem.network
    if not network.is_priced:
        return 0.0
    tasks, least = np.arange(len(dag)), np.full(len(dag), np.inf)
    for machine, price in enumerate(network.price.tolist()):
        seconds = problem.durations_on(tasks, np.full(len(dag), machine))
        here = np.isfinite(seconds)
        least[here] = np.minimum(least[here], seconds[here] * price)
    least *= dag.cores
    return math.fsum([*least.tolist(), float(network.start_price.min())])


def violation(problem: TaskGraph, schedule: Schedule) -> float:
    """Return by how much a plan misses its limits, as shares of them; 0 if it keeps all."""
    late = 0.0
    if problem.has_deadlines:
        over = lateness(problem, schedule)
        task = over > 0.0
        due = problem.due[task]
        late = float((over[task] / np.where(due > 0.0, due, 1.0)).max(initial=0.0))
    if problem.budget is not None:
        limit = most_allowed(problem)
        late += max(0.0, price_of(problem, schedule) - limit) / (limit or 1.0)
    return late


def worth(problem: TaskGraph, schedule: Schedule) -> tuple[float, float, float]:
    """Return what plans are compared by, less is better: limits, the objective, the makespan."""
    price = price_of(problem, schedule) if problem.objective == "price" else schedule.makespan
    return violation(problem, schedule), price, schedule.makespan


def missed(problem: TaskGraph, schedule: Schedule) -> str | None:
    """Say which limit a plan misses, of deadlines the one it misses most; None if it keeps all."""
    whole = problem.deadline
    if whole is not None and schedule.makespan > whole * (1 + ALLOWED):
        return f"it ends {schedule.makespan - whole:.6g} s after the deadline {whole:.12g}"
    if problem.has_deadlines:
        late = lateness(problem, schedule)
        task = int(np.argmax(late))
        if late[task] > 0.0:
            name, due = problem.dag.names[task], float(problem.due[task])
            return f"{name} ends {late[task]:.6g} s after its deadline {due:.12g}"
    if problem.budget is not None:
        price = price_of(problem, schedule)
        if price > most_allowed(problem):
            return f"it costs {price:.12g}, the budget is {problem.budget:.12g}"
    return None
