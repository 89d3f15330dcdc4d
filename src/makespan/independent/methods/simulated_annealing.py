"""Simulated annealing on machines that differ, between a Lagrangean bound and the best plan."""

import math

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop, next_minimal
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.independent.assignment import Relaxed, assigned, below, first_machines, relaxed
from makespan.independent.bounds import best_bound
from makespan.independent.needs import NO_PREEMPTION, NO_RELEASES, PROGRAMMES, UNLIKE
from makespan.independent.problem import IndependentTasks

FEW = 200
PLACES = 10  # machines that a task may go to: those of least regret
CAPACITIES = (0.0, 0.1, 0.3, 0.6)  # where capacities lie between the bound and the plan
MOVES, MOST = 200, 1600  # moves and swaps of a task in a run: at first, and at last
SWAPS = 0.7  # the share of tries that are swaps
TEMPERATURES, HOT, COLD = 50, 1.0, 0.02
"""Of a run: how many, the first and the last, in units of the mean regret of second-best places."""
LEAST = 0.1
"""The least such unit, of a mean weighted duration: machines of unlike speeds have no regret."""


def _few_pairs(problem: IndependentTasks) -> str | None:
    pairs = len(problem.durations) * problem.machine_count
    return f"there are {pairs}" if pairs <= FEW else None


@register(
    needs=(UNLIKE, NO_PREEMPTION, NO_RELEASES),
    reach=(PROGRAMMES, Need(f"more than {FEW} pairs of a task and a machine", _few_pairs)),
    complexity="O(1) a move, O(n m) a step of the bound",
    source="Kirkpatrick, Gelatt and Vecchi 1983, on moves and swaps as in Glass, Potts and Shade "
    "1994; the bound by Lagrangean relaxation: van de Velde 1993",
)
def simulated_annealing(problem: IndependentTasks, control: Control) -> Solution:
    """Move and swap tasks between machines of little regret, for capacities below the best plan."""
    machine = first_machines(problem, control)
    if machine is None:
        return Solution(schedule=None, stopped=True)
    best = assigned(problem, machine)
    lower = best_bound(problem)
    state = int(control.rng.integers(1, 2**31 - 1))
    moves = MOVES
    while moves <= MOST and lower < best.makespan and not control.expired():
        relaxation = relaxed(problem.table, best.makespan, control)
        lower, improved = max(lower, relaxation.bound), False
        for share in CAPACITIES:
            shorter = below(problem, best.makespan)
            if control.expired() or lower > shorter:
                break
            capacity = min(shorter, lower + share * (best.makespan - lower))
            search = _Run(problem, relaxation, machine, shorter)
            state = search.cool(capacity, moves, state, control)
            plan = assigned(problem, search.machine)
            if plan.makespan < best.makespan:
                best, machine, improved = plan, search.machine, True
        control.report(best.makespan, lower)
        if lower > below(problem, best.makespan):
            break
        moves = moves if improved else 2 * moves
    return Solution(schedule=best, lower_bound=lower, stopped=True)


