"""Closed forms in fractions against the exact values of the cases and against the floats."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan import Affine, DivisibleLoad, Master, Star, Worker, solve
from makespan.divisible.published import fractions as exact
from tests.oracles.divisible_affine import least_makespan

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}
fractions = st.fractions(Fraction(1, 20), 20, max_denominator=20)


def test_bus_of_the_slides():
    """The slides' bus: 240000/23 and the exact loads."""
    case = CASES["bus_slide_example"]
    inputs, expected = case["inputs"], case["expected"]
    plan = exact.bus(inputs["W"], inputs["c"], inputs["w_workers"], master=inputs["w_master"])
    assert plan.makespan == Fraction(expected["makespan_exact"])
    assert (plan.master, *plan.loads) == tuple(map(Fraction, expected["loads_exact"]))


def test_star_of_the_cases():
    """The linear star: 567/215 and the exact loads in the order of service."""
    inputs, expected = (CASES["star_linear_4"][part] for part in ("inputs", "expected"))
    plan = exact.star(inputs["W"], inputs["c"], inputs["w"])
    assert plan.makespan == Fraction(expected["makespan_exact"])
    in_order = [plan.loads[worker] for worker in expected["order"]]
    assert in_order == [Fraction(text) for text in expected["loads_in_order_exact"]]


def test_star_of_dlt_studio():
    """Costs written as decimals are taken exactly when they are texts."""
    case = CASES["dltstudio_canonical5_single"]
    send, compute = ([str(cost) for cost in case["inputs"][key]] for key in ("c", "w"))
    plan = exact.star(1_000_000, send, compute)
    assert plan.makespan == Fraction(case["expected"]["makespan_exact"])


def test_bad_order_drops_a_worker():
    """The order that drops a worker: 27/7, and equal finish of all four is 3.951220."""
    case = CASES["star_linear_bad_order_drops_workers"]
    inputs, order = case["inputs"], case["inputs"]["order"]
    send, compute = ([inputs[key][worker] for worker in order] for key in ("c", "w"))
    plan = exact.fixed_order(1, send, compute)
    assert plan.makespan == Fraction(27, 7)
    assert [float(load) for load in plan.loads] == pytest.approx(
        case["expected"]["lp_loads_in_order"], rel=1e-9
    )
    together = exact.affine_order(1, [0] * 4, send, [0] * 4, compute)
    assert float(together.makespan) == pytest.approx(
        case["expected"]["equal_finish_makespan"], rel=1e-12
    )


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if "loads_in_order_exact" in case["expected"]]
)
def test_affine_orders_of_the_cases(name):
    """The makespan and the loads of every case with exact loads, for its order."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    order = expected["order"]
    zeros = [0] * len(inputs["c"])
    columns = [
        [Fraction(str(inputs.get(key, zeros)[worker])) for worker in order]
        for key in ("C", "c", "Wlat", "w")
    ]
    plan = exact.affine_order(Fraction(str(inputs["W"])), *columns)
    assert plan.makespan == Fraction(expected["makespan_exact"])
    assert list(plan.loads) == [Fraction(text) for text in expected["loads_in_order_exact"]]


@settings(max_examples=60, deadline=None)
@given(
    workers=st.lists(st.tuples(fractions, fractions), min_size=1, max_size=6),
    load=fractions,
    master=st.none() | fractions,
)
def test_what_the_plans_mean(workers, load, master):
    """Loads add up to the load; all who take part end at the makespan, none later."""
    send, compute = zip(*workers, strict=True)
    order = sorted(range(len(workers)), key=lambda worker: send[worker])
    plan = exact.star(load, send, compute, master=master)
    assert sum(plan.loads) + plan.master == load
    port = Fraction(0)
    for worker in order:
        port += send[worker] * plan.loads[worker]
        assert port + compute[worker] * plan.loads[worker] == plan.makespan
    assert master is None or plan.master * master == plan.makespan


@settings(max_examples=40, deadline=None)
@given(workers=st.lists(st.tuples(fractions, fractions), min_size=1, max_size=4), load=fractions)
def test_best_order_is_the_star(workers, load):
    """The star's closed form is the best of all orders, and no order with drops is better."""
    best = min(
        exact.fixed_order(load, *zip(*listed, strict=True)).makespan
        for listed in itertools.permutations(workers)
    )
    assert exact.star(load, *zip(*workers, strict=True)).makespan == best


