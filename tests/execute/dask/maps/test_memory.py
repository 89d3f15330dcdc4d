"""What is kept of a cluster for later calls."""

from __future__ import annotations

from makespan.execute.dask.cluster.crew import Member
from makespan.execute.dask.maps.costs import Costs
from makespan.execute.dask.maps.memory import Memory


def test_a_link_that_was_not_measured_is_not_known() -> None:
    """Where chunks went with their tasks the function is known all the same."""
    members = {"a": Member("a", "tcp://1.1.1.1:1", 1), "b": Member("b", "tcp://1.1.1.2:1", 1)}
    memory, costs = Memory(), Costs()
    costs.sent("a", 4.0, 400, 0.0)
    costs.done("a", 4.0, 8.0, 0.1)
    memory.keep("f", members, costs)
    found = memory.recall("f", members, 100.0)
    assert found.speed("a") == costs.speed("a")
    assert not found["a"].send
    assert "b" not in found.known
    assert memory.recall("g", members, 100.0).known == {}
    costs.sent("a", 4.0, 400, 2.0)
    memory.keep("f", members, costs)
    assert memory.recall("g", members, 200.0)["a"].send.cost.per_unit == 1.0
