"""The mixed-integer programme against brute force and the reference cases."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    Star,
    Worker,
    lower_bound,
    read_problem,
    solve,
)
from makespan.backends.highs import Programme
from tests.oracles.divisible_any import best
from tests.oracles.divisible_lp import one_round
from tests.thorough import few

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}
AFFINE = [
    name
    for name, case in CASES.items()
    if name.startswith("affine_") and "w" in case["inputs"] and "Wlat" in case["inputs"]
]
AFFINE.sort(key=lambda name: name == "affine_random_12")  # which takes seconds, last
WINDOWS = [  # S, C, A, B, p, r, d, f, l as the case names them
    (1, 1, 2, 10, 0, 0, 10, 1, 0.5),
    (1, 0.1, 0.5, 10, 1, 10, 20, 5, 1),
    (1, 2, 1, 10, 1, 20, 30, 3, 0.3),
    (2, 2, 2, 20, 0, 20, 200, 2, 1),
]


def affine_star(given, **options):
    columns = (given["C"], given["c"], given["Wlat"], given["w"])
    return Star(
        [
            Worker(send=Affine(C, c), compute=Affine(W, w))
            for C, c, W, w in zip(*columns, strict=True)
        ],
        **options,
    )


@pytest.mark.parametrize("name", few(AFFINE, len(AFFINE) - 1, thorough=len(AFFINE)))
def test_affine_cases(name):
    """Every affine one-round case ends at its exact makespan."""
    case = CASES[name]
    problem = DivisibleLoad(load=case["inputs"]["W"], platform=affine_star(case["inputs"]))
    result = solve(problem, method="milp")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(case["expected"]["makespan"], rel=1e-9)


@pytest.mark.parametrize("budget", [None, 24.25, 24.1334, 24.0])
def test_windows_and_costs(budget):
    """The m = 4 example with memory, windows and prices, all workers in the given order."""
    workers = [
        Worker(
            send=Affine(S, C), compute=Affine(p, A), memory=B, release=r, deadline=d, price=(f, l)
        )
        for S, C, A, B, p, r, d, f, l in WINDOWS
    ]
    problem = DivisibleLoad(
        load=20, platform=Star(workers), order=("P1", "P2", "P3", "P4"), use="all", budget=budget
    )
    result = solve(problem)
    expected = CASES["thesis_m4_cost_windows"]["expected"]["makespan_by_cost_limit"][str(budget)]
    if expected is None:
        assert result.status == "infeasible"
        assert "the budget 24" in result.notes[0]
    else:
        assert (result.method, result.status) == ("milp", "optimal")
        assert result.makespan == pytest.approx(expected, rel=1e-9)


def test_against_all_ordered_subsets():
    """On random small stars the optimum is the best linear programme over ordered subsets."""
    generator = np.random.default_rng(3)
    for _ in range(12):
        count = int(generator.integers(1, 4))
        C, W = generator.integers(0, 5, (2, count)).tolist()
        c, w = generator.integers(0, 4, (2, count)).tolist()
        w = [value + 0.5 for value in w]
        load = float(generator.integers(1, 12))
        best = min(
            one_round(load, list(order), c, w, send_fixed=C, compute_fixed=W)[0]
            for size in range(1, count + 1)
            for order in itertools.permutations(range(count), size)
        )
        star = affine_star({"C": C, "c": c, "Wlat": W, "w": w})
        result = solve(DivisibleLoad(load=load, platform=star), method="milp")
        assert result.makespan == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert lower_bound(result.problem).value <= result.makespan * (1 + 1e-9)


def test_deadline_inverts_makespan():
    """The most load by the optimal makespan is the load, with latencies and a working master."""
    case = CASES["affine_bus_rule"]
    star = affine_star(case["inputs"], master=Master(compute=(1.0, 6.0)))
    least = solve(DivisibleLoad(load=30, platform=star), method="milp")
    most = solve(DivisibleLoad(deadline=least.makespan, platform=star), method="milp")
    assert most.objective.value == pytest.approx(30, rel=1e-6)


def test_whole_units():
    """The slides' bus scaled to 20 units ends at 22 when units are whole."""
    case = CASES["bus_integer_W20"]
    given = case["inputs"]
    star = Star.bus(
        send=given["c"],
        workers=[Worker(compute=w) for w in given["w_workers"]],
        master=Master(compute=given["w_master"]),
    )
    result = solve(DivisibleLoad(load=20, platform=star, integral=True), method="milp")
    assert result.makespan == case["expected"]["integer_makespan"]
    assert all(load == round(load) for load in result.answer["loads"].values())


def test_use_all_forces_everyone():
    """With use = 'all' a worker takes part even when its fixed costs exceed the optimum."""
    star = Star([Worker(send=1, compute=1), Worker(send=Affine(50, 1), compute=1)])
    free = solve(DivisibleLoad(load=1, platform=star), method="milp")
    forced = solve(DivisibleLoad(load=1, platform=star, use="all"), method="milp")
    assert free.makespan == pytest.approx(2)
    assert forced.makespan >= 50 * (1 - 1e-9)
    assert len(forced.answer["order"]) == 2


