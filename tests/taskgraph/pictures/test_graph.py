"""Task graphs, scheduled graphs and networks as diagrams."""

from __future__ import annotations

import uuid
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan import Dag, Network, TaskGraph, check, solve
from makespan.core.errors import InputError
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.pictures.diagrams import graph, platform
from makespan.taskgraph.pictures.groups import dominant_sequence, groups, longest_path, types_of

WORKED = TaskGraph(
    Dag(
        {"1": 1, "2": 1, "3": 2, "4": 1, "5": 2, "6": 1},
        [("1", "2", 1), ("2", "4", 3), ("4", "6", 1), ("1", "3", 2), ("3", "5", 4), ("5", "6", 2)],
    ),
    Network([1.0, 1.0]),
    options={"method": "edge-zeroing"},
)


def lines(drawn, flags):
    names = drawn.nodes.label
    picked = np.flatnonzero(flags)
    return {
        (names[int(drawn.edges.source[edge])], names[int(drawn.edges.target[edge])])
        for edge in picked.tolist()
    }


def test_the_graph_shows_tasks_works_and_sizes() -> None:
    """Every task and edge is there, with its weight; the longest path is bold."""
    drawn = graph(WORKED)
    assert list(drawn.nodes.label) == list("123456")
    assert list(drawn.nodes.note) == ["1", "1", "2", "1", "2", "1"]
    assert list(drawn.edges.label) == ["1", "3", "1", "2", "4", "2"]
    assert lines(drawn, drawn.edges.bold) == {("1", "3"), ("3", "5"), ("5", "6")}


def test_the_scheduled_graph_of_the_lecture() -> None:
    """Clustered to 6: zeroed edges carry 0, and the dominant sequence is bold."""
    result = solve(WORKED)
    drawn = graph(WORKED, result.schedule, details=result.details, by="cluster")
    assert list(drawn.nodes.note) == ["0–1", "2–3", "1–3", "3–4", "3–5", "5–6"]
    assert list(drawn.edges.label) == ["1", "0", "1", "0", "0", "0"]
    assert {drawn.nodes.label[i] for i in np.flatnonzero(drawn.nodes.bold)} == set("1356")
    assert drawn.groups.of.tolist() == [0, 1, 0, 1, 0, 0]


def test_tasks_that_follow_one_another_are_linked() -> None:
    """Independent tasks on one machine are joined by a dashed line, in the order of the plan."""
    problem = TaskGraph(Dag({"a": 2.0, "b": 1.0}), Network([1.0]))
    drawn = graph(problem, solve(problem).schedule)
    assert len(lines(drawn, drawn.edges.dashed)) == 1
    assert drawn.edges.item.tolist() == [-1]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["none", "links", "ports"]))
def test_the_dominant_sequence_ends_last_and_is_a_chain(seed: int, contention: str) -> None:
    """Each task of it ends before the next begins, and the last one ends the plan."""
    problem = TaskGraph(
        generators.layered(25, rng=seed), Network([1.0, 2.0, 1.0]), contention=contention
    )
    schedule = solve(problem, method="mapping-heuristic").schedule
    chain = dominant_sequence(problem, schedule)
    rows = [r for r in range(len(schedule)) if schedule.peer[r] < 0]
    start = {int(schedule.item[r]): float(schedule.start[r]) for r in rows}
    end = {int(schedule.item[r]): float(schedule.end[r]) for r in rows}
    assert end[chain[-1]] == max(end.values())
    assert all(end[a] <= start[b] + 1e-9 for a, b in pairwise(chain))
    if contention == "none":
        assert start[chain[0]] == 0.0


