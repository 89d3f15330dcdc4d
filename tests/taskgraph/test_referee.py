"""The referee against its slow twin and against broken schedules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Dag, Network, Schedule, TaskGraph, check, solve
from makespan.core.schedule import COLUMNS
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.oracles.taskgraph_rules import broken_rule
from tests.thorough import few


def changed(schedule: Schedule, **columns: np.ndarray) -> Schedule:
    kept = {name: getattr(schedule, name) for name in COLUMNS}
    return Schedule.of_columns(schedule.machines, **{**kept, **columns})


def mutations(schedule: Schedule, rng: np.random.Generator, machines: int):  # type: ignore[no-untyped-def]
    """Yield schedules with one row moved in time, moved elsewhere, or removed."""
    rows = len(schedule)
    for _ in range(6):
        row = int(rng.integers(rows))
        shift = float(rng.normal()) * max(schedule.makespan, 1.0) / 4
        shift = max(shift, -float(schedule.start[row]))
        start, end = schedule.start.copy(), schedule.end.copy()
        start[row] += shift
        end[row] += shift
        yield changed(schedule, start=start, end=end)
        machine = schedule.machine.copy()
        machine[row] = rng.integers(machines)
        yield changed(schedule, machine=machine)
        yield schedule.take(np.delete(np.arange(rows), row))


@pytest.mark.parametrize(("communication", "contention"), few(MODELS, 3, thorough=len(MODELS)))
def test_agrees_with_the_slow_twin(communication: str, contention: str) -> None:
    """On mutated plans, referee and twin find something or nothing alike."""
    verdicts = []
    for seed in range(30):
        problem = random_problem(seed, communication, contention)
        rng = np.random.default_rng(seed)
        schedule = solve(problem, method="list-scheduling").schedule
        for mutant in mutations(schedule, rng, len(problem.network)):
            rule = broken_rule(problem, mutant)
            report = check(problem, mutant)
            assert report.ok == (rule == ""), f"{seed}: twin {rule!r}, referee {report}"
            verdicts.append(report.ok)
    assert set(verdicts) == {True, False}  # both occur


def test_a_schedule_may_be_idle() -> None:
    """Everything an hour later is still valid."""
    problem = random_problem(3, "blocking", "ports")
    schedule = solve(problem).schedule
    later = changed(schedule, start=schedule.start + 3600, end=schedule.end + 3600)
    assert check(problem, later).ok


def test_machines_are_matched_by_name() -> None:
    """The order of the machines in a schedule made elsewhere does not matter."""
    problem = TaskGraph(Dag({"a": 1.0, "b": 2.0}), Network([1.0, 1.0]))
    rows = [("compute", 1, -1, 0, 1.0, 0.0, 1.0), ("compute", 0, -1, 1, 2.0, 0.0, 2.0)]
    assert check(problem, Schedule.of_rows(["M2", "M1"], rows)).ok


def rules(
    problem: TaskGraph, rows: list[tuple[str, int, int, int, float, float, float]]
) -> set[str]:
    report = check(problem, Schedule.of_rows(problem.machines, rows))
    return {violation.rule for violation in report.violations}


def test_rows_that_make_no_sense() -> None:
    """Foreign kinds, items and places, and tasks missing or done twice, are named."""
    network = Network([1.0], topology="star", routers=["S"])
    problem = TaskGraph(Dag({"a": 1.0}), network)
    assert rules(problem, [("send", 0, 1, 0, 1.0, 0.0, 1.0)]) == {"kind", "every-task-once"}
    assert rules(problem, [("compute", 0, -1, 7, 1.0, 0.0, 1.0)]) == {"item", "every-task-once"}
    assert rules(problem, [("compute", 1, -1, 0, 1.0, 0.0, 1.0)]) == {"router"}
    twice = [("compute", 0, -1, 0, 1.0, start, start + 1) for start in (0.0, 1.0)]
    assert rules(problem, twice) == {"every-task-once"}
    assert rules(problem, [("compute", 0, -1, 0, 2.0, 0.0, 1.0)]) == {"amount"}


def test_given_plans_are_kept() -> None:
    """Another machine, or another order, is a violation."""
    dag = Dag({"a": 1.0, "b": 1.0})
    problem = TaskGraph(dag, Network([1.0, 1.0]), sequence={"M1": ["a", "b"]})
    rows = [("compute", 0, -1, 1, 1.0, 0.0, 1.0), ("compute", 0, -1, 0, 1.0, 1.0, 2.0)]
    assert rules(problem, rows) == {"sequence"}
    rows = [("compute", 0, -1, 0, 1.0, 0.0, 1.0), ("compute", 1, -1, 1, 1.0, 1.0, 2.0)]
    assert rules(problem, rows) == {"assignment"}


def test_messages_name_tasks_machines_and_times() -> None:
    """A violation says which tasks collide where, when, and by how much."""
    problem = TaskGraph(Dag({"a": 2.0, "b": 2.0}), Network([1.0]))
    rows = [("compute", 0, -1, 0, 2.0, 0.0, 2.0), ("compute", 0, -1, 1, 2.0, 1.5, 3.5)]
    (violation,) = check(problem, Schedule.of_rows(problem.machines, rows)).violations
    assert str(violation) == "cores: M1 has a and b at the same time"
    assert (violation.times, violation.excess) == ((1.5, 2.0), 0.5)


def test_cores_count() -> None:
    """Three tasks at a time need three cores."""
    dag = Dag(dict.fromkeys("abc", 1.0))
    rows = [("compute", 0, -1, item, 1.0, 0.0, 1.0) for item in range(3)]
    assert rules(TaskGraph(dag, Network([1.0], cores=3)), rows) == set()
    assert rules(TaskGraph(dag, Network([1.0], cores=2)), rows) == {"cores"}


def test_other_models_refuse_a_plan_with_collisions() -> None:
    """A plan without contention may break links and ports, and then says so."""
    dag = Dag({"a": 1.0, "b": 1.0, "c": 1.0}, [("a", "b", 2.0), ("a", "c", 2.0)])
    problem = TaskGraph(
        dag, Network([1.0] * 3, topology="bus"), assignment={"a": "M1", "b": "M2", "c": "M3"}
    )
    plan = solve(problem).schedule
    found = {
        contention: {
            violation.rule
            for violation in check(replace(problem, contention=contention), plan).violations
        }
        for contention in ("none", "links", "ports")
    }
    assert found == {"none": set(), "links": {"link"}, "ports": {"port"}}
