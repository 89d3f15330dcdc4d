"""Lower bounds for task graphs."""

from __future__ import annotations

from itertools import chain

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.solution import Bound
from makespan.taskgraph import loops
from makespan.taskgraph.levels import colevels
from makespan.taskgraph.problem import TaskGraph

WIDEST_JOIN = 32
"""Predecessors of a task that are considered for sharing its machine; more only raise the bound."""

MOST_NODES, MOST_RATES = 512, 32
"""Up to which it is looked whether all times are whole."""

PATH = "every path is executed in sequence, in the least duration of each task"
AREA = "all cores together work no faster than all speeds together"
FORCED = (
    "a task waits for all data but those of the predecessors that share its machine, which are "
    "executed one after another there; M. A. Al-Mouhamed, Lower bound on the number of processors "
    "and time for scheduling precedence graphs with communication costs, IEEE TSE 16(12), 1990"
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
    if len(network.nodes) > MOST_NODES:
        return None
    speeds, rates = np.unique(network.speed), np.unique(network.arcs[network.arcs > 0])
    if max(len(speeds), len(rates)) > MOST_RATES:
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
    loops.run(
        loops.forced_ends,
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
