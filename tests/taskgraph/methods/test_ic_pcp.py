"""IC-PCP: prices within a deadline, beside the least."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Dag, MethodError, Network, TaskGraph, check, solve
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.limits import price_of
from tests.thorough import few


def cloud(seed: int, tasks: int, slack: float) -> TaskGraph:
    """A graph on machines of which the faster are dearer, due ``slack`` times the plan of HEFT."""
    network = Network([1.0, 2.0, 4.0, 4.0], price=[1.0, 2.5, 6.0, 6.0])
    dag = generators.layered(tasks, ccr=0.3, rng=seed)
    fast = solve(TaskGraph(dag, network), method="heft").makespan
    return TaskGraph(dag, network, deadline=slack * fast, objective="price")


def test_a_loose_deadline_gives_the_least_price() -> None:
    """A chain that has the time goes to the cheapest machine, one that has none to the fastest."""
    dag = Dag({"a": 4.0, "b": 8.0, "c": 4.0}, [("a", "b"), ("b", "c")])
    network = Network([1.0, 2.0, 4.0], price=[1.0, 2.5, 6.0])
    for deadline, price in ((16.0, 16.0), (15.9, 20.0), (8.0, 20.0), (7.9, 24.0), (4.0, 24.0)):
        problem = TaskGraph(dag, network, deadline=deadline)
        result = solve(problem, method="ic-pcp")
        assert price_of(problem, result.schedule) == pytest.approx(price)
    assert solve(TaskGraph(dag, network, deadline=3.9), method="ic-pcp").schedule is None


def test_gaps_are_filled_and_starts_are_paid() -> None:
    """A short path goes to a machine that is paid for already, where it fits."""
    dag = Dag(
        {"a": 2.0, "b": 6.0, "c": 2.0, "d": 1.0}, [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")]
    )
    network = Network([1.0, 1.0], cores=[2, 1], price=[1.0, 0.5], start_price=[0.0, 9.0])
    result = solve(TaskGraph(dag, network, deadline=10.0), method="ic-pcp")
    assert result.makespan == 10.0
    assert set(result.schedule.machine.tolist()) == {0}


@pytest.mark.parametrize("slack", few([1.5, 1.2, 2.0, 4.0], 1))
def test_prices_beside_the_least(slack: float) -> None:
    """Plans keep the deadline or are none; they are valid, and no cheaper than the least price."""
    found = []
    for seed in range(6):
        problem = cloud(seed, 7, slack)
        result, least = solve(problem, method="ic-pcp"), solve(problem, time_limit=5)
        if result.schedule is not None:
            assert check(problem, result.schedule).ok
            assert result.makespan <= problem.deadline * (1 + 1e-9)
            price = price_of(problem, result.schedule)
            assert price >= least.objective.value * (1 - 1e-9)
            found.append(price / least.objective.value)
    assert len(found) >= 3
    assert np.mean(found) < 1.6


def test_refusals() -> None:
    """Without prices or a deadline there is nothing to weigh."""
    dag = Dag({"a": 1.0})
    with pytest.raises(MethodError, match="ic-pcp needs a deadline, but nothing has to end"):
        solve(TaskGraph(dag, Network([1.0], price=[1.0])), method="ic-pcp")
    with pytest.raises(MethodError, match="ic-pcp needs machines with prices"):
        solve(TaskGraph(dag, Network([1.0]), deadline=3.0), method="ic-pcp")
