"""bus-exchange against every ordered subset, every master, and the search over orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Affine, DivisibleLoad, Master, MethodError, Star, Worker, solve
from makespan.core.control import Control
from makespan.divisible.one_round import subsets
from makespan.divisible.one_round.ending_together import AffineCosts
from makespan.divisible.one_round.subsets import Selection
from tests.oracles.divisible_affine import least_makespan, most_load
from tests.thorough import few


def star_of(workers, master=None):
    """A star of workers (C, c, W, w), named P1, P2, …"""
    return Star(
        [Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in workers],
        master=Master(compute=master) if master is not None else None,
    )


def random_workers(generator, count, *, small_integers, smallest_w=0):
    """Workers with one send cost per unit."""
    if small_integers:
        table = generator.integers([0, 0, 0, smallest_w], 4, (count, 4)).astype(float)
    else:
        table = generator.uniform([0, 0.05, 0, 0.5], [10, 1, 10, 5], (count, 4))
    table[:, 1] = table[0, 1]
    return [tuple(row) for row in table.tolist()]


def test_rule_of_the_case():
    """The bus of the reference cases is served by non-decreasing C w - c W: 2065/44."""
    workers = list(zip([3, 1, 2, 4, 2], [1] * 5, [2, 0, 1, 3, 5], [2, 7, 3, 1, 4], strict=True))
    result = solve(DivisibleLoad(load=30, platform=star_of(workers)), method="bus-exchange")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(2065 / 44, rel=1e-12)
    assert result.answer["order"] == ["P4", "P5", "P1", "P3", "P2"]


@pytest.mark.parametrize("small_integers", [False, True])
@pytest.mark.parametrize("seed", few(50, 8))
def test_equal_to_every_ordered_subset(seed, small_integers):
    """Random buses, half of them with many zeros and ties: the optimum of all ordered subsets."""
    generator = np.random.default_rng([seed, small_integers, 21])
    count = int(generator.integers(1, 5))
    workers = random_workers(generator, count, small_integers=small_integers)
    load = float(generator.choice([0.5, 3.0, 20.0, 100.0]))
    master = None
    if seed % 3 == 0:
        master = Affine(float(generator.integers(0, 9)), float(generator.integers(0, 4)))
    exact = least_makespan(workers, load, master=master)
    problem = DivisibleLoad(load=load, platform=star_of(workers, master))
    result = solve(problem, method="bus-exchange")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_most_load_of_every_ordered_subset(seed):
    """By a deadline, the most load of all ordered subsets."""
    generator = np.random.default_rng([seed, 22])
    workers = random_workers(generator, 4, small_integers=bool(seed % 2), smallest_w=1)
    deadline = float(generator.choice([0.0, 0.5, 4.0, 25.0, 200.0]))
    problem = DivisibleLoad(deadline=deadline, platform=star_of(workers))
    result = solve(problem, method="bus-exchange")
    assert result.status == "optimal"
    assert result.objective.value == pytest.approx(float(most_load(workers, deadline)), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_best_master(seed):
    """With the master open, the best of all machines is chosen, for a load and for a deadline."""
    generator = np.random.default_rng([seed, 23])
    drawn = random_workers(generator, 4, small_integers=bool(seed % 2), smallest_w=1)
    C, c = drawn[0][:2]  # one send cost for all
    machines = [(C, c, W, w) for _, _, W, w in drawn]
    load, deadline = float(generator.choice([1.0, 10.0, 100.0])), 20.0
    ends, loads = [], []
    for index, (_, _, fixed, per_unit) in enumerate(machines):
        others = machines[:index] + machines[index + 1 :]
        ends.append(least_makespan(others, load, master=Affine(fixed, per_unit)))
        loads.append(most_load(others, deadline, master=Affine(fixed, per_unit)))
    star = Star.bus(
        send=Affine(C, c),
        workers=[Worker(compute=Affine(W, w)) for _, _, W, w in machines],
        master="choose",
    )
    result = solve(DivisibleLoad(load=load, platform=star), method="bus-exchange")
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(float(min(ends)), rel=1e-9)
    most = solve(DivisibleLoad(deadline=deadline, platform=star), method="bus-exchange")
    assert most.status == "optimal"
    assert most.objective.value == pytest.approx(float(max(loads)), rel=1e-9)


@pytest.mark.parametrize("seed", few(6, 1))
def test_equal_to_the_search_over_orders(seed):
    """On buses of thirty workers the exchange rule loses nothing to the search over orders."""
    generator = np.random.default_rng([seed, 24])
    workers = random_workers(generator, 30, small_integers=False)
    problem = DivisibleLoad(load=float([30, 300][seed % 2]), platform=star_of(workers))
    by_rule = solve(problem, method="bus-exchange")
    by_search = solve(problem, method="subset-dp")
    assert (by_rule.status, by_search.status) == ("optimal", "optimal")
    assert by_rule.makespan == pytest.approx(by_search.makespan, rel=1e-9)


def test_auto_takes_the_rule():
    """auto proves a bus with fixed costs by the exchange rule, also with more than 62 workers."""
    generator = np.random.default_rng(3)
    workers = random_workers(generator, 100, small_integers=False)
    result = solve(DivisibleLoad(load=200.0, platform=star_of(workers)))
    assert (result.method, result.status) == ("bus-exchange", "optimal")


numbers = st.floats(0.0, 8.0).map(lambda value: round(value, 2))


@given(
    workers=st.lists(
        st.tuples(numbers, st.just(0.5), numbers, numbers.map(lambda value: value + 0.25)),
        min_size=1,
        max_size=8,
    ),
    load=st.floats(0.1, 100.0),
    data=st.data(),
)
def test_renaming_and_deadline(workers, load, data):
    """Listing the workers otherwise changes nothing, and the deadline inverts the makespan."""
    mixed = data.draw(st.permutations(workers))
    first, second = (
        solve(DivisibleLoad(load=load, platform=star_of(listed)), method="bus-exchange")
        for listed in (workers, mixed)
    )
    assert first.makespan == pytest.approx(second.makespan, rel=1e-9)
    problem = DivisibleLoad(deadline=first.makespan, platform=star_of(mixed))
    most = solve(problem, method="bus-exchange")
    assert most.objective.value == pytest.approx(load, rel=1e-9)


def test_small_widths_keep_a_valid_bound(monkeypatch):
    """A narrow search states a bound that is not below the optimum of a wide one."""
    generator = np.random.default_rng(2)
    columns = np.array(random_workers(generator, 40, small_integers=False)).T.copy()
    costs = AffineCosts(
        send_fixed=columns[0], send=columns[1], compute_fixed=columns[2], compute=columns[3]
    )
    rank = np.argsort(columns[0] * columns[3] - columns[1] * columns[2])
    wide = Selection(costs, rank, Control())(80.0, 0.0, 10**9)
    assert wide.upper <= wide.load * (1 + 1e-11)
    for width in (1, 4, 32):
        narrow = Selection(costs, rank, Control())(80.0, 0.0, width)
        assert narrow.load <= wide.load * (1 + 1e-12) <= narrow.upper * (1 + 1e-11)
    monkeypatch.setattr(subsets, "MAX_STATES", 4)
    assert Selection(costs, rank, Control())(80.0, 0.0, 10**9).upper >= wide.load * (1 - 1e-12)


def test_no_time_gives_a_plan_and_a_bound():
    """At the time limit the simple plan stays, valid, with a bound below the optimum."""
    generator = np.random.default_rng(1)
    problem = DivisibleLoad(
        load=100.0, platform=star_of(random_workers(generator, 20, small_integers=False))
    )
    stopped = solve(problem, method="bus-exchange", time_limit=0.0)
    full = solve(problem, method="bus-exchange")
    assert stopped.status == "feasible"
    assert stopped.lower_bound <= full.makespan * (1 + 1e-9)
    assert full.makespan <= stopped.makespan * (1 + 1e-9)


def test_stars_and_orders_are_refused():
    """Send costs that differ, and a given order, are refused by name."""
    star = star_of([(1, 1, 1, 1), (1, 2, 1, 1)])
    with pytest.raises(MethodError, match=r"workers\[1\]\.send\.per_unit is 2\.0"):
        solve(DivisibleLoad(load=1.0, platform=star), method="bus-exchange")
    bus = star_of([(1, 1, 1, 1), (2, 1, 1, 1)])
    with pytest.raises(MethodError, match="order is given"):
        solve(DivisibleLoad(load=1.0, platform=bus, order=("P2", "P1")), method="bus-exchange")
