"""Sorting by several keys."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from makespan.core.numeric.sorting import MANY, grouped, least_of, places_of, sorted_by

FEW = st.integers(0, 3)


@given(st.lists(st.tuples(FEW, FEW, FEW), max_size=40))
def test_ties_go_to_the_next_key_then_to_the_index(rows):
    """The order is that of Python's sort of the keys themselves."""
    first, second, third = (
        (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        if rows
        else (np.zeros(0),) * 3
    )
    wanted = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert sorted_by(first, second, third).tolist() == wanted


def _columns():
    """Return columns of many values: spread, near one another, far apart, tied, of either sign."""
    rng = np.random.default_rng(5)
    spread = rng.normal(size=3 * MANY)
    yield spread
    yield np.exp(100 * spread)
    yield np.where(spread < 0, 0.0, np.where(spread < 1, -0.0, 1e100))
    yield np.where(spread > 3, np.inf, 1.0 + 1e-15 * np.round(9 * spread))
    yield -np.round(99 * spread)
    yield rng.integers(-3, 3, 3 * MANY)
    yield rng.integers(-(2**63), 2**63 - 1, 3 * MANY)


@pytest.mark.parametrize("values", list(_columns()))
def test_many_values_are_sorted_as_few(values):
    """Packed with their indices, values come in the order of a stable sort."""
    assert sorted_by(values).tolist() == np.argsort(values, kind="stable").tolist()
    other = np.arange(len(values))[::-1] % 7
    assert sorted_by(values, other).tolist() == np.lexsort((other, values)).tolist()
    last = np.random.default_rng(6).normal(size=len(values))
    assert sorted_by(values, other, last).tolist() == np.lexsort((last, other, values)).tolist()
    assert sorted_by(other, values).tolist() == np.lexsort((values, other)).tolist()
    rising = np.sort(values)
    assert sorted_by(rising, last).tolist() == np.lexsort((last, rising)).tolist()


@given(st.lists(st.integers(0, 60), max_size=20), st.lists(st.integers(-9, 80), max_size=20))
def test_places_are_the_first_of_equal_keys(keys, wanted):
    """Whether keys share their first part or not, what is found is what a list finds."""
    keys = sorted(keys)
    due = [keys.index(each) if each in keys else -1 for each in wanted]
    for width in (1, 7, 100):
        found = places_of(np.array(wanted, dtype=np.int64), np.array(keys, dtype=np.int64), width)
        assert found.tolist() == due


def test_the_least_values_are_those_that_sorting_puts_first() -> None:
    """However many are asked for, and whatever ties."""
    rng = np.random.default_rng(0)
    for count in range(1, 40):
        values = rng.integers(0, 9, 60).astype(float)
        found, order = least_of(values, count), sorted_by(values)
        assert found.tolist() == order[: len(found)].tolist()
        assert len(found) >= count


@pytest.mark.usefixtures("form")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FEW, FEW), max_size=40))
def test_groups_come_in_order_and_what_ties_stays(rows):
    """The order is that of Python's sort, by group, then by value, then by index."""
    group, value = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    wanted = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert grouped(group, value.astype(float)).tolist() == wanted


@pytest.mark.usefixtures("form")
def test_values_of_a_group_may_stand_in_any_order():
    """Insertion gives up where much is out of place; the order is that of a stable sort."""
    rng = np.random.default_rng(7)
    group = rng.integers(0, 5, 3000)
    rising = np.round(np.sort(rng.random(3000)), 3)
    nearly = rising + rng.normal(scale=1e-4, size=3000)
    for value in (rising, nearly, rising[::-1]):
        assert grouped(group, value).tolist() == np.lexsort((value, group)).tolist()
