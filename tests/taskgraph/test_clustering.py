"""Clusterings, the scheduled graph, merging and mapping."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, solve
from makespan.core.control import Control
from makespan.taskgraph.clustering import (
    ScheduledGraph,
    clustering_of,
    mapping,
    members_of,
    numbered,
)
from makespan.taskgraph.clustering.mapping import _Mapping, mapped, merged
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.list_scheduling.steps import Steps
from makespan.taskgraph.methods.dominant_sequence_clustering import Search
from tests.oracles.taskgraph_clusters import DominantSequences, least_parallel_time
from tests.oracles.taskgraph_instances import random_dag
from tests.oracles.taskgraph_rules import broken_rule
from tests.oracles.taskgraph_slots import scheduled_graph_length
from tests.thorough import few, up_to

DSC = "dominant-sequence-clustering"


def steps() -> Steps:
    return Steps(Control())


@pytest.mark.parametrize("reading", ["zeroed", "original"])
def test_parallel_time_is_the_longest_path(reading: str) -> None:
    """The parallel time of random clusterings is that of the scheduled graph spelled out."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dag = generators.layered(int(rng.integers(1, 12)), rng=rng)
        cluster = rng.integers(0, 4, len(dag)).tolist()
        found = clustering_of(dag, dag.work, dag.size, cluster, reading=reading)
        expected = scheduled_graph_length(
            dag, dag.work, dag.size, cluster, zeroed=reading == "zeroed"
        )
        assert found.parallel_time == pytest.approx(expected)


def test_the_dominant_sequence_has_the_length_of_the_parallel_time() -> None:
    """Works along it, and sizes of its edges between clusters, add up to the parallel time."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng)
        found = clustering_of(dag, dag.work, dag.size, rng.integers(0, 5, len(dag)).tolist())
        pairs = zip(dag.source.tolist(), dag.target.tolist(), strict=True)
        size = dict(zip(pairs, dag.size.tolist(), strict=True))
        path = found.dominant_sequence
        total = sum(dag.work[list(path)].tolist())
        for a, b in pairwise(path):
            total += 0.0 if found.cluster[a] == found.cluster[b] else size[a, b]
        assert total == pytest.approx(found.parallel_time)


def test_a_merge_can_be_undone() -> None:
    """After trying and undoing merges the parallel time is what it was."""
    dag = generators.cholesky(4)
    graph = ScheduledGraph(dag, dag.work, dag.size)
    before = graph.parallel_time()
    for source, target in zip(dag.source.tolist(), dag.target.tolist(), strict=True):
        graph.undo(graph.merge(source, target))
    assert graph.parallel_time() == before
    assert graph.clustering().cluster.tolist() == list(range(len(dag)))


def test_edge_zeroing_never_grows() -> None:
    """The parallel times that are kept fall from step to step."""
    for seed in range(8):
        problem = TaskGraph(generators.layered(25, ccr=2.0, rng=seed), Network([1.0] * 3))
        result = solve(problem, method="edge-zeroing", log=True)
        kept = [s["parallel_time"] for s in result.details["log"] if s.get("zeroed") in (None, True)
                and "parallel_time" in s]  # fmt: skip
        assert all(b <= a * (1 + 1e-12) for a, b in pairwise(kept))
        assert result.details["parallel_time"] == pytest.approx(kept[-1])


def test_clusters_are_one_per_task_in_details() -> None:
    """Every task stands in exactly one cluster, and linear clusters hold paths only."""
    dag = generators.layered(40, rng=3)
    result = solve(TaskGraph(dag, Network([1.0] * 40)), method="linear-clustering")
    clusters = result.details["clusters"]
    assert sorted(name for cluster in clusters for name in cluster) == sorted(dag.names)
    names = list(dag.names)
    edges = {(names[a], names[b]) for a, b in zip(dag.source, dag.target, strict=True)}
    for cluster in clusters:
        path = sorted(cluster, key=lambda name: dag.position[names.index(name)])
        assert all(pair in edges for pair in pairwise(path))


def test_dominant_sequence_clustering_on_chains_and_forks() -> None:
    """A chain becomes one cluster; a fork keeps apart what gains from running at once."""
    chain = Dag(dict.fromkeys("abc", 1.0), [("a", "b", 5.0), ("b", "c", 5.0)])
    fork = Dag({"a": 1.0, "b": 9.0, "c": 9.0}, [("a", "b", 1.0), ("a", "c", 1.0)])
    found = [solve(TaskGraph(dag, Network([1.0] * 3)), method=DSC).details for dag in (chain, fork)]
    assert found[0]["clusters"] == [["a", "b", "c"]]
    assert found[1]["clusters"] == [["a", "b"], ["c"]]
    assert found[1]["parallel_time"] == 11.0


def parallel_time(dag: Dag) -> float:
    """Return the parallel time of dominant sequence clustering, a machine for each cluster."""
    result = solve(TaskGraph(dag, Network([1.0] * len(dag))), method=DSC)
    assert result.makespan == pytest.approx(result.details["parallel_time"])
    return float(result.details["parallel_time"])


@pytest.mark.parametrize("whole", [True, False])
def test_dominant_sequences_follow_the_definition(whole: bool) -> None:
    """Clusters and starts are those of the definition, worked out anew at every step."""
    moved = reserved = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        dag = (
            random_dag(rng)
            if seed % 2
            else generators.layered(
                int(rng.integers(2, 16)), ccr=float(rng.uniform(0.2, 4.0)), density=0.2, rng=rng
            )
        )
        task, edge = dag.work, dag.size
        if whole:
            task, edge = np.ceil(task / 4), np.ceil(edge / 4)
        search = Search(dag, task, edge)
        steps = list(search.run())
        expected = DominantSequences(dag, task, edge)
        clusters = sorted(sorted(nodes) for nodes in expected.clusters.values() if nodes)
        found = members_of(clustering_of(dag, task, edge, search.cluster).cluster)
        assert sorted(found) == clusters
        assert search.start == pytest.approx([expected.start[node] for node in range(len(dag))])
        moved += sum(len(step.moved) for step in steps)
        reserved += sum(step.reserved_for is not None for step in steps)
    assert moved > 20
    assert reserved > 5


@pytest.mark.parametrize("count", up_to(10, 40))
@pytest.mark.parametrize("inwards", few([False, True], 1))
def test_dominant_sequences_are_optimal_for_forks_and_joins(inwards: bool, count: int) -> None:
    """Yang and Gerasoulis 1994: forks and joins of any grain reach the least parallel time."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        work = dict(enumerate(rng.integers(1, 9, 5 + seed % 2).astype(float)))
        ends = [(other, 0) if inwards else (0, other) for other in list(work)[1:]]
        dag = Dag({str(node): value for node, value in work.items()},
                  [(str(a), str(b), float(rng.integers(0, 12))) for a, b in ends])  # fmt: skip
        assert parallel_time(dag) == pytest.approx(least_parallel_time(dag))


