"""Machines that differ: plans of given machines, the programme of all, and its Lagrangean bound."""

import math
from dataclasses import dataclass

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.schedule import Schedule
from makespan.independent.bounds import grain
from makespan.independent.limits import kept
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

LEAST_GRAIN = 1e-8  # the least share of a makespan that steps between makespans are believed to be


def assigned(
    problem: IndependentTasks, machine: Integers, order: Integers | None = None
) -> Schedule:
    """Return the schedule that runs each task on its machine, started in this order.

    None is the order of releases, which no other beats.
    Tasks that take no time there are left out, but for those that are released later.
    """
    tasks = problem.by_release if order is None else order
    on = machine[tasks]
    seconds = problem.seconds_on(tasks, on)
    some = (seconds > 0) | problem.limited
    if problem.release is not None:
        some |= problem.release[tasks] > 0
    return scheduled(problem, tasks[some], seconds[some], on[some])


def first_machines(problem: IndependentTasks, control: Control) -> Integers | None:
    """Return the machine of each task in the best plan so far, else the fastest of each.

    With limits it is a plan of least total seconds; None where its sizes are too much.
    """
    machine: Integers = problem.table.argmin(axis=1)
    if control.incumbent is not None and control.incumbent.schedule is not None:
        plan = control.incumbent.schedule
        machine[plan.item] = plan.machine
    elif problem.limited and not kept(problem, machine):
        found = _least_total(problem, control)
        return found if found is not None and kept(problem, found) else None
    return machine


def _least_total(problem: IndependentTasks, control: Control) -> Integers | None:
    """Return the machines of least total seconds within counts, by a flow; None without any."""
    table = problem.table
    longest = float(table[np.isfinite(table)].max(initial=0.0)) or 1.0
    task, machine = np.nonzero(np.isfinite(table))
    programme = Programme()
    share = np.full(table.shape, -1)
    share[task, machine] = programme.variables(
        len(task), cost=table[task, machine] / longest, upper=1.0
    )
    programme.rows(share, 1.0, low=1.0, high=1.0)
    limit_counts(programme, problem, share)
    answer = programme.solve(control)
    if not answer.found:
        return None
    values = np.zeros(table.shape)
    values[task, machine] = answer.values
    found: Integers = values.argmax(axis=1)
    return found


def limit_counts(programme: Programme, problem: IndependentTasks, share: Integers) -> None:
    """Keep numbers and sizes of the tasks in their limits; ``share`` is each variable, or -1."""
    if problem.counts is not None:
        least, most = (limit.astype(np.float64) for limit in problem.count_limits)
        programme.rows(share.T, 1.0, low=least, high=most)
    if problem.sizes is not None and problem.capacity is not None:
        largest = float(problem.sizes.max(initial=0.0)) or 1.0
        some = np.flatnonzero(np.isfinite(problem.capacity))
        programme.rows(
            share.T[some], problem.sizes / largest, high=problem.capacity[some] / largest
        )


def below(problem: IndependentTasks, makespan: float) -> float:
    """Return what a plan that is shorter than another lasts at most."""
    unit = grain(problem)
    return makespan - unit if unit is not None and unit >= LEAST_GRAIN * makespan else makespan


def assignments(
    table: Floats,
    longest: float,
    *,
    integer: bool,
    release: Floats | None = None,
    limited: IndependentTasks | None = None,
) -> tuple[Programme, Integers, Integers]:
    """Return the programme of the least end of the longest machine.

    No task is on a machine where it takes more than ``longest``. With it, the task and the machine
    of the first variables. That end is the variable behind them, and where there are releases,
    what machines have to do after each, the first machine's first. ``limited`` is the problem whose
    limits are kept.
    """
    task, machine = np.nonzero(table <= longest)
    programme = Programme()
    share = np.full(table.shape, -1)
    share[task, machine] = programme.variables(len(task), upper=1.0, integer=integer)
    load = programme.variables(1, cost=1.0)
    programme.rows(share, 1.0, low=1.0, high=1.0)
    machines = table.shape[1]
    if limited is not None:
        limit_counts(programme, limited, share)
    if release is None:
        programme.rows(
            np.column_stack([share.T, np.repeat(load, machines)]),
            np.column_stack([table.T, np.full(machines, -1.0)]),
            high=0.0,
        )
        return programme, task, machine
    times = np.unique(release)
    for one in range(machines):
        left = programme.variables(len(times))
        for at, time in enumerate(times.tolist()):
            here = np.flatnonzero((release == time) & (share[:, one] >= 0))
            after = left[at + 1 : at + 2]
            programme.row(
                np.concatenate([share[here, one], after, left[[at]]]),
                np.concatenate([table[here, one], np.ones(len(after)), [-1.0]]),
                high=0.0,
            )
            programme.row([left[at], load[0]], [1.0, -1.0], high=-time)
    return programme, task, machine


