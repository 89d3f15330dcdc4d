"""bus, star and fixed-order against the linear programme and the reference cases."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    MethodError,
    Star,
    Worker,
    lower_bound,
    solve,
)
from tests.oracles.divisible_lp import one_round

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}


def star_of(send, compute, **options):
    """A linear star of workers P1, P2, …"""
    return Star([Worker(send=c, compute=w) for c, w in zip(send, compute, strict=True)], **options)


def bus_of(case, **options):
    given_ = CASES[case]["inputs"]
    return Star.bus(
        send=given_["c"],
        workers=[Worker(compute=w) for w in given_["w_workers"]],
        master=Master(compute=given_["w_master"]),
        **options,
    )


def test_bus_of_the_slides():
    """The slides' bus ends at 240000/23 with the exact loads."""
    expected = CASES["bus_slide_example"]["expected"]
    result = solve(DivisibleLoad(load=10000, platform=bus_of("bus_slide_example")))
    assert (result.method, result.status) == ("bus", "optimal")
    assert result.makespan == pytest.approx(expected["makespan"], rel=1e-12)
    exact = [float(Fraction(text)) for text in expected["loads_exact"]]
    assert list(result.answer["loads"].values()) == pytest.approx(exact, rel=1e-12)


def test_allocation_of_the_slides_in_their_order():
    """The allocation that the slides show ends at 15000 in the slides' order of service."""
    case = CASES["bus_slide_example"]
    loads = dict(zip(["P0", "P1", "P2", "P3"], case["expected"]["slide_allocation"], strict=True))
    problem = DivisibleLoad(
        load=10000,
        platform=bus_of("bus_slide_example"),
        loads=loads,
        order=("P1", "P2", "P3"),
    )
    result = solve(problem)
    assert result.makespan == pytest.approx(15000, rel=1e-12)
    ends = {row["machine"]: row["end"] for row in result.schedule.records()}
    finish = [ends["P0"], *(ends[f"P{i}"] for i in (1, 2, 3))]
    computed = {r["machine"]: r["end"] for r in result.schedule.records() if r["kind"] == "compute"}
    assert [computed[f"P{i}"] for i in range(4)] == case["expected"][
        "slide_allocation_finish_times"
    ]
    assert max(finish) == 15000


@pytest.mark.parametrize("text", ["3.0", "5.0", "1.5"])
def test_every_master_of_the_bus(text):
    """Each master of the slides' bus gives the exact makespan of the case."""
    case = CASES["bus_best_master"]
    speeds = list(case["inputs"]["w"])
    speeds.remove(float(text))
    star = Star.bus(
        send=1, workers=[Worker(compute=w) for w in speeds], master=Master(compute=float(text))
    )
    result = solve(DivisibleLoad(load=10000, platform=star))
    expected = case["expected"]["makespan_by_master_w"][text]
    assert result.makespan == pytest.approx(expected, rel=1e-12)


def test_best_master_is_the_fastest():
    """With the master open, the fastest machine of the bus is chosen."""
    case = CASES["bus_best_master"]
    machines = [Worker(name=f"M{i}", compute=w) for i, w in enumerate(case["inputs"]["w"])]
    star = Star.bus(send=1, workers=machines, master="choose")
    result = solve(DivisibleLoad(load=10000, platform=star))
    assert result.answer["master"] == "M3"
    assert result.makespan == pytest.approx(8347.826086956522, rel=1e-12)
    assert result.status == "optimal"


@pytest.mark.parametrize("name", ["star_linear_4", "dltstudio_canonical5_single"])
def test_star_cases(name):
    """The star cases give their exact makespans."""
    case = CASES[name]
    given_ = case["inputs"]
    result = solve(DivisibleLoad(load=given_["W"], platform=star_of(given_["c"], given_["w"])))
    exact = float(Fraction(case["expected"]["makespan_exact"]))
    assert (result.method, result.status) == ("star", "optimal")
    assert result.makespan == pytest.approx(exact, rel=1e-12)


