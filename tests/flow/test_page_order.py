"""A plan and what is drawn beside it."""

from __future__ import annotations

from makespan import DivisibleLoad, Star, Worker, solve
from makespan.flow.picture import picture


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
