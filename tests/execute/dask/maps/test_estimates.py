"""What is known of costs while a run goes on."""

from __future__ import annotations

import pytest

from makespan import Affine, Master, Worker
from makespan.core.schedule import Activity
from makespan.execute.dask.maps.estimates import Estimates

COMPUTE = Activity.COMPUTE
CREW = [
    Worker(name="a", send=Affine(0.01, 0.1), compute=Affine(0.1, 1.0)),
    Worker(name="b", send=Affine(0.01, 0.1), compute=Affine(0.1, 3.0)),
]


def test_what_was_expected_is_not_in_doubt() -> None:
    """Times within the band leave the costs as they are."""
    estimates = Estimates(CREW)
    assert not any(estimates.observe("a", COMPUTE, 10.0, 10.1 * off) for off in (1.0, 1.1, 0.9))
    estimates.accept()
    assert estimates.speed("a") == pytest.approx(1.0)


def test_two_slow_computations_put_a_cost_in_doubt() -> None:
    """One may be an accident; after two the speed is another."""
    estimates = Estimates(CREW)
    assert not estimates.observe("a", COMPUTE, 10.0, 20.2)
    assert estimates.observe("a", COMPUTE, 10.0, 20.2)
    estimates.accept()
    assert estimates.speed("a") == pytest.approx(0.5, rel=0.01)
    assert estimates.farthest == pytest.approx(1.0)
    assert not estimates.observe("a", COMPUTE, 10.0, 20.1)
    assert not estimates.observe("a", COMPUTE, 10.0, 20.1)


def test_an_accident_changes_nothing() -> None:
    """A single slow one among others does not put the cost in doubt."""
    estimates = Estimates(CREW)
    taken = (10.1, 10.1, 40.0, 10.1, 10.1)
    assert not any(estimates.observe("a", COMPUTE, 10.0, seconds) for seconds in taken)


def test_short_activities_are_disturbed_easily() -> None:
    """Twice as long as a few milliseconds is nothing."""
    estimates = Estimates([Worker(name="a", compute=1e-3)])
    assert not any(estimates.observe("a", COMPUTE, 5.0, 0.01) for _ in range(3))


def test_a_wide_band_tolerates_more() -> None:
    """An uncertain calibration is not given up at the first difference."""
    estimates = Estimates(CREW, {"a": 2.0})
    assert not any(estimates.observe("a", COMPUTE, 10.0, 20.2) for _ in range(3))


def test_a_worker_nobody_knows_is_taken_as_typical() -> None:
    """Until something is observed it is the middle one; then it is what it is."""
    estimates = Estimates(CREW)
    assert estimates.speed("new") == pytest.approx(0.5)
    for _ in range(2):
        estimates.observe("new", COMPUTE, 10.0, 40.2)
    estimates.accept()
    assert estimates.speed("new") == pytest.approx(0.25)
    assert Estimates([]).speed("any") == 1.0


def test_pieces_are_worth_their_message() -> None:
    """A piece computes several times as long as it costs to start."""
    estimates = Estimates(CREW)
    assert estimates.least_piece("a") == pytest.approx(4 * 0.11)
    assert estimates.least_piece("b") == pytest.approx(4 * 0.11 / 3)


def test_the_platform_follows_what_was_observed() -> None:
    """Costs per unit are scaled, start-ups are not."""
    estimates = Estimates(CREW)
    for _ in range(2):
        estimates.observe("b", Activity.SEND, 10.0, 2.02)
    star = estimates.star(["a", "b"], Master())
    assert star.send_per_unit.tolist() == pytest.approx([0.1, 0.2])
    assert star.send_fixed.tolist() == [0.01, 0.01]
