"""Limits of links that hold anyway, or make them one port: the same plans, told more simply."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from makespan import DivisibleLoad, Master, Star, Worker
from makespan.core.schedule import Activity
from makespan.divisible.model.plan import Plan
from makespan.divisible.rounds.uplink import simpler
from makespan.divisible.timing import timed
from tests.oracles.divisible_any import best
from tests.oracles.divisible_random import random_problem
from tests.thorough import few


@pytest.mark.parametrize("seed", few(12, 1))
def test_the_optimum_is_the_same(seed: int) -> None:
    """By enumeration, of random problems with one send at a time, or as many as there are."""
    rng = random.Random(seed)
    tried = 0
    while tried < 6:
        problem = random_problem(rng)
        if not problem.is_star or problem.ports != "many" or problem.chooses_master:
            continue
        master = replace(problem.star.master, sends=rng.choice((1, 4)), uplink=None)
        problem = replace(problem, platform=problem.star.changed(master=master))
        if simpler(problem) is not problem:
            found, wanted = best(simpler(problem)), best(problem)
            assert found == wanted or found == pytest.approx(wanted, rel=1e-7, abs=1e-9)
            tried += 1


def test_few_sends_leave_no_place_idle() -> None:
    """One worker's chunks keep one place; the other is free for the second worker at once."""
    star = Star([Worker(send=1.0, compute=1.0)] * 3, master=Master(sends=2))
    problem = DivisibleLoad(load=4.0, platform=star, ports="many", rounds="auto")
    found = timed(problem, Plan.of([0, 0, 0, 1], [1.0] * 4))
    sends = found.rows_of(Activity.SEND)
    assert sorted(found.start[sends].tolist()) == [0.0, 0.0, 1.0, 2.0]