class _Run:
    """One run: the machine of each task, the tasks and the load of each machine."""

    def __init__(
        self, problem: IndependentTasks, relaxation: Relaxed, machine: Integers, shorter: float
    ) -> None:
        self.table, self.weights, self.machine = problem.table, relaxation.weights, machine.copy()
        tasks, machines = self.table.shape
        self._limits = np.array(problem.count_limits)
        sizes, capacity = problem.sizes, problem.capacity
        self._volume = np.zeros(tasks) if sizes is None else sizes
        used = np.bincount(machine, weights=self._volume, minlength=machines)
        self._room = np.full(machines, np.inf) if capacity is None else capacity - used
        regret = relaxation.regret
        self._places = np.argsort(regret, axis=1, kind="stable")[:, :PLACES]
        found = np.take_along_axis(regret, self._places, axis=1)
        some = np.take_along_axis(relaxation.within(shorter), self._places, axis=1)
        self._count = np.maximum(1, some.sum(axis=1))
        second = found[:, 1:2][np.isfinite(found[:, 1:2]) & some[:, 1:2]]
        typical = float((self.table * self.weights).min(axis=1).mean())
        self.scale = max(float(second.mean()) if len(second) else 0.0, LEAST * typical)
        order = np.argsort(machine, kind="stable")
        self._size = np.bincount(machine, minlength=machines)
        first = np.cumsum(self._size) - self._size
        self._position = np.empty(tasks, dtype=np.int64)
        self._position[order] = np.arange(tasks) - first[machine[order]]
        self._tasks = np.zeros((machines, tasks), dtype=np.int64)
        self._tasks[machine, self._position] = np.arange(tasks)

    def cool(self, capacity: float, moves: int, state: int, control: Control) -> int:
        """Bring the loads down to ``capacity``; return the state of the generator."""
        rows, (tasks, machines) = np.arange(len(self.machine)), self.table.shape
        seconds = self.table[rows, self.machine]
        load = np.bincount(self.machine, weights=seconds, minlength=machines).astype(np.float64)
        if self.scale <= 0:
            return state
        form = anneal.at(moves * tasks)
        for temperature in np.geomspace(HOT, COLD, TEMPERATURES) * self.scale:
            if control.expired() or load.max() <= capacity:
                break
            state = form(
                *readonly(self.table, self.weights, self._places, self._count),
                *readonly(self._limits, self._volume), self._room,
                self.machine, load, self._tasks, self._size, self._position,
                capacity, float(temperature), max(1, moves * tasks // TEMPERATURES), state,
            )  # fmt: skip
        return state


@loop(pays_from=20_000, loaded_from=2_000)  # moves
def anneal(  # type: ignore[no-untyped-def]
    seconds, weights, places, count, limits, volume, room,
    machine, load, tasks, size, position, capacity, temperature, moves, state,
):  # fmt: skip
    """Try moves and swaps that bring down the weighted loads above ``capacity``; return the state.

    ``places`` holds the machines that each task may move to, ``count`` of them; ``tasks`` those of
    each machine, ``size`` many, and ``position`` where each task stands among them. A machine has
    at least and at most as many as in its column of ``limits``, and ``room`` for more ``volume``.
    What makes it worse by d is taken with the chance exp(-d / temperature).
    """
    for _ in range(moves):
        state = next_minimal(state)
        task = state % len(machine)
        if count[task] < 2 and machine[task] == places[task, 0]:
            continue
        state = next_minimal(state)
        old, new = machine[task], places[task, (state >> 8) % count[task]]
        if new == old:
            continue
        state = next_minimal(state)
        back = -1
        before, after = load[old] - seconds[task, old], load[new] + seconds[task, new]
        if state < SWAPS * 2147483647 and size[new] > 0:
            state = next_minimal(state)
            back = tasks[new, (state >> 5) % size[new]]
            before += seconds[back, old]
            after -= seconds[back, new]
        elif size[old] <= limits[0, old] or size[new] >= limits[1, new]:
            continue
        gain = volume[task] - (volume[back] if back >= 0 else 0.0)
        if gain > room[new] or -gain > room[old]:
            continue
        worse = weights[old] * (max(0.0, before - capacity) - max(0.0, load[old] - capacity))
        worse += weights[new] * (max(0.0, after - capacity) - max(0.0, load[new] - capacity))
        if worse > 0.0:
            state = next_minimal(state)
            if state >= 2147483647 * math.exp(-worse / temperature):
                continue
        load[old], load[new] = before, after
        room[old] += gain
        room[new] -= gain
        gap = position[task]
        if back >= 0:
            tasks[old, gap] = back
            tasks[new, position[back]] = task
            position[task], position[back] = position[back], gap
            machine[back] = old
        else:
            size[old] -= 1
            last = tasks[old, size[old]]
            tasks[old, gap] = last
            position[last] = gap
            tasks[new, size[new]] = task
            position[task] = size[new]
            size[new] += 1
        machine[task] = new
    return state
