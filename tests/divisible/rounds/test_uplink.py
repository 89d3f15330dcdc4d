"""Plans under an uplink: one that is wide enough, and start-ups that go on beside data."""

from __future__ import annotations

import pytest

from makespan import Affine, DivisibleLoad, Master, Star, Worker, solve


def problem(master: Master, send: Affine, **fields: object) -> DivisibleLoad:
    star = Star([Worker(send=send, compute=1.0 + each) for each in range(3)], master=master)
    return DivisibleLoad(load=4.0, platform=star, ports="many", use="all", **fields)


def test_an_uplink_that_holds_all_links_is_none() -> None:
    """Three links of half a unit a second behind an uplink of two."""
    given = problem(Master(uplink=2.0), Affine(0.5, 2.0))
    found = solve(given, time_limit=60)
    assert found.status == "optimal"
    assert found.makespan == pytest.approx(
        solve(problem(Master(), Affine(0.5, 2.0)), time_limit=60).makespan
    )


@pytest.mark.parametrize("fields", [{}, {"discipline": "fifo"}, {"order": ("P2", "P1", "P3")}])
def test_start_ups_go_on_beside_data(fields: dict[str, object]) -> None:
    """The first data flow after one start-up; the others are over by then."""
    send = Affine(3.0, 0.5)
    alone = solve(problem(Master(uplink=0.7, sends=1), send, **fields), time_limit=60)
    apart = solve(problem(Master(uplink=0.7), send, **fields), time_limit=60)
    assert alone.makespan > 8.9 + 4.0 / 0.7
    assert apart.makespan <= 3.0 + 4.0 / 0.7 + 2.0


@pytest.mark.parametrize("discipline", ["fifo", "lifo"])
def test_returns_are_in_the_order_of_sends_in_lanes(discipline: str) -> None:
    """What is sent last comes back first on its own link, but not before its turn."""
    star = Star(
        [
            Worker(send=5.0, compute=2.0, return_=1.0),
            Worker(send=3.0, compute=2.0),
            Worker(send=2.0, compute=3.0, return_=0.5),
        ],
        master=Master(uplink=0.7),
    )
    given = DivisibleLoad(
        deadline=3.0, platform=star, ports="many", use="all", discipline=discipline
    )
    found = solve(given, method="sequence-search", time_limit=60)
    assert found.objective.value > 1.2
    assert found.objective.bound is None  # links at other rates may do better
