"""Bounds by what has to fit between early starts and what comes behind, and their mirror image."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, lower_bound, solve
from makespan.taskgraph.bounds import bounds
from tests.oracles.taskgraph_enumeration import best, random_problem
from tests.thorough import up_to


def between(durations: list[float]) -> Dag:
    """Return tasks between a first and a last one."""
    names = [f"t{index}" for index in range(len(durations))]
    tasks = {"first": 2.0, **dict(zip(names, durations, strict=True)), "last": 3.0}
    return Dag(tasks, [("first", n) for n in names] + [(n, "last") for n in names])


@pytest.mark.parametrize("count", [4, 5, 8, 9, 13])
def test_equal_tasks_between_two_are_packed(count: int) -> None:
    """One of four machines executes a task in every four that are begun."""
    problem = TaskGraph(between([10.0] * count), Network([1.0] * 4))
    bound = lower_bound(problem)
    assert bound.value == 5 + 10 * -(-count // 4)
    assert str(solve(problem).status) == "optimal"


def test_two_of_the_longest_share_a_machine() -> None:
    """The shortest two of the longest five: 6 and 5, as long as the area is shorter."""
    problem = TaskGraph(between([9.0, 8.0, 7.0, 6.0, 5.0, 0.5]), Network([1.0] * 4))
    assert lower_bound(problem).value == 2 + 11 + 3
    assert lower_bound(problem).name == "windows"


def test_few_tasks_on_many_unlike_machines_take_the_fastest() -> None:
    """Three tasks keep three machines busy at most: 12 units at 2 + 1 + 1 a second."""
    problem = TaskGraph(between([4.0] * 3), Network([2.0, 1.0, 1.0, 0.5, 0.5]))
    assert lower_bound(problem).value == pytest.approx(1 + 3 + 1.5)


@pytest.mark.parametrize("count", up_to(20, 150))
def test_no_plan_of_all_fields_mixed_is_shorter(count: int) -> None:
    tried = 0
    for seed in range(count):
        problem = random_problem(np.random.default_rng(seed))
        least = best(problem) if problem.objective == "makespan" else None
        if least is not None:
            tried += 1
            for bound in bounds(problem):
                assert bound.value <= least * (1 + 1e-9), (seed, bound.name)
    assert tried > count / 2


def test_a_graph_turned_round_has_the_same_bounds() -> None:
    """Plans can be turned round in time where nothing is released and nothing has copies."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pairs = [(a, b) for b in range(9) for a in range(b) if rng.random() < 0.3]
        dag = Dag.from_arrays(
            work=rng.integers(1, 9, 9),
            source=[a for a, _ in pairs],
            target=[b for _, b in pairs],
            size=rng.integers(0, 9, len(pairs)),
        )
        network = Network([2.0, 1.0, 1.0], cores=rng.integers(1, 3, 3))
        there, back = (bounds(TaskGraph(each, network)) for each in (dag, dag.reversed()))
        for one, other in zip(there, back, strict=True):
            assert one.value == pytest.approx(other.value), (seed, one.name)
