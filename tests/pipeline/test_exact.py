"""Whatever is asked of a small pipeline, the plan is the best of all mappings."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import Interconnect, Pipeline, check, solve
from makespan.core.solution import Status
from makespan.pipeline.mapping import Mapping, mapping_of, values_of
from tests.oracles import pipeline_mappings as oracle
from tests.oracles.pipeline_random import mixed
from tests.thorough import few


def claims(problem: Pipeline) -> None:
    """Compare the result of ``auto`` with the enumeration of all mappings."""
    result = solve(problem, time_limit=20)
    found = oracle.allowed(problem)
    if not found:
        assert result.status is Status.INFEASIBLE
        return
    best = min(oracle.objective(problem, each) for each in found)
    assert result.status is Status.OPTIMAL
    assert check(result).ok
    value = result.makespan if result.objective is None else result.objective.value
    assert value == pytest.approx(best, rel=1e-9)
    mapping = mapping_of(problem, result.schedule)
    own = oracle.values(problem, mapping.edges, mapping.groups)
    assert values_of(problem, mapping) == pytest.approx(own[:3], rel=1e-9)
    if problem.objective == "pareto":
        points = [(point["time"], point["latency"]) for point in result.details["front"]]
        assert points == [pytest.approx(point, rel=1e-9) for point in oracle.front(problem)]


@pytest.mark.parametrize("seed", few(40, 15, thorough=40))
def test_small_pipelines(seed: int) -> None:
    """All fields mixed; each seed is another problem."""
    claims(mixed(seed))


@pytest.mark.parametrize("seed", range(30))
def test_latency_of_stages_that_are_alike(seed: int) -> None:
    """All sets of machines are looked at: memory, links, ends, and machines that run no stage."""
    rng = np.random.default_rng(seed)
    stages, machines = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    links = Interconnect(
        machines, rate=rng.uniform(0.5, 4.0, (machines, machines)), latency=rng.uniform(0.0, 1.0)
    )
    columns = {"data": np.full(stages, 1.5), "memory": np.ones(stages)}
    if seed % 3:
        columns["work"] = np.full(stages, 2.0)
    else:
        row = rng.uniform(0.5, 3.0, machines)
        row[1:][rng.random(machines - 1) < 0.3] = np.inf
        columns["durations"] = np.tile(row, (stages, 1))
    problem = Pipeline(
        columns, links, speeds=rng.uniform(0.5, 3.0, machines) if seed % 3 else 1.0,
        memory=rng.integers(0, 5, machines), objective="latency", input=1.0, output=2.0,
        outside=rng.uniform(0.5, 4.0, machines), overlap=bool(seed % 2),
    )  # fmt: skip
    claims(problem)


@pytest.mark.thorough
@pytest.mark.parametrize("hundred", few(3, 1, thorough=2))
def test_hundreds_of_small_pipelines(hundred: int) -> None:
    """The same on some hundreds."""
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        claims(mixed(seed))


@pytest.mark.slow
def test_five_thousand_small_pipelines() -> None:
    """The same on five thousand."""
    for seed in range(10_000, 15_000):
        claims(mixed(seed))


def test_values_of_a_dealt_interval() -> None:
    """A group's slowest machine sets the pace: 6 s on each of two is a data set every 3 s."""
    problem = Pipeline([6.0, 2.0], machines=3, speeds=[1.0, 2.0, 1.0], replicas=2)
    assert values_of(problem, Mapping((0, 1, 2), ((0, 1), (2,))))[:2] == (3.0, 8.0)


def test_a_deal_is_worth_it() -> None:
    """One long stage takes 6 s alone; three machines in turn finish one every 2 s."""
    result = solve(Pipeline([6.0], machines=3, replicas=3))
    assert result.status is Status.OPTIMAL
    assert result.objective.value == 2.0
    assert result.answer["intervals"][0]["machines"] == ["M1", "M2", "M3"]
