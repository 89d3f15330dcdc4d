"""What is kept of a cluster for later calls."""

from __future__ import annotations

from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.dealing.history import History


def test_a_link_that_was_not_measured_is_not_known() -> None:
    """Where chunks went with their tasks the function is known all the same."""
    workers = {
        "a": WorkerInfo("a", "tcp://1.1.1.1:1", 1),
        "b": WorkerInfo("b", "tcp://1.1.1.2:1", 1),
    }
    memory, costs = History(), Costs()
    costs.sent("a", 4.0, 400, 0.0)
    costs.done("a", 4.0, 8.0, 0.1)
    memory.keep("f", workers, costs)
    found = memory.recall("f", workers, 100.0)
    assert found.speed("a") == costs.speed("a")
    assert not found["a"].send
    assert "b" not in found.known
    assert memory.recall("g", workers, 100.0).known == {}
    costs.sent("a", 4.0, 400, 2.0)
    memory.keep("f", workers, costs)
    assert memory.recall("g", workers, 200.0)["a"].send.cost.per_unit == 1.0
