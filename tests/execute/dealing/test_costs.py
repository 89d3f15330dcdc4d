"""What is learnt of costs while a run goes on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from makespan import Affine, Worker
from makespan.execute.dealing.costs import FIRST_TIME, GROWTH, AffineFit, Costs
from makespan.execute.dealing.sizes import next_piece

SIZES = (1.0, 4.0, 16.0, 100.0, 300.0)


@given(st.floats(0.0, 10.0), st.floats(1e-6, 10.0))
def test_a_line_is_found(fixed: float, per_unit: float) -> None:
    """From different sizes, both parts."""
    line = AffineFit()
    for x in SIZES:
        line.observe(x, fixed + per_unit * x)
    for x in SIZES:
        line.observe(x, fixed + per_unit * x)
    assert line.cost.of(50.0) == pytest.approx(fixed + 50.0 * per_unit, rel=1e-3)


@given(st.lists(st.tuples(st.floats(1.0, 1e6), st.floats(0.0, 1e3)), min_size=1, max_size=20))
def test_no_cost_is_negative(seen: list[tuple[float, float]]) -> None:
    """Whatever was observed."""
    line = AffineFit()
    for x, seconds in seen:
        line.observe(x, seconds)
        assert line.cost.fixed >= 0.0
        assert line.cost.per_unit >= 0.0
        assert math.isfinite(line.cost.of(1.0))


def test_a_change_is_believed_the_second_time() -> None:
    """One that takes longer may be an accident; after two the cost is another."""
    line = AffineFit()
    for x in SIZES:
        line.observe(x, x)
    line.observe(100.0, 300.0)
    assert line.cost.of(100.0) < 150.0
    line.observe(100.0, 300.0)
    assert line.cost.of(100.0) == pytest.approx(300.0, rel=0.01)


def test_a_worker_nobody_knows_is_as_the_others() -> None:
    """Until something is observed it is the middle one; but its first chunk is small."""
    workers = [
        Worker(name=name, send=0.1, compute=cost)
        for name, cost in zip("abc", (1, 2, 9), strict=True)
    ]
    costs = Costs.of(workers, 1000.0)
    assert costs.speed("new") == pytest.approx(0.5)
    assert costs.most("new", 1.0) == 1.0
    costs.done("new", 10.0, 40.0, 0.1)
    assert costs.speed("new") == pytest.approx(0.25)
    assert Costs().speed("any") == 1.0
    assert Costs().due("any", 1.0) == math.inf


def test_a_worker_that_returns_nothing_is_late_once_others_returned_something() -> None:
    """Also where it was there before anything was known of anybody."""
    costs = Costs()
    assert costs.due("mute", 2.0) == costs.due("slow", 2.0) == math.inf
    for name, each in (("fast", 1.0), ("slow", 5.0)):
        for units in (1.0, 4.0):
            costs.sent(name, units, 100, 0.0)
            costs.done(name, units, each * units, 0.0)
    assert costs.due("mute", 2.0) == pytest.approx(FIRST_TIME * costs.due("slow", 2.0))


def test_an_odd_time_of_a_tiny_chunk_makes_nobody_infinitely_fast() -> None:
    """Else all the rest would be its share, and less than a message is worth to it: nothing."""
    costs = Costs()
    for units, seconds in ((1.0, 2.1e-3), (2.0, 5.5e-4), (4.0, 9.7e-4)):
        for name, computed in (("odd", seconds), ("usual", 2e-4 * units)):
            costs.sent(name, units, 100, 1e-3)
            costs.done(name, units, computed, 1e-3)
    names = ["odd", "usual"]
    speeds = {name: costs.speed(name) for name in names}
    assert speeds["odd"] < 8.0 * speeds["usual"]
    least = {name: costs.least(name, 2) for name in names}
    assert next_piece(1e5, ["odd"], {"odd": 0.0, "usual": 50.0}, speeds, least) is not None


def test_chunks_grow_step_by_step_and_are_worth_a_message() -> None:
    """Not far beyond what came back, and not below what handling them costs."""
    costs = Costs()
    for units in (1.0, 4.0):
        costs.sent("a", units, 100, 1e-3)
        costs.done("a", units, 1e-4 * units, 1e-3)
    assert costs.most("a", 1.0) == GROWTH * 4.0
    assert costs.least("a", 8) > costs.least("a", 1) >= 1.0


def test_the_platform_is_what_was_learnt() -> None:
    """Costs by unit of load."""
    workers = [Worker(name="a", send=Affine(0.01, 0.1), compute=Affine(0.1, 1.0))]
    star = Costs.of(workers, 1000.0).star(["a"])
    assert star.send_per_unit.tolist() == pytest.approx([0.1])
    assert star.compute_fixed.tolist() == pytest.approx([0.1], rel=0.01)
