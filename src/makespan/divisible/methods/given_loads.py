"""Timing for loads that are given: only the order may still be open."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.result import Solution
from makespan.core.schedule import Floats, Integers
from makespan.divisible.linear import with_deadline
from makespan.divisible.needs import A_MASTER, A_STAR
from makespan.divisible.plan import Plan
from makespan.divisible.platform import Master
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed


def _served_once(problem: DivisibleLoad) -> str | None:
    if problem.activation is not None and len(set(problem.activation)) < len(problem.activation):
        return "activation serves a worker twice"
    if problem.transfers is not None:
        sent = [name for what, name in problem.transfers if what == "send"]
        if len(set(sent)) < len(sent):
            return "transfers serves a worker twice"
    return None if problem.rounds == 1 else f"rounds is {problem.rounds!r}"


def _open_returns(problem: DivisibleLoad) -> str | None:
    if not problem.has_returns or problem.transfers is not None:
        return None
    return "results return, and their order on the port is open"


def _front_end_or_one_each(problem: DivisibleLoad) -> str | None:
    master = problem.star.master
    for name in ("uplink", "sends"):
        if getattr(master, name, None) is not None:
            return f"platform.master.{name} is given"
    return None


@register(
    "divisible",
    name="given-loads",
    needs=(
        A_STAR,
        Need("given loads", lambda problem: None if problem.loads else "loads is not given"),
        A_MASTER,
        Need("one chunk a worker", _served_once),
        Need("no returns, or transfers", _open_returns),
        Need("links without a shared limit", _front_end_or_one_each),
    ),
    proves="Lawler's rule: the last place goes to the worker that would end first in it",
    complexity="O(n log n), O(n^2) with release times",
    source="E. L. Lawler, Optimal sequencing of a single machine, Management Science 19 (1973); "
    "J. R. Jackson (1955) without release times",
)
def given_loads(problem: DivisibleLoad, control: Control) -> Solution:
    """Time the given loads; where the order of service is open, the best order is found.

    Without release times the worker that computes longest is served first.
    """
    assert problem.loads is not None
    star = problem.star
    amount = np.array([problem.loads.get(name, 0.0) for name in star.names], dtype=np.float64)
    obstacle = _obstacle(problem, amount)
    if obstacle is not None:
        return Solution(schedule=None, infeasible=obstacle)
    order, transfers = _order(problem, amount)
    own = problem.loads.get(star.master.name, 0.0) if isinstance(star.master, Master) else 0.0
    plan = Plan.of(order, amount[order], master=own, transfers=transfers)
    if problem.activation is None and problem.transfers is None:
        plan = plan.without_empty()
    schedule = timed(problem, plan)
    late = _late_worker(problem, schedule.machine, schedule.end)
    if late is not None and problem.order is None and problem.ports != "many":
        return Solution(schedule=None, notes=(f"{late}; another order may meet it",))
    if late is not None:
        return Solution(schedule=None, infeasible=late)
    return with_deadline(problem, Solution(schedule=schedule, optimal=True))


def _order(problem: DivisibleLoad, amount: Floats) -> tuple[Integers, Any]:
    """Return the workers in the order of service, and the transfers where they are given."""
    if problem.transfers is not None:
        names = [name for what, name in problem.transfers if what == "send"]
        order = problem.workers_in(names)
        chunk = {name: index for index, name in enumerate(names)}
        return order, [
            chunk[n] if what == "send" else -1 - chunk[n] for what, n in problem.transfers
        ]
    fixed = problem.activation or problem.order
    if fixed is not None:
        return problem.workers_in(fixed), None
    busy = np.flatnonzero(amount > 0)
    star = problem.star
    tail = star.compute_fixed + star.compute_per_unit * amount
    if not star.release[busy].any():
        return busy[np.argsort(-tail[busy], kind="stable")], None
    return _lawler(star.send_fixed + star.send_per_unit * amount, star.release, tail, busy), None


def _lawler(send: Floats, release: Floats, tail: Floats, workers: Integers) -> Integers:
    """Fill the places from the last: each goes to the worker that then ends first."""
    left = workers.tolist()
    backwards = []
    arrival = float(send[workers].sum())
    while left:
        ends = np.maximum(arrival, release[left]) + tail[left]
        last = left[int(np.argmin(ends))]
        left.remove(last)
        backwards.append(last)
        arrival -= float(send[last])
    return np.array(backwards[::-1], dtype=np.int64)


def _obstacle(problem: DivisibleLoad, amount: Floats) -> str | None:
    """Say which limit the given loads break, or None."""
    star = problem.star
    over = np.flatnonzero(amount > star.memory)
    if len(over):
        name, limit = star.names[int(over[0])], float(star.memory[over[0]])
        return f"loads.{name} is {float(amount[over[0]])!r}, but its memory is {limit!r}"
    cut = np.flatnonzero(amount != np.rint(amount))
    if problem.integral and len(cut):
        return f"loads.{star.names[int(cut[0])]} is {float(amount[cut[0]])!r}: no whole number"
    idle = np.flatnonzero(amount == 0)
    if problem.use == "all" and len(idle):
        return f"use is 'all', but {star.names[int(idle[0])]} gets nothing"
    busy = amount > 0
    price = float((star.price_fixed + star.price_per_unit * amount)[busy].sum())
    if problem.budget is not None and price > problem.budget * (1 + 1e-12):
        return f"the loads cost {price:.12g}, but the budget is {problem.budget:.12g}"
    return None


def _late_worker(problem: DivisibleLoad, machine: Integers, end: Floats) -> str | None:
    limit = np.concatenate([[np.inf], problem.star.deadline])[machine]
    late = np.flatnonzero(end > limit * (1 + 1e-12))
    if not len(late):
        return None
    row = int(late[0])
    name = problem.machines[int(machine[row])]
    return f"{name} would end at {end[row]:.12g}, after its deadline {limit[row]:.12g}"
