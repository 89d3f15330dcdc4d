"""The bridge between stars without communication and partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Master, Partition, Star, Worker, check, solve
from makespan.core.errors import ProblemError
from tests.oracles.bridge import as_partition, as_star


def least_end(costs, upper, units):
    """Return the least end over all splits of whole units."""
    ranges = [range(min(limit, units) + 1) for limit in upper]
    return min(
        max(cost.of(count) for cost, count in zip(costs, counts, strict=True))
        for counts in itertools.product(*ranges)
        if sum(counts) == units
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_star_without_communication_is_a_partition(seed):
    """The optimum of the partition is that of all splits, and its plan is one of the star."""
    rng = np.random.default_rng(seed)
    costs = [Affine(float(rng.integers(0, 4)), float(rng.integers(1, 5))) for _ in range(3)]
    upper = [int(limit) for limit in rng.integers(3, 9, 3)]
    units = int(rng.integers(0, 9))
    workers = [Worker(compute=c, memory=float(u)) for c, u in zip(costs, upper, strict=True)]
    load = DivisibleLoad(load=float(units), platform=Star(workers), integral=True)
    result = solve(as_partition(load))
    assert result.makespan == least_end(costs, upper, units)
    given = DivisibleLoad(
        load=float(units),
        platform=Star(workers),
        integral=True,
        loads={name: float(count) for name, count in result.answer["counts"].items()},
    )
    planned = solve(given)
    assert check(planned).ok
    assert planned.makespan == result.makespan


def test_there_and_back_again():
    """Costs, limits, tasks and the deadline survive both conversions."""
    problem = Partition(
        tasks=7, costs={"a": Affine(1.0, 2.0), "b": Affine(0.0, 3.0)}, upper=[5, 9], deadline=20.0
    )
    again = as_partition(as_star(problem))
    assert again == problem


def test_release_deadline_and_master():
    """A release is a fixed cost, a deadline a limit, a computing master a resource."""
    star = Star(
        [Worker(compute=2.0, release=3.0, deadline=8.0)], master=Master(name="M", compute=4.0)
    )
    problem = as_partition(DivisibleLoad(load=4.0, platform=star, integral=True))
    assert problem.machines == ("M", "P1")
    assert problem.costs.upper[1] == 2
    assert solve(problem).answer["counts"] == {"M": 2, "P1": 2}
    everyone = DivisibleLoad(load=4.0, platform=star, integral=True, use="all")
    assert as_partition(everyone).costs.lower == (0, 1)


def test_what_stands_in_the_way_is_named():
    """Every obstacle, with its place."""
    star = Star([Worker(compute=1.0), Worker(send=0.5, compute=1.0, return_=Affine(0.1, 0.0))])
    with pytest.raises(ProblemError) as caught:
        as_partition(DivisibleLoad(load=1.5, platform=star, budget=3.0))
    assert [mistake.place for mistake in caught.value.mistakes] == [
        "integral",
        "load",
        "budget",
        "platform.workers[1].send.per_unit",
        "platform.workers[1].return.fixed",
    ]
    with pytest.raises(ProblemError, match="are not all affine"):
        as_star(Partition(tasks=1, costs=[[0.0, 1.0]]))
    with pytest.raises(ProblemError) as caught:
        as_star(Partition(tasks=1, costs=[Affine(1.0, 1.0)], lower=1, require="most"))
    assert [mistake.place for mistake in caught.value.mistakes] == ["lower[0]", "require"]
