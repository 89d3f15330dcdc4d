"""Replays of a plan and runs of a policy a second, by the number of chunks."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.table import Table, cpu_seconds
from makespan import DivisibleLoad, Star, simulate, solve
from makespan.core.simulation import Simulation

REPETITIONS = 1000
WORKERS = 10


def main() -> None:
    """Print and write the table."""
    table = Table(
        "simulate",
        "Plans under errors",
        f"{REPETITIONS} repetitions on {WORKERS} equal workers, a normal error of 10 % on every "
        "activity. `replay` keeps the decisions of a plan by `multi-installment`; `policy` is "
        "self-scheduling, which decides anew in every run.",
        ("what", "chunks", "time", "repetitions a second"),
    )
    star = Star.from_arrays(send_per_unit=[0.01] * WORKERS, compute_per_unit=1.0, send_fixed=1e-5)

    def add(what: str, chunks: int, carry_out: Callable[[int], Simulation]) -> None:
        carry_out(REPETITIONS)  # compiles
        seconds = cpu_seconds(lambda: carry_out(REPETITIONS), repeat=1)
        table.add(what, f"{chunks:,}", seconds, f"{REPETITIONS / seconds:,.0f}")

    for count in (100, 1_000, 10_000):
        problem = DivisibleLoad(load=1000.0, platform=star, rounds=count // WORKERS)
        plan = solve(problem, method="multi-installment")
        add(
            "replay",
            count,
            lambda number, plan=plan: simulate(plan, noise=0.1, repetitions=number),  # type: ignore[misc]
        )
    open_rounds = DivisibleLoad(load=1000.0, platform=star, rounds="auto")
    add(
        "policy",
        64,
        lambda number: simulate(
            open_rounds, policy="self-scheduling", noise=0.1, repetitions=number
        ),
    )
    table.write()


if __name__ == "__main__":
    main()
