"""The mapping heuristic: list scheduling on the real network."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.core.steps import MAX_ROWS, Step, listed, number
from makespan.taskgraph.levels import ranks
from makespan.taskgraph.list_scheduling import AppendSchedule, Placement
from makespan.taskgraph.list_scheduling.fallback import cannot_end, fallback_plan
from makespan.taskgraph.list_scheduling.ready import Ready
from makespan.taskgraph.list_scheduling.steps import QUEUED, Steps, placing
from makespan.taskgraph.needs import NO_GIVEN_PLAN, QUICKLY_TRIED
from makespan.taskgraph.problem import TaskGraph


@register(
    "taskgraph",
    name="mapping-heuristic",
    needs=(NO_GIVEN_PLAN,),
    reach=(QUICKLY_TRIED,),
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
            _log(problem, partial, steps, ready.time, queue, task, level, options, placed)
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


def _log(
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
    step = placing(
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
