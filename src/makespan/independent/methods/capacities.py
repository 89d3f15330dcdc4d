"""The optimum without preemption: one capacity after another, decided by search or as a flow.

The least capacity within which tasks fit on machines is sought from the bound upward: each lower
one is refuted.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.independent.bounds import best_bound
from makespan.independent.completion import Completion, CountedCompletion, Group, Limits, Unfinished
from makespan.independent.limits import tightened
from makespan.independent.list_scheduling import first_plan, groups_of
from makespan.independent.needs import IN_ONE_PIECE, NO_LIMITS, NO_SIZES
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

if TYPE_CHECKING:
    from makespan.backends.cp_sat import Scaling


MAX_UNITS = 4_000_000  # units of the durations in which a machine may end
COARSE = (1 << 14, 1 << 17, 1 << 20)  # the same where durations are rounded to units
ROUNDING = 1e-9
FIRST_BUDGET = 100
"""Fillings that the first try of a capacity may take; each further one may take twice as many."""
SMALL_BUDGET = 400
TASKS_A_TRY = 400
"""To fill a machine with some of so many tasks takes about as long as to pack a few anew."""
TOGETHER = 40  # tasks that are packed anew: those of the longest machine and of a few others
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
    """Return the schedule of tasks of so many units; those of none go to who is free first."""
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


MAX_MACHINES, MAX_TASKS = 200, 5_000
ARCS_FROM = 3200  # the budget of fillings at which a flow is asked, too, for half of the time left


def _few(problem: IndependentTasks) -> str | None:
    tasks = len(problem.durations)
    if tasks <= MAX_TASKS and problem.useful_machines <= MAX_MACHINES:
        return None
    return f"there are {tasks} tasks and {problem.useful_machines} machines"


@register(
    needs=(
        *IN_ONE_PIECE,
        NO_SIZES,
        Need(f"at most {MAX_TASKS} tasks and {MAX_MACHINES} machines", _few, decisive=True),
    ),
    proves="every shorter capacity is refuted by complete search",
    complexity="exponential",
    source="Korf 2003, Schreiber and Korf 2014: capacities from the bound upward, each by bin "
    "completion; dominance of Martello and Toth 1990. Between tries, a few machines are packed "
    "anew",
)
def bin_completion(problem: IndependentTasks, control: Control) -> Solution:
    """Pack the tasks within the least capacity, from the bound up; refute each that is short.

    A capacity that is not decided soon is handed to ``arc-flow`` once, where there are few loads.
    """

    def decide(tasks: Group, limits: Limits, capacity: int, budget: int) -> list[Group] | None:
        if problem.counts is not None:
            return CountedCompletion(capacity, budget, control).within(tasks, limits)
        machines = len(limits)
        if budget == ARCS_FROM:
            with control.sharing(1 / 2):
                try:
                    return flow_packed(tasks, machines, capacity, control)
                except Unfinished:
                    pass
        return Completion(capacity, budget, control).packed(tasks, machines)

    return least_capacity(problem, control, decide)


@register(
    needs=(*IN_ONE_PIECE, NO_LIMITS),
    proves="every shorter capacity is refuted by a bound of HiGHS on the tasks that don't fit",
    complexity="exponential; a capacity C has at most C arcs for each distinct duration",
    source="Valério de Carvalho 1999, for capacities from the bound upward: Mrad and Souayah 2018",
)
def arc_flow(problem: IndependentTasks, control: Control) -> Solution:
    """Pack the tasks within the least capacity, from the bound up, each decided by HiGHS as a flow.

    Of many loads a flow is too large: then a few machines at a time are packed anew.
    """
    return least_capacity(
        problem,
        control,
        lambda tasks, limits, capacity, _: flow_packed(tasks, len(limits), capacity, control),
    )


MAX_ARCS, MAX_LOADS = 12_000, 60_000
"""Arcs of a programme, and loads that are reached before those without an end are left out."""
REFUTED = 0.5  # of the tasks left out, a whole number: a bound above this is one above 0

Arc = tuple[int, int]  # a load, and the duration of the task that is added


def arcs(tasks: Group, machines: int, capacity: int) -> list[Arc] | None:
    """Return the arcs that a packing may need, the longest tasks first; None for too many."""
    spare = machines * capacity - sum(tasks)
    reached, found = {0}, []
    for duration, count in sorted(Counter(tasks).items(), reverse=True):
        loads: set[int] = set()
        for load in reached:
            last = min(capacity - duration, load + (count - 1) * duration)
            loads.update(range(load, last + 1, duration))
        reached.update(load + duration for load in loads)
        found.append((duration, sorted(loads, reverse=True)))
        if sum(len(each) for _, each in found) > MAX_LOADS:
            return None
    ends = {load for load in reached if load >= capacity - spare}
    kept = []
    for duration, loads_down in reversed(found):
        for load in loads_down:
            if load + duration in ends:
                ends.add(load)
                kept.append((load, duration))
    return kept if len(kept) <= MAX_ARCS else None


def flow_packed(tasks: Group, machines: int, capacity: int, control: Control) -> list[Group] | None:
    """Return the tasks of each machine, or None where they don't fit.

    A machine is a path from 0: an arc from a load to that with one more task. Loads that are left
    lower than all machines together may be idle are no ends (Valério de Carvalho 1999; for
    makespans: Mrad and Souayah 2018). ``tasks`` are their durations, above 0; HiGHS leaves out as
    few as possible, and what it says is taken by its bound and by the paths of its flow.
    Raises Unfinished where there are too many arcs, or the time is spent before that is known.

    >>> sorted(flow_packed((4, 4, 4, 4, 3, 2), 3, 8, Control()))
    [(3, 2), (4, 4), (4, 4)]
    >>> flow_packed((4, 4, 4, 4, 3, 2), 3, 7, Control()) is None
    True
    """
    spare = machines * capacity - sum(tasks)
    if spare < 0 or max(tasks, default=0) > capacity:
        return None
    kept = arcs(tasks, machines, capacity)
    if kept is None:
        raise Unfinished
    start, duration = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    sizes, counts = np.unique(np.array(tasks, dtype=np.int64), return_counts=True)
    of = np.searchsorted(sizes, duration)
    loads, place = np.unique(np.concatenate([[0], start, start + duration]), return_inverse=True)
    before, after = place[1 : 1 + len(start)], place[1 + len(start) :]
    programme = Programme()
    flow = programme.variables(len(start), upper=np.minimum(counts[of], machines), integer=True)
    missing = programme.variables(len(sizes), cost=1.0, upper=counts)
    idle = programme.variables(
        len(loads), upper=np.where(loads >= capacity - spare, float(machines), 0.0)
    )
    for at, load in enumerate(loads.tolist()):
        out, into = flow[before == at], flow[after == at]
        programme.row(
            np.concatenate([into, out, [idle[at]]]),
            np.concatenate([np.ones(len(into)), -np.ones(len(out) + 1)]),
            low=-machines if load == 0 else 0.0,
            high=0.0,
        )
    for at, count in enumerate(counts.tolist()):
        programme.row(np.append(flow[of == at], missing[at]), 1.0, low=count, high=count)
    answer = programme.solve(control, gap=REFUTED * (1 - 1e-3))
    if answer.bound > REFUTED:
        return None
    found = _paths(start, duration, answer.values[: len(start)]) if answer.found else []
    if sorted(task for group in found for task in group) != sorted(tasks):
        raise Unfinished
    return found + [()] * (machines - len(found))


def _paths(start: np.ndarray, duration: np.ndarray, flow: np.ndarray) -> list[Group]:
    """Return the tasks on each path of a flow from 0."""
    out: dict[int, list[int]] = {}
    for load, task, count in zip(
        start.tolist(), duration.tolist(), flow.astype(np.int64).tolist(), strict=True
    ):
        out.setdefault(load, []).extend([task] * count)
    found = []
    while out.get(0):
        load, group = 0, []
        while out.get(load):
            group.append(out[load].pop())
            load += group[-1]
        found.append(tuple(group))
    return found
