"""Pipelined trees: what they do, how good they are, and collectives that use them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from makespan.execute.collectives.pipelines import Pipeline, _Costs, best_pipeline
from tests.execute.mpi.launch import launch
from tests.execute.mpi.test_calibration import calibration
from tests.execute.mpi.test_tables import COLLECTIVES, carried_out

PROGRAMS = Path(__file__).parent


def trees(ranks):
    """Return every tree, as the parent of every rank."""
    found = []
    for parents in product(range(ranks), repeat=ranks):
        roots = [rank for rank in range(ranks) if parents[rank] == rank]
        reached = list(range(ranks))
        for _ in range(ranks):
            reached = [parents[rank] for rank in reached]
        if len(roots) == 1 and set(reached) == set(roots):
            found.append(parents)
    return found


def test_there_are_as_many_trees_as_cayley_counted():
    """n^(n - 1) rooted trees."""
    assert [len(trees(ranks)) for ranks in (1, 2, 3, 4)] == [1, 2, 9, 64]


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_tree_combines_everything(collective):
    """Every tree from rank 0 ends in any interleaving, and every contribution counts once."""
    rng = np.random.default_rng(4)
    for parents in trees(4):
        if parents[0] != 0:
            continue
        pipeline = Pipeline(collective, parents, 3, 0.0)
        tables = [pipeline.work(rank).table for rank in range(4)]
        own = [[{rank} for _ in range(3)] for rank in range(4)]
        held, final = carried_out(tables, own, rng)
        everyone = {0} if collective == "broadcast" else {0, 1, 2, 3}
        assert held[0] == [everyone] * 3
        if collective != "reduce":
            assert all(values == [everyone] * 3 for values in final[1:])


@pytest.mark.parametrize("collective", ["gather", "scatter", "all-gather", "reduce-scatter"])
def test_every_tree_deals_segments(collective):
    """Over every tree of four ranks, in any interleaving, each rank ends with what it must have."""
    rng = np.random.default_rng(5)
    for parents in trees(4):
        works = [Pipeline(collective, parents, 2, 0.0).work(rank) for rank in range(4)]
        ends = [work.ends for work in works]
        own = [[{rank} if held else set() for held in ends[rank].held] for rank in range(4)]
        held, final = carried_out([work.table for work in works], own, rng)
        for rank in range(4):
            for segment in np.flatnonzero(ends[rank].wanted).tolist():
                holders = {one for one in range(4) if ends[one].held[segment]}
                assert (held[rank][segment] or final[rank][segment]) == holders


def test_what_a_dealt_collective_sends_over_an_edge():
    """A slow leaf gives its own block and takes the three others of an all-gather."""
    found = behind_links([1e9, 1e6, 1e9, 1e9])
    star = (0, 0, 0, 0)
    gathered = _Costs(found, 4_000_000, "all-gather").seconds(star, 100)
    assert 3.0 < gathered < 3.1
    assert 3.0 < _Costs(found, 4_000_000, "reduce-scatter").seconds(star, 100) < 3.1
    for collective in ("gather", "scatter"):
        assert 1.0 < _Costs(found, 4_000_000, collective).seconds(star, 100) < 1.1
        through = _Costs(found, 4_000_000, collective).seconds((0, 0, 1, 1), 100)
        assert 3.0 < through < 3.1


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_found_trees_are_nearly_the_best(collective):
    """Against all trees of four ranks: rarely above the least, and by little."""
    rng = np.random.default_rng(8)
    above = []
    for _ in range(20):
        found, nbytes = calibration(rng), int(rng.integers(1, 10**6))
        pipeline = best_pipeline(found, nbytes, collective)
        costs = _Costs(found, nbytes, collective)
        least = min(costs.best(parents)[0] for parents in trees(4))
        assert pipeline.predicted == costs.seconds(pipeline.parents, pipeline.segments)
        above.append(pipeline.predicted / least)
        rooted = best_pipeline(found, nbytes, collective, root=3)
        assert rooted.root == 3
        assert rooted.predicted >= least * (1 - 1e-12)
    assert min(above) >= 1.0 - 1e-12
    assert np.mean(above) < 1.01


def behind_links(rates):
    """Return ranks behind links of their own, of so many bytes a second each way."""
    ranks = len(rates)
    pairs = [
        tuple(0.0 if i == j else 1 / min(rates[i], rates[j]) for j in range(ranks))
        for i in range(ranks)
    ]
    none, ports = ((0.0,) * ranks,) * ranks, tuple(1 / rate for rate in rates)
    return replace(
        calibration(np.random.default_rng(0), ranks),
        latency=none,
        message_overhead=tuple(tuple(1e-5 * (i != j) for j in range(ranks)) for i in range(ranks)),
        transfer_per_byte=tuple(pairs),
        send_per_byte=ports,
        receive_per_byte=ports,
        reduce_overhead=none[0],
        reduce_per_byte=none[0],
        shared=(),
    )


def test_slow_links_are_leaves():
    """The array passes the slowest link once each way at the same time, and nothing waits more."""
    found = behind_links([1e9, 6e6, 12e6, 25e6])
    pipeline = best_pipeline(found, 8_000_000, "all-reduce")
    assert 1 not in [above for rank, above in enumerate(pipeline.parents) if rank != above]
    assert 8 / 6 * (1 - 1e-12) <= pipeline.predicted < 8 / 6 * 1.05


def test_a_shared_link_counts_once_for_each_that_passes():
    """Where two edges share a link, what they take adds up."""
    found = replace(behind_links([1e6] * 4), shared=(((1, 0), (3, 2), 2.0),))
    parents = (0, 0, 0, 2)
    apart = _Costs(replace(found, shared=()), 1000, "reduce").seconds(parents, 1000)
    shared = _Costs(found, 1000, "reduce").seconds(parents, 1000)
    assert shared > apart


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [1, 4])
def test_tuned_collectives_are_right(tmp_path, ranks):
    """Whatever is used, the arrays are those of MPI; a calibration is measured once, and kept."""
    done = launch(ranks, PROGRAMS / "tuning.py", tmp_path / "ranks.json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.slow
def test_tuned_collectives_of_many_ranks_and_large_arrays(tmp_path):
    """The same on eight ranks with ten million numbers, which pass shared memory in pieces."""
    done = launch(8, PROGRAMS / "tuning.py", tmp_path / "ranks.json", 10**7, timeout=500)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
