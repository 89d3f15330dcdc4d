"""LOSS and GAIN: tasks change machines one by one, between a fast plan and a cheap one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.limits import worth
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.needs import NO_DUPLICATION, NO_GIVEN_PLAN, PRICES, few_steps
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

MOST_PLANS = 400
"""Plans that are made on the way from one end to the other; of more steps, every second or so."""
step_by_step = partial(
    register,
    "taskgraph",
    needs=(NO_GIVEN_PLAN, NO_DUPLICATION, PRICES),
    reach=(few_steps(1e5, "tasks on machines", lambda p: float(len(p.dag)) * len(p.network)),),
    complexity="O(n² m + k n m), k up to 400 plans by insertion",
    source="Sakellariou, Zhao, Tsiakkouri and Dikaiakos 2007",
)


@step_by_step(name="loss")
def loss(problem: TaskGraph, control: Control) -> Solution:
    """From the plan of ``heft``, tasks move where they lose least time for the price saved.

    The plan on this way that keeps the limits best, then has the least objective, is taken.
    """
    return Solution(schedule=_best(problem, plans_between(problem, control, saves=True)))


@step_by_step(name="gain")
def gain(problem: TaskGraph, control: Control) -> Solution:
    """From the cheapest machine of each task, tasks move where they gain most time for the price.

    The plan on this way that keeps the limits best, then has the least objective, is taken.
    """
    return Solution(schedule=_best(problem, plans_between(problem, control, saves=False)))


def _best(problem: TaskGraph, plans: Iterator[Schedule]) -> Schedule:
    return min(plans, key=lambda plan: worth(problem, plan))


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
