"""Costs that are stated, and those that are measured."""

from __future__ import annotations

import numpy as np
import pytest
from makespan_flower.costs import Cost

from makespan import Affine


def test_a_line_is_found_through_its_points() -> None:
    """Two unlike counts tell the fixed part from the slope, nearly."""
    cost = Cost()
    assert not cost.known
    assert cost.at(100) == 0.0
    for samples in (100, 400, 100, 400):
        cost.record(samples, 3.0 + 0.02 * samples)
    assert cost.known
    for samples in (100, 250, 400, 800):
        assert cost.at(samples) == pytest.approx(3.0 + 0.02 * samples, rel=0.03)
    assert cost.at(0) == 0.0


def test_one_measurement_is_a_line_through_zero() -> None:
    """More can't be known."""
    cost = Cost()
    cost.record(100, 5.0)
    assert cost.of(np.array([0.0, 50.0, 200.0])) == pytest.approx([0.0, 2.5, 10.0], rel=0.02)


def test_measured_costs_never_fall() -> None:
    """Noise that says so is taken for a line through zero."""
    cost = Cost()
    cost.record(100, 5.0)
    cost.record(120, 4.0)
    assert (np.diff(cost.of(np.arange(0.0, 300.0, 10.0))) > 0).all()


def test_a_client_that_changes_is_learnt_anew() -> None:
    """Three times slower from one round to the next: what was known before counts no more."""
    cost = Cost()
    for samples in (100, 300, 200, 100):
        cost.record(samples, 1.0 + 0.01 * samples)
    assert cost.at(150) == pytest.approx(2.5, rel=0.05)
    cost.record(200, 9.0)
    assert cost.at(200) == pytest.approx(9.0, rel=0.05)
    assert cost.at(100) == pytest.approx(4.5, rel=0.05)


def test_what_is_no_measurement_is_left_out() -> None:
    """No samples, and times that are not numbers."""
    cost = Cost()
    for samples, took in ((0, 1.0), (10, np.inf), (10, np.nan), (10, -1.0)):
        cost.record(samples, took)
    assert not cost.known


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (Affine(1.0, 0.5), [0.0, 6.0, 11.0]),
        ({10: 3.0}, [0.0, 3.0, np.inf]),
        (lambda samples: samples**2, [0.0, 100.0, 400.0]),
    ],
)
def test_stated_costs(stated: object, expected: list[float]) -> None:
    """A line, a table whose gaps are forbidden, a function."""
    cost = Cost(stated)  # type: ignore[arg-type]
    assert cost.of(np.array([0.0, 10.0, 20.0])).tolist() == expected


def test_measurements_move_the_level_of_a_stated_cost() -> None:
    """Its shape stays."""
    cost = Cost(Affine(1.0, 0.5))
    for _ in range(40):
        cost.record(10, 12.0)
    assert cost.at(10) == pytest.approx(12.0)
    assert cost.at(20) == pytest.approx(22.0)
