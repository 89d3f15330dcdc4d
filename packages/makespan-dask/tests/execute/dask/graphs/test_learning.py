"""What runs teach: structures, costs, and whether a plan pays; without a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dask import delayed

from makespan.execute.dask.graphs import choice
from makespan.execute.dask.graphs.choice import choose, problem_of
from makespan.execute.dask.graphs.history import ClusterHistory, GraphHistory
from makespan.execute.dask.graphs.remote import Seen
from makespan.execute.dask.graphs.work import Structure, structure_of, work_of
from makespan.execute.dealing.engine import WorkerInfo
from tests.execute.dask.graphs import graphs

MEMBERS = [WorkerInfo(name, f"tcp://{name}", 1) for name in ("a", "b")]
NAMES = tuple(member.name for member in MEMBERS)


def star(width: int = 4) -> Structure:
    """``width`` sources and a sink."""
    return structure_of(work_of(graphs.raw_tree(width), "sum"))


def learnt(
    structure: Structure, seconds: float, size: int, rate: float
) -> tuple[ClusterHistory, GraphHistory]:
    """A cluster that ran the graph twice."""
    cluster = ClusterHistory()
    known = cluster.known(structure, MEMBERS)
    for _ in range(2):
        run_once(cluster, known, structure, seconds, size, rate)
    return cluster, known


def run_once(
    cluster: ClusterHistory,
    known: GraphHistory,
    structure: Structure,
    seconds: float,
    size: int,
    rate: float,
) -> None:
    """Let Dask run it: sources in turn on both, results sent one by one to a."""
    sink = structure.kinds.index("sum")
    sources = [task for task in range(len(structure.keys)) if task != sink]
    seen = {name: Seen({}, (), {}) for name in NAMES}
    clock = dict.fromkeys(NAMES, 0.0)
    sent: list[tuple[Any, str, float, float]] = []
    for place, task in enumerate(sources):
        name = NAMES[place % 2]
        key, start = structure.keys[task], clock[name]
        clock[name] += seconds * (1.0 if name == "a" else 2.0)
        seen[name].computed[key], seen[name].sizes[key] = (start, clock[name]), size
    now = max(clock.values())
    for place, task in enumerate(sources):
        if place % 2:
            sent.append((structure.keys[task], "tcp://a", now, now + size / rate))
            now += size / rate + 0.1
    seen["b"] = Seen(seen["b"].computed, tuple(sent), seen["b"].sizes)
    seen["a"].computed[structure.keys[sink]] = now, now + seconds
    seen["a"].sizes[structure.keys[sink]] = 8
    number = {key: task for task, key in enumerate(structure.keys)}
    cluster.learn(known, structure, number, seen, own=True)
    known.add_own(now + seconds, now + seconds)
    known.seen += 1


def chosen(cluster: ClusterHistory, known: GraphHistory, structure: Structure) -> GraphHistory:
    choose(cluster, known, structure, MEMBERS, 0.1)
    return known


def test_random_tokens_do_not_matter() -> None:
    """Arrays drawn anew have other keys, and the same structure; of other sizes another one."""
    array = pytest.importorskip("dask.array")

    def total(side: int) -> Structure:
        x, y = (array.random.random((side, side), chunks=side // 2) for _ in range(2))
        return structure_of(work_of((x + y.T).sum()))

    first, second = total(8), total(8)
    assert first.keys != second.keys
    assert first.same == second.same
    assert first.same != total(12).same


def test_numbers_fit_edges() -> None:
    """Of each task in the graph, whatever the order."""
    structure = star()
    expected = {(f"leaf-{leaf}", "sum") for leaf in range(4)}
    assert {(structure.keys[a], structure.keys[b]) for a, b in structure.edges} == expected
    renamed = {"other" if k == "leaf-1" else k: v for k, v in graphs.raw_tree().items()}
    renamed["sum"] = (graphs.add, "leaf-0", "other", "leaf-2", "leaf-3")
    assert structure_of(work_of(renamed, "sum")).same != structure.same
    named = [delayed(graphs.increment)(i) for i in range(3)]
    again = [delayed(graphs.increment)(i) for i in range(3)]
    assert structure_of(work_of(named)).same == structure_of(work_of(again)).same


def test_symmetric_trees_are_the_same() -> None:
    """Though the names of their tasks are drawn anew."""

    def tree() -> Structure:
        level = [delayed(graphs.increment)(leaf) for leaf in range(16)]
        while len(level) > 1:
            level = [delayed(graphs.add)(*level[i : i + 2]) for i in range(0, len(level), 2)]
        return structure_of(work_of(level[0]))

    first, second = tree(), tree()
    assert first.keys != second.keys
    assert first.same == second.same


def test_costs_are_those_that_were_seen() -> None:
    """Speeds between tasks of a kind; the rate of a line; bytes."""
    structure = star(8)
    cluster, known = learnt(structure, seconds=0.1, size=1_000_000, rate=5e6)
    problem = problem_of(cluster, known, structure, MEMBERS)
    setup = problem.network.task_setup[0]
    leaf = structure.kinds.index("leaf")
    assert problem.durations[leaf] - setup == pytest.approx([0.1, 0.2])
    rate = {start: rate for start, _, rate in problem.network.one_way_links}
    assert rate["b"] == pytest.approx(5e6)
    assert set(problem.dag.size) == {1e6}


def test_a_graph_that_was_not_seen_is_dask_s() -> None:
    """Whatever it may cost."""
    structure = star()
    cluster = ClusterHistory()
    assert "not seen" in chosen(cluster, cluster.known(structure, MEMBERS), structure).why


def test_a_plan_that_pays_is_taken_and_left_when_it_took_longer() -> None:
    """On slow lines all leaves belong to the machine of the sum; then it is tried."""
    structure = star(6)
    cluster, known = learnt(structure, seconds=0.1, size=2_000_000, rate=2e6)
    first = chosen(cluster, known, structure)
    assert first.plan is not None, first.why
    assert first.plan.makespan < known.own.inner[0] / choice.MARGIN
    known.planned.add(2 * known.own.whole[0], 1.0)
    after = chosen(cluster, known, structure)
    assert after.plan is None
    assert after.why.startswith("left to Dask: planned, it took")


def first_run(seconds: float, rate: float) -> tuple[ClusterHistory, GraphHistory, Structure]:
    """A cluster that ran a graph once."""
    structure, cluster = star(6), ClusterHistory()
    known = cluster.known(structure, MEMBERS)
    run_once(cluster, known, structure, seconds, 2_000_000, rate)
    return cluster, known, structure


def test_a_first_run_that_had_to_import_decides_nothing() -> None:
    """It promises much that no later run takes; what it took is forgotten with the second."""
    cluster, known, structure = first_run(seconds=1.0, rate=2e6)
    assert chosen(cluster, known, structure).plan is None
    assert known.why == choice.ONCE_MORE
    run_once(cluster, known, structure, 0.01, 2_000_000, 1e8)
    assert max(problem_of(cluster, known, structure, MEMBERS).durations.flat) < 0.1
    assert max(known.own.whole) < 1.0
    run_once(cluster, known, structure, 0.01, 2_000_000, 1e8)
    assert len(known.own.whole) == 2
    assert {len(times) for times in known.took.values()} == {2}


def test_a_long_first_run_is_planned_from_at_once() -> None:
    """Where the plan pays whatever was imported."""
    cluster, known, structure = first_run(seconds=0.1, rate=1e5)
    assert chosen(cluster, known, structure).plan is not None, known.why


@pytest.mark.parametrize(
    ("shares", "kept"), [((0.4, 0.9), True), ((0.6, 0.9), True), ((0.6, 0.5), False)]
)
def test_a_plan_is_compared_with_dask_once_more(shares: tuple[float, float], kept: bool) -> None:
    """Unless it took half as long or less: it has to be faster than that run, too."""
    structure = star(6)
    cluster, known = learnt(structure, seconds=0.1, size=2_000_000, rate=2e6)
    own = known.own.whole[0]
    assert chosen(cluster, known, structure).plan is not None
    known.promised, ours = own, shares[0] * own
    known.planned.add(ours, ours)
    known.seen += 1
    assert chosen(cluster, known, structure).compared == (2 * ours >= own)
    known.add_own(shares[1] * own, shares[1] * own)
    known.seen += 1
    assert (chosen(cluster, known, structure).plan is not None) == kept
    assert not known.compared


def test_a_plan_that_breaks_its_promise_has_to_be_clearly_faster() -> None:
    """It took a tenth less than Dask's own, and twice as long as it said."""
    structure = star(6)
    cluster, known = learnt(structure, seconds=0.1, size=2_000_000, rate=2e6)
    own = known.own.whole[0]
    assert chosen(cluster, known, structure).plan is not None
    known.promised = 0.45 * own
    known.planned.add(0.9 * own, 0.9 * own)
    known.seen += 1
    assert chosen(cluster, known, structure).plan is None