@pytest.mark.parametrize("inwards", few([False, True], 1))
def test_dominant_sequences_are_optimal_for_coarse_trees(inwards: bool) -> None:
    """Yang and Gerasoulis 1994: so do trees in which no transfer is longer than any task."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        names = [str(node) for node in range(int(rng.integers(2, 7)))]
        pairs = [(names[int(rng.integers(0, node))], names[node]) for node in range(1, len(names))]
        dag = Dag(dict.fromkeys(names, 0.0) | {name: float(rng.integers(5, 12)) for name in names},
                  [(b, a, float(rng.integers(0, 6))) if inwards else
                   (a, b, float(rng.integers(0, 6))) for a, b in pairs])  # fmt: skip
        assert parallel_time(dag) == pytest.approx(least_parallel_time(dag))


@pytest.mark.parametrize("count", up_to(8, 30))
def test_dominant_sequences_never_lengthen_the_longest_path(count: int) -> None:
    """No parallel time is above that of every task for itself; on coarse graphs none is above
    twice the least (Yang and Gerasoulis 1994)."""
    for seed in range(2 * count):
        rng = np.random.default_rng(seed)
        dag = random_dag(rng)
        alone = clustering_of(dag, dag.work, dag.size, range(len(dag))).parallel_time
        assert parallel_time(dag) <= alone * (1 + 1e-12)
    for seed in range(count):
        coarse = generators.layered(5, density=0.5, rng=seed)
        work, size = np.ceil(coarse.work) + 5.0, np.minimum(np.ceil(coarse.size), 6.0)
        dag = Dag.from_arrays(work=work, source=coarse.source, target=coarse.target, size=size)
        assert parallel_time(dag) <= 2.0 * least_parallel_time(dag) * (1 + 1e-12)


def test_moved_predecessors_and_reserved_clusters_are_logged() -> None:
    """A join takes its predecessors along; a task stays out of a cluster that a longer path
    needs; both stand in the log."""
    join = Dag(dict.fromkeys("abc", 1.0) | {"d": 2.0},
               [("a", "d", 9.0), ("b", "d", 8.0), ("c", "d", 1.0)])  # fmt: skip
    result = solve(TaskGraph(join, Network([1.0] * 4)), method=DSC, log=True)
    assert result.details["log"][3]["moved"] == ["b"]
    assert result.details["clusters"] == [["a", "b", "d"], ["c"]]
    assert any("joins {a b d} with b, starts at 2" in line for line in result.log)
    fork = Dag({"a": 1.0, "b": 8.0, "c": 1.0, "y": 9.0},
               [("a", "b", 3.0), ("a", "y", 6.0), ("c", "y", 1.0)])  # fmt: skip
    shown = solve(TaskGraph(fork, Network([1.0] * 4)), method=DSC, log=True)
    assert (
        "b on a path of length 12 begins a cluster (not to delay y, on a longer path)"
        in shown.log[1]
    )
    assert shown.details["clusters"] == [["a", "y"], ["b"], ["c"]]


def test_level_order_keeps_precedences_of_tasks_without_work() -> None:
    """Equal levels of tasks without work do not turn an edge around."""
    dag = Dag({"late": 0.0, "early": 0.0}, [("early", "late", 0.0)])
    level = levels(dag, dag.work, dag.size)
    assert by_level(dag, level).tolist() == [1, 0]
    assert clustering_of(dag, dag.work, dag.size, [0, 0]).dominant_sequence == (1, 0)


def test_merging_fills_bins_alike() -> None:
    """Six clusters on three machines: longest first into the least full bin, by speed."""
    dag = Dag(dict(zip("abcdef", [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], strict=True)))
    problem = TaskGraph(dag, Network([1.0] * 3))
    found = merged(problem, Control(), np.arange(6), dag.work, steps())
    assert np.bincount(found, weights=dag.work).tolist() == [7.0, 7.0, 7.0]
    fast = TaskGraph(dag, Network([1.0, 2.0]))
    sums = np.bincount(merged(fast, Control(), np.arange(6), dag.work, steps()), weights=dag.work)
    assert sorted(sums.tolist()) == [7.0, 14.0]


def test_mapping_puts_neighbours_next_to_each_other() -> None:
    """A chain of heavy messages lies along a chain of machines, whatever its numbering."""
    dag = Dag(dict.fromkeys("abcd", 1.0), [("a", "c", 9.0), ("c", "b", 9.0), ("b", "d", 9.0)])
    links = [("M1", "M2", 1.0), ("M2", "M3", 1.0), ("M3", "M4", 1.0)]
    network = Network([1.0] * 4, topology="links", links=links)
    place = mapped(TaskGraph(dag, network), Control(), np.arange(4), steps())
    assert place.tolist() == [0, 2, 1, 3]


def test_exact_mapping_beats_every_permutation_and_search_comes_near() -> None:
    """The exact mapping is the least of all; local search never beats it and ends at an optimum
    of exchanges."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        dag = generators.layered(20, ccr=3.0, rng=rng)
        network = Network(rng.choice([1.0, 2.0], 5), topology="ring", message_setup=rng.random(5))
        problem = TaskGraph(dag, network)
        places = _Mapping(problem, rng.integers(0, 5, 20))
        best = places.cost(places.exact())
        assert best == min(places.cost(each) for each in permutations(range(5)))
        searched = places.local_search(Control())
        assert best <= places.cost(searched)
        for one in range(5):
            for other in range(one):
                swapped = list(searched)
                swapped[one], swapped[other] = swapped[other], swapped[one]
                assert places.cost(swapped) >= places.cost(searched)


