"""given-loads against all orders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Master, Star, Worker, solve


def last_end(order, workers, amounts):
    """The makespan of serving ``order``, straight from the slides' recursion."""
    clock, latest = 0.0, 0.0
    for index in order:
        worker = workers[index]
        clock += worker.send.of(amounts[index])
        latest = max(latest, max(clock, worker.release) + worker.compute.of(amounts[index]))
    return latest


@pytest.mark.parametrize("with_release", [False, True])
def test_best_order_of_all(with_release):
    """The order found is the best of all, with latencies, with and without release times."""
    generator = np.random.default_rng(5)
    for _ in range(100):
        count = int(generator.integers(1, 6))
        workers = [
            Worker(
                name=f"W{index}",
                send=Affine(generator.choice([0.0, 1.0]), generator.uniform(0, 2)),
                compute=Affine(generator.choice([0.0, 2.0]), generator.uniform(0, 2)),
                release=float(generator.integers(0, 12)) if with_release else 0.0,
            )
            for index in range(count)
        ]
        amounts = generator.integers(1, 5, count).astype(float)
        loads = {worker.name: amount for worker, amount in zip(workers, amounts, strict=True)}
        result = solve(DivisibleLoad(platform=Star(workers), loads=loads))
        best = min(
            last_end(order, workers, amounts) for order in itertools.permutations(range(count))
        )
        assert result.method == "given-loads"
        assert result.status == "optimal"
        assert result.makespan == pytest.approx(best, rel=1e-12)


def test_limits_that_the_loads_break():
    """Memory, whole units, budget and deadline are named when given loads break them."""
    star = Star([Worker(send=1, compute=1, memory=3, price=(5, 1))], master=Master(compute=1.0))

    def reason(**fields):
        result = solve(DivisibleLoad(platform=star, **fields))
        assert result.status == "infeasible"
        return result.notes[0]

    assert "memory is 3.0" in reason(loads={"P1": 4.0})
    assert "no whole number" in reason(loads={"P1": 2.5}, integral=True)
    assert "the budget is 7" in reason(loads={"P1": 3.0}, budget=7)
    assert "deadline is 5" in reason(loads={"P1": 3.0}, deadline=5)


def test_given_transfers_with_returns():
    """A whole sequence on the port is timed as it stands: 2 s in, 4 s of work, 1 s back."""
    star = Star([Worker(send=1, compute=2, return_=0.5), Worker(send=1, compute=1, return_=0.5)])
    problem = DivisibleLoad(
        platform=star,
        loads={"P1": 2.0, "P2": 2.0},
        transfers=(("send", "P1"), ("send", "P2"), ("return", "P2"), ("return", "P1")),
    )
    result = solve(problem)
    assert result.makespan == 8.0  # P2 is back at 7, then P1, done at 6, returns


def test_a_given_worker_without_load_is_served_where_all_take_part() -> None:
    """Its chunk is empty; so every worker is sent one."""
    star = Star([Worker(send=1.0, compute=1.0)], master=Master(compute=5.0))
    result = solve(
        DivisibleLoad(
            load=1.0, platform=star, activation=["P1"], loads={"P0": 1.0, "P1": 0.0}, use="all"
        )
    )
    assert (result.status, result.makespan) == ("optimal", 5.0)
