"""Splits of a round and the bound over rounds, against all splits there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from makespan_flower import Table, least_seconds
from makespan_flower.shares import Split, split

BATCHES = 6


def table(seed: int, *, lower: int = 0) -> Table:
    """Three clients with bumpy, rising costs; the fast ones take more energy."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(1.0, 5.0, 3)
    steps = rng.uniform(0.2, 1.0, (2, 3, BATCHES))
    seconds, energy = np.zeros((2, 3, BATCHES + 1))
    seconds[:, 1:] = np.cumsum(steps[0], 1) / speed[:, None]
    energy[:, 1:] = np.cumsum(steps[1], 1) * speed[:, None]
    return Table(seconds, energy, np.full(3, lower), np.full(3, BATCHES))


def every_split(of: Table, batches: int) -> Iterator[Split]:
    assert of.energy is not None
    for counts in product(range(batches + 1), repeat=3):
        found = np.array(counts)
        if sum(counts) == batches and (found >= of.lower).all() and (found <= of.upper).all():
            rows = np.arange(3)
            ends, energy = of.seconds[rows, found], of.energy[rows, found]
            yield Split(found, float(ends.max()), float(energy.sum()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lower", [0, 1])
def test_the_least_time_and_the_least_energy(seed: int, lower: int) -> None:
    """The other one is least among what is best."""
    each = table(seed, lower=lower)
    best = min(every_split(each, BATCHES), key=lambda one: (one.seconds, one.energy))
    found = split(each, BATCHES)
    assert (found.seconds, found.energy) == pytest.approx((best.seconds, best.energy))
    best = min(every_split(each, BATCHES), key=lambda one: (one.energy, one.seconds))
    assert split(each, BATCHES, "energy").energy == pytest.approx(best.energy)


@pytest.mark.parametrize("seed", range(6))
def test_a_deadline_and_an_allowance(seed: int) -> None:
    """The least time within an allowance; the most batches where it can't pay for all."""
    each = table(seed)
    splits = list(every_split(each, BATCHES))
    low = min(one.energy for one in splits)
    high = split(each, BATCHES).energy
    for part in (0.0, 0.3, 0.7):
        allowance = low + part * (high - low) + 1e-9
        within = [one for one in splits if one.energy <= allowance]
        found = split(each, BATCHES, allowance=allowance)
        assert found.energy <= allowance
        assert found.seconds == min(one.seconds for one in within)
    for allowance in (0.8 * low, 0.3 * low, 0.0):
        found = split(each, BATCHES, allowance=allowance)
        most = max(
            sum(one.counts)
            for batches in range(BATCHES + 1)
            for one in every_split(each, batches)
            if one.energy <= allowance
        )
        assert found.energy <= allowance
        assert found.counts.sum() == most
    end = 0.6 * split(each, BATCHES).seconds
    found = split(each, BATCHES, "energy", deadline=end)
    most = sum(int((row[1:] <= end).sum()) for row in each.seconds)
    assert found.seconds <= end
    assert found.counts.sum() == most


def test_minimum_shares_are_given_up_last() -> None:
    """Where they do not keep the deadline, the deadline holds."""
    each = table(1, lower=2)
    end = float(each.seconds[:, 1].max())
    found = split(each, BATCHES, deadline=end)
    assert found.seconds <= end
    assert found.counts.sum() == sum(int((row[1:] <= end).sum()) for row in each.seconds)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rounds", [1, 3])
def test_the_bound_over_rounds(seed: int, rounds: int) -> None:
    """No choice of splits beats it; equal parts of what is left keep the budget, near it."""
    each = table(seed)
    splits = list(every_split(each, BATCHES))
    front = [
        one
        for one in splits
        if not any(other.seconds < one.seconds and other.energy <= one.energy for other in splits)
    ]
    low, high = min(one.energy for one in splits), split(each, BATCHES).energy
    assert least_seconds(each, BATCHES, rounds, 0.99 * rounds * low) == np.inf
    assert least_seconds(each, BATCHES, rounds) == rounds * split(each, BATCHES).seconds
    for part in (0.1, 0.5, 0.9, 1.1):
        budget = rounds * (low + part * (high - low))
        best = min(
            sum(one.seconds for one in chosen)
            for chosen in combinations_with_replacement(front, rounds)
            if sum(one.energy for one in chosen) <= budget
        )
        bound = least_seconds(each, BATCHES, rounds, budget)
        assert bound <= best + 1e-9
        left, seconds = budget, 0.0
        for number in range(rounds):
            found = split(each, BATCHES, allowance=left / (rounds - number))
            left, seconds = left - found.energy, seconds + found.seconds
            assert found.counts.sum() == BATCHES
        assert left >= -1e-9
        assert best - 1e-9 <= seconds
        assert seconds <= rounds * split(each, BATCHES, allowance=budget / rounds).seconds + 1e-9
