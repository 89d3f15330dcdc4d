"""Interpolation of measured samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan.partition.model.curves import Samples

COUNTS = [4, 0, 10, 7]
COSTS = [2.0, 0.0, 9.0, 3.0]


def filled(interpolation: str, granularity: int = 1):
    samples = Samples(
        counts=COUNTS, costs=COSTS, interpolation=interpolation, granularity=granularity
    )
    counts, costs, _ = samples.filled()
    return dict(zip(counts.tolist(), costs.tolist(), strict=True))


@pytest.mark.parametrize("interpolation", ["exact", "linear", "pchip", "step"])
def test_samples_are_kept_as_measured(interpolation):
    """Whatever is assumed between them, the measured costs stay."""
    found = filled(interpolation)
    for count, cost in zip(COUNTS, COSTS, strict=True):
        assert found[count] == pytest.approx(cost)
    assert min(found) == 0
    assert max(found) == 10


def test_what_is_assumed_between():
    """Only the samples; straight lines; the next greater sample."""
    assert sorted(filled("exact")) == sorted(COUNTS)
    assert filled("linear")[2] == 1.0
    assert filled("step")[5] == 3.0
    assert sorted(filled("linear", granularity=4)) == [0, 4, 8]
    assert sorted(filled("exact", granularity=2)) == [0, 4, 10]


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 40), min_size=2, max_size=8),
    st.lists(st.integers(0, 50), min_size=9, max_size=9),
)
def test_pchip_agrees_with_scipy(gaps, rises):
    """The tangents are those of Fritsch and Butland, as in SciPy."""
    interpolate = pytest.importorskip("scipy.interpolate")
    counts = np.concatenate([[0], np.cumsum(gaps)])
    costs = [float(rise) for rise in rises[: len(counts)]]
    samples = Samples(counts=counts.tolist(), costs=costs, interpolation="pchip")
    wanted, found, _ = samples.filled()
    expected = interpolate.PchipInterpolator(counts, costs)(wanted)
    assert found == pytest.approx(expected, abs=1e-9)
