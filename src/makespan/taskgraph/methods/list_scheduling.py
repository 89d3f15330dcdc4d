"""List scheduling: the ready task of highest priority goes to a free machine, or to any."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Solution
from makespan.core.steps import MAX_ROWS, Step, listed, number
from makespan.taskgraph.levels import colevels, levels, ranks, tails, weights
from makespan.taskgraph.list_scheduling import AppendSchedule, Placement
from makespan.taskgraph.list_scheduling.assigned import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.steps import QUEUED, Steps, placing_step
from makespan.taskgraph.model.dag import Dag, rows_of
from makespan.taskgraph.needs import by_tries
from makespan.taskgraph.problem import TaskGraph


class Ready:
    """Released tasks whose predecessors have all ended, in the order of their priority.

    Each ``priority`` has a value per task: the greatest is taken first, ties by the next column,
    then by lowest task. ``time`` is now, seconds.
    """

    def __init__(self, dag: Dag, *priority: Floats) -> None:
        self.time = 0.0
        self._release: list[float] = dag.release.tolist()
        negated = [(-column).tolist() for column in priority]
        self._key = list(zip(*negated, range(len(dag)), strict=True))
        self._successors = rows_of(dag.first_out, dag.successors)
        self._waiting: list[int] = np.diff(dag.first_in).tolist()
        self._events: list[tuple[float, int]] = []  # ends of tasks; releases, of ~task
        self._queue: list[tuple[float, ...]] = []
        for task, count in enumerate(self._waiting):
            if not count:
                self._enter(task)

    def __bool__(self) -> bool:
        return bool(self._queue)

    @property
    def tasks(self) -> list[int]:
        """The tasks in the queue, the first first."""
        return [int(key[-1]) for key in sorted(self._queue)]

    def pop(self) -> int:
        """Take the first task from the queue."""
        return int(heapq.heappop(self._queue)[-1])

    def put_back(self, task: int) -> None:
        """Put a task that was taken into the queue again."""
        heapq.heappush(self._queue, self._key[task])

    def run_until(self, task: int, end: float) -> None:
        """Note that ``task`` will end at ``end``."""
        heapq.heappush(self._events, (end, task))

    def advance(self) -> bool:
        """Pass to the next end of a task, or release, and queue what is ready; False if none is."""
        if not self._events:
            return False
        self.time = max(self.time, self._events[0][0])
        while self._events and self._events[0][0] <= self.time:
            _, task = heapq.heappop(self._events)
            if task < 0:
                self._enter(~task)
                continue
            for successor in self._successors[task]:
                self._waiting[successor] -= 1
                if not self._waiting[successor]:
                    self._enter(successor)
        return True

    def _enter(self, task: int) -> None:
        """Queue a task whose predecessors have ended, now or when it is released."""
        if self._release[task] > self.time:
            heapq.heappush(self._events, (self._release[task], ~task))
        else:
            heapq.heappush(self._queue, self._key[task])


PRIORITIES = ("level", "co-level", "arrival", "duration", "parallelism")
CHOICES = ("earliest-completion", "first-free")

Priority = str | Callable[[TaskGraph, int], float]
Choice = str | Callable[[TaskGraph, int, dict[int, float]], int]


@by_tries(
    name="list-scheduling",
    published=True,
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

    A task that needs more cores than any machine has free lets the next one pass. ``priority``, P
    of the lecture: ``level``, ``co-level``, ``arrival`` (first in the input first), ``duration``
    (longest first), ``parallelism`` (most direct successors first), or a callable of problem and
    task; the greatest value first, ties by lowest task. ``machine``, M of the lecture:
    ``earliest-completion``, ``first-free`` (the lowest free machine), or a callable of problem,
    task and {free machine: completion}. ``w1`` and ``w2``: weights of work and of data on a path;
    None: mean seconds.
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
    if not steps.wanted:
        return Solution(schedule=partial.schedule())
    by_name = dict(zip(problem.dag.names, values.tolist(), strict=True))
    return Solution(schedule=partial.schedule(), details={"levels": by_name, **steps.details()})


def _next(partial: AppendSchedule, ready: Ready, machines: range) -> tuple[int, list[int]]:
    """Take the first task of the queue that fits; return the machines with its cores, or none."""
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
    """Return the priority of each task. Raises MethodError if there is no such priority."""
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
    step = placing_step(
        problem, placed, task, queue=queue, priority=values, word="priority",
        options=options.values(), text=text, time=time,
    )  # fmt: skip
    steps.add(step, **record)


@by_tries(
    name="mapping-heuristic",
    published=True,
    complexity="O((n + e h) m + n log n), h the hops of the longest route",
    source="PB165, Heuristiky mapování; El-Rewini and Lewis 1990",
)
def mapping_heuristic(
    problem: TaskGraph, control: Control, *, w1: float | None = None, w2: float | None = None
) -> Solution:
    """The task of highest level goes to the machine, free or not, that completes it first.

    Completion counts speed, set-ups, the hops of the route, and the time that the transfers wait
    for links or ports which earlier transfers hold (the contention delay). Ties of levels go to
    the task with more direct successors.
    """
    dag = problem.dag
    level = ranks(problem, w1, w2)
    if cannot_end(problem, control):
        return Solution(schedule=fallback_plan(problem, control))
    successors = np.diff(dag.first_out)
    partial, steps = AppendSchedule(problem), Steps(control)
    ready = Ready(dag, level, successors)
    machines = range(len(problem.network))
    if steps.wanted:
        _log_routes(problem, control)
    while ready or ready.advance():
        if control.expired():
            return Solution(schedule=fallback_plan(problem, control))
        if not ready:
            continue
        queue = ready.tasks if steps.wanted else []
        task = ready.pop()
        options = [partial.try_on(task, machine) for machine in machines]
        best = min(options, key=lambda option: (option.end, option.machine))
        placed = partial.place(task, best.machine)
        ready.run_until(task, placed.end)
        if steps.wanted:
            _log_completion(
                problem, partial, steps, ready.time, queue, task, level, options, placed
            )
    return Solution(schedule=partial.schedule(), details=steps.details())


def _log_routes(problem: TaskGraph, control: Control) -> None:
    """Log the routing table, where data take more than one hop."""
    network = problem.network
    if len(network) > MAX_ROWS or int(network.routing.hops.max(initial=0)) < 2:
        return
    for machine in problem.machines:
        routes = {route.destination: route for route in network.routing_table(machine)}
        control.step(
            Step(
                text=f"routes from {machine}: {listed(map(str, routes.values()))}",
                cells={
                    "routes from": machine,
                    **{
                        f"to {other}": f"{routes[other].hops} by {routes[other].via}"
                        if other in routes
                        else "–"
                        for other in problem.machines
                    },
                },
            )
        )


def _log_completion(
    problem: TaskGraph,
    partial: AppendSchedule,
    steps: Steps,
    time: float,
    queue: list[int],
    task: int,
    levels: Floats,
    options: list[Placement],
    placed: Placement,
) -> None:
    names, machines, routing = problem.dag.names, problem.machines, problem.network.routing
    first, last = problem.dag.first_in[task], problem.dag.first_in[task + 1]
    routes, level = [], float(levels[task])
    for source in problem.dag.predecessors[first:last].tolist():
        origin = partial.machine[source]
        if origin != placed.machine:
            routes.append(
                {
                    "from": names[source],
                    "machine": machines[origin],
                    "hops": int(routing.hops[origin, placed.machine]),
                    "link": machines[int(routing.following[origin, placed.machine])],
                }
            )
    ends = {machines[option.machine]: option.end for option in options}
    candidates = listed(f"{name}: {number(end)}" for name, end in ends.items())
    ways = listed(
        f"from {way['from']} on {way['machine']} in {way['hops']} "
        f"hop{'s' if way['hops'] != 1 else ''} by {way['link']}"
        for way in routes
    )
    waiting = listed((f"{names[each]} ({number(levels[each])})" for each in queue), QUEUED)
    text = (
        f"t = {number(time)}; queue {waiting}; {names[task]} would complete at "
        f"{candidates}; {names[task]} to {machines[placed.machine]}, data {ways}, contention "
        f"delay {number(placed.waited)}, executes {number(placed.start)} to {number(placed.end)}"
    )
    step = placing_step(
        problem, placed, task, queue=queue, priority=levels, word="level", options=options,
        text=text, time=time, values={o.machine: o.waited for o in options}, value="waits",
    )  # fmt: skip
    steps.add(
        step,
        time=time,
        task=names[task],
        level=level,
        options=ends,
        machine=machines[placed.machine],
        routes=routes,
        contention_delay=placed.waited,
        start=placed.start,
        end=placed.end,
    )
