"""Insertion with copies of predecessors, slow and obvious: every try on a plan of its own."""

from __future__ import annotations

from copy import deepcopy

from makespan import TaskGraph
from tests.oracles.taskgraph_rules import seconds_on

FOREVER = float("inf")


class Plan:
    """The times of copies by task and machine, and what each core is busy with."""

    def __init__(self, problem: TaskGraph) -> None:
        self.times: dict[tuple[int, int], tuple[float, float]] = {}
        self.busy: list[list[list[tuple[float, float]]]] = [
            [[] for _ in range(min(cores, len(problem.dag)))] for cores in problem.network.cores
        ]


def plan_with_copies(
    problem: TaskGraph, order: list[int], earliest: list[float], most: int
) -> dict[tuple[int, int], tuple[float, float]]:
    """Return start and end of every copy, none taken away, by task and machine."""
    plan = Plan(problem)
    for task in order:
        tries: list[tuple[float, int, int, Plan]] = []
        for machine in range(len(problem.network)):
            lasts = seconds_on(problem, task, machine)
            if tries and _fit(plan, machine, earliest[task], lasts) + lasts > min(tries)[0]:
                continue
            tried = deepcopy(plan)
            _place(problem, tried, task, machine, earliest, [most])
            copies = len(tried.times) - len(plan.times)
            tries.append((tried.times[task, machine][1], copies, machine, tried))
        plan = min(tries, key=lambda each: each[:3])[3]
    return plan.times


def _place(
    problem: TaskGraph,
    plan: Plan,
    task: int,
    machine: int,
    earliest: list[float],
    left: list[int],
) -> float:
    """Place a task after those copies that let it start earliest; return its end."""
    lasts = seconds_on(problem, task, machine)
    ready, latest = _ready(problem, plan, task, machine)
    best, kept = _fit(plan, machine, ready, lasts), deepcopy(plan)
    while latest >= 0 and left[0]:
        length = seconds_on(problem, latest, machine)
        if _fit(plan, machine, earliest[latest], length) + length >= ready:
            break
        left[0] -= 1
        if _place(problem, plan, latest, machine, earliest, left) >= ready:
            break
        ready, latest = _ready(problem, plan, task, machine)
        start = _fit(plan, machine, ready, lasts)
        if start < best:
            best, kept = start, deepcopy(plan)
    plan.times, plan.busy = kept.times, kept.busy
    end = best + lasts
    core = next(each for each in plan.busy[machine] if _first_gap(each, best, lasts) == best)
    core.append((best, end))
    plan.times[task, machine] = (best, end)
    return end


def _ready(problem: TaskGraph, plan: Plan, task: int, machine: int) -> tuple[float, int]:
    """Return when the inputs are there, and the source of the last, -1 if it is there already."""
    dag, routing = problem.dag, problem.network.routing
    ready, latest = float(dag.release[task]), -1
    for edge in dag.in_edges[dag.first_in[task] : dag.first_in[task + 1]].tolist():
        arrivals = [
            end
            if place == machine
            else end
            + routing.fixed_seconds[place, machine]
            + routing.seconds_per_unit[place, machine] * dag.size[edge]
            for (other, place), (_, end) in plan.times.items()
            if other == dag.source[edge]
        ]
        if min(arrivals) > ready:
            ready = float(min(arrivals))
            latest = -1 if (dag.source[edge], machine) in plan.times else int(dag.source[edge])
    return ready, latest


def _fit(plan: Plan, machine: int, ready: float, lasts: float) -> float:
    return min(_first_gap(core, ready, lasts) for core in plan.busy[machine])


def _first_gap(core: list[tuple[float, float]], ready: float, lasts: float) -> float:
    """Return the first start from ``ready`` on between what a core is busy with."""
    for start in sorted([ready, *(end for _, end in core if end >= ready)]):
        if all(start + lasts <= begin or end <= start for begin, end in core):
            return start
    raise AssertionError("behind everything a core is free")
