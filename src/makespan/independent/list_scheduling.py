"""The rules behind list scheduling and first fit: to the machine free first, or with room first."""

import heapq

import numpy as np

from makespan import balance
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Schedule
from makespan.independent.limits import NoPlace, room_of, tightened
from makespan.independent.problem import IndependentTasks
from makespan.independent.timing import scheduled

SLICE = 1 << 20  # tasks of one call of the compiled loop


def greedy(problem: IndependentTasks, tasks: Integers, seconds: Floats) -> Schedule:
    """Start ``tasks`` in this order, each on the machine that is free first (lowest on ties).

    ``seconds`` are their durations. Tasks of duration 0 are left out: they take no machine's time.
    Where there are releases, the first of the tasks that are there is next. Where there are limits,
    a machine that may not take the task is passed over. Raises NoPlace where all machines are
    passed over. Complexity: O(n log m).
    """
    if problem.release is not None:
        return _as_released(problem, problem.release, tasks)
    if problem.limited:
        limits, fits = tightened(problem), room_of(problem)
        given = balance.hand_out(problem.durations.tolist(), tasks.tolist(), limits, fits)
        if given is None:
            raise NoPlace
        return scheduled(problem, tasks, seconds, np.array(given, dtype=np.int64))
    if not seconds.all():
        tasks, seconds = tasks[seconds > 0], seconds[seconds > 0]
    if hand_out.pays(len(tasks)):
        at_once, alike = np.zeros(problem.useful_machines), np.ones(problem.useful_machines)
        return scheduled(problem, tasks, seconds, handed_out(seconds, alike, at_once))
    count, machines = len(tasks), problem.useful_machines
    chosen = balance.hand_out(seconds.tolist(), range(count), ([0] * machines, [count] * machines))
    return scheduled(problem, tasks, seconds, np.array(chosen, dtype=np.int64))


def _as_released(problem: IndependentTasks, release: Floats, tasks: Integers) -> Schedule:
    """Start the first of ``tasks`` that is there when a machine is free; else what comes next."""
    tasks = tasks[(problem.durations[tasks] > 0) | (release[tasks] > 0)]
    coming = np.argsort(release[tasks], kind="stable").tolist()
    times, seconds = release[tasks].tolist(), problem.durations[tasks].tolist()
    free = [(0.0, machine) for machine in range(problem.useful_machines)]
    ready: list[int] = []
    order: list[int] = []
    chosen: list[int] = []
    known = 0
    while len(order) < len(tasks):
        now, machine = free[0]
        if not ready:
            now = max(now, times[coming[known]])
        while known < len(coming) and times[coming[known]] <= now:
            heapq.heappush(ready, coming[known])
            known += 1
        place = heapq.heappop(ready)
        order.append(place)
        chosen.append(machine)
        heapq.heapreplace(free, (now + seconds[place], machine))
    tasks = tasks[np.array(order, dtype=np.int64)]
    return scheduled(problem, tasks, problem.durations[tasks], np.array(chosen, dtype=np.int64))


def handed_out(seconds: Floats, pace: Floats, free: Floats) -> Integers:
    """Return the machine of each task: that which is free first, lowest index on ties.

    ``pace`` are the seconds that each machine takes for one of a task; ``free``, from when on each
    is free. The compiled loop runs in slices, between which signals arrive.
    """
    machines = np.argsort(free, kind="stable")
    heap, chosen = free[machines], np.empty(len(seconds), dtype=np.int64)
    durations, paces = readonly(seconds, pace)
    form = hand_out.at(len(seconds))
    for first in range(0, len(seconds), SLICE):
        form(durations, paces, heap, machines, chosen, first, min(first + SLICE, len(seconds)))
    return chosen


def longest_first(problem: IndependentTasks) -> tuple[Integers, Floats]:
    """Return the tasks, longest first, and their durations; of equal ones, lowest index first."""
    order = sorted_by(-problem.durations)
    return order, problem.durations[order]


def first_plan(problem: IndependentTasks, control: Control) -> Schedule:
    """Return what a search starts from: the best plan of earlier methods, else that of LPT."""
    if control.incumbent is not None and control.incumbent.schedule is not None:
        return control.incumbent.schedule
    return by_longest(problem)


def first_plan_if_any(problem: IndependentTasks, control: Control) -> Schedule | None:
    """Return the same, None where no place was found for a task."""
    try:
        return first_plan(problem, control)
    except NoPlace:
        return None


