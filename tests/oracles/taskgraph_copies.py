"""Task graphs with copies, slow and obvious: the rules in loops, and optima by trying all."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan import Dag, Schedule, TaskGraph
from tests.oracles.taskgraph_instances import random_dag, random_network, with_releases
from tests.oracles.taskgraph_rules import SLACK, most_at_a_time, seconds_on

Row = dict[str, Any]


def random_problem_with_copies(seed: int, **more: Any) -> TaskGraph:
    """Return the problem of a seed, on a complete network or a bus."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng)
    network = random_network(rng, ("complete", "complete", "bus")[seed % 3])
    if rng.random() < 0.2:
        durations = rng.uniform(1.0, 9.0, (len(dag), len(network)))
        dag = Dag.from_arrays(
            durations=durations, source=dag.source, target=dag.target, size=dag.size
        )
    if seed % 3 == 0:
        dag = with_releases(dag, rng)
    return TaskGraph(dag, network, duplication=True, **more)


def broken_copy_rule(problem: TaskGraph, schedule: Schedule) -> str:
    """Return the first rule found broken where tasks may have copies, empty if none is."""
    dag, network, names = problem.dag, problem.network, list(problem.machines)
    slack = SLACK * schedule.makespan
    rows = list(schedule.renamed(problem.machines).records())
    copies: dict[tuple[int, int], Row] = {}
    for row in rows:
        if row["kind"] == "compute":
            copy = (row["item"], names.index(row["machine"]))
            if copy in copies:
                return "two copies on one machine"
            copies[copy] = row
            if abs(row["end"] - row["start"] - seconds_on(problem, *copy)) > slack:
                return "duration"
            if row["start"] < dag.release[copy[0]] - slack:
                return "release"
    if {task for task, _ in copies} != set(range(len(dag))):
        return "every task"
    arrived: dict[tuple[int, int], float] = {}
    for row in rows:
        if row["kind"] == "transfer":
            edge, a, b = row["item"], names.index(row["machine"]), names.index(row["peer"])
            if a == b or (edge, b) in arrived:
                return "route"
            source, target = (int(dag.source[edge]), a), (int(dag.target[edge]), b)
            if source not in copies or target not in copies:
                return "route"
            due = dag.size[edge] / network.arcs[a, b] + network.message_setup[a]
            if abs(row["end"] - row["start"] - due) > slack:
                return "transfer duration"
            if row["start"] < copies[source]["end"] - slack:
                return "transfer too early"
            arrived[edge, b] = row["end"] + network.delays.get((names[a], names[b]), 0.0)
    for (task, machine), row in copies.items():
        for edge in np.flatnonzero(dag.target == task).tolist():
            ready = [arrived[edge, machine]] if (edge, machine) in arrived else []
            for (other, place), supplier in copies.items():
                free = place == machine or not _costs(problem, edge, place, machine)
                if other == dag.source[edge] and free:
                    ready.append(supplier["end"])
            if not ready or row["start"] < min(ready) - slack:
                return "task too early"
    for machine in range(len(network)):
        busy = [
            (row["start"], row["end"])
            for (task, place), row in copies.items()
            if place == machine
            for _ in range(dag.cores[task])
        ]
        if most_at_a_time(busy, slack) > network.cores[machine]:
            return "cores"
    return ""


def _costs(problem: TaskGraph, edge: int, a: int, b: int) -> bool:
    network = problem.network
    pair = (network.names[a], network.names[b])
    return bool(
        problem.dag.size[edge] > 0
        or network.message_setup[a] > 0
        or network.delays.get(pair, 0.0) > 0
    )


def optimum_with_copies(problem: TaskGraph) -> float:
    """Return the least makespan with copies, on machines of one core.

    Sorted by start, the copies of a plan are a sequence in which each is placed behind what its
    machine did before, when its inputs from copies before it are there. All such sequences are
    tried whose starts don't fall and that are still shorter than the best one known.
    """
    dag, network = problem.dag, problem.network
    machines, count = range(len(network)), len(dag)
    seconds = [
        [seconds_on(problem, task, machine) for machine in machines] for task in range(count)
    ]
    edges = list(zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True))
    incoming = [[(a, size) for a, b, size in edges if b == task] for task in range(count)]
    is_exit = [all(a != task for a, _, _ in edges) for task in range(count)]
    routing = network.routing
    best = [float("inf")]

    def start_of(ends: dict[tuple[int, int], float], task: int, machine: int) -> float:
        ready = float(dag.release[task])
        for source, size in incoming[task]:
            options = [
                end + (0.0 if place == machine else routing.seconds(place, machine, size))
                for (other, place), end in ends.items()
                if other == source
            ]
            ready = max(ready, min(options, default=float("inf")))
        return ready

    def grow(ends: dict[tuple[int, int], float], free: list[float], last: float) -> None:
        done = {task for task, _ in ends}
        if len(done) == count:
            best[0] = min(best[0], max(free))
            return
        for task in range(count):
            if task in done and is_exit[task]:
                continue
            for machine in machines:
                if (task, machine) in ends:
                    continue
                start = max(free[machine], start_of(ends, task, machine))
                end = start + seconds[task][machine]
                if start < last or end >= best[0]:
                    continue
                after = list(free)
                after[machine] = end
                grow({**ends, (task, machine): end}, after, start)

    grow({}, [0.0 for _ in machines], 0.0)
    return best[0]


def tiny_problem(seed: int, *, duplication: bool = True) -> TaskGraph:
    """Return three to five tasks on two machines, with large data, by seed."""
    from makespan import Network

    rng = np.random.default_rng(seed)
    count = 3 + seed % 3
    pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.5]
    dag = Dag.from_arrays(
        work=rng.integers(1, 6, count).astype(float),
        source=[a for a, _ in pairs],
        target=[b for _, b in pairs],
        size=rng.integers(0, 9, len(pairs)).astype(float),
    )
    network = Network([1.0, float(rng.integers(1, 3))], message_setup=float(rng.integers(0, 2)))
    return TaskGraph(dag, network, duplication=duplication)
