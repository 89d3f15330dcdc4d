"""Whole units: the dynamic programme, all orders, rounding, and the bound."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from makespan import Affine, DivisibleLoad, Master, MethodError, Star, Worker, solve
from makespan.divisible.methods import whole_units
from makespan.divisible.methods.whole_units import best_units, end_of_units, rounded
from makespan.divisible.one_round.ending_together import AffineCosts
from tests.oracles.divisible_units import least, least_of_order

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}


def star_of(workers, master=None):
    own = None if master is None else Master(compute=Affine(*master))
    crew = [Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in workers]
    return Star(crew, master=own)


def random_workers(generator, count):
    table = generator.integers([0, 0, 0, 1], [4, 4, 4, 6], (count, 4))
    return [tuple(map(float, row)) for row in table.tolist()]


def test_case():
    """The slides' bus with 20 units: 22 where fractions would give 20.87."""
    inputs = CASES["bus_integer_W20"]["inputs"]
    expected = CASES["bus_integer_W20"]["expected"]
    workers = [(0.0, float(inputs["c"]), 0.0, w) for w in inputs["w_workers"]]
    star = star_of(workers, (0.0, inputs["w_master"]))
    result = solve(DivisibleLoad(load=inputs["W"], platform=star, integral=True))
    assert (result.method, result.status) == ("whole-units", "optimal")
    assert result.makespan == expected["integer_makespan"]
    any_amounts = solve(DivisibleLoad(load=inputs["W"], platform=star))
    assert any_amounts.makespan == pytest.approx(expected["rational_makespan"], rel=1e-9)


@pytest.mark.parametrize("seed", range(25))
def test_against_everything(seed):
    """Small stars: the optimum over all orders and shares, proved; the order given, too."""
    generator = np.random.default_rng(seed)
    count = int(generator.integers(1, 4))
    workers = random_workers(generator, count)
    master = (1.0, 4.0) if seed % 3 == 0 else None
    units = int(generator.integers(1, 9))
    problem = DivisibleLoad(load=units, platform=star_of(workers, master), integral=True)
    result = solve(problem, method="whole-units")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(least(units, workers, master), rel=1e-12)
    order = generator.permutation(count).tolist()
    names = tuple(f"P{worker + 1}" for worker in order)
    given = solve(
        DivisibleLoad(load=units, platform=problem.platform, integral=True, order=names),
        method="whole-units",
    )
    expected = least_of_order(units, order, workers, master)
    assert given.makespan == pytest.approx(expected, rel=1e-12)
    assert given.status == "optimal"


@pytest.mark.parametrize("seed", range(12))
def test_rounding(seed, monkeypatch):
    """Rounded plans are valid, whole, near the optimum of few units and above the bound."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, 3)
    problem = DivisibleLoad(load=40, platform=star_of(workers), integral=True)
    best = solve(problem, method="whole-units")
    monkeypatch.setattr(whole_units, "MAX_WORK", 0)
    result = solve(problem, method="whole-units")
    assert result.makespan >= best.makespan * (1 - 1e-12)
    assert result.makespan <= best.makespan * 1.1
    assert all(load == int(load) for load in result.answer["loads"].values())
    assert result.lower_bound <= best.makespan * (1 + 1e-12)


def test_many_units_and_workers():
    """A million units on 30 workers: whole loads that end within a unit's time of any loads."""
    generator = np.random.default_rng(3)
    star = Star.from_arrays(
        send_per_unit=generator.uniform(0.01, 0.05, 30),
        compute_per_unit=generator.uniform(1, 3, 30),
    )
    whole = solve(DivisibleLoad(load=1e6, platform=star, integral=True), method="whole-units")
    parts = solve(DivisibleLoad(load=1e6, platform=star))
    assert sum(whole.answer["loads"].values()) == 1e6
    assert parts.makespan * (1 - 1e-9) <= whole.makespan <= parts.makespan + 3.05
    assert whole.lower_bound == pytest.approx(parts.makespan, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_the_programme_tells_its_loads(seed):
    """The loads of the dynamic programme end when it says."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, 4)
    problem = DivisibleLoad(load=15, platform=star_of(workers, (0.5, 3.0)), integral=True)
    costs = AffineCosts.of(problem)
    order = generator.permutation(4)
    end, loads = best_units(costs, order, 15)
    assert loads.sum() == 15
    assert end_of_units(costs, order, loads) == pytest.approx(end, rel=1e-12)


def test_deadlines_and_refusals():
    """A deadline between fractions and whole units is infeasible; broken loads are refused."""
    star = star_of([(0.0, 1.0, 0.0, 2.0), (0.0, 1.0, 0.0, 3.0)])
    parts = solve(DivisibleLoad(load=7, platform=star)).makespan
    problem = DivisibleLoad(load=7, platform=star, integral=True, deadline=parts + 1e-3)
    assert solve(problem).status == "infeasible"
    with pytest.raises(MethodError, match="integral is false"):
        solve(DivisibleLoad(load=7, platform=star), method="whole-units")


def test_shares_that_rounding_left_far_from_the_units_are_scaled_first() -> None:
    """Beside a huge fixed cost; a unit at a time would take as long as there are units."""
    star = Star([Worker(send=1.0, compute=2.0), Worker(send=1.0, compute=3.0)])
    costs = AffineCosts.of(DivisibleLoad(load=1e12, platform=star, integral=True))
    whole = rounded(costs, np.arange(2), np.array([3e11, 2e11, 0.0]), 10**12)
    assert whole.tolist() == [6 * 10**11, 4 * 10**11, 0]