def test_a_run_that_found_results_there_is_not_planned_from() -> None:
    """Its tasks were all seen before, but not where Dask placed them this time."""
    structure = star(6)
    cluster, known = learnt(structure, seconds=0.1, size=2_000_000, rate=2e6)
    del known.placed[0]
    assert chosen(cluster, known, structure).plan is None
    assert "1 of its 7 tasks were not seen" in known.why


@pytest.mark.parametrize(
    ("seconds", "size", "rate", "why"),
    [
        (1e-4, 10, 1e8, "its tasks take"),
        (0.5, 10, 1e9, "computing alone"),
    ],
)
def test_where_nothing_is_to_be_won_dask_keeps_it(
    seconds: float, size: int, rate: float, why: str
) -> None:
    """Tiny tasks, and graphs that only compute, are not even planned."""
    structure = star(2 if seconds > 0.1 else 6)
    cluster, known = learnt(structure, seconds, size, rate)
    if seconds > 0.1:
        known.own.inner[0] -= 0.3  # what sending took
    found = chosen(cluster, known, structure)
    assert found.plan is None
    assert why in found.why


def test_large_graphs_are_decided_without_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand tasks of a millisecond."""
    structure = star(10_000)
    cluster, known = learnt(structure, 1e-3, 10, 1e8)
    monkeypatch.setattr(choice, "plan_graph", None)
    assert "its tasks take" in chosen(cluster, known, structure).why


def test_ratios_within_noise_are_no_speeds() -> None:
    """Workers that differ by less than a tenth count as equal."""
    structure = star(8)
    cluster, known = learnt(structure, 0.1, 10, 1e8)
    for task, times in known.took.items():
        worker, _ = times[0]
        times[0] = worker, 0.1 + 0.004 * (worker == "b") + 0.0001 * task
    problem = problem_of(cluster, known, structure, MEMBERS)
    assert np.array_equal(problem.durations[:, 0], problem.durations[:, 1])
