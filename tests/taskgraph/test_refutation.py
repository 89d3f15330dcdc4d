"""What is refuted, against every plan of small problems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, lower_bound, solve
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.generate import graphs as generators
from tests.oracles.taskgraph_enumeration import best, covers, random_problem
from tests.oracles.taskgraph_instances import MODELS

WAITING = [model for model in MODELS if model != ("overlap", "none")]
WITHIN = 1e-9


def waiting_problem(seed: int) -> TaskGraph:
    """Return a small problem in which transfers wait, without limits, a given plan, or prices.

    Of three, one is of any network; two are dense, on machines that are linked alike.
    """
    rng = np.random.default_rng(seed)
    communication, contention = WAITING[seed % len(WAITING)]
    model: dict[str, Any] = {"communication": communication, "contention": contention}
    if not seed % 3:
        problem = random_problem(rng)
        durations, dag = problem.finite_durations, problem.dag
        dag = Dag.from_arrays(
            durations=durations, source=dag.source, target=dag.target, size=dag.size,
            release=dag.release, cores=dag.cores,
        )  # fmt: skip
        return TaskGraph(dag, problem.network, **model)
    tasks, count = 5, 2
    source, target = np.nonzero(np.triu(rng.random((tasks, tasks)) < 0.6, 1))
    durations = np.repeat(rng.integers(1, 7, (tasks, 1)), count, axis=1)
    if rng.random() < 0.3:
        durations = durations + rng.integers(0, 3, durations.shape)
    size = rng.integers(1, 7, len(source)) * float(rng.choice([0.5, 1.0, 3.0]))
    dag = Dag.from_arrays(durations=durations, source=source, target=target, size=size)
    more: Any = ({}, {"topology": "bus"}, {"topology": "star", "routers": ["R"]})[rng.integers(3)]
    cores = rng.choice([1, 1, 1, 2])
    return TaskGraph(dag, Network([1.0] * count, cores=cores, **more), **model)


def raised(seed: int) -> bool | None:
    """Hold what is refuted against the optimum; say if it is above the other bounds.

    None where there are too many plans to try.
    """
    problem = waiting_problem(seed)
    least = best(problem) if covers(problem) else None
    if least is None:
        return None
    *others, found = bounds(problem)
    known = max(bound.value for bound in others)
    if found.name == "refuted":
        assert found.value <= least * (1 + WITHIN), (seed, found.value, least)
    return found.name == "refuted" and found.value > known * (1 + WITHIN)


@pytest.mark.thorough
def test_no_plan_is_below() -> None:
    """On some hundred problems; in a quarter of them it is above the other bounds."""
    found = [raised(seed) for seed in range(200)]
    assert sum(each is not None for each in found) > 150
    assert sum(map(bool, found)) > 50


@pytest.mark.slow
def test_no_plan_is_below_on_thousands() -> None:
    """The same on many more."""
    found = [raised(seed) for seed in range(1000, 3300)]
    assert sum(each is not None for each in found) > 2000


@pytest.mark.parametrize("scale", [1e-90, 1e-7, 1e12, 1e90])
@pytest.mark.parametrize("model", WAITING, ids="-".join)
def test_bounds_scale(model: tuple[str, str], scale: float) -> None:
    """Times in other units give the same bound in these units, and none above a plan."""
    communication, contention = model
    dag = generators.layered(20, ccr=5.0, rng=3)
    scaled = Dag.from_arrays(
        work=dag.work * scale, source=dag.source, target=dag.target, size=dag.size * scale
    )
    network = Network([1.0, 1.0, 2.0])
    one, other = (
        TaskGraph(each, network, communication=communication, contention=contention)  # type: ignore[arg-type]
        for each in (dag, scaled)
    )
    found = bounds(other)[-1].value
    assert found == pytest.approx(bounds(one)[-1].value * scale, rel=1e-3)
    plan = solve(other, method="local-search")
    assert found <= plan.makespan * (1 + WITHIN)


def test_all_on_one_machine_is_proved() -> None:
    """Where data take ever longer, one machine is best, and that is known at once."""
    dag = generators.cholesky(5, ccr=100.0)
    problem = TaskGraph(dag, Network([1.0, 1.0, 2.0]), contention="ports")
    alone = solve(problem, method="single-machine")
    assert str(alone.status) == "optimal"
    assert lower_bound(problem).name == "refuted"


def test_a_port_takes_one_after_another() -> None:
    """Six predecessors: all on one machine take 12, else their data pass its port, or cross it."""
    tasks = {f"t{number}": 2.0 for number in range(6)}
    join = Dag({**tasks, "end": 1.0}, [(name, "end", 3.0) for name in tasks])
    free = TaskGraph(join, Network([1.0] * 6))
    ports = replace(free, contention="ports")
    bound = lower_bound(ports).value
    assert lower_bound(free).value < bound <= best_of(ports) * (1 + WITHIN)


def best_of(problem: TaskGraph) -> float:
    """Return the makespan of a plan that is proved."""
    result = solve(problem, time_limit=20.0)
    assert str(result.status) == "optimal"
    assert result.makespan is not None
    return result.makespan
