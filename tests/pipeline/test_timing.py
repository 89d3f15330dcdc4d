"""Data sets enter every period and never wait; what takes longer delays the others."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Interconnect, Pipeline, Stage, check, simulate, solve
from makespan.pipeline.mapping import Mapping, mapping_of, values_of
from makespan.pipeline.timing import replay, retimed, scheduled
from tests.oracles import pipeline_mappings as oracle
from tests.oracles.pipeline_random import mixed

PROBLEM = Pipeline(
    [Stage(4.0, data=2.0), Stage(6.0)], Interconnect(2, rate=1.0, latency=0.5),
    speeds=[2.0, 2.0], items=3, overlap=False,
)  # fmt: skip


def test_the_times_of_three_data_sets() -> None:
    """Without overlap M2 receives 2 s and computes 3 s: one every 5 s."""
    schedule = scheduled(PROBLEM, Mapping.of([0, 1, 2], [0, 1]))
    rows = [(row["kind"], row["machine"], row["start"], row["end"]) for row in schedule]
    assert rows[:3] == [
        ("compute", "M1", 0.0, 2.0), ("transfer", "M1", 2.0, 4.5), ("compute", "M2", 4.5, 7.5),
    ]  # fmt: skip
    assert schedule.end[schedule.kind == 3][1::2].tolist() == [7.5, 12.5, 17.5]


@pytest.mark.parametrize("seed", range(60))
def test_no_data_set_waits(seed: int, form: object) -> None:
    """Every data set takes the latency, and they leave one period apart, where none is dealt."""
    problem = mixed(seed)
    for found in oracle.allowed(problem)[::7][:5]:
        mapping = Mapping(found.edges, found.groups)
        schedule = scheduled(problem, mapping)
        assert check(problem, schedule).ok, check(problem, schedule)
        end = np.full(problem.items, -np.inf)
        np.maximum.at(end, schedule.item, schedule.end)
        period, latency, _ = values_of(problem, mapping)
        last = latency + (problem.items - 1) * period
        if problem.replicas == 1:
            assert end == pytest.approx(latency + period * np.arange(problem.items))
            assert mapping_of(problem, schedule) == mapping
        assert schedule.makespan <= last * (1 + 1e-9)
        again = retimed(problem, schedule)
        assert again.start == pytest.approx(schedule.start)


def test_noise(form: object) -> None:
    """What takes twice as long ends later; a replay gives the makespan of the retimed plan."""
    schedule = scheduled(PROBLEM, Mapping.of([0, 1, 2], [0, 1]))
    factors = np.where(schedule.kind == 3, 2.0, 1.0)
    slow = retimed(PROBLEM, schedule, factors)
    assert slow.makespan == 4 + 2.5 + 6 + 2 * (2 + 6)
    assert replay(PROBLEM, schedule, 1).end(factors) == slow.makespan
    result = solve(PROBLEM)
    assert simulate(result, noise=0.0, repetitions=2).mean == pytest.approx(result.makespan)
    assert simulate(result, noise=0.3, repetitions=50).mean > result.makespan