def left_after(problem: IndependentTasks, machine: Integers) -> Floats:
    """Return what is left for each machine (row) of tasks released from each time (column) on."""
    assert problem.release is not None
    times, at = np.unique(problem.release, return_inverse=True)
    left = np.zeros((problem.machine_count, len(times)))
    np.add.at(left, (machine, at), problem.seconds_on(np.arange(len(machine)), machine))
    suffix: Floats = left[:, ::-1].cumsum(axis=1)[:, ::-1]
    return suffix


STEPS, EACH = 2000, 50  # steps of the ascent, and how many are made between two looks at the clock
STEP, FINEST = 1.0, 1e-7
SHRINK, PATIENCE, GAIN = 0.7, 10, 1e-7
KEPT = 0.6  # the share of the direction before that is kept in each
ROUNDING = 1e-13
SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """What the weights say of all plans that are no longer than one that is known.

    The machines' loads, weighted, add up to no more than the makespan where the weights add up to
    1; and to no less than each task where its weighted seconds are least. ``regret`` is by how
    much a task (row) on a machine (column) exceeds that.
    """

    weights: Floats
    bound: float
    regret: Floats

    def within(self, longest: float) -> np.ndarray:
        """Return which pairs of a task and a machine a plan of this makespan may hold."""
        return np.asarray(self.bound + self.regret <= longest * (1 + SLACK))


def relaxed(table: Floats, longest: float, control: Control) -> Relaxed:
    """Return weights whose bound is near that of the linear programme of all assignments.

    ``longest``, above 0, is the makespan of a plan that is known. Tasks that take longer on a
    machine are not looked at there, so the bound holds for plans that are no longer. Complexity:
    O(n m) a step, at most 2000 steps. Source: the Lagrangean dual of the load constraints, as van
    de Velde 1993 has it; the ascent is by subgradients, which change the weights by factors.
    """
    machines = table.shape[1]
    seconds = np.where(table <= longest, table / longest, np.inf)
    weights, best = np.full(machines, 1 / machines), np.full(machines, 1 / machines)
    mean, state = np.zeros(machines), np.array([0.0, STEP, 0.0])
    for _ in range(STEPS // EACH):
        if control.expired() or state[1] < FINEST or state[0] >= 1:
            break
        ascent.at(STEPS * seconds.size)(*readonly(seconds), weights, best, mean, state, EACH)
    best = np.maximum(best, 1e-300)
    with np.errstate(over="ignore"):
        weighted = seconds * best
    least = weighted.min(axis=1)
    bound = math.fsum(least) / math.fsum(best) * (1 - ROUNDING)
    return Relaxed(best, bound * longest, (weighted - least[:, None]) / math.fsum(best) * longest)


@loop(pays_from=300_000)  # steps times pairs
def ascent(seconds, weights, best, mean, state, steps):  # type: ignore[no-untyped-def]
    """Raise the sum of least weighted seconds; ``state``: the best, the step, steps in vain."""
    tasks, machines = seconds.shape
    load = np.zeros(machines)
    for _ in range(steps):
        load[:] = 0.0
        value = 0.0
        for task in range(tasks):
            machine, least = 0, np.inf
            for other in range(machines):
                weighted = seconds[task, other] * weights[other]
                if weighted < least:
                    machine, least = other, weighted
            value += least
            load[machine] += seconds[task, machine]
        state[2] = 0.0 if value > state[0] * (1.0 + GAIN) else state[2] + 1.0
        if value > state[0]:
            state[0] = value
            np.positive(weights, best)
        if state[0] <= 0.0:
            state[1] = 0.0
        if state[2] >= PATIENCE:
            state[1] *= SHRINK
            state[2] = 0.0
            np.positive(best, weights)
        if state[1] < FINEST:
            return
        total = 0.0
        for machine in range(machines):
            mean[machine] = KEPT * mean[machine] + (1.0 - KEPT) * (load[machine] - value)
            change = state[1] * mean[machine] / state[0]
            weights[machine] *= np.exp(min(1.0, max(-1.0, change)))
            total += weights[machine]
        for machine in range(machines):
            weights[machine] /= total
