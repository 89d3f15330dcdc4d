"""The front of makespan and price: what holds wherever a limit ends its search."""

from __future__ import annotations

from makespan import Affine, DivisibleLoad, Master, Star, Worker, check, solve


def test_a_deadline_holds_where_time_is_up() -> None:
    """Limits that are raised by rounding, to keep a known plan in, stay below the problem's own."""
    star = Star(
        [Worker(send=3.0, compute=0.3, price=Affine(0.5, 1.0))],
        master=Master(compute=Affine(3.0, 1.0)),
    )
    problem = DivisibleLoad(load=6.0, deadline=7.5, objective="pareto", platform=star)
    for limit in (0.0, 1e-4, None):
        result = solve(problem, time_limit=limit)
        assert check(result).ok
        assert max((point["time"] for point in result.details["front"]), default=0.0) <= 7.5
