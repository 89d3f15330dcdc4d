"""Pictures of plans and of graphs, and the answer people read."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from makespan import Dag, Network, Schedule, TaskGraph, check, plot, solve
from makespan.core.picture import Role
from makespan.taskgraph.clustering.clusters import clustering_of
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.pictures import MAX_LANES, draw_graph, picture, short
from makespan.taskgraph.pictures.layout import layered

mpl.use("Agg")

import matplotlib.pyplot as plt


def test_rows_lanes_and_labels() -> None:
    """Each machine has lanes for sending, executing and receiving; bars carry names."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 2.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]), assignment={"a": "M1", "b": "M2"})
    drawn = picture(problem, solve(problem).schedule)
    assert [(row.label, row.lanes) for row in drawn.rows] == [
        ("M1", ("send", "compute")),
        ("M2", ("compute", "receive")),
    ]
    assert drawn.labels == ("a", "b", "a→b")
    roles = [Role(role).name for role in drawn.bars.role]
    assert roles == ["SEND", "COMPUTE", "COMPUTE", "RECEIVE"]


@pytest.mark.parametrize("cores", [1, 3])
def test_bars_of_one_lane_do_not_overlap(cores: int) -> None:
    """What happens at the same time stands in different lanes, while there are lanes."""
    problem = TaskGraph(generators.layered(30, rng=1), Network([1.0] * 3, cores=cores))
    bars = picture(problem, solve(problem, method="mapping-heuristic").schedule).bars
    for row in range(3):
        for role in (Role.SEND, Role.COMPUTE, Role.RECEIVE):
            mine = (bars.row == row) & (bars.role == role)
            for lane in np.unique(bars.lane[mine])[: MAX_LANES - 1]:
                here = np.flatnonzero(mine & (bars.lane == lane))
                here = here[np.argsort(bars.start[here], kind="stable")]
                assert (bars.end[here][:-1] <= bars.start[here][1:]).all()


def test_routers_have_rows_for_what_they_forward() -> None:
    """A router is a row without a lane for computing."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 2.0)])
    network = Network([1.0, 1.0], topology="star", routers=["S"])
    problem = TaskGraph(dag, network, assignment={"a": "M1", "b": "M2"})
    drawn = picture(problem, solve(problem).schedule)
    assert (drawn.rows[2].label, drawn.rows[2].lanes) == ("S", ("send", "receive"))


def test_a_plan_is_plotted() -> None:
    """``makespan.plot`` draws a task graph's plan."""
    problem = TaskGraph(generators.fft(4), Network([1.0, 2.0]))
    axes = plot(solve(problem))
    assert axes.get_yticklabels()
    plt.close("all")


def test_layers_keep_edges_downwards() -> None:
    """Every edge leads to a lower layer, and no two tasks share a place."""
    dag = generators.cholesky(5)
    x, y = layered(dag)
    assert (y[dag.source] < y[dag.target]).all()
    assert len({(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)}) == len(dag)


def test_a_crossing_is_undone() -> None:
    """Two edges that would cross are drawn side by side."""
    dag = Dag(dict.fromkeys("abcd", 1.0), [("a", "d"), ("b", "c")])
    x, _ = layered(dag)
    assert (x[0] - x[1]) * (x[3] - x[2]) > 0


@pytest.mark.parametrize("tasks", [7, 200])
def test_graphs_are_drawn_with_clusters(tasks: int) -> None:
    """Every task is named, and the dominant sequence stands out, also at 200 tasks."""
    dag = generators.layered(tasks, rng=1)
    found = clustering_of(dag, dag.work, dag.size, np.arange(tasks) // 3)
    axes = draw_graph(TaskGraph(dag, Network([1.0])), found)
    shown = {text.get_text().partition("\n")[0] for text in axes.texts}
    assert set(dag.names) <= shown
    points = axes.collections[-1]
    bold = np.isin(np.arange(tasks), found.dominant_sequence)
    assert np.array_equal(np.asarray(points.get_linewidths()) > 1, bold)
    plt.close("all")


def test_long_names_are_shortened() -> None:
    """Names fit into the room: hashes go first, then the middle; short ones stay."""
    assert short("T12", 8) == "T12"
    assert short("sum-0123456789abcdef[0,1]", 12) == "sum[0,1]"
    for room in (8, 12):
        assert len(short("individuals_ID0000001", room)) == room


def test_lines_and_taken() -> None:
    """The table lists tasks by start; blocking plans say when tasks are taken."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 2.0)])
    problem = TaskGraph(
        dag, Network([1.0, 1.0]), communication="blocking", assignment={"a": "M1", "b": "M2"}
    )
    result = solve(problem)
    assert result.answer["taken"] == {"a": 0.0, "b": 1.0}
    assert result.answer["start"] == {"a": 0.0, "b": 3.0}
    assert "2 of 2 machines, 1 transfers" in str(result)


def test_machines_are_those_of_the_problem_whatever_a_schedule_lists() -> None:
    """A schedule made elsewhere lists machines in another order, and some that it does not use."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 2.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]), assignment={"a": "M1", "b": "M2"})
    rows = [
        ("compute", 3, -1, 0, 1.0, 0.0, 1.0),
        ("transfer", 3, 2, 0, 2.0, 1.0, 3.0),
        ("compute", 2, -1, 1, 1.0, 3.0, 4.0),
    ]
    elsewhere = Schedule.of_rows(["X", "Y", "M2", "M1"], rows)
    assert check(problem, elsewhere).ok
    assert picture(problem, elsewhere).bars.row.tolist() == [0, 0, 1, 1]