def test_time_limit_keeps_incumbent_and_bound():
    """A search cut short is feasible, with a bound below its plan."""
    generator = np.random.default_rng(4)
    count = 25
    star = Star.from_arrays(
        send_fixed=generator.uniform(0, 10, count),
        send_per_unit=generator.uniform(0.05, 1, count),
        compute_fixed=generator.uniform(0, 10, count),
        compute_per_unit=generator.uniform(0.5, 5, count),
    )
    result = solve(DivisibleLoad(load=100, platform=star), method="milp", time_limit=1.0)
    assert result.status in ("feasible", "limit")
    if result.schedule is not None:
        assert 0 < result.lower_bound < result.makespan


def test_small_costs_and_large_loads():
    """Costs of 1e-7 s a byte and loads of 1e8 bytes are scaled before the solver sees them."""
    star = Star.from_arrays(
        send_fixed=[1e-3, 2e-3, 5e-4],
        send_per_unit=[1.6e-7, 0.8e-7, 0.4e-7],
        compute_fixed=0.01,
        compute_per_unit=[3.3e-7, 2.2e-7, 1.4e-7],
    )
    result = solve(DivisibleLoad(load=1e8, platform=star), method="milp")
    best = min(
        one_round(
            1e8,
            list(order),
            star.send_per_unit.tolist(),
            star.compute_per_unit.tolist(),
            send_fixed=star.send_fixed.tolist(),
            compute_fixed=star.compute_fixed.tolist(),
        )[0]
        for order in itertools.permutations(range(3))
    )
    assert result.makespan == pytest.approx(best, rel=1e-7)


def linear_cases():
    """The one-round cases with linear costs, as problems, with their makespans."""
    bus = CASES["bus_slide_example"]
    speeds = bus["inputs"]["w_workers"]
    crew = [Worker(send=bus["inputs"]["c"], compute=w) for w in speeds]
    master = Master(compute=bus["inputs"]["w_master"])
    yield "bus_slide_example", DivisibleLoad(load=10000, platform=Star(crew, master=master)), None
    for name in ("star_linear_4", "dltstudio_canonical5_single"):
        given = CASES[name]["inputs"]
        pairs = zip(given["c"], given["w"], strict=True)
        workers = [Worker(send=c, compute=w) for c, w in pairs]
        yield name, DivisibleLoad(load=given["W"], platform=Star(workers)), None
    bad = CASES["star_linear_bad_order_drops_workers"]
    pairs = zip(bad["inputs"]["c"], bad["inputs"]["w"], strict=True)
    star = Star([Worker(send=c, compute=w) for c, w in pairs])
    order = tuple(f"P{worker + 1}" for worker in bad["inputs"]["order"])
    expected = bad["expected"]["lp_makespan"]
    yield bad["name"], DivisibleLoad(load=1, platform=star, order=order), expected
    free = CASES["affine_w_zero_trivial"]
    pairs = zip(free["inputs"]["C"], free["inputs"]["c"], strict=True)
    star = Star([Worker(send=(C, c)) for C, c in pairs])
    yield free["name"], DivisibleLoad(load=free["inputs"]["W"], platform=star), None


@pytest.mark.parametrize(("name", "problem", "expected"), list(linear_cases()))
def test_linear_cases(name, problem, expected):
    """The linear one-round cases pass by the programme too, re-timed exactly."""
    result = solve(problem, method="milp")
    wanted = CASES[name]["expected"]["makespan"] if expected is None else expected
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(wanted, rel=1e-9)


FOUND = Path(__file__).parents[2] / "cases" / "found"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("whole_units_false_infeasible", 1.0),
        ("release_false_optimum", 23.824074074074),
        ("choose_master_with_returns", 20.526315789474),
    ],
)
def test_what_was_claimed_falsely(name, value):
    """One unit fits; another order ends earlier; a master is chosen though results return."""
    problem = read_problem(FOUND / f"{name}.toml")
    result = solve(problem)
    reached = result.makespan if result.objective is None else result.objective.value
    assert result.status == "optimal"
    assert reached == pytest.approx(value, rel=1e-9)
    assert best(problem) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("integral", [False, True])
def test_a_search_that_ended_before_it_knew_any_bound_gives_its_plan(
    monkeypatch: pytest.MonkeyPatch, *, integral: bool
) -> None:
    """The most load by a deadline: the plan of the programme stands, without a bound."""
    solved = Programme.solve

    def without_bound(self: Programme, *arguments: object, **options: object) -> object:
        return replace(solved(self, *arguments, **options), bound=-math.inf)

    monkeypatch.setattr(Programme, "solve", without_bound)
    star = Star([Worker(send=Affine(4, 5), compute=Affine(1, 11)), Worker(send=2, compute=9)])
    result = solve(DivisibleLoad(platform=star, deadline=60.0, integral=integral), method="milp")
    assert result.objective is not None
    assert result.objective.value > 0
    assert result.objective.bound is None


def test_a_search_that_would_not_stop_in_time_is_not_begun() -> None:
    """HiGHS looks at its clock too seldom in programmes of a million entries."""
    star = Star.from_arrays(
        send_per_unit=np.linspace(1, 2, 300), compute_per_unit=3.0, send_fixed=0.1
    )
    result = solve(DivisibleLoad(load=10.0, platform=star), method="milp", time_limit=0.5)
    assert (result.status, result.schedule) == ("limit", None)
    assert any("the limit was too short to begin" in note for note in result.notes)
