"""Clusterings, the scheduled graph, merging and mapping."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, solve
from makespan.core.control import Control
from makespan.taskgraph import generators
from makespan.taskgraph.clustering import ScheduledGraph, clustering_of
from makespan.taskgraph.levels import by_level, levels
from makespan.taskgraph.mapping import _Mapping, mapped, merged
from makespan.taskgraph.steps import Steps
from tests.oracles.taskgraph_exact import scheduled_graph_length
from tests.oracles.taskgraph_instances import random_dag


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
    found = [
        solve(TaskGraph(dag, Network([1.0] * 3)), method="dominant-sequence-clustering").details
        for dag in (chain, fork)
    ]
    assert found[0]["clusters"] == [["a", "b", "c"]]
    assert found[1]["clusters"] == [["a", "b"], ["c"]]
    assert found[1]["parallel_time"] == 11.0


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
    found = merged(problem, np.arange(6), dag.work, steps())
    assert np.bincount(found, weights=dag.work).tolist() == [7.0, 7.0, 7.0]
    fast = TaskGraph(dag, Network([1.0, 2.0]))
    sums = np.bincount(merged(fast, np.arange(6), dag.work, steps()), weights=dag.work)
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
