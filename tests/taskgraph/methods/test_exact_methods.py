"""Hu, Coffman and Graham, and bounds, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, lower_bound, methods, solve
from makespan.core.control import Control
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.methods.equal_tasks import labels, transitive_reduction
from tests.oracles.taskgraph_enumeration import best as optimum, covers, random_problem
from tests.oracles.taskgraph_slots import slots_needed


def random_forest(rng: np.random.Generator, count: int, *, inwards: bool) -> Dag:
    parents = [(int(rng.integers(0, node)), node) for node in range(1, count) if rng.random() < 0.8]
    pairs = [(b, a) for a, b in parents] if inwards else parents
    order = rng.permutation(count)
    return Dag.from_arrays(
        work=np.full(count, 2.0),
        source=[order[a] for a, _ in pairs],
        target=[order[b] for _, b in pairs],
    )


def random_equal_tasks(rng: np.random.Generator, count: int) -> Dag:
    chosen = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.3]
    return Dag.from_arrays(
        work=np.ones(count), source=[a for a, _ in chosen], target=[b for _, b in chosen]
    )


@pytest.mark.parametrize("inwards", [True, False])
def test_hu_is_optimal(inwards: bool) -> None:
    """Hu's makespan is the least number of slots, on in-forests and out-forests."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dag = random_forest(rng, int(rng.integers(1, 10)), inwards=inwards)
        machines = int(rng.integers(1, 4))
        result = solve(TaskGraph(dag, Network([1.0] * machines)), method="hu")
        assert result.makespan == 2.0 * slots_needed(dag, machines)
        assert result.status == "optimal"


def test_coffman_graham_is_optimal() -> None:
    """On two machines, or two cores, the makespan is the least number of slots."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        dag = random_equal_tasks(rng, int(rng.integers(1, 10)))
        network = Network([1.0, 1.0]) if seed % 2 else Network([1.0], cores=2)
        result = solve(TaskGraph(dag, network), method="coffman-graham")
        assert result.makespan == slots_needed(dag, 2)
        assert result.status == "optimal"


def test_branch_and_bound_is_optimal_or_says_that_it_gave_up() -> None:
    """Complete, it finds the least makespan of all plans; cut off, it does not call it proved."""
    cut_off = 0
    for seed in range(80):
        problem = random_problem(np.random.default_rng(seed))
        plain = TaskGraph(problem.dag, problem.network)
        if not covers(plain):
            continue
        result = solve(plain, method="branch-and-bound", tries=10**6)
        least = optimum(plain)
        assert result.status == ("optimal" if least < np.inf else "infeasible")
        if least == np.inf:
            continue
        assert result.makespan == pytest.approx(least, rel=1e-9)
        few = solve(plain, method="branch-and-bound", tries=1)
        if few.makespan is None:  # its first plan misses a deadline
            continue
        assert few.makespan >= result.makespan
        if few.status != "optimal":
            cut_off += 1
            assert "has not tried all" in few.notes[-1]
    assert cut_off > 10


def test_auto_proves_a_tiny_graph_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that no bound proves is searched, and no model is built: it is the plan of HEFT."""

    def refused() -> None:
        raise AssertionError("CP-SAT is called")

    monkeypatch.setattr("makespan.backends.cp_sat.library", refused)
    edges = [("a", "b", 2.0), ("a", "c", 2.0), ("b", "d", 2.0)]
    problem = TaskGraph(Dag({"a": 1.0, "b": 1.0, "c": 2.0, "d": 1.0}, edges), Network([1.0, 1.0]))
    result = solve(problem)
    assert lower_bound(problem).value < optimum(problem) == result.makespan == 5.0
    assert (result.method, result.status) == ("heft", "optimal")


@pytest.mark.parametrize("method", ["hu", "coffman-graham"])
def test_machines_fetch_what_takes_no_time_when_they_take_the_task(method: str) -> None:
    """Data that wait for a task, with blocking communication, are not fetched beside another."""
    dag = Dag.from_arrays(work=np.ones(4), source=[0, 1, 2], target=[2, 3, 3], size=[2.0, 2.0, 2.0])
    problem = TaskGraph(dag=dag, network=Network([1.0, 1.0], rate=np.inf), communication="blocking")
    result = solve(problem, method=method)
    assert (result.status, result.makespan) == ("optimal", 3.0)


def test_auto_takes_the_exact_special_case() -> None:
    """``auto`` proves trees of equal tasks without search."""
    rng = np.random.default_rng(0)
    problem = TaskGraph(random_forest(rng, 30, inwards=True), Network([1.0] * 3))
    assert solve(problem).status == "optimal"


def test_labels_need_the_transitive_reduction() -> None:
    """An edge that a longer way implies changes no label."""
    short = Dag(dict.fromkeys("abc", 1.0), [("a", "b"), ("b", "c")])
    long = Dag(dict.fromkeys("abc", 1.0), [("a", "b"), ("b", "c"), ("a", "c")])
    assert transitive_reduction(long, Control()) == [[1], [2], []]
    assert list(labels(short, Control())) == list(labels(long, Control())) == [3, 2, 1]


def test_why_they_do_not_apply() -> None:
    """The verdicts name the tasks and values that stand in the way."""
    dag = Dag(dict.fromkeys("abcd", 1.0), [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d", 2.0)])
    verdicts = {each.name: each for each in methods(TaskGraph(dag, Network([1.0] * 3)))}
    assert "edges[3].size is 2" in str(verdicts["hu"])
    assert "a has 2 successors and d has 2 predecessors" in str(verdicts["hu"])
    assert "needs two machines, or one with two cores, but there are 3" in str(
        verdicts["coffman-graham"]
    )


@pytest.mark.parametrize("communication", ["overlap", "blocking"])
def test_bounds_never_exceed_the_optimum(communication: str) -> None:
    """Every bound is at most the optimum found by trying everything."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        pairs = [(a, b) for b in range(5) for a in range(b) if rng.random() < 0.4]
        dag = Dag.from_arrays(
            work=rng.integers(1, 5, 5),
            source=[a for a, _ in pairs],
            target=[b for _, b in pairs],
            size=rng.integers(0, 6, len(pairs)),
        )
        cores = rng.integers(1, 3, 2)
        network = Network([1.0, 2.0], cores=cores, message_setup=float(rng.integers(0, 2)))
        problem = TaskGraph(dag, network, communication=communication)  # type: ignore[arg-type]
        best = optimum(problem)
        assert all(bound.value <= best + 1e-9 for bound in bounds(problem))
        assert solve(problem).makespan >= best - 1e-9


def test_forced_communication_is_the_sharpest_bound_of_a_join() -> None:
    """Two long predecessors of one task: one moves its data, or both share a machine."""
    dag = Dag({"a": 5.0, "b": 5.0, "c": 1.0}, [("a", "c", 3.0), ("b", "c", 3.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    assert lower_bound(problem).name == "forced communication"
    assert lower_bound(problem).value == optimum(problem) == 9.0


@pytest.mark.thorough
def test_wide_joins_keep_the_bound_valid() -> None:
    """More predecessors than are considered still give a valid bound."""
    count = 80
    dag = Dag.from_arrays(
        work=[1.0] * (count + 1), source=range(count), target=[count] * count, size=1000.0
    )
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    result = solve(problem)
    assert 33.0 <= lower_bound(problem).value <= result.makespan == count + 1