def test_bad_order_drops_a_worker():
    """For the worst order, equal finish is not optimal: the case's optimum drops a worker."""
    case = CASES["star_linear_bad_order_drops_workers"]
    given_ = case["inputs"]
    order = tuple(f"P{worker + 1}" for worker in given_["order"])
    problem = DivisibleLoad(load=1, platform=star_of(given_["c"], given_["w"]), order=order)
    result = solve(problem)
    assert result.method == "fixed-order"
    assert result.makespan == pytest.approx(case["expected"]["lp_makespan"], rel=1e-12)
    loads = [result.answer["loads"][name] for name in order]
    assert loads == pytest.approx(case["expected"]["lp_loads_in_order"], rel=1e-9)


costs = st.floats(0.01, 100)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(costs, costs), min_size=1, max_size=4), st.none() | costs)
def test_star_is_the_best_of_all_orders(workers, own):
    """The star optimum equals the least linear programme over all orders."""
    send, compute = map(list, zip(*workers, strict=True))
    star = star_of(send, compute, master=Master(compute=own))
    result = solve(DivisibleLoad(load=10.0, platform=star), method="star")
    best = min(
        one_round(10.0, list(order), send, compute, master=own)[0]
        for order in itertools.permutations(range(len(send)))
    )
    assert result.makespan == pytest.approx(best, rel=1e-7)
    assert lower_bound(result.problem).value == pytest.approx(result.makespan, rel=1e-9)


def test_fixed_order_against_the_linear_programme():
    """300 random stars in random orders, zero and equal costs among them."""
    generator = np.random.default_rng(1)
    for _ in range(300):
        count = int(generator.integers(1, 7))
        send = generator.choice([0.0, 1.0, 1.0, 2.0, 3.5, 7.0], count)
        compute = generator.choice([0.5, 1.0, 4.0, 9.0], count)
        order = generator.permutation(count)
        names = tuple(f"P{worker + 1}" for worker in order)
        problem = DivisibleLoad(load=8.0, platform=star_of(send, compute), order=names)
        result = solve(problem, method="fixed-order")
        expected, _ = one_round(8.0, order.tolist(), send.tolist(), compute.tolist())
        assert result.makespan == pytest.approx(expected, rel=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(costs, costs), min_size=1, max_size=6), st.floats(0.1, 50))
def test_deadline_inverts_makespan(workers, deadline):
    """The most load by a deadline takes exactly until the deadline."""
    send, compute = map(list, zip(*workers, strict=True))
    star = star_of(send, compute)
    most = solve(DivisibleLoad(deadline=deadline, platform=star))
    assert most.status == "optimal"
    assert most.objective.name == "load"
    assert most.makespan == pytest.approx(deadline, rel=1e-9)
    again = solve(DivisibleLoad(load=most.objective.value, platform=star))
    assert again.makespan == pytest.approx(deadline, rel=1e-9)


def test_deadline_that_can_not_be_met():
    """A load with a deadline before the optimum is infeasible, and the note says by how much."""
    problem = DivisibleLoad(load=10, deadline=27.9, platform=star_of([1, 2], [3, 5]))
    result = solve(problem)
    assert result.status == "infeasible"
    assert "27.9" in result.notes[0]
    assert "28" in result.notes[0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(costs, costs), min_size=1, max_size=6), st.floats(0.1, 10))
def test_scaling_and_renaming(workers, factor):
    """Scaling all costs scales the makespan; renaming and reordering the workers keeps it."""
    send, compute = map(np.array, zip(*workers, strict=True))
    base = solve(DivisibleLoad(load=5, platform=star_of(send, compute))).makespan
    scaled = solve(DivisibleLoad(load=5, platform=star_of(send * factor, compute * factor)))
    assert scaled.makespan == pytest.approx(base * factor, rel=1e-9)
    turned = solve(DivisibleLoad(load=5, platform=star_of(send[::-1], compute[::-1])))
    assert turned.makespan == pytest.approx(base, rel=1e-9)


