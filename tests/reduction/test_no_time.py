"""Transfers and combinations that take no time, at equal moments, and next to very long ones."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.schedule import Activity, Schedule
from tests.oracles import reduction_brute as oracle
from tests.reduction.test_claims import held
from tests.thorough import few

FOUND: dict[str, dict[str, Any]] = {
    "arrivals at one moment": {
        "machines": 4, "segments": 1, "segment_sizes": [0.5], "reduce": [2.0, 0.0, 0.25, 0.0],
        "latency": [[0.25, 0, 0.75, 0.75], [0.25, 0.75, 0, 0.5], [0.75, 0, 0.25, 0.25],
                    [0.25, 0.25, 0, 0.25]],
        "transfer": [[0.25, 0.75, 0.5, 0], [0.25, 0.75, 0, 0.75], [0.75, 0.5, 0.25, 2],
                     [0.75, 0, 0.25, 0.25]],
    },
    "sequences without transfers": {
        "machines": 3, "segments": 2, "latency": 0.1, "transfer": 0.0, "reduce": 0.2,
        "sequences": [[], [[1, 3], [2, 1]], [[1, 1], [2, 2]]],
    },
    "sequences with a send at the end of another": {
        "machines": 3, "segments": 2, "segment_sizes": [1.5, 3.0], "reduce": [0.25, 0.0, 0.25],
        "latency": [[0.5, 0, 0.5], [0, 0, 0.25], [2.25, 0, 0]],
        "transfer": [[2, 0, 0.5], [0.5, 0.25, 0], [0, 0.25, 0]],
        "sequences": [[], [[1, 1], [2, 3]], [[2, 1], [1, 1]]],
    },
    "a broadcast whose copies stand at the ends of others": {
        "machines": 3, "segments": 2, "segment_sizes": [1.5, 0.5], "reduce": [2.0, 3.0, 1.0],
        "latency": 0.0, "transfer": [[0, 0, 1], [8, 0, 0], [1, 0, 0]], "collective": "broadcast",
    },
    "copies that could go round in a circle": {
        "machines": 3, "segments": 2, "reduce": 0.0, "transfer": 0.0, "collective": "broadcast",
        "latency": [[0, 3, 0], [0, 0, 0], [0, 0, 0]],
    },
    "a deadlock that takes no time": {
        "machines": 3, "segments": 2, "reduce": 0.0, "transfer": 0.0, "latency": 0.0,
        "sequences": [[], [[2, 1], [1, 3]], [[1, 1], [2, 2]]],
    },
}  # fmt: skip
LONG = {
    "machines": 3, "segments": 2, "segment_sizes": [1, 1e30], "order": "greedy",
    "reduce": [0, 1, 2], "latency": [[0, 1, 2], [1, 0, 1], [2, 1, 0]],
    "transfer": [[0, 1, 2], [1, 0, 1], [2, 1, 0]],
}  # fmt: skip


def by_all_methods(problem: Reduction, *without: str) -> None:
    best = oracle.best(problem)
    for method in makespan.methods(problem):
        if method.applies and method.name not in without:
            held(makespan.solve(problem, method=method.name, time_limit=2.0), best)


@pytest.mark.parametrize("name", FOUND)
def test_every_method_plans_what_takes_no_time(name: str) -> None:
    """Their plans pass the referee, and what they claim is what trying everything finds."""
    by_all_methods(Reduction(**FOUND[name]))


@pytest.mark.parametrize("seed", few(150, 8))
def test_every_method_plans_mostly_zeros(seed: int) -> None:
    """The same for random tables of zeros, with few other times."""
    rng = random.Random(seed)
    while not oracle.covers(problem := mostly_zeros(rng)):
        pass
    by_all_methods(problem, "cp-sat", "reduce-then-broadcast")


def mostly_zeros(rng: random.Random) -> Reduction:
    machines, segments = rng.choice([(2, 2), (3, 1), (3, 2), (4, 1)])
    zeros = rng.choice([0.3, 0.6, 0.9])

    def time() -> float:
        return 0.0 if rng.random() < zeros else rng.choice([0.1, 0.25, 0.5, 1.0, 3.0])

    def table() -> list[list[float]]:
        return [[time() for _ in range(machines)] for _ in range(machines)]

    return Reduction(
        machines=machines, segments=segments, latency=table(), transfer=table(),
        reduce=[time() for _ in range(machines)],
        collective=rng.choice(["reduce", "broadcast", "all-reduce"]),
    )  # fmt: skip


def test_short_sends_stand_at_the_ends_of_long_ones_not_in_their_midst() -> None:
    """Lengths that differ by thirty orders: the plan is valid, but not with a short one inside."""
    problem = Reduction(**LONG)
    result = makespan.solve(problem, method="exhaustive")
    assert (result.status, result.makespan) == ("optimal", pytest.approx(3e30))
    schedule = result.schedule
    assert schedule is not None
    short = np.flatnonzero((schedule.kind == Activity.SEND) & (schedule.item == 0))[:1]
    start, end = schedule.start.copy(), schedule.end.copy()
    start[short] += 1e30
    end[short] += 1e30
    report = makespan.check(problem, replace(schedule, start=start, end=end))
    assert "receive-port" in {violation.rule for violation in report.violations}


def test_combinations_still_follow_in_the_order_of_arrival() -> None:
    """Of arrivals that take no time and others, those that were first are combined first."""
    problem = Reduction(
        machines=3, segments=2, latency=0.0, transfer=[[0, 0, 0], [1, 0, 0], [0, 0, 0]],
        reduce=[1, 0, 0], sequences=[[], [[1, 1], [2, 1]], [[1, 1], [2, 1]]],
    )  # fmt: skip
    schedule = makespan.solve(problem).schedule
    assert schedule is not None
    assert makespan.check(problem, schedule).ok
    rows = np.flatnonzero(schedule.kind == Activity.REDUCE)
    first, last = rows[np.argsort(schedule.start[rows])][[0, -1]]
    start, end = schedule.start.copy(), schedule.end.copy()
    for times in (start, end):
        times[first], times[last] = times[last], times[first]
    report = makespan.check(problem, replace(schedule, start=start, end=end))
    assert "order-of-arrival" in {violation.rule for violation in report.violations}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fields",
    [
        {
            "machines": 4, "segments": 1, "order": "backfilling",
            "destinations": [[1], [1], [2], [2]],
            "latency": [[0] * 4, [1e8, 0, 0, 0], [0, 5e29, 0, 0], [0, 3e11, 0, 0]],
            "transfer": [[0] * 4, [0] * 4, [0, 0.5, 0, 0], [0] * 4],
        },
        {
            "machines": 3, "segments": 1, "collective": "all-reduce",
            "latency": [[0.3, 2e-30, 3e-12], [3e8, 0, 0], [5e29, 5e29, 1e11]],
            "transfer": [[0, 0, 0], [1e-12, 2e-30, 0], [0, 0.1, 0.3]],
        },
    ],
)  # fmt: skip
def test_ties_by_rounding_keep_the_order_of_the_plan(fields: dict[str, Any]) -> None:
    """A transfer that rounding swallows is not put behind one that takes no time."""
    problem = Reduction(reduce=0.0, **fields)
    for method in makespan.methods(problem):
        if method.applies:
            assert makespan.check(makespan.solve(problem, method=method.name, time_limit=2.0)).ok


def test_a_deadlock_is_one_also_where_nothing_takes_time() -> None:
    """Two machines that each wait for what the other sends second: no plan at 0 is valid."""
    fields = FOUND["a deadlock that takes no time"]
    assert makespan.solve(Reduction(**fields)).status == "infeasible"
    swapped = [[], [[1, 3], [2, 1]], [[2, 2], [1, 1]]]
    for sequences, fine in ((fields["sequences"], False), (swapped, True)):
        problem = Reduction(**{**fields, "sequences": sequences})
        sends = [(i, j - 1, k - 1) for i, row in enumerate(sequences) for k, j in row]
        rows = [("send", i, j, k) for i, j, k in sends] + [("reduce", j, i, k) for i, j, k in sends]
        schedule = Schedule.of_columns(
            problem.machines,
            kind=[Activity.SEND if row[0] == "send" else Activity.REDUCE for row in rows],
            machine=[row[1] for row in rows], peer=[row[2] for row in rows],
            item=[row[3] for row in rows], amount=1.0, start=0.0, end=0.0,
        )  # fmt: skip
        assert makespan.check(problem, schedule).ok == fine
