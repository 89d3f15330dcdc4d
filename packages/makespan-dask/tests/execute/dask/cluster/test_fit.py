"""Measured times become affine costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan.execute.dask.cluster.fit import fit, median

SIZES = (100.0, 100.0, 100.0, 400.0, 400.0, 400.0, 800.0, 800.0, 800.0)


@given(fixed=st.floats(1e-3, 1.0), per_unit=st.floats(1e-5, 1e-2))
def test_exact_measurements_give_the_cost_itself(fixed: float, per_unit: float) -> None:
    """Without noise both parts come back, with narrow intervals and full quality."""
    found = fit(SIZES, [fixed + per_unit * size for size in SIZES])
    assert found.cost.fixed == pytest.approx(fixed, rel=1e-6)
    assert found.cost.per_unit == pytest.approx(per_unit, rel=1e-6)
    assert found.quality == pytest.approx(1.0, abs=1e-6)
    assert found.rejected == ()


def test_a_disturbed_measurement_is_left_out_and_named() -> None:
    """One measurement of three, three times too long, changes nothing."""
    times = [0.01 + 0.001 * size for size in SIZES]
    times[4] *= 3.0
    found = fit(SIZES, times)
    assert found.cost.per_unit == pytest.approx(0.001)
    assert found.rejected == ((400.0, pytest.approx(1.23)),)
    assert found.kept == 8


def test_most_measurements_of_a_size_are_always_kept() -> None:
    """Even where all differ wildly, more than half of each size count."""
    generator = np.random.default_rng(1)
    times = [generator.uniform(0.1, 10.0) for _ in SIZES]
    assert fit(SIZES, times).kept >= 6


@pytest.mark.parametrize("seed", range(20))
def test_intervals_hold_the_truth_in_most_cases(seed: int) -> None:
    """Noise of 2 %: the slope's interval, a little widened, holds the true slope."""
    generator = np.random.default_rng(seed)
    times = [(0.01 + 0.001 * size) * (1 + 0.02 * generator.normal()) for size in SIZES]
    low, high = fit(SIZES, times).per_unit_interval
    assert low - 5e-5 <= 0.001 <= high + 5e-5
    assert low < high


def test_parts_are_never_negative() -> None:
    """Times that shrink with the size, or that would start below 0, still give costs."""
    shrinking = fit([1.0, 2.0, 4.0], [3.0, 2.0, 1.0])
    assert shrinking.cost.per_unit == 0.0
    assert shrinking.cost.fixed > 0.0
    steep = fit([1.0, 2.0, 4.0], [0.5, 2.5, 6.5])
    assert steep.cost.fixed == 0.0
    assert steep.cost.per_unit > 0.0


def test_a_single_size_gives_a_cost_per_unit() -> None:
    """What was measured at one size only is taken as proportional."""
    found = fit([10.0, 10.0], [2.0, 2.0])
    assert (found.cost.fixed, found.cost.per_unit) == (0.0, pytest.approx(0.2))


def test_a_constant_can_be_asked_for() -> None:
    """Latencies are fitted without a cost per unit."""
    found = fit(SIZES, [0.5] * len(SIZES), constant=True)
    assert (found.cost.fixed, found.cost.per_unit) == (pytest.approx(0.5), 0.0)


def test_the_median_of_nothing_is_zero() -> None:
    """No measurement, no cost."""
    assert median([]) == 0.0
