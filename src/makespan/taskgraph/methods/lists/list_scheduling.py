"""List scheduling: the ready task of highest priority goes to a free machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import listed, number
from makespan.taskgraph.levels import colevels, levels, tails, weights
from makespan.taskgraph.list_scheduling import AppendSchedule, Placement
from makespan.taskgraph.list_scheduling.fallback import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.ready import Ready
from makespan.taskgraph.list_scheduling.steps import Steps, placing
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.problem import TaskGraph

PRIORITIES = ("level", "co-level", "arrival", "duration", "parallelism")
CHOICES = ("earliest-completion", "first-free")

Priority = str | Callable[[TaskGraph, int], float]
Choice = str | Callable[[TaskGraph, int, dict[int, float]], int]


@register(
    "taskgraph",
    name="list-scheduling",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
    complexity="O((n + e) m + n log n)",
    source="PB165, Plánování seznamem, corrected: C_j is updated with M(j); time "
    "passes to the next completion where the queue is empty or no machine is free; tasks on "
    "several cores: Garey and Graham 1975",
)
def list_scheduling(
    problem: TaskGraph,
    control: Control,
    *,
    priority: Priority = "level",
    machine: Choice = "earliest-completion",
    w1: float | None = None,
    w2: float | None = None,
) -> Solution:
    """The ready task of highest priority goes to the free machine that completes it first.

    A task that needs more cores than any machine has free lets the next one pass.

    Parameters
    ----------
    priority
        P of the lecture: ``level``, ``co-level``, ``arrival`` (first in the input first),
        ``duration`` (longest first), ``parallelism`` (most direct successors first), or a callable
        of problem and task; the greatest value first, ties by lowest task.
    machine
        M of the lecture: ``earliest-completion``, ``first-free`` (the lowest free machine), or a
        callable of problem, task and {free machine: completion}.
    w1, w2
        Weights of work and of data on a path; None: mean seconds.
    """
    values = priorities(problem, priority, w1, w2)
    choose = _choice(machine)
    if cannot_end(problem, control):
        return Solution(schedule=fallback_plan(problem, control))
    partial, steps = AppendSchedule(problem), Steps(control)
    ready = Ready(problem.dag, values)
    machines = range(len(problem.network))
    while True:
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        queue = ready.tasks if steps.wanted else []
        task, free = _next(partial, ready, machines)
        if not free:
            if not ready.advance():
                break
            continue
        options = {each: partial.try_on(task, each, ready.time) for each in free}
        chosen = choose(problem, task, {each: option.end for each, option in options.items()})
        if chosen not in options:
            raise MethodError(f"machine: {chosen!r} is not one of the free machines {free}")
        placed = partial.place(task, chosen, ready.time)
        ready.run_until(task, placed.end)
        if steps.wanted:
            _log(problem, steps, ready.time, queue, values, task, options, placed)
    details = {"levels": _by_name(problem, values), **steps.details()} if steps.wanted else {}
    return Solution(schedule=partial.schedule(), details=details)


def _next(partial: AppendSchedule, ready: Ready, machines: range) -> tuple[int, list[int]]:
    """Take the first task of the queue that fits, and return the machines that have its cores.

    There are none where nothing fits. What needs more cores than are free lets others pass.
    """
    task, passed = -1, []
    fits: list[int] = []
    free = [each for each in machines if partial.free_at(each) <= ready.time] if ready else []
    while free and ready and not fits:
        task = ready.pop()
        width, fits = partial.width[task], free
        if width > 1:
            fits = [each for each in free if partial.free_at(each, width) <= ready.time]
            passed += [] if fits else [task]
    for each in passed:
        ready.put_back(each)
    return task, fits


def priorities(
    problem: TaskGraph, priority: Priority, w1: float | None, w2: float | None
) -> Floats:
    """Return the priority of each task.

    Raises
    ------
    MethodError
        If there is no such priority.
    """
    dag = problem.dag
    if callable(priority):
        return np.array([float(priority(problem, task)) for task in range(len(dag))])
    task, edge = weights(problem, w1, w2)
    if priority == "level":
        return levels(dag, task, edge, tails(problem))
    if priority == "co-level":
        return colevels(dag, task, edge)
    if priority == "arrival":
        return -np.arange(len(dag), dtype=np.float64)
    if priority == "duration":
        return task
    if priority == "parallelism":
        return np.diff(dag.first_out).astype(np.float64)
    hint = did_you_mean(priority, PRIORITIES)
    raise MethodError(f"priority: there is no priority {priority!r}{hint}")


def _choice(machine: Choice) -> Callable[[TaskGraph, int, dict[int, float]], int]:
    if callable(machine):
        return machine
    if machine == "earliest-completion":
        return lambda _problem, _task, ends: min(ends, key=lambda each: (ends[each], each))
    if machine == "first-free":
        return lambda _problem, _task, ends: min(ends)
    hint = did_you_mean(machine, CHOICES)
    raise MethodError(f"machine: there is no rule {machine!r}{hint}")


def _by_name(problem: TaskGraph, values: Floats) -> dict[str, float]:
    return dict(zip(problem.dag.names, values.tolist(), strict=True))


def _log(
    problem: TaskGraph,
    steps: Steps,
    time: float,
    queue: list[int],
    values: Floats,
    task: int,
    options: dict[int, Placement],
    placed: Placement,
) -> None:
    names, machines = problem.dag.names, problem.machines
    waiting = [(names[each], float(values[each])) for each in queue]
    ends = {machines[each]: option.end for each, option in options.items()}
    record: dict[str, Any] = {
        "time": time,
        "queue": [list(pair) for pair in waiting],
        "task": names[task],
        "options": ends,
        "machine": machines[placed.machine],
        "taken": placed.taken,
        "start": placed.start,
        "end": placed.end,
    }
    shown = listed(f"{name} ({number(value)})" for name, value in waiting)
    candidates = listed(f"{name}: {number(end)}" for name, end in ends.items())
    text = (
        f"t = {number(time)}; queue {shown}; {names[task]} would complete at {candidates}; "
        f"{names[task]} to {machines[placed.machine]}, "
        f"executes {number(placed.start)} to {number(placed.end)}"
    )
    step = placing(
        problem, placed, task, queue=queue, priority=values, word="priority",
        options=options.values(), text=text, time=time,
    )  # fmt: skip
    steps.add(step, **record)
