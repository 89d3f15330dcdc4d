"""Tasks that are released later: by hand, in files, and who can take them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from makespan import IndependentTasks, MethodError, check, lower_bound, methods, solve
from makespan.independent.file import read, schema, write
from makespan.independent.timing import retimed, scheduled

LATE = IndependentTasks(2, [3, 5, 2, 4], release=[0, 1, 0, 6])
TABLE = IndependentTasks(2, [[3, 4], [5, 2], [math.inf, 2], [4, 4]], release=[0, 1, 0, 6])


def test_the_longest_that_is_there_comes_first() -> None:
    """At 0 the tasks of 3 and 2; at 2 that of 5; at 6 the last, on the machine that is free."""
    plan = solve(LATE, method="lpt").schedule
    assert plan is not None
    assert plan.item.tolist() == [0, 2, 1, 3]
    assert plan.machine.tolist() == [0, 1, 1, 0]
    assert plan.start.tolist() == [0, 0, 2, 6]
    assert plan.makespan == 10


def test_list_scheduling_takes_what_is_there() -> None:
    """The first of the list is not there yet: the machine takes the second."""
    problem = IndependentTasks(1, [1, 2, 1], release=[1, 0, 5])
    plan = solve(problem, method="list-scheduling").schedule
    assert plan is not None
    assert plan.item.tolist() == [1, 0, 2]
    assert plan.end.tolist() == [2, 3, 6]


def test_mct_takes_tasks_as_they_come() -> None:
    """In the order of releases, each where it ends first."""
    plan = solve(TABLE, method="mct").schedule
    assert plan is not None
    assert plan.item.tolist() == [0, 2, 1, 3]
    assert plan.machine.tolist() == [0, 1, 1, 0]
    assert plan.start.tolist() == [0, 0, 2, 6]


@pytest.mark.parametrize("problem", [LATE, TABLE])
def test_who_cannot_take_releases_says_so(problem: IndependentTasks) -> None:
    """By the name of the task that is late."""
    refused = {
        verdict.name
        for verdict in methods(problem)
        if any("T4 is released at 6 s" in reason for reason in verdict.reasons)
    }
    if problem.identical:
        assert {"multifit", "interchange", "subset-sum", "bin-completion", "arc-flow"} <= refused
    else:
        assert {"max-min", "sufferage", "simulated-annealing"} <= refused
    with pytest.raises(MethodError, match="T4 is released at 6 s"):
        solve(problem, method=sorted(refused)[0])


def test_what_is_left_at_a_release_is_a_bound() -> None:
    """Four tasks of 3 released at 10 on two machines; a long one that started at 0 is not done."""
    late = IndependentTasks(2, [3, 3, 3, 3], release=10)
    assert lower_bound(late).value == 16
    beside = IndependentTasks(2, [3, 3, 3, 3, 14], release=[10, 10, 10, 10, 0])
    assert lower_bound(beside).value == 18
    assert solve(beside).makespan == 19


def test_a_task_without_seconds_waits_for_its_release() -> None:
    """It has a row then, and the makespan counts it."""
    for preemptive in (False, True):
        problem = IndependentTasks(2, [0, 1, 0], release=[7, 0, 0], preemptive=preemptive)
        result = solve(problem)
        assert (result.makespan, result.status) == (7.0, "optimal")
        assert sorted(result.schedule.item.tolist()) == [0, 1]


def test_the_referee_looks_at_releases() -> None:
    """A task that starts too early."""
    problem = IndependentTasks(1, [2.0], release=1.0)
    early = scheduled(IndependentTasks(1, [2.0]), *(np.array(v) for v in ([0], [2.0], [0])))
    assert [each.rule for each in check(problem, early).violations] == ["release"]
    assert check(problem, retimed(problem, early)).ok
    assert retimed(problem, early).start.tolist() == [1.0]


def test_files_keep_releases() -> None:
    """A list, one number for all, and none where all are 0."""
    for problem in (LATE, TABLE, IndependentTasks(2, [1, 2], release=3)):
        data = write(problem)
        data.pop("format")
        assert read(data) == problem
    late = read({"kind": "independent", "machines": 1, "durations": [1, 2], "release": 4})
    assert late.release is not None
    assert late.release.tolist() == [4, 4]
    assert IndependentTasks(1, [1.0], release=[0.0]).release is None
    assert "release" in schema()["properties"]


@pytest.mark.parametrize("method", ["exact", "auto"])
def test_releases_on_identical_machines_are_proved(method: str) -> None:
    """Two dozen tasks, released over half of the plan."""
    rng = np.random.default_rng(2)
    problem = IndependentTasks(
        4, rng.integers(1, 30, 24), release=rng.integers(0, 50, 24).astype(float)
    )
    result = solve(problem, method=method, time_limit=30)
    assert check(result).ok
    assert result.status == "optimal"


def test_without_tasks_there_is_no_release() -> None:
    """The same problem whether one is given or not."""
    assert IndependentTasks(machines=2, durations=[], release=3.0) == IndependentTasks(
        machines=2, durations=[]
    )
