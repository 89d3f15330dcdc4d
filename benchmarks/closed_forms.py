"""Closed forms on linear stars of 10^3 to 10^6 workers, against one pass over their data."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio
from makespan import DivisibleLoad, Star, check, solve
from makespan.core.numeric.arrays import Floats
from makespan.divisible.rates.quick import equal_finish_shares

REPEAT = 20


def _read(send: Floats, compute: Floats) -> None:
    for _ in range(REPEAT):
        _ = send.sum() + compute.sum()


def _shares(star: Star) -> None:
    for _ in range(REPEAT):
        order = star.by_send_cost
        equal_finish_shares(star.send_per_unit[order], star.compute_per_unit[order])


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

        reading = cpu_seconds(partial(_read, send, compute)) / REPEAT
        sharing = cpu_seconds(partial(_shares, star)) / REPEAT
        solving = cpu_seconds(partial(solve, problem))
        checking = cpu_seconds(partial(check, result))
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
