"""How concurrent sends share the way."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from makespan.execute.dask.cluster.fit import fair_end, sharing

RATES = st.lists(st.floats(1.0, 100.0), min_size=2, max_size=6)


@given(RATES)
def test_links_of_their_own_are_recognised(rates: list[float]) -> None:
    """Sends that end when the slowest alone would end do not disturb each other."""
    alone = [1.0 for _ in rates]
    assert sharing(rates, alone, [0.0] * len(rates), 1.0).kind == "own-links"


@given(RATES)
def test_one_port_is_recognised(rates: list[float]) -> None:
    """Sends that together take the sum of their times go one at a time."""
    alone = [1.0 for _ in rates]
    assert sharing(rates, alone, [0.0] * len(rates), float(len(rates))).kind == "one-port"


@given(RATES, st.floats(0.5, 0.8))
def test_a_shared_link_is_measured(rates: list[float], share: float) -> None:
    """The rate that all share comes back from the time that they take together."""
    uplink = max(*rates, share * sum(rates))
    together = fair_end(rates, rates, [0.0] * len(rates), uplink)
    found = sharing(rates, [1.0] * len(rates), [0.0] * len(rates), together)
    if found.kind == "shared-link":
        assert found.uplink == pytest.approx(uplink, rel=1e-6)
    else:
        assert together <= 1.15 or together >= 0.93 * len(rates)


def test_shares_are_fair() -> None:
    """A slow link takes what it can, the others share the rest; 10 at 1/s, and 10 at 3/s."""
    assert fair_end([10.0, 10.0], [1.0, 100.0], [0.0, 0.0], 4.0) == pytest.approx(10.0)
    assert fair_end([10.0, 10.0], [100.0, 100.0], [0.0, 0.0], 4.0) == pytest.approx(5.0)
    assert fair_end([10.0, 20.0], [100.0, 100.0], [0.0, 0.5], 4.0) == pytest.approx(8.0)


def test_one_worker_has_a_link_of_its_own() -> None:
    """There is nothing to share."""
    assert sharing([1.0], [1.0], [0.0], 9.0).kind == "own-links"
