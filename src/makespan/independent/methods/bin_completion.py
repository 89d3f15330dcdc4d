"""The optimum without preemption, by deciding one capacity after another."""

from __future__ import annotations

import random

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import bounds
from makespan.independent.needs import IDENTICAL, NO_PREEMPTION
from makespan.independent.placing.completion import Completion, Group, Unfinished
from makespan.independent.placing.greedy import first_plan
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

MAX_MACHINES, MAX_TASKS = 200, 5_000
MAX_UNITS = 4_000_000
FIRST_BUDGET = 100
"""Fillings that the first try of a capacity may take; each further one may take twice as many."""
SMALL_BUDGET = 400
TASKS_A_TRY = 400
"""To fill a machine with some of so many tasks takes about as long as to pack a few anew."""
TOGETHER = 40
"""Tasks that are packed anew together: those of the longest machine and of a few others."""
MOST_MACHINES = 5


def _units(problem: IndependentTasks) -> str | None:
    from makespan.backends.cp_sat import scaling_of

    if not problem.durations.any():
        return None
    scaling = scaling_of(problem.durations)
    if not scaling.exact:
        return "the durations have no common unit"
    units = problem.durations.sum() / problem.useful_machines / scaling.unit
    units = max(units, problem.durations.max() / scaling.unit)
    return f"they are {units:.3g} units" if units > MAX_UNITS else None


def _few(problem: IndependentTasks) -> str | None:
    tasks = len(problem.durations)
    if tasks <= MAX_TASKS and problem.useful_machines <= MAX_MACHINES:
        return None
    return f"there are {tasks} tasks and {problem.useful_machines} machines"


@register(
    "independent",
    name="bin-completion",
    needs=(
        IDENTICAL,
        NO_PREEMPTION,
        Need(f"at most {MAX_TASKS} tasks and {MAX_MACHINES} machines", _few, decisive=True),
        Need(f"machines that end within {MAX_UNITS} units of the durations", _units),
    ),
    proves="every shorter capacity is refuted by complete search",
    complexity="exponential",
    source="Korf 2003, Schreiber and Korf 2014: capacities from the bound upward, each by bin "
    "completion; dominance of Martello and Toth 1990. Between tries, a few machines are packed "
    "anew",
)
def bin_completion(problem: IndependentTasks, control: Control) -> Solution:
    """Pack the tasks within the least capacity, from the bound up; refute each that is short."""
    start = first_plan(problem, control)
    bound = max(bound.value for bound in bounds(problem))
    if control.expired() or start.makespan <= bound:
        return Solution(schedule=start, lower_bound=bound)
    from makespan.backends.cp_sat import scaling_of

    scaling = scaling_of(problem.durations)
    units = scaling.up(problem.durations)
    groups: list[list[int]] = [[] for _ in range(problem.useful_machines)]
    used = np.unique(start.machine, return_inverse=True)[1]
    for task, machine in zip(start.item.tolist(), used.tolist(), strict=True):
        groups[machine].append(int(units[task]))
    search = _Search([tuple(group) for group in groups], control)
    sums = _sums(search.tasks, search.longest)
    capacity, budget = _next_sum(sums, scaling.at_least(bound)), FIRST_BUDGET
    while capacity < search.longest and not control.expired():
        try:
            found = Completion(capacity, budget, control).packed(search.tasks, len(groups))
        except Unfinished:
            search.improve(capacity, tries=budget * len(units) // TASKS_A_TRY)
            budget *= 2
            continue
        if found is not None:
            search.groups = found
        else:
            capacity = _next_sum(sums, capacity + 1)
            control.report(scaling.seconds(search.longest), scaling.seconds(capacity))
    plan = _plan(problem, units.tolist(), search.groups)
    proved = search.longest <= capacity
    return Solution(
        schedule=plan if plan.makespan < start.makespan else start,
        lower_bound=scaling.bound(capacity),
        optimal=proved,
        stopped=not proved,
    )


def _sums(tasks: Group, longest: int) -> int:
    """Return the makespans that there can be, up to ``longest``: bit s says that tasks add to s."""
    sums, within = 1, (1 << (longest + 1)) - 1
    for task in tasks:
        sums = (sums | (sums << task)) & within
    return sums


def _next_sum(sums: int, least: int) -> int:
    """Return the first that is at least ``least``."""
    above = sums >> least
    return least + (above & -above).bit_length() - 1


class _Search:
    """A plan, the durations of the tasks of each machine, that gets shorter."""

    def __init__(self, groups: list[Group], control: Control) -> None:
        self.groups = groups
        self.tasks = _longest_first(groups)
        self._control = control
        self._random = random.Random(int(control.rng.integers(2**31)))

    @property
    def longest(self) -> int:
        return max(map(sum, self.groups))

    def improve(self, capacity: int, tries: int) -> None:
        """Pack the longest machine and a few others anew, within ``capacity`` or near it."""
        for _ in range(tries):
            loads = [sum(group) for group in self.groups]
            top = max(loads)
            if top <= capacity or self._control.expired():
                return
            chosen = self._some(loads.index(top))
            tasks = _longest_first([self.groups[machine] for machine in chosen])
            target = max(capacity, -(-sum(tasks) // len(chosen)))
            while target < top:
                try:
                    found = Completion(target, SMALL_BUDGET, self._control).packed(
                        tasks, len(chosen)
                    )
                except Unfinished:
                    found = None
                if found is not None:
                    for machine in chosen:
                        self.groups[machine] = found.pop() if found else ()
                    break
                target += max(1, (top - target) // 2)

    def _some(self, longest: int) -> list[int]:
        """Return the longest machine and others at random, that have few tasks together."""
        machines = len(self.groups)
        mean = len(self.tasks) / machines
        most = min(machines, MOST_MACHINES, max(2, int(TOGETHER / mean)))
        others = [machine for machine in range(machines) if machine != longest]
        return [longest, *self._random.sample(others, self._random.randint(1, most - 1))]


def _longest_first(groups: list[Group]) -> Group:
    return tuple(sorted((task for group in groups for task in group), reverse=True))


def _plan(problem: IndependentTasks, units: list[int], groups: list[Group]) -> Schedule:
    """Return the schedule in which each machine runs tasks of so many units."""
    of: dict[int, list[int]] = {}
    for task in reversed(range(len(units))):
        of.setdefault(units[task], []).append(task)
    tasks = np.array([of[unit].pop() for group in groups for unit in group], dtype=np.int64)
    machine = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return scheduled(problem, tasks, problem.durations[tasks], machine)