def test_order_lines_keep_the_graph_without_circles() -> None:
    """Every line of a scheduled graph leads to a task that starts no earlier."""
    problem = TaskGraph(generators.cholesky(4), Network([1.0] * 3, cores=2))
    result = solve(problem, method="heft")
    assert check(result).ok
    drawn = graph(problem, result.schedule)
    rows = np.flatnonzero(result.schedule.peer < 0)
    start = np.zeros(len(problem.dag))
    start[result.schedule.item[rows]] = result.schedule.start[rows]
    assert (start[drawn.edges.source] <= start[drawn.edges.target]).all()
    pairs = np.column_stack([drawn.edges.source, drawn.edges.target])
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_types_are_read_from_names() -> None:
    """Numbers and hashes do not count; names that tell nothing make no types."""
    found = types_of(TaskGraph(generators.cholesky(4), Network([1.0])))
    assert set(found.names) == {"potrf", "trsm", "syrk", "gemm"}
    dag = Dag(dict.fromkeys(["split_ID01", "split_ID02", "merge[0, 1]", "merge[1, 1]"], 1.0))
    assert types_of(TaskGraph(dag, Network([1.0]))).names == ("split", "merge")
    assert types_of(WORKED) is None
    calls = [f"{name}-{uuid.UUID(int=seed)}" for name in ("load", "len") for seed in (1, 2)]
    assert types_of(TaskGraph(Dag(dict.fromkeys(calls, 1.0)), Network([1.0]))).names == (
        "load",
        "len",
    )


@pytest.mark.parametrize("by", ["type", "level", "path"])
def test_colours_tell_tasks_apart(by: str) -> None:
    """Every task has a group with a name."""
    found = groups(WORKED, None, by, {})
    assert len(found.of) == 6
    assert (found.of >= 0).all()
    assert max(found.of) < len(found.names)
    if by == "level":
        assert found.names[int(found.of[0])] == "level 14"
    if by == "path":
        assert np.flatnonzero(found.of).tolist() == longest_path(WORKED)


@pytest.mark.parametrize(
    ("by", "message"),
    [("tpye", "did you mean 'type'"), ("machine", "needs a plan"), ("cluster", "clustering")],
)
def test_colours_that_can_not_be_are_refused(by: str, message: str) -> None:
    """The message says what there is, or what is missing."""
    with pytest.raises(InputError, match=message):
        groups(WORKED, None, by, {})


@pytest.mark.parametrize(
    ("topology", "shape", "count"),
    [
        ("complete", (), 6), ("ring", (), 4), ("star", (), 3), ("bus", (), 4), ("tree", (), 3),
        ("mesh", (2, 2), 4), ("hypercube", (), 4),
    ],
)  # fmt: skip
def test_networks_show_each_link_once(topology: str, shape: tuple[int, ...], count: int) -> None:
    """Four machines: as many lines as there are links; a bus is a bar with a line to each."""
    network = Network([1.0] * 4, topology=topology, shape=shape)
    drawn = platform(TaskGraph(Dag({"a": 1.0}), network))
    assert len(drawn.edges) == count
    assert [name for name in drawn.nodes.label if name] == ["M1", "M2", "M3", "M4"]


def test_one_way_links_have_arrows_and_rates() -> None:
    """Links whose directions differ are drawn one by one."""
    network = Network(
        [1.0] * 3,
        topology="links",
        links=[("M1", "M2", 2.0)],
        one_way_links=[("M2", "M3", 4.0), ("M3", "M1", 4.0)],
    )
    drawn = platform(TaskGraph(Dag({"a": 1.0}), network))
    assert drawn.edges.arrow
    assert sorted(drawn.edges.label) == ["2", "2", "4", "4"]


def test_a_plan_labels_links_with_data() -> None:
    """What a plan sends over each hop stands at the link."""
    problem = TaskGraph(
        Dag({"a": 1.0, "b": 1.0}, [("a", "b", 3.0)]),
        Network([1.0] * 3, topology="star"),
        assignment={"a": "M2", "b": "M3"},
    )
    drawn = platform(problem, solve(problem).schedule)
    assert list(drawn.edges.label) == ["3", "3"]
    assert drawn.edges.bold.all()
    assert drawn.nodes.note[0] == "idle"


def test_large_networks_are_summarised() -> None:
    """More than sixty machines: a box for those that are alike."""
    drawn = platform(TaskGraph(Dag({"a": 1.0}), Network([1.0] * 70 + [2.0] * 30)))
    assert list(drawn.nodes.label) == ["70 machines", "30 machines"]


def test_routes_are_told_where_data_pass_machines() -> None:
    """A ring of four: a line for each machine."""
    drawn = platform(TaskGraph(Dag({"a": 1.0}), Network([1.0] * 4, topology="ring")))
    assert "M1 sends by M2 to M3" in drawn.notes
