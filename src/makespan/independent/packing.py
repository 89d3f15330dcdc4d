"""Whether tasks fit on machines within a capacity, and the least capacity within which they do.

Bin completion takes one machine after another. The machine of the longest task left is filled in
every way that can still be part of a packing: sums that leave more room idle than there is to spare
are not looked at, nor sets of tasks that others dominate (Martello and Toth 1990, section 8.4; Korf
2003). Which sums there are is a bit set, a whole number of Python: the dynamic programme for subset
sums takes a shift for each task.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.limits import tightened
from makespan.independent.list_scheduling import first_plan, groups_of
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

if TYPE_CHECKING:
    from makespan.backends.cp_sat import Scaling

Group = tuple[int, ...]
Limits = tuple[tuple[int, int], ...]
"""The least and the greatest number of tasks of each machine."""


class Unfinished(Exception):
    """The budget, or the time, was spent before there was a verdict."""


class Completion:
    """Packs durations, whole numbers, on machines that each have the same ``capacity``.

    Parameters
    ----------
    capacity
        What the durations on one machine may add up to.
    budget
        So many ways to fill a machine are tried at most.

    >>> Completion(8, 100, Control()).packed((4, 4, 4, 4, 3, 2), 3)
    [(4, 4), (4, 4), (3, 2)]
    >>> Completion(7, 100, Control()).packed((4, 4, 4, 4, 3, 2), 3) is None
    True
    """

    def __init__(self, capacity: int, budget: int, control: Control) -> None:
        self.capacity = capacity
        self._left = budget
        self._control = control
        self._failed: set[tuple[int, Group]] = set()

    def packed(self, tasks: Group, machines: int) -> list[Group] | None:
        """Return the tasks of each machine, or None where they don't fit.

        ``tasks`` are their durations, above 0, the longest first.

        Raises
        ------
        Unfinished
            Where the budget or the time is spent before that is known.
        """
        spare = machines * self.capacity - sum(tasks)
        if spare < 0 or (tasks and tasks[0] > self.capacity):
            return None
        if len(tasks) <= machines:
            return [(task,) for task in tasks]
        if machines == 1:
            return [tasks]
        if (machines, tasks) in self._failed:
            return None
        for chosen, rest in self._fillings(tasks, spare):
            others = self.packed(rest, machines - 1)
            if others is not None:
                return [chosen, *others]
        self._failed.add((machines, tasks))
        return None

    def _fillings(self, tasks: Group, spare: int) -> Iterator[tuple[Group, Group]]:
        """Yield ways to fill the machine of the first task, the fullest first, and what is left."""
        room = self.capacity - tasks[0]
        sums = [1] * (len(tasks) + 1)  # bit s: tasks from here on have a subset of sum s
        within = (1 << (room + 1)) - 1
        for index in range(len(tasks) - 1, 0, -1):
            sums[index] = (sums[index + 1] | (sums[index + 1] << tasks[index])) & within
        least = max(0, room - spare)
        left = sums[1] >> least
        while left:
            top = left.bit_length() - 1
            left ^= 1 << top
            for chosen in _subsets(tasks, sums, least + top):
                self._spend()
                inside = {0, *chosen}
                rest = tuple(task for index, task in enumerate(tasks) if index not in inside)
                filling = (tasks[0], *(tasks[index] for index in chosen))
                if not _dominated(filling[1:], rest, room - least - top):
                    yield filling, rest

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0 or self._control.expired():
            raise Unfinished


class CountedCompletion(Completion):
    """The same on machines that each run a number of tasks within limits.

    >>> CountedCompletion(8, 100, Control()).within((4, 4, 4, 2, 2), ((2, 3), (2, 3)))
    [(4, 4), (4, 2, 2)]
    >>> CountedCompletion(9, 100, Control()).within((5, 4, 1, 1), ((1, 3), (1, 1)))
    [(4, 1, 1), (5,)]
    """

    def __init__(self, capacity: int, budget: int, control: Control) -> None:
        super().__init__(capacity, budget, control)
        self._refuted: set[tuple[Limits, Group]] = set()

    def within(self, tasks: Group, limits: Limits) -> list[Group] | None:
        """Return the tasks of each machine, or None where they don't fit; else as ``packed``."""
        kinds = tuple(sorted(limits))
        found = self._filled(tasks, kinds)
        if found is None:
            return None
        of: dict[tuple[int, int], list[Group]] = {}
        for limit, group in found:
            of.setdefault(limit, []).append(group)
        return [of[limit].pop() for limit in limits]

    def _filled(self, tasks: Group, limits: Limits) -> list[tuple[tuple[int, int], Group]] | None:
        """Return each machine's limit and tasks; ``limits`` are sorted."""
        spare = len(limits) * self.capacity - sum(tasks)
        least, most = (sum(each) for each in zip(*limits, strict=True)) if limits else (0, 0)
        if spare < 0 or not least <= len(tasks) <= most:
            return None
        if not tasks:
            return [(limit, ()) for limit in limits]
        beside = max(0, min(low for low, _ in limits) - 1)
        if tasks[0] + sum(tasks[len(tasks) - beside :]) > self.capacity:
            return None
        if (limits, tasks) in self._refuted:
            return None
        for limit in dict.fromkeys(limits):
            at = limits.index(limit)
            others = limits[:at] + limits[at + 1 :]
            low = max(1, limit[0], len(tasks) - most + limit[1])
            high = min(limit[1], len(tasks) - least + limit[0])
            for chosen, rest in self._counted_fillings(tasks, spare, low, high):
                found = self._filled(rest, others)
                if found is not None:
                    return [(limit, chosen), *found]
        self._refuted.add((limits, tasks))
        return None

    def _counted_fillings(
        self, tasks: Group, spare: int, low: int, high: int
    ) -> Iterator[tuple[Group, Group]]:
        """Yield ways to fill the machine of the first task with ``low`` to ``high`` tasks."""
        room, most = self.capacity - tasks[0], high - 1
        within = (1 << (room + 1)) - 1
        sums = [[0] * high for _ in range(len(tasks) + 1)]  # of so many tasks, by bits
        sums[-1][0:1] = [1]
        for index in range(len(tasks) - 1, 0, -1):
            task, after = tasks[index], sums[index + 1]
            sums[index] = [
                after[count] | (after[count - 1] << task & within if count else 0)
                for count in range(high)
            ]
        least = max(0, room - spare)
        counts = range(most, max(0, low - 1) - 1, -1)
        left = 0
        for count in counts:
            left |= sums[1][count] >> least
        while left:
            top = left.bit_length() - 1
            left ^= 1 << top
            for count in counts:
                if not sums[1][count] >> (least + top) & 1:
                    continue
                for inside in _counted_subsets(tasks, sums, least + top, count):
                    self._spend()
                    gone = {0, *inside}
                    rest = tuple(task for at, task in enumerate(tasks) if at not in gone)
                    chosen = tuple(tasks[at] for at in inside)
                    if not _outdone(chosen, rest, room - least - top):
                        yield (tasks[0], *chosen), rest


