"""Plans without communication, machines that are alike as one resource, against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, check, methods, solve
from makespan.backends.cp_sat import scaling_of
from makespan.core.control import Control
from makespan.taskgraph import formats
from makespan.taskgraph.levels import heads
from makespan.taskgraph.methods.cumulative import _InGroups
from tests.oracles.taskgraph_enumeration import best as optimum
from tests.thorough import up_to


def random_problem(rng: np.random.Generator) -> TaskGraph:
    """Return a few tasks without data, on machines of one to three kinds, one with two cores."""
    count, machines = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.35]
    style = int(rng.integers(4))
    drawn = (rng.integers(0, 4, count), rng.integers(1, 3, count), rng.uniform(0, 5, count))
    durations = rng.integers(1, 6, (count, machines)) if style == 3 else None
    dag = Dag.from_arrays(
        work=None if style == 3 else drawn[style].astype(float),
        durations=durations,
        source=[a for a, _ in pairs],
        target=[b for _, b in pairs],
    )
    cores = rng.integers(1, 3, machines) if rng.random() < 0.3 else 1
    return TaskGraph(dag, Network(rng.choice([1.0, 1.0, 2.0, 3.0], machines), cores=cores))


@pytest.mark.parametrize("count", up_to(30, 120))
def test_it_is_optimal(count: int) -> None:
    """Its makespan is the least of all plans, and it says so."""
    tried = 0
    for seed in range(count):
        problem = random_problem(np.random.default_rng(seed))
        least = optimum(problem)
        if least is None:
            continue
        tried += 1
        result = solve(problem, method="cumulative", time_limit=20)
        assert result.status == "optimal"
        assert result.makespan == pytest.approx(least, rel=1e-9)
        assert check(result).ok
    assert tried > 5 * count / 6


@pytest.mark.parametrize("count", up_to(10, 40))
def test_tasks_that_can_change_places(count: int) -> None:
    """Equal tasks, some with more before and less behind them than others: the optimum stays."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        pairs = [(a, b) for b in range(5) for a in range(b) if rng.random() < 0.3]
        names = rng.permutation(5)
        dag = Dag.from_arrays(
            work=rng.choice([1.0, 2.0], 5),
            source=[names[a] for a, _ in pairs],
            target=[names[b] for _, b in pairs],
        )
        problem = TaskGraph(dag, Network([1.0, 1.0]))
        assert solve(problem, method="cumulative").makespan == optimum(problem)


@pytest.mark.parametrize("seeds", up_to(3, 10))
def test_heads_are_never_late(seeds: int) -> None:
    """Of all starts that slots of unit tasks allow, none is before its head."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        count, cores = 6, int(rng.integers(1, 4))
        before = [[a for a in range(b) if rng.random() < 0.4] for b in range(count)]
        found, ancestors = heads(range(count), before, np.ones(count, dtype=np.int64), cores)
        earliest = np.full(count, count)
        for slots in product(range(count), repeat=count):
            slot = np.array(slots)
            if np.bincount(slot).max() <= cores and all(
                slot[a] < slot[b] for b in range(count) for a in before[b]
            ):
                earliest = np.minimum(earliest, slot)
        assert (found <= earliest).all()
        assert [bits.bit_count() > 0 for bits in ancestors] == [bool(each) for each in before]


def test_long_durations_of_one_machine() -> None:
    """What would take longer than the known plan on a machine is ruled out there."""
    dag = Dag.from_arrays(durations=[[1.0, 1e6], [1.0, 1e6], [1e6, 2.0]], source=[0], target=[1])
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    result = solve(problem, method="cumulative")
    assert (result.status, result.makespan) == ("optimal", 2.0)


@pytest.mark.parametrize("largest", [1e-7, 1.0, 1e12])
def test_any_scale(largest: float) -> None:
    """Times without a common unit, small or large: the plan is that of the enumeration."""
    rng = np.random.default_rng(5)
    dag = Dag.from_arrays(work=rng.uniform(0.1, 1.0, 5) * largest, source=[0, 1], target=[2, 3])
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    least = optimum(problem)
    assert least is not None
    result = solve(problem, method="cumulative")
    assert result.makespan == pytest.approx(least, rel=1e-9)
    assert result.status == "optimal"


def test_tasks_of_no_time_need_no_machine() -> None:
    """The first and the last task of an STG file only join the others."""
    text = "\n".join(["4", "0 0 0", "1 3 1 0", "2 3 1 0", "3 3 1 0", "4 2 1 0", "5 0 4 1 2 3 4"])
    problem = formats.problem_in(text, ".stg", "small.stg", Network([1.0, 1.0]))
    result = solve(problem, method="cumulative")
    assert (result.makespan, str(result.status)) == (6.0, "optimal")


def test_why_it_does_not_apply() -> None:
    """Data that take time stand in the way."""
    dag = Dag(dict.fromkeys("ab", 1.0), [("a", "b", 2.0)])
    verdicts = {each.name: each for each in methods(TaskGraph(dag, Network([1.0] * 3)))}
    assert "edges[0].size is 2" in str(verdicts["cumulative"])


@pytest.mark.parametrize("count", up_to(8, 25))
def test_asking_for_each_end_in_turn(count: int) -> None:
    """A bound rises to the optimum, where there is a plan, or to the best plan known."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        pairs = [(a, b) for b in range(6) for a in range(b) if rng.random() < 0.3]
        dag = Dag.from_arrays(
            work=rng.integers(1, 5, 6).astype(float),
            source=[a for a, _ in pairs],
            target=[b for _, b in pairs],
        )
        problem = TaskGraph(dag, Network([1.0, 1.0]))
        least, control = optimum(problem), Control()
        assert least is not None
        alone = solve(problem, method="single-machine").schedule
        scaling = scaling_of(problem.durations, total=alone.makespan)
        parts = _InGroups(problem, control, scaling, alone, alone.makespan)
        parts.build(0.0)
        parts.model.minimize(parts.end)
        units, below = round(least / scaling.seconds(1)), int(rng.integers(0, 3))
        bound, found = parts.decided(True, max(0, units - below), parts.horizon)
        assert bound == units
        if found is None:
            assert bound == parts.horizon
        else:
            assert parts.schedule(found.value).makespan == least
        nothing = parts.decided(True, max(0, units - below - 1), units)
        assert nothing == (units, None)
