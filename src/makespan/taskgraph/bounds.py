"""Lower bounds for task graphs."""

from __future__ import annotations

from itertools import chain

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Bound
from makespan.taskgraph.model.loops import graph_loop
from makespan.taskgraph.placing.levels import colevels
from makespan.taskgraph.problem import TaskGraph

WIDEST_JOIN = 32
"""Predecessors of a task that are considered for sharing its machine; more only raise the bound."""

MAX_NODES, MAX_RATES = 512, 32
"""Up to which it is looked whether all times are whole."""

PATH = "every path is executed in sequence, in the least duration of each task"
AREA = "all cores together work no faster than all speeds together"
FORCED = (
    "a task waits for all data but those of the predecessors that share its machine, which are "
    "executed one after another there (Al-Mouhamed 1990)"
)
GIVEN = "the longest path under the given assignment, and the work of each machine"


def bounds(problem: TaskGraph) -> tuple[Bound, ...]:
    """Return the longest path, the area, and the longest path with forced communication.

    All hold with copies of tasks too. Longest path: whichever copy of a task ends first has waited
    for some copy of each predecessor. Area: every task is executed at least once. Forced
    communication: no copy of a predecessor ends before that predecessor's bound, and its data
    come over the network, or a copy of it is executed on the machine before the task.

    Complexity: O(n m + e), compiled for large graphs.
    """
    if problem.given.machine_of is not None:
        return (_given_plan(problem),)
    least = least_durations(problem)
    return (
        Bound(value=_longest(problem, least), name="longest path", source=PATH),
        Bound(value=_area(problem, least), name="area", source=AREA),
        Bound(value=_forced(problem, least), name="forced communication", source=FORCED),
    )


def grain(problem: TaskGraph) -> float | None:
    """Return 1 where every duration, hop, set-up and delay is whole, else None.

    The makespan of a plan without needless waiting is a sum of them. Where there are many speeds,
    rates or machines nothing is said. Complexity: O(n + e).
    """
    dag, network = problem.dag, problem.network
    if len(network.nodes) > MAX_NODES:
        return None
    speeds, rates = np.unique(network.speed), np.unique(network.arcs[network.arcs > 0])
    if max(len(speeds), len(rates)) > MAX_RATES:
        return None
    work = np.delete(dag.work, dag.own)
    columns = chain(
        (network.task_setup, network.message_setup, network.routing.delay, dag.durations),
        (work / speed for speed in speeds),
        (dag.size / rate for rate in rates),
    )
    return 1.0 if all((column == np.floor(column)).all() for column in columns) else None


def least_durations(problem: TaskGraph) -> Floats:
    """Return the least seconds of each task over the machines, in memory for the tasks only."""
    dag, network = problem.dag, problem.network
    least = np.full(len(dag), np.inf)
    for machine in range(len(network)):
        seconds = dag.work / network.speed[machine] + network.task_setup[machine]
        np.minimum(least, seconds, out=least)
    if len(dag.own):
        least[dag.own] = dag.durations.min(axis=1)
    return least


def _longest(problem: TaskGraph, seconds: Floats, edge: Floats | None = None) -> float:
    edge = np.zeros(len(problem.dag.source)) if edge is None else edge
    return float(colevels(problem.dag, seconds, edge).max(initial=0.0))


def _area(problem: TaskGraph, least: Floats) -> float:
    """Return the work over the speed of all cores, or the least durations over the cores."""
    network = problem.network
    by_core = float(least.sum()) / float(problem.cores.sum())
    if len(problem.dag.own):
        return by_core
    by_speed = float(problem.dag.work.sum()) / float((network.speed * problem.cores).sum())
    return max(by_core, by_speed)


def _forced(problem: TaskGraph, least: Floats) -> float:
    dag, routing = problem.dag, problem.network.routing
    count = len(problem.network)
    if count == 1:
        return _longest(problem, least)
    others = ~np.eye(count, dtype=bool)
    transfer = routing.fixed_seconds[others].min() + (
        dag.size * routing.seconds_per_unit[others].min()
    )
    ends = np.zeros(len(dag))
    width = int(min(WIDEST_JOIN, np.diff(dag.first_in).max(initial=0)))
    forced_ends.run(
        len(dag) + 8 * len(dag.source),
        (dag.order, dag.first_in, dag.predecessors, transfer[dag.in_edges], least),
        (ends, np.zeros(width), np.zeros(width, dtype=np.int64)),
        (float(problem.cores.max()),),
    )
    return float(ends.max(initial=0.0))


def _given_plan(problem: TaskGraph) -> Bound:
    dag, network, routing = problem.dag, problem.network, problem.network.routing
    machine = problem.given.machine_of
    assert machine is not None
    seconds = problem.durations_on(np.arange(len(dag)), machine)
    a, b = machine[dag.source], machine[dag.target]
    edge = routing.fixed_seconds[a, b] + routing.seconds_per_unit[a, b] * dag.size
    edge[a == b] = 0.0
    work = np.bincount(machine, weights=seconds, minlength=len(network)) / problem.cores
    value = max(_longest(problem, seconds, edge), float(work.max()))
    return Bound(value=value, name="given plan", source=GIVEN)


@graph_loop
def forced_ends(  # type: ignore[no-untyped-def]
    order, first_in, predecessors, in_weight, least, ends, arrival, member, cores
):
    """Write the earliest end of each task that any plan on any machines allows.

    The predecessors whose data would come last are those worth sharing a machine with: for each
    number of them, the machine executes them (on ``cores`` at most) and waits for the data of the
    others. ``arrival`` and ``member`` are room for the last arrivals, falling.
    """
    width = len(arrival)
    for index in range(len(order)):
        task = order[index]
        kept = 0
        for position in range(first_in[task], first_in[task + 1]):
            source = predecessors[position]
            time = ends[source] + in_weight[position]
            hole = kept
            if kept == width:
                if time <= arrival[width - 1]:
                    continue
                hole = width - 1
            else:
                kept += 1
            while hole > 0 and arrival[hole - 1] < time:
                arrival[hole] = arrival[hole - 1]
                member[hole] = member[hole - 1]
                hole -= 1
            arrival[hole] = time
            member[hole] = source
        begin = arrival[0] if kept > 0 else 0.0
        work = 0.0
        latest = 0.0
        earliest_start = 0.0
        for shared in range(kept):
            source = member[shared]
            own_start = ends[source] - least[source]
            earliest_start = own_start if shared == 0 else min(earliest_start, own_start)
            work += least[source]
            latest = max(latest, ends[source])
            local = max(latest, earliest_start + work / cores)
            others = arrival[shared + 1] if shared + 1 < kept else 0.0
            begin = min(begin, max(local, others))
        ends[task] = begin + least[task]