def test_many_machines_are_mapped_by_exchanges() -> None:
    """More machines than can be tried in all orders still give a valid, mapped plan."""
    problem = TaskGraph(
        generators.fft(16, ccr=1.0), Network([1.0] * 16, topology="hypercube"), contention="links"
    )
    for method in ("edge-zeroing", "dominant-sequence-clustering"):
        result = solve(problem, method=method)
        assert len(set(result.answer["machine_of"].values())) > 7


@pytest.mark.parametrize("count", up_to(7, 25))
def test_merged_clusters_move_to_better_machines(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Moving clusters that were merged never makes a plan longer, and most of them shorter."""
    shorter = tried = 0
    for seed in range(count):
        problem = TaskGraph(
            generators.layered(20, ccr=[0.1, 1.0, 5.0][seed % 3], rng=seed), Network([1.0, 1, 2])
        )
        for method in ("dominant-sequence-clustering", "linear-clustering", "edge-zeroing"):
            monkeypatch.setattr(mapping, "MOVING_STEPS", 300_000)
            found = solve(problem, method=method)
            monkeypatch.setattr(mapping, "MOVING_STEPS", 0)
            merged = solve(problem, method=method)
            assert found.makespan <= merged.makespan
            assert broken_rule(problem, found.schedule) == ""
            tried += 1
            shorter += found.makespan < merged.makespan
    assert shorter > tried / 2


def test_no_single_move_betters_the_plan() -> None:
    """Where there was time for all tries, every other machine of every cluster was tried."""
    for seed in range(6):
        problem = TaskGraph(generators.layered(14, rng=seed), Network([1.0, 2.0]))
        cluster = numbered(np.random.default_rng(seed).integers(0, 6, 14))
        level = levels(problem.dag, *weights(problem))
        start = cluster % 2
        machine = mapping.moved(problem, Control(), cluster, start, level, Steps(Control()))
        end = mapping.ordered(problem, Control(), machine, level).makespan
        for each in range(int(cluster.max()) + 1):
            other = np.where(cluster == each, 1 - machine, machine)
            assert mapping.ordered(problem, Control(), other, level).makespan >= end
