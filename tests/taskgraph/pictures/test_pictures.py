"""Pictures of plans and of graphs, and the answer people read."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from makespan import Dag, Network, Schedule, TaskGraph, check, plot, solve
from makespan.core.picture import Role
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.pictures import MAX_LANES, picture

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
