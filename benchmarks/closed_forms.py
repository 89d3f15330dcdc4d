"""Closed forms on linear stars of 10^3 to 10^6 workers, against one pass over their data."""

from __future__ import annotations

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio
from makespan import DivisibleLoad, Star, check, solve
from makespan.divisible.linear import by_send_cost, equal_finish_shares


def main() -> None:
    """Print and write the table."""
    table = Table(
        "closed_forms",
        "Closed forms for linear stars",
        "`read`: one pass over the two columns of costs. `shares`: sorting by send cost and the "
        "closed form. `solve`: the whole flow, with the schedule re-timed and refereed. `check`: "
        "the referee alone.",
        ("workers", "read", "shares", "solve", "check", "shares / read", "solve / read"),
    )
    generator = np.random.default_rng(0)
    for count in (10**3, 10**4, 10**5, 10**6):
        send = generator.uniform(0.5, 1.5, count) / count
        compute = generator.uniform(0.5, 1.5, count)
        star = Star.from_arrays(send_per_unit=send, compute_per_unit=compute)
        problem = DivisibleLoad(load=1e6, platform=star)
        result = solve(problem)

        def shares(star: Star = star) -> None:
            order = by_send_cost(star)
            equal_finish_shares(star.send_per_unit[order], star.compute_per_unit[order])

        def read(send: np.ndarray = send, compute: np.ndarray = compute) -> float:
            return float(send.sum() + compute.sum())

        reading = cpu_seconds(lambda read=read: [read() for _ in range(100)]) / 100
        sharing = cpu_seconds(lambda shares=shares: [shares() for _ in range(5)]) / 5
        solving = cpu_seconds(lambda problem=problem: solve(problem))
        checking = cpu_seconds(lambda result=result: check(result))
        table.add(
            f"{count:,}",
            reading,
            sharing,
            solving,
            checking,
            ratio(sharing, reading),
            ratio(solving, reading),
        )
    table.write()


if __name__ == "__main__":
    main()