def _outdone(chosen: Group, rest: Group, idle: int) -> bool:
    """Whether a task that is left would fit in place of a shorter one."""
    left = sorted(set(rest)) if idle else []
    return any(task < other <= task + idle for task in set(chosen) for other in left)


def _counted_subsets(
    tasks: Group, sums: Sequence[Sequence[int]], target: int, count: int
) -> Iterator[list[int]]:
    """Yield so many tasks after the first that add up to ``target``; of equal sets only one."""
    chosen: list[int] = []

    def extended(index: int, target: int, count: int) -> Iterator[list[int]]:
        if not count:
            if not target:
                yield chosen.copy()
            return
        last = None
        while index < len(tasks) and sums[index][count] >> target & 1:
            task = tasks[index]
            if (
                task != last
                and task <= target
                and sums[index + 1][count - 1] >> (target - task) & 1
            ):
                chosen.append(index)
                yield from extended(index + 1, target - task, count - 1)
                chosen.pop()
            last = task
            index += 1

    yield from extended(1, target, count)


def _dominated(chosen: Group, rest: Group, idle: int) -> bool:
    """Whether a task that is left would fit in place of a shorter one, or beside them all.

    Exchanging both never makes the rest harder to pack.
    """
    if not idle:
        return False
    left = sorted(set(rest))
    return any(task < other <= task + idle for task in {*chosen, 0} for other in left)


def _subsets(tasks: Group, sums: Sequence[int], target: int) -> Iterator[list[int]]:
    """Yield the tasks after the first that add up to ``target``; of equal sets only one."""
    chosen: list[int] = []
    index, count = 1, len(tasks)
    while True:
        while target and index < count:
            if not sums[index] >> target & 1:
                index = count
            elif tasks[index] <= target and sums[index + 1] >> (target - tasks[index]) & 1:
                chosen.append(index)
                target -= tasks[index]
                index += 1
            else:
                index += 1
        if not target:
            yield chosen.copy()
        if not chosen:
            return
        last = chosen.pop()
        target += tasks[last]
        index = last + 1
        while index < count and tasks[index] == tasks[last]:
            index += 1


