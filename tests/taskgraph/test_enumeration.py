"""What methods and bounds claim, against every plan of small problems with all fields mixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, methods, solve
from makespan.taskgraph.bounds import bounds, grain
from makespan.taskgraph.generate import graphs as generators
from tests.oracles.taskgraph_enumeration import best, covers, random_problem
from tests.thorough import up_to

WITHIN = 1e-8
COMPLETE = ("branch-and-bound", "cp-sat", "cp-sat-transfers")
"""What finds a plan wherever there is one, of few tasks in enough time."""
SAMPLING = ("monte-carlo", "sample-average")
"""What takes as long as it may, and proves nothing by that."""


def claims_hold(seed: int, names: tuple[str, ...] | None) -> bool:
    """Hold everything that is said of the problem of a seed against its optimum.

    False where the problem is too large to try everything.
    """
    problem = random_problem(np.random.default_rng(seed))
    least = best(problem) if covers(problem) else None
    if least is None:
        return False
    whole = grain(problem)
    if problem.objective == "makespan" and whole is not None and least < np.inf:
        assert least % whole == 0, seed
    by_price = problem.objective == "price"
    for bound in () if by_price else bounds(problem):
        assert bound.value <= least * (1 + WITHIN), (seed, bound)
    for verdict in methods(problem):
        if not verdict.applies or not (names is None or verdict.name in names):
            continue
        limit = 0.02 if verdict.name in SAMPLING else 20.0
        result = solve(problem, method=verdict.name, time_limit=limit)
        if result.status == "infeasible":
            assert least == np.inf, (seed, verdict.name)
        if least == np.inf and verdict.name in COMPLETE:
            assert result.status == "infeasible", (seed, verdict.name)
        if result.makespan is None:  # its plan misses a deadline
            assert problem.has_deadlines or problem.budget is not None, (seed, verdict.name)
            assert verdict.name not in COMPLETE or least == np.inf, (seed, verdict.name)
            continue
        value, bound = result.makespan, result.lower_bound
        if by_price:
            value, bound = result.objective.value, result.objective.bound
        assert bound is not None
        assert value >= least * (1 - WITHIN), (seed, verdict.name)
        assert bound <= least * (1 + WITHIN), (seed, verdict.name)
        if result.status == "optimal":
            assert value <= least * (1 + WITHIN), (seed, verdict.name)
    return True


def test_what_proves_is_right() -> None:
    """Methods that prove, and every bound, on a hundred problems."""
    names = ("given-plan", "hu", "coffman-graham", "branch-and-bound", "cp-sat", "cp-sat-transfers")
    assert sum(claims_hold(seed, names) for seed in range(100)) > 83


@pytest.mark.parametrize("count", up_to(10, 40))
def test_no_method_is_better_than_all_plans(count: int) -> None:
    """Every method that applies, what its bound proves included."""
    assert sum(claims_hold(seed, None) for seed in range(300, 300 + count)) > 3 * count / 4


@pytest.mark.slow
def test_claims_of_thousands_of_problems() -> None:
    """The same on many more."""
    assert sum(claims_hold(seed, None) for seed in range(1000, 3000)) > 1800


@pytest.mark.parametrize("communication", ["overlap", "blocking"])
def test_what_takes_no_time_waits_for_no_core(communication: Any) -> None:
    """A task of no time may be executed while its machine executes another."""
    dag = Dag({"a": 5.0, "z": 0.0, "b": 3.0}, [("z", "b", 0.0)])
    network = Network([1, 1], names=["M", "N"])
    given = {"assignment": {"a": "M", "z": "M", "b": "N"}, "sequence": {"M": ["a", "z"]}}
    problem = TaskGraph(dag, network, communication=communication, **given)
    assert best(problem) == solve(problem, method="given-plan").makespan == 5.0


def test_sequences_decide_between_equal_starts() -> None:
    """Timed anew, tasks of one start keep to the sequence of their machine."""
    dag = Dag({"a": 4.0, "b": 3.0, "c": 1.0}, [("a", "b")])
    network = Network([1.0], names=["M"], cores=2)
    result = solve(TaskGraph(dag, network, sequence={"M": ["a", "b", "c"]}))
    assert result.makespan == 7.0


def test_whole_times_make_whole_makespans() -> None:
    """1 where everything is whole, nothing where a hop, a set-up or a duration is not."""
    dag = Dag({"a": 2.0, "b": [3.0, 5.0]}, [("a", "b", 4.0)])
    assert grain(TaskGraph(dag, Network([1.0, 2.0], rate=4.0))) == 1.0
    assert grain(TaskGraph(dag, Network([1.0, 2.0], rate=np.inf))) == 1.0
    assert grain(TaskGraph(dag, Network([1.0, 3.0]))) is None
    assert grain(TaskGraph(dag, Network([1.0, 2.0], rate=3.0))) is None
    assert grain(TaskGraph(dag, Network([1.0, 2.0], message_setup=0.5))) is None


@pytest.mark.parametrize("contention", ["none", "ports"])
@pytest.mark.parametrize("method", ["heft", "peft", "dls", "lookahead", "edge-zeroing"])
def test_a_plan_is_there_when_the_time_is_up(method: str, contention: str) -> None:
    """Without time the rest is appended, or all is on one machine: no longer than that alone."""
    dag = generators.layered(2000, rng=1)
    problem = TaskGraph(dag, Network([1.0, 2.0, 3.0]), contention=contention)
    result = solve(problem, method=method, time_limit=0.0)
    assert result.makespan <= dag.work.sum() / 3.0 * (1 + 1e-12)
