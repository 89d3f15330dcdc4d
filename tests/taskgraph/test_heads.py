"""Forks, joins and others with one first or last task, under communication, by CP-SAT."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, solve
from makespan.taskgraph.levels import heads_apart
from tests.oracles.taskgraph_enumeration import best as optimum
from tests.thorough import few, up_to


def problem_of(rng: np.random.Generator, shape: str) -> TaskGraph:
    """Return a few tasks behind one first task, or before one last, on two or three machines."""
    count = 5
    pairs = [(0, each) for each in range(1, count)]
    if shape == "rooted":
        pairs += [(a, b) for b in range(2, count) for a in range(1, b) if rng.random() < 0.3]
    if shape == "fork-join":
        pairs = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
    turned = shape == "join"
    names = rng.permutation(count)
    dag = Dag.from_arrays(
        work=rng.integers(0, 6, count).astype(float),
        source=[names[b if turned else a] for a, b in pairs],
        target=[names[a if turned else b] for a, b in pairs],
        size=rng.integers(0, 8, len(pairs)).astype(float),
    )
    machines = int(rng.integers(2, 4))
    speeds = np.ones(machines) if rng.random() < 0.7 else rng.choice([1.0, 2.0], machines)
    return TaskGraph(dag, Network(speeds, cores=rng.integers(1, 3, machines)))


@pytest.mark.parametrize("count", up_to(8, 25))
@pytest.mark.parametrize("shape", few(["fork-join", "fork", "join", "rooted"], 1, thorough=2))
def test_cp_sat_is_optimal(shape: str, count: int) -> None:
    """What is known of machines without the first or last task cuts off no optimum."""
    tried = 0
    for seed in range(count):
        problem = problem_of(np.random.default_rng(seed), shape)
        least = optimum(problem)
        if least is None:
            continue
        tried += 1
        result = solve(problem, method="cp-sat", time_limit=20)
        assert (result.makespan, str(result.status)) == (pytest.approx(least), "optimal")
    assert tried > 3 * count / 5


def test_heads_apart_are_never_late() -> None:
    """On two machines with any number of cores, no task elsewhere starts before its head."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        dag = problem_of(rng, "rooted").dag
        root = int(np.flatnonzero(np.diff(dag.first_in) == 0)[0])
        least, across = dag.work.astype(np.int64), dag.size.astype(np.int64)
        head = heads_apart(dag, root, least, across)
        for machine in product(range(2), repeat=len(dag)):
            start = np.zeros(len(dag))
            for task in dag.order.tolist():
                for edge in np.flatnonzero(dag.target == task):
                    source = dag.source[edge]
                    sent = across[edge] if machine[source] != machine[task] else 0
                    start[task] = max(start[task], start[source] + least[source] + sent)
            apart = np.array(machine) != machine[root]
            assert (head[apart] <= start[apart]).all()


def test_a_fork_of_thirty_tasks_is_proved() -> None:
    """A fork is its assignment alone, which the linear relaxation describes."""
    rng = np.random.default_rng(3)
    dag = Dag.from_arrays(
        work=rng.integers(2, 12, 30).astype(float),
        source=np.zeros(29, dtype=int),
        target=np.arange(1, 30),
        size=rng.integers(2, 20, 29).astype(float),
    )
    result = solve(TaskGraph(dag, Network([1.0, 1.0])), method="cp-sat", time_limit=60)
    assert result.status == "optimal"