@settings(max_examples=40, deadline=None)
@given(workers=st.lists(st.tuples(fractions, fractions), min_size=1, max_size=6), load=fractions)
def test_floats_agree(workers, load):
    """solve gives the same makespans to 1e-12: the best order, the order given, and a bus."""
    send, compute = zip(*workers, strict=True)
    star = Star([Worker(send=float(c), compute=float(w)) for c, w in workers])
    found = solve(DivisibleLoad(load=float(load), platform=star))
    assert found.makespan == pytest.approx(float(exact.star(load, send, compute).makespan))
    given_ = solve(
        DivisibleLoad(load=float(load), platform=star, order=star.names), method="fixed-order"
    )
    assert given_.makespan == pytest.approx(
        float(exact.fixed_order(load, send, compute).makespan), rel=1e-12
    )
    bus = Star.bus(
        send=float(send[0]),
        workers=[Worker(compute=float(w)) for w in compute],
        master=Master(compute=2.0),
    )
    assert solve(DivisibleLoad(load=float(load), platform=bus)).makespan == pytest.approx(
        float(exact.bus(load, send[0], compute, master=2).makespan), rel=1e-12
    )


@pytest.mark.parametrize("seed", range(30))
def test_affine_order_of_the_optimum(seed):
    """The order that subset-dp finds has, in fractions, exactly the least makespan of all."""
    generator = np.random.default_rng([seed, 31])
    table = generator.integers([0, 0, 0, 1], 6, (4, 4)).tolist()
    load = int(generator.integers(1, 40))
    star = Star([Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in table])
    result = solve(DivisibleLoad(load=float(load), platform=star), method="subset-dp")
    served = [int(name[1:]) - 1 for name in result.answer["order"]]
    columns = list(zip(*[table[worker] for worker in served], strict=True))
    assert exact.affine_order(load, *columns).makespan == least_makespan(table, load)


def test_affine_master():
    """A master with a fixed cost ends together with its workers."""
    plan = exact.affine_order(10, [1], [1], [2], [3], master=(4, 2))
    assert plan.loads[0] + plan.master == 10
    assert plan.makespan == 1 + 4 * plan.loads[0] + 2 == 4 + 2 * plan.master


def test_without_cost_or_load():
    """A machine without a cost does everything at once; no load needs no machine."""
    assert exact.star(5, [1, 0], [1, 0]) == (0, (0, 5), 0)
    assert exact.bus(5, 0, [1, 0]) == (0, (0, 5), 0)
    assert exact.fixed_order(5, [1, 0], [1, 0]) == (0, (0, 5), 0)
    assert exact.bus(5, 1, [2], master=0) == (0, (0,), 5)
    assert exact.star(0, [], []) == (0, (), 0)
    assert exact.affine_order(0, [], [], [], []).makespan == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact.star(1, [], []), "no machine"),
        (lambda: exact.affine_order(1, [], [], [], []), "no machine"),
        (lambda: exact.star(-1, [1], [1]), "load: -1 is negative"),
        (lambda: exact.star(1, [1], [-2]), "-2 is negative"),
        (lambda: exact.star(1, [1, 2], [1]), "2 and 1 entries"),
        (lambda: exact.bus(1, 1, [1], master=-1), "master: -1 is negative"),
        (lambda: exact.affine_order(1, [0, 99], [1, 1], [0, 0], [1, 1]), "at place 1 would get"),
        (lambda: exact.affine_order(1, [0], [1], [0], [1], master=(99, 1)), "the master would"),
        (lambda: exact.affine_order(1, [0], [0], [0], [0]), "both are 0"),
    ],
)
def test_refused(call, message):
    """What has no closed form is refused, with the reason."""
    with pytest.raises(ValueError, match=message):
        call()
