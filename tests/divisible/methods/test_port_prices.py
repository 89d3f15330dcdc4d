"""port-prices against enumeration, the mixed-integer programme and chunks tried one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, MethodError, Star, check, solve
from makespan.core.control import Control
from makespan.divisible.methods import port_prices as method
from makespan.divisible.methods.port_prices import port_prices
from makespan.divisible.one_round.lagrange import Prices, Relaxation, descent, falling
from tests.oracles.divisible_affine import least_makespan
from tests.thorough import few

LIMITS = ("memory", "release", "deadline", "budget", "integral", "all", "order")


def star_problem(seed, count, limit=None, *, latency=1.0, load=100.0, seconds=1.0, units=1.0):
    """A random star of so many workers, with one limit, in seconds and units of any size."""
    draw = np.random.default_rng(seed).uniform
    columns = {
        "send_fixed": draw(0, latency, count) * seconds,
        "send_per_unit": draw(0.1, 1, count) * seconds / units,
        "compute_fixed": draw(0, latency, count) * seconds,
        "compute_per_unit": draw(1, 10, count) * seconds / units,
    }
    fields = {}
    if limit == "memory":
        columns["memory"] = draw(0.5, 4, count) * load * units / count
    if limit == "release":
        columns["release"] = draw(0, 30, count) * seconds
    if limit == "deadline":
        columns["deadline"] = draw(40, 200, count) * seconds
    if limit == "budget":
        columns["price_fixed"] = draw(0, 2, count)
        columns["price_per_unit"] = draw(0.5, 2, count) / units
        fields["budget"] = 0.9 * load
    if limit == "integral":
        fields["integral"] = True
    if limit == "all":
        fields["use"] = "all"
    if limit == "order":
        fields["order"] = [f"P{place + 1}" for place in range(count)]
    return DivisibleLoad(load=load * units, platform=Star.from_arrays(**columns), **fields)


@pytest.mark.parametrize("seed", few(6, 1))
def test_bound_and_plan_enclose_the_optimum(form, seed):
    """No ordered subset, in exact fractions, ends before the bound or after the plan."""
    problem = star_problem(seed, 4, latency=(1.0, 10.0)[seed % 2])
    star = problem.star
    columns = star.send_fixed, star.send_per_unit, star.compute_fixed, star.compute_per_unit
    best = float(least_makespan(list(zip(*map(np.ndarray.tolist, columns), strict=True)), 100.0))
    found = port_prices(problem, Control())
    assert found.lower_bound <= best * (1 + 1e-12)
    assert best * (1 - 1e-12) <= found.schedule.makespan <= best * 1.02
    assert found.lower_bound >= 0.9 * best


@pytest.mark.parametrize("limit", few(LIMITS, 2))
@pytest.mark.parametrize(
    ("seconds", "units"), few([(1.0, 1.0), (1e-9, 1e9), (1e7, 1.0)], 1, thorough=2)
)
def test_limits_against_the_programme(limit, seconds, units):
    """With each limit, at any scale, the bound is below the proved optimum and the plan valid."""
    if limit == "integral":
        units = 1.0
    problem = star_problem(3, 6, limit, seconds=seconds, units=units, load=20.0)
    proved = solve(problem)
    assert proved.status == "optimal"
    found = port_prices(problem, Control())
    assert found.lower_bound <= proved.makespan * (1 + 1e-9)
    assert found.schedule is not None
    assert check(problem, found.schedule).ok
    assert found.schedule.makespan >= proved.makespan * (1 - 1e-6)


@pytest.mark.parametrize("limit", few([None, *LIMITS[:-1]], 3))
def test_many_workers_are_planned_near_the_bound(limit):
    """With 60 workers the gap is below 2.5 %, and most are far better than by send cost."""
    result = solve(star_problem(1, 60, limit), method="port-prices")
    assert check(result.problem, result.schedule).ok
    assert result.gap <= 0.025
    assert result.makespan >= result.lower_bound


@pytest.mark.parametrize("limit", few([None, *LIMITS], 2))
@pytest.mark.parametrize("seconds", few([1.0, 1e-9, 1e7], 1, thorough=2))
def test_the_most_by_a_deadline(limit, seconds):
    """Of an open load the bound is at least the proved optimum, and the plan is valid."""
    small = star_problem(3, 6, limit, seconds=seconds, load=20.0)
    small = replace(small, load=None, deadline=15.0 * seconds)
    proved, found = solve(small), port_prices(small, Control())
    assert found.objective.bound >= proved.objective.value * (1 - 1e-9)
    assert found.objective.value <= proved.objective.value * (1 + 1e-6)
    assert found.schedule is None or check(small, found.schedule).ok
    if limit not in ("order", "all"):
        many = replace(star_problem(1, 60, limit), load=None, deadline=150.0)
        assert solve(many, method="port-prices").gap <= 0.05


def test_some_workers_stand_for_all(monkeypatch):
    """Prices found for a part of the workers lead to as good a plan and bound."""
    problem = star_problem(2, 300, latency=3.0)
    whole = port_prices(problem, Control())
    monkeypatch.setattr(method, "SAMPLE", 40)
    some = port_prices(problem, Control())
    assert some.schedule.makespan == pytest.approx(whole.schedule.makespan, rel=0.003)
    assert some.lower_bound == pytest.approx(whole.lower_bound, rel=0.005)
    assert whole.lower_bound <= some.schedule.makespan * (1 + 1e-9)


def test_the_master_takes_part():
    """What the master computes itself counts for the plan and in the bound."""
    problem = star_problem(4, 40)
    helped = replace(problem, platform=problem.star.changed(master=Master(compute=2.0)))
    alone, both = (solve(each, method="port-prices") for each in (problem, helped))
    assert both.makespan < 0.9 * alone.makespan
    assert both.gap < 0.01


@pytest.mark.parametrize("integral", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_starts_are_best(form, seed, integral):
    """No start and amount on a fine grid is worth more at the prices than the maximum found."""
    problem = star_problem(seed, 5, "release", load=30.0)
    problem = replace(problem, integral=integral)
    star, end, parts = problem.star, 60.0, 7
    port = np.sort(np.random.default_rng(seed).uniform(0, 1, parts))[::-1]
    priced = Relaxation(problem=problem, workers=np.arange(5)).at(end, Prices(port=port))
    edge = np.linspace(0, end, parts + 1)
    worth = np.concatenate([[0.0], np.cumsum(port * end / parts)])
    best = np.zeros(5)
    for worker in range(5):
        C, c = star.send_fixed[worker], star.send_per_unit[worker]
        W, w = star.compute_fixed[worker], star.compute_per_unit[worker]
        for amount in np.arange(0, 31, 1.0 if integral else 0.05):
            start = np.linspace(0, end, 600)
            sent = start + C + c * amount
            fits = np.maximum(sent, star.release[worker]) + W + w * amount <= end
            paid = np.interp(sent, edge, worth) - np.interp(start, edge, worth)
            best[worker] = max(best[worker], (amount - paid)[fits].max(initial=0.0))
    assert priced.most >= worth[-1] + best.sum() - 1e-9
    assert priced.most <= worth[-1] + best.sum() + 5 * 0.2


def test_prices_say_more_and_more():
    """Prices that the descent yields get better, and fall with time."""
    problem = star_problem(5, 30)
    relaxation = Relaxation(problem=problem, workers=np.arange(30))
    prices = Prices(port=np.full(64, 2.0))
    tried = list(descent(relaxation, 45.0, prices, 98.0))
    assert min(priced.most for _, priced in tried) < 0.85 * tried[0][1].most
    assert all((np.diff(each.port) <= 1e-12).all() for each, _ in tried)
    assert falling(np.array([1.0, 2.0, 0.0, 3.0])).tolist() == [1.5, 1.5, 1.5, 1.5]


def test_a_load_that_has_no_place_gets_no_plan():
    """Where the memory of all is too small, there is no plan, and ends are excluded far on."""
    problem = star_problem(6, 12, latency=0.0)
    small = replace(problem, platform=problem.star.changed(memory=np.full(12, 5.0)))
    found = port_prices(small, Control())
    assert found.schedule is None
    assert found.lower_bound > 1e6


def test_a_deadline_is_kept():
    """A plan that ends after the problem's deadline is not given; a bound beyond it proves that."""
    problem = star_problem(1, 60)
    late = solve(replace(problem, deadline=10.0), method="port-prices")
    assert (late.status, late.schedule) == ("infeasible", None)
    with pytest.raises(MethodError, match="port-prices"):
        solve(replace(problem, rounds=2), method="port-prices")