def test_degenerate_platforms():
    """No load, no workers, a worker without cost, a master alone."""
    nothing = solve(DivisibleLoad(load=0, platform=star_of([1], [3])))
    assert (nothing.status, nothing.makespan, len(nothing.schedule)) == ("optimal", 0, 0)
    alone = solve(DivisibleLoad(load=4, platform=Star([], master=Master(compute=2))))
    assert alone.makespan == 8
    nobody = solve(DivisibleLoad(load=4, platform=Star([])))
    assert nobody.status == "infeasible"
    instant = solve(DivisibleLoad(load=4, platform=star_of([0, 1], [0, 1])))
    assert (instant.status, instant.makespan) == ("optimal", 0)
    assert instant.answer["loads"]["P1"] == 4


@pytest.mark.parametrize("method", ["equal-split", "proportional-split"])
def test_splits_are_never_better(method):
    """The splits that people use are valid and never better than the optimum."""
    generator = np.random.default_rng(2)
    for _ in range(50):
        count = int(generator.integers(1, 6))
        star = star_of(
            generator.uniform(0, 3, count),
            generator.uniform(0.1, 3, count),
            master=Master(compute=2.0),
        )
        problem = DivisibleLoad(load=7, platform=star)
        split = solve(problem, method=method)
        assert split.makespan >= solve(problem).makespan * (1 - 1e-12)


def test_a_method_says_what_stands_in_its_way():
    """A method that does not apply names the place, the value, and methods that can."""
    slow = Star([Worker(send=1, compute=2), Worker(send=(0.5, 1), compute=2)])
    problem = DivisibleLoad(load=1, platform=slow)
    with pytest.raises(MethodError) as caught:
        solve(problem, method="star")
    assert "platform.workers[1].send.fixed is 0.5" in str(caught.value)
    assert "large-load" in str(caught.value)
    with pytest.raises(MethodError, match="did you mean 'star'"):
        solve(problem, method="stra")
    with pytest.raises(MethodError, match="has no option 'w1'"):
        solve(problem, method="large-load", w1=1)


def test_a_million_workers():
    """A million workers are planned and refereed, their loads adding up."""
    generator = np.random.default_rng(3)
    count = 10**6
    star = Star.from_arrays(
        send_per_unit=generator.uniform(0.5, 1.5, count) / count,
        compute_per_unit=generator.uniform(0.5, 1.5, count),
    )
    result = solve(DivisibleLoad(load=1e9, platform=star))
    assert result.status == "optimal"
    computed = result.schedule.amount[result.schedule.kind == 3].sum()
    assert computed == pytest.approx(1e9, rel=1e-9)


@pytest.mark.parametrize("per_unit", [1e-10, 1e-13, 1e-18])
@pytest.mark.parametrize("method", ["large-load", "subset-dp", "milp", "greedy", "auto"])
def test_no_load_is_lost_where_fixed_costs_are_long(method, per_unit):
    """Amounts are differences of long times: the plan, which is refereed, holds the whole load."""
    star = Star([Worker(send=Affine(0.01, per_unit), compute=Affine(x, per_unit)) for x in (1, 2)])
    result = solve(DivisibleLoad(load=60.0, platform=star), method=method)
    assert result.status != "infeasible"
    if result.schedule is not None:
        assert sum(result.answer["loads"].values()) == pytest.approx(60.0, rel=1e-9)


def test_many_workers_share_no_less_than_floats_hold():
    """Of a million workers, none has a chunk of what rounding makes of nothing."""
    count = 10**6
    star = Star.from_arrays(send_per_unit=np.full(count, 0.02), compute_per_unit=np.ones(count))
    result = solve(DivisibleLoad(load=1.0, platform=star))
    amount = result.schedule.amount
    assert result.status == "optimal"
    assert amount.min() > np.finfo(float).tiny / 1e3
    taking_part = len(amount) // 2
    assert 1.02 ** -float(taking_part) < 1e-305
    assert result.makespan == pytest.approx(0.02, rel=1e-9)
