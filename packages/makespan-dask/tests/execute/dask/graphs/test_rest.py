"""What is left of a plan when a worker died, without a cluster."""

from __future__ import annotations

from makespan import Dag, Network, TaskGraph, solve
from makespan.execute.dask.graphs.placement import pins_of, rest_planned


def test_the_rest_goes_where_it_ends_first() -> None:
    """Twice as fast a machine gets twice as many; what is begun stays."""
    dag = Dag({f"t{i}": 2.0 for i in range(8)}, [])
    problem = TaskGraph(dag, Network([1.0, 2.0, 1.0], names=["a", "b", "c"]))
    pins = pins_of(solve(problem, method="heft"))
    states = dict.fromkeys(range(8), ("waiting", ""))
    states[0] = ("memory", "a")
    states[1] = ("processing", "b")
    found = rest_planned(pins, states, ["a", "b"])
    assert set(found) == set(range(2, 8))
    assert sorted(found.values()) == ["a", "a", "b", "b", "b", "b"]


def test_inputs_that_are_there_draw_tasks_to_them() -> None:
    """Where moving takes longer than computing."""
    dag = Dag({"x": 1.0, "y": 1.0, "z": 1.0}, [("x", "y", 100.0), ("x", "z", 100.0)])
    network = Network.complete(speeds=[1.0, 1.0, 1.0], names=["a", "b", "c"], rate=1.0)
    pins = pins_of(solve(TaskGraph(dag, network), method="heft"))
    states = {0: ("memory", "b"), 1: ("waiting", ""), 2: ("waiting", "")}
    assert rest_planned(pins, states, ["a", "b"]) == {1: "b", 2: "b"}
