"""What a plan of one round is told: the number of rounds it names reaches the end it names."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from makespan import Affine, Convex, DivisibleLoad, Master, Star, Worker, compare, solve
from tests.thorough import few

TWO = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
NOTE = re.compile(
    r"(?:optimal|planned) for one chunk per worker; (\d+) rounds would end at "
    r"([\d.e+-]+) \((\d+) % earlier\)"
)


def advice(problem):
    """The rounds, the end and the share saved that the note of a result names; None without."""
    result = solve(problem)
    found = [match for match in map(NOTE.match, result.notes) if match]
    assert len(found) <= 1
    return (result, *map(float, found[0].groups())) if found else None


@pytest.mark.parametrize("seed", few(5, 0, thorough=2))
def test_what_is_promised_is_reached(seed):
    """A plan of as many rounds ends no later than the note says, and that is 5 % earlier."""
    draw = np.random.default_rng(seed).uniform
    star = Star.from_arrays(
        send_fixed=draw(0, 0.2, 4),
        send_per_unit=draw(0.1, 0.6, 4),
        compute_fixed=draw(0, 0.2, 4),
        compute_per_unit=draw(3, 10, 4),
        master=Master(compute=30.0) if seed % 2 else None,
    )
    problem = DivisibleLoad(load=100.0, platform=star)
    told = advice(problem)
    assert told is not None
    result, rounds, end, saved = told
    assert end <= 0.95 * result.makespan
    assert saved == pytest.approx(100 * (1 - end / result.makespan), abs=0.51)
    assert solve(replace(problem, rounds=int(rounds))).makespan <= end * (1 + 1e-5)
    assert solve(replace(problem, rounds="auto")).makespan <= end * (1 + 1e-5)


NOTHING = Convex(0.0, 0.0, ((20.0, 1.0),))


@pytest.mark.parametrize(
    "problem",
    [
        DivisibleLoad(load=10.0, platform=TWO, rounds=3),
        DivisibleLoad(load=10.0, platform=TWO, rounds="auto"),
        DivisibleLoad(load=10.0, platform=TWO, activation=("P1", "P2")),
        DivisibleLoad(load=10.0, platform=TWO, loads={"P1": 5.0, "P2": 5.0}),
        DivisibleLoad(load=10.0, platform=TWO, front_end=False),
        DivisibleLoad(deadline=10.0, platform=TWO),
        DivisibleLoad(load=10.0, platform=Star([Worker(send=5.0, compute=0.1)])),
        DivisibleLoad(load=10.0, platform=Star([Worker(send=Affine(90, 1), compute=3.0)])),
        DivisibleLoad(load=10.0, platform=Star([Worker(send=0.0, compute=0.0)])),
        DivisibleLoad(load=10.0, platform=Star([Worker(send=0.0, compute=NOTHING)])),
    ],
)
def test_said_only_where_it_is_so(problem):
    """No note where several rounds are asked, can't be, or save too little."""
    assert advice(problem) is None


def test_of_auto_alone():
    """Methods that are named, and rows of comparisons, are what they are."""
    problem = DivisibleLoad(load=10.0, platform=TWO)
    assert advice(problem) is not None
    assert not any(map(NOTE.match, solve(problem, method="star").notes))
    (row,) = compare(problem, methods=["auto"]).rows
    assert row.note == "by star"
