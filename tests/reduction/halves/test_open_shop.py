"""Ways at prices of ports and the order of sends over them, against all orders of few sends."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.control import Control
from makespan.reduction.bounding.flows import demand_of, flows, goes_straight, priced_ports
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.open_shop import _Shop, open_shop
from tests.oracles.reduction_open_shop import open_shop_optimum
from tests.reduction.bounding.test_flows import of_pairs
from tests.reduction.bounding.test_packing import random_problem
from tests.thorough import few

COLLECTIVES = ("all-to-all", "scatter", "gather", "custom")


def unlike(seed: int, most: int = 6) -> Reduction:
    """Return a problem of a random table, with latencies, sizes and missing links in turn."""
    rng = np.random.default_rng(seed)
    machines, collective = int(rng.integers(2, most + 1)), COLLECTIVES[seed % 4]
    segments = int(rng.integers(1, 2 * machines + 1))
    transfer = rng.integers(0, 10, (machines, machines)).astype(float)
    given: dict[str, Any] = {}
    if collective == "custom":
        ends = [rng.permutation(machines)[:2] + 1 for _ in range(segments)]
        given = {
            side: [[int(end[place])] for end in ends]
            for place, side in enumerate(("before", "after"))
        }
    if seed % 3:
        given["latency"] = rng.integers(0, 6, (machines, machines)).astype(float)
    if seed % 2:
        given["segment_sizes"] = rng.integers(1, 5, segments).astype(float)
    if seed % 5 == 0 and machines > 3:
        transfer[rng.integers(machines), rng.integers(machines)] = np.inf
    if seed % 7 == 0:
        transfer = transfer * 1e41
    given |= {"transfer": transfer, "collective": collective}
    return Reduction(machines=machines, segments=segments, **given)


def racks(machines: int) -> Reduction:
    """Return an all-to-all between two racks: 1 within, 6 between them."""
    rack = np.arange(machines) < machines // 2
    transfer = np.where(rack[:, None] == rack, 1.0, 6.0)
    return Reduction(
        machines=machines, segments=machines, transfer=transfer, collective="all-to-all"
    )


def priced(problem: Reduction) -> float:
    """Return the bound by prices, also where a linear programme is in reach."""
    return priced_ports(problem, demand_of(problem))


@pytest.mark.parametrize("seed", few(30, 3))
def test_no_order_of_straight_sends_ends_sooner(seed: int) -> None:
    """Three machines, six sends in all 720 orders; the bound is below."""
    transfer = np.random.default_rng(seed).integers(6, 12, (3, 3)).astype(float)
    problem = Reduction(machines=3, segments=3, transfer=transfer, collective="all-to-all")
    optimum = open_shop_optimum(transfer)
    assert open_shop(problem, Control()).schedule.makespan <= optimum  # type: ignore[union-attr]
    assert priced(problem) <= optimum * (1 + 1e-9)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", few(60, 3))
def test_plans_are_valid_and_no_worse_than_straight_ones(seed: int) -> None:
    """With latencies, sizes, missing links, times that are none or huge; no bound is above."""
    problem = unlike(seed)
    if not goes_straight(problem):
        return
    result = makespan.solve(problem, method="open-shop", runs=20)
    assert makespan.check(result).ok
    assert priced(problem) <= result.makespan * (1 + 1e-9)
    if problem.links is None:
        straight = makespan.solve(problem, method="direct")
        assert result.makespan <= straight.makespan * (1 + 1e-9)


@pytest.mark.parametrize("collective", COLLECTIVES[:3])
@pytest.mark.parametrize("seed", few(24, 3))
def test_networks_are_kept_to(seed: int, collective: Any) -> None:
    """Shared links, and ports for each link: plans are valid, and no bound is above them."""
    ports: Any = ("machines", "links")[seed % 3 == 0]
    problem = random_problem(seed, collective, ports=ports, segments=6)
    result = makespan.solve(problem, method="open-shop", runs=20)
    assert makespan.check(result).ok
    assert priced(problem) <= result.makespan * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(16, 2))
def test_prices_come_near_the_linear_programme(seed: int) -> None:
    """Without latency: its dual, found within some hundred rounds, is never above it."""
    problem = random_problem(seed, "all-to-all", latency=0.0, segments=6)
    least = of_pairs(problem)
    assert least * 0.95 <= priced(problem) <= least * (1 + 1e-6)


def test_racks_are_planned_as_the_ports_allow() -> None:
    """Each of 32 ports takes 15 sends of 1 and 16 of 6, one after another."""
    problem = racks(32)
    result = makespan.solve(problem, time_limit=10.0)
    assert (result.makespan, result.lower_bound, result.status) == (111.0, 111.0, "optimal")
    assert result.method == "open-shop"


def test_busy_ports_are_led_around() -> None:
    """A table of 24: plans that go straight end half as late again, and more."""
    transfer = np.random.default_rng(24).integers(2, 17, (24, 24)).astype(float)
    problem = Reduction(machines=24, segments=24, transfer=transfer, collective="all-to-all")
    result = makespan.solve(problem, method="open-shop", runs=10)
    straight = makespan.solve(problem, method="direct")
    assert result.makespan * 1.5 <= straight.makespan
    assert result.makespan <= 1.2 * result.lower_bound


def test_the_end_is_that_of_the_plan() -> None:
    """Its own times are those that the plan is timed anew to, or later."""
    problem = random_problem(3, "all-to-all", segments=6)
    shop = _Shop(problem, Control())
    shop.search(10, 0.0)
    schedule = shop.schedule()
    assert schedule is not None
    assert schedule.makespan <= float(shop.end) * float(shop.ways.unit or 1) * (1 + 1e-9)


def test_without_time_there_is_a_plan_by_the_quickest_ways() -> None:
    """A ring has no straight ways."""
    problem = Reduction(
        network=makespan.Interconnect(6, topology="ring"), segments=6, collective="all-to-all"
    )
    result = makespan.solve(problem, method="open-shop", time_limit=1e-9)
    assert makespan.check(result).ok
    assert result.makespan >= best_bound(problem)


def test_a_short_limit_is_kept() -> None:
    """Of 96 machines, by either form of its loops."""
    problem = racks(96)
    since = time.perf_counter()
    control = Control(time_limit=0.5)
    open_shop(problem, control)
    assert time.perf_counter() - since < 5.0  # however busy the machine, and compiling included
    assert flows(problem) == pytest.approx(47 + 48 * 6)