MAX_UNITS = 4_000_000
"""Units of the durations in which a machine may end."""
COARSE = (1 << 14, 1 << 17, 1 << 20)
"""The same where durations are rounded to units."""
ROUNDING = 1e-9
FIRST_BUDGET = 100
"""Fillings that the first try of a capacity may take; each further one may take twice as many."""
SMALL_BUDGET = 400
TASKS_A_TRY = 400
"""To fill a machine with some of so many tasks takes about as long as to pack a few anew."""
TOGETHER = 40
"""Tasks that are packed anew together: those of the longest machine and of a few others."""
MOST_MACHINES = 5

Decide = Callable[[Group, Limits, int, int], "list[Group] | None"]
"""Durations, longest first, the limits of machines, a capacity and a budget: the durations on each
machine, or None where they don't fit; raises ``Unfinished``."""


def least_capacity(problem: IndependentTasks, control: Control, decide: Decide) -> Solution:
    """Pack the tasks within the least capacity, from the bound up; refute each that is short.

    Where ``decide`` gives up, a few machines are packed anew, and it is asked again with twice the
    budget. Durations without a common unit, or of too many, are rounded down to one, then to finer
    ones: what is refuted then is short of the durations, too.
    """
    best = first_plan(problem, control)
    bound = best_bound(problem)
    if control.expired() or best.makespan <= bound:
        return Solution(schedule=best, lower_bound=bound)
    from makespan.backends.cp_sat import scaling_of

    seconds = problem.durations
    most = max(float(seconds.sum()) / problem.useful_machines, float(seconds.max()))
    scaling = scaling_of(seconds, total=most, largest_sum=MAX_UNITS)
    if scaling.exact:
        return _packed(problem, scaling, best, bound, control, decide)
    for units in COARSE:
        scaling = scaling_of(seconds, total=most, largest_sum=units)
        found = _packed(problem, scaling, best, bound, control, decide)
        best, bound = found.schedule or best, max(bound, found.lower_bound or 0.0)
        if control.expired() or best.makespan <= bound:
            break
    return Solution(schedule=best, lower_bound=bound, stopped=True)


def _packed(
    problem: IndependentTasks,
    scaling: Scaling,
    start: Schedule,
    bound: float,
    control: Control,
    decide: Decide,
) -> Solution:
    """Return the plan, and the bound, with durations in units, rounded down where they are none."""
    units, counted = scaling.down(problem.durations), problem.counts is not None
    groups = [
        tuple(int(units[task]) for task in group if units[task] or counted)
        for group in groups_of(problem, start)
    ]
    limits = tuple(zip(*tightened(problem), strict=True))
    search = _Search(groups, limits if counted else None, control)
    sums = _sums(search.tasks, search.longest)
    if scaling.exact:
        capacity = scaling.at_least(bound)
    else:
        rounded = IndependentTasks(problem.machine_count, units, counts=problem.counts)
        capacity = math.ceil(best_bound(rounded) * (1 - ROUNDING))
    capacity, budget = _next_sum(sums, capacity), FIRST_BUDGET
    while capacity < search.longest and not control.expired():
        try:
            found = decide(search.tasks, limits, capacity, budget)
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
    proved = scaling.exact and search.longest <= capacity
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

    def __init__(self, groups: list[Group], limits: Limits | None, control: Control) -> None:
        self.groups, self._limits = groups, limits
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
                    found = self._anew(target, tasks, chosen)
                except Unfinished:
                    found = None
                if found is not None:
                    found += [()] * (len(chosen) - len(found))
                    for machine, group in zip(chosen, found, strict=True):
                        self.groups[machine] = group
                    break
                target += max(1, (top - target) // 2)

    def _anew(self, capacity: int, tasks: Group, chosen: list[int]) -> list[Group] | None:
        """Return the tasks of the chosen machines, packed anew."""
        if self._limits is None:
            return Completion(capacity, SMALL_BUDGET, self._control).packed(tasks, len(chosen))
        limits = tuple(self._limits[machine] for machine in chosen)
        return CountedCompletion(capacity, SMALL_BUDGET, self._control).within(tasks, limits)

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
    """Return the schedule in which each machine runs tasks of so many units.

    Tasks of none go to the machine that is free first.
    """
    of: dict[int, list[int]] = {}
    for task in reversed(range(len(units))):
        of.setdefault(units[task], []).append(task)
    tasks = [of[unit].pop() for group in groups for unit in group]
    machine = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    seconds = problem.durations
    load = np.bincount(machine, weights=seconds[tasks], minlength=len(groups))
    small = [task for task in of.get(0, ()) if seconds[task]]
    for task in small:
        first = int(load.argmin())
        load[first] += seconds[task]
        machine = np.append(machine, first)
    order = np.array([*tasks, *small], dtype=np.int64)
    return scheduled(problem, order, seconds[order], machine)
