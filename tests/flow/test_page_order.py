"""A plan and what is drawn beside it."""

from __future__ import annotations

from makespan import DivisibleLoad, Star, Worker, solve
from makespan.flow.picture import picture
from makespan.flow.plot import run_page


def test_rows_can_have_the_order_of_another_picture() -> None:
    """Every bar stays with its machine; machines that the other lacks come last."""
    crew = [Worker(name=name, send=1.0, compute=2.0) for name in "abc"]
    star = Star(crew)
    plan = solve(DivisibleLoad(platform=star, load=9.0, order=["a", "b", "c"]))
    other = solve(DivisibleLoad(platform=star, load=9.0, order=["c", "a", "b"]))
    above, below = picture(plan), picture(other)
    assert [row.label for row in above.rows] != [row.label for row in below.rows]
    moved = below.with_rows_as(above)
    assert [row.label for row in moved.rows] == [row.label for row in above.rows]
    machines = [below.rows[row].label for row in below.bars.row]
    assert [moved.rows[row].label for row in moved.bars.row] == machines


def test_a_run_is_named_and_has_the_bound_of_its_plan() -> None:
    """Above what was planned, below what was measured; a bound of another plan says nothing."""
    star = Star([Worker(name="a", send=1.0, compute=2.0), Worker(name="b", send=1.0, compute=3.0)])
    plan = solve(DivisibleLoad(platform=star, load=9.0, rounds=3))
    assert plan.schedule is not None
    page = run_page(plan.schedule, ["measured 9 s", "items: a 5"], plan)
    assert page.index(f"planned: {picture(plan).title}") < page.index("measured 9 s", 10_000)
    marks = picture(plan.schedule).with_limits_of(picture(plan)).marks
    assert [mark.time for mark in marks if mark.limit] == [plan.lower_bound]