def by_longest(problem: IndependentTasks) -> Schedule:
    """Return the plan of LPT, or where sizes stop that, by size; raise NoPlace else."""
    try:
        return greedy(problem, *longest_first(problem))
    except NoPlace:
        fits = room_of(problem)
        assert fits is not None, "counts always leave a place"
        groups = balance.longest_first(fits.sizes, tightened(problem), fits)
        if groups is None:
            raise
        return of_groups(problem, groups)


def of_groups(problem: IndependentTasks, groups: list[list[int]]) -> Schedule:
    """Return the schedule in which each machine runs the tasks of a group, the longest first."""
    tasks = np.array([task for group in groups for task in group], dtype=np.int64)
    machine = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    order = np.argsort(-problem.durations[tasks], kind="stable")
    tasks, machine = tasks[order], machine[order]
    return scheduled(problem, tasks, problem.durations[tasks], machine)


def groups_of(problem: IndependentTasks, schedule: Schedule) -> list[list[int]]:
    """Return the tasks of each machine that a plan can use."""
    machine = schedule.machine
    if problem.alike_limits:
        machine = np.unique(machine, return_inverse=True)[1]
    groups: list[list[int]] = [[] for _ in range(problem.useful_machines)]
    for task, at in zip(schedule.item.tolist(), machine.tolist(), strict=True):
        groups[at].append(task)
    return groups


@loop(pays_from=100_000)  # tasks
def hand_out(seconds, pace, free, machines, chosen, first, last):  # type: ignore[no-untyped-def]
    """Give the tasks from ``first`` up to ``last`` to the machine that is free first.

    ``free`` and ``machines`` are a heap of times and machines, in lexicographic order; they are
    kept between calls.
    """
    size = len(free)
    for task in range(first, last):
        machine = machines[0]
        time = free[0] + seconds[task] * pace[machine]
        chosen[task] = machine
        node = 0
        while True:
            child = 2 * node + 1
            if child >= size:
                break
            other = child + 1
            if other < size and (
                free[other] < free[child]
                or (free[other] == free[child] and machines[other] < machines[child])
            ):
                child = other
            if time < free[child] or (time == free[child] and machine < machines[child]):
                break
            free[node], machines[node] = free[child], machines[child]
            node = child
        free[node], machines[node] = time, machine


FITTED = 1 << 18  # after so many tasks the clock is read


def first_fit(seconds: Floats, machines: int, capacity: float, control: Control) -> Integers | None:
    """Return the machine of each task, or None where a task finds no room, or the time was up.

    ``seconds`` are the durations in the order in which the tasks are placed, ``capacity`` the
    seconds that each machine may work. Complexity: O(n m) for few tasks and machines, else O(n log
    m) in a compiled loop.
    """
    if not to_leaves.pays(len(seconds) * machines):
        return _first_fit_plain(seconds, machines, capacity)
    chosen = np.empty(len(seconds), dtype=np.int64)
    room = _tree(machines, capacity)
    for first in range(0, len(seconds), FITTED):
        part = slice(first, first + FITTED)
        if control.expired() or not to_leaves.compiled(
            *readonly(seconds[part]), room, chosen[part]
        ):
            return None
    return chosen


def _tree(machines: int, capacity: float) -> Floats:
    """Return the tree of greatest rooms: node k has the children 2 k and 2 k + 1."""
    leaves = 1 << (machines - 1).bit_length()
    room = np.full(2 * leaves, -1.0)
    room[leaves : leaves + machines] = capacity
    level = leaves
    while level > 1:
        room[level // 2 : level] = room[level : 2 * level].reshape(-1, 2).max(axis=1)
        level //= 2
    return room


def _first_fit_plain(seconds: Floats, machines: int, capacity: float) -> Integers | None:
    room = [capacity] * machines
    chosen = []
    for duration in seconds.tolist():
        for machine in range(machines):
            if duration <= room[machine]:
                break
        else:
            return None
        room[machine] -= duration
        chosen.append(machine)
    return np.array(chosen, dtype=np.int64)


@loop(pays_from=300_000)  # tasks times machines
def to_leaves(seconds, room, chosen):  # type: ignore[no-untyped-def]
    """Write the first machine with room for each task; False where none has.

    ``room`` is a complete binary tree that holds the greatest room below each node, so that the
    leftmost leaf with room is found in log m steps; it is kept between calls.
    """
    leaves = len(room) // 2
    for task in range(len(seconds)):
        duration = seconds[task]
        if duration > room[1]:
            return False
        node = 1
        while node < leaves:
            node *= 2
            if room[node] < duration:
                node += 1
        room[node] -= duration
        chosen[task] = node - leaves
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return True
