"""The optimum without preemption: one capacity after another, decided by search or as a flow."""

from collections import Counter

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.independent.completion import Completion, CountedCompletion, Group, Limits, Unfinished
from makespan.independent.needs import IN_ONE_PIECE, NO_LIMITS, NO_SIZES
from makespan.independent.packing import least_capacity
from makespan.independent.problem import IndependentTasks

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
