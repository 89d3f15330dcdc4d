"""The master as part of the answer, for methods that are written for a given one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Star, Worker, solve
from tests.thorough import few


def _bus(seed, *, returns):
    generator = np.random.default_rng([seed, 31])

    def fixed():
        return 0.0 if seed % 2 else float(generator.choice([0, 1, 3]))

    machines = [
        Worker(
            name=f"M{index}",
            compute=Affine(fixed(), float(generator.uniform(0.5, 9.0))),
            return_=Affine(fixed(), float(generator.uniform(0.1, 4.0))) if returns else None,
        )
        for index in range(int(generator.integers(2, 5)))
    ]
    send = Affine(fixed(), float(generator.uniform(0.2, 5.0)))
    return Star.bus(send=send, workers=machines, master="choose")


def _value(result):
    return result.objective.value if result.objective else result.makespan


@pytest.mark.parametrize("method", ["return-orders", "fifo", "lifo", "milp", "subset-dp"])
@pytest.mark.parametrize("seed", few(16, 3))
def test_best_of_all_masters(seed, method):
    """The plan with the master open is the best of those with each master given."""
    returns = method in ("return-orders", "fifo", "lifo")
    problem = DivisibleLoad(
        load=None if seed % 5 == 0 else 8.0,
        deadline=25.0 if seed % 5 == 0 else None,
        platform=_bus(seed, returns=returns),
        ports=2 if seed % 4 == 0 else 1,
        discipline=method if method in ("fifo", "lifo") else None,
    )
    result = solve(problem, method=method)
    given = [
        solve(problem.with_master(index), method=method) for index in range(len(problem.platform))
    ]
    values = [_value(each) for each in given if each.schedule is not None]
    best = max(values) if problem.load is None else min(values)
    assert result.status == "optimal"
    assert _value(result) == pytest.approx(best, rel=1e-6)


def test_order_and_latencies():
    """With an order and fixed costs, the chosen master leaves the order of the others."""
    problem = DivisibleLoad(load=8.0, platform=_bus(2, returns=False))
    names = problem.platform.names
    result = solve(replace(problem, order=tuple(names[::-1])))
    assert result.status == "optimal"
    served = [names.index(name) for name in result.answer["order"]]
    assert served == sorted(served, reverse=True)
    assert result.answer["master"] not in result.answer["order"]


def test_no_machine_can():
    """Where no master leads to a plan in time, the answer says so."""
    problem = DivisibleLoad(load=8.0, platform=_bus(1, returns=True), deadline=0.001)
    result = solve(problem, method="return-orders")
    assert result.status == "infeasible"
    assert "deadline" in result.notes[0]


def test_no_time():
    """At the time limit the best plan so far stays, with a bound that no master beats."""
    problem = DivisibleLoad(load=8.0, platform=_bus(4, returns=True))
    stopped = solve(problem, method="return-orders", time_limit=0.0)
    full = solve(problem, method="return-orders")
    assert stopped.lower_bound <= full.makespan * (1 + 1e-9)
    assert full.makespan <= stopped.makespan * (1 + 1e-9)
