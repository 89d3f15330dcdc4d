"""Divisible loads: how far plans of random problems over all fields are from their bounds.

``python -m benchmarks.divisible_gaps [PROBLEMS] [FIRST]``: problems of at most four workers or five
nodes of a tree, in which fields meet at random, a second each (2,000 from seed 0).
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.table import Table
from makespan import DivisibleLoad, Result, solve
from makespan.core.system import startup
from tests.oracles.divisible_random import random_problem

LIMIT = 1.0
LATE = 1.5  # seconds: what is allowed of a second, on a machine with other work
SERVED = ("optimal", "infeasible")


def _has(name: str) -> Callable[[DivisibleLoad], bool]:
    return lambda problem: problem.is_star and bool(getattr(problem.star, name).any())


def _finite(name: str) -> Callable[[DivisibleLoad], bool]:
    return lambda problem: problem.is_star and bool(np.isfinite(getattr(problem.star, name)).any())


FEATURES: dict[str, Callable[[DivisibleLoad], bool]] = {
    "all": lambda problem: True,
    "tree": lambda problem: not problem.is_star,
    "tree with fixed costs": lambda problem: not problem.is_star and problem.has_latencies,
    "one chunk a worker": lambda problem: problem.is_star and problem.served_once,
    "several rounds": lambda problem: problem.rounds not in (1, "auto"),
    "any number of rounds": lambda problem: problem.rounds == "auto",
    "activation or transfers": lambda problem: problem.given_sends is not None,
    "order": lambda problem: problem.order is not None,
    "fixed costs": lambda problem: problem.is_star and problem.has_latencies,
    "results": lambda problem: problem.has_returns,
    "two ports": lambda problem: problem.ports == 2,
    "links of their own": lambda problem: problem.ports == "many",
    "sends at a time": lambda problem: getattr(problem.platform.master, "sends", None) is not None,
    "uplink": lambda problem: getattr(problem.platform.master, "uplink", None) is not None,
    "master left open": lambda problem: problem.chooses_master,
    "the most by a deadline": lambda problem: problem.load is None,
    "given loads": lambda problem: problem.loads is not None,
    "whole units": lambda problem: problem.integral,
    "everyone": lambda problem: problem.use == "all",
    "no front end": lambda problem: not problem.front_end,
    "budget": lambda problem: problem.budget is not None,
    "memory": _finite("memory"),
    "convex computing costs": lambda problem: problem.is_star and bool(problem.star.beyond),
    "release": _has("release"),
    "deadlines of workers": _finite("deadline"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one problem: its gap (1 without a bound, 0 without a plan), and seconds.

    Those of the first use, importing and compiling, which no limit counts, are not among them.
    """

    problem: DivisibleLoad
    result: Result
    gap: float
    seconds: float

    @property
    def proved(self) -> bool:
        """Whether nothing is left open: an optimum, no plan at all, or a load without a maximum."""
        none = any("no maximum" in note for note in self.result.notes)
        return none or str(self.result.status) in SERVED


def row(seed: int) -> Row:
    """Solve the problem of a seed."""
    problem = random_problem(random.Random(seed), four=True)
    started, before = time.perf_counter(), startup.spent()
    result = solve(problem, time_limit=LIMIT)
    seconds = time.perf_counter() - started - (startup.spent() - before)
    gap = 0.0 if result.schedule is None else 1.0
    if result.gap is not None and result.schedule is not None:
        gap = result.gap
    return Row(problem=problem, result=result, gap=gap, seconds=seconds)


def main(count: int = 2_000, first: int = 0) -> None:
    """Print and write the table."""
    rows = [row(seed) for seed in range(first, first + count)]
    table = Table(
        "divisible_gaps",
        "Divisible loads: gaps of random problems",
        f"{count:,} random problems in which all fields meet, of at most four workers or five "
        f"nodes of a tree, {LIMIT:g} s each: the gap to the bound that is stated. A problem counts "
        "in each row that it fits. Proved: the best plan, that there is none, or that the load by "
        "a deadline has no maximum. Without a plan: none of these, and no plan. "
        f"Late: beyond {LATE:g} s, what the first use of a loop compiles left out.",
        ("feature", "problems", "proved", "median", "95 %", "worst", "without a plan", "late"),
        clock="wall-clock time",
    )
    for name, fits in FEATURES.items():
        some = [each for each in rows if fits(each.problem)]
        gaps = np.array([each.gap for each in some] or [0.0])
        proved = sum(each.proved for each in some)
        lost = sum(each.result.schedule is None and not each.proved for each in some)
        late = sum(each.seconds > LATE for each in some)
        parts = [f"{100 * np.quantile(gaps, part):.1f} %" for part in (0.5, 0.95, 1.0)]
        table.add(name, len(some), proved, *parts, lost, late)
    table.write()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
