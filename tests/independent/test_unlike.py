"""Machines that differ: uniform (speeds) and unrelated (a table), against enumeration."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from makespan import IndependentTasks, ProblemError, check, lower_bound, methods, solve
from makespan.flow.kinds import generate
from makespan.independent.bounds import bounds
from makespan.independent.file import read, write
from makespan.independent.timing import scheduled
from tests.oracles.independent_unlike import least_makespan, unlike_problem
from tests.thorough import few

INF = math.inf
RULES = ("mct", "min-min", "max-min", "sufferage")
CLOSE, ROUNDING = Fraction(1, 10**9), Fraction(1, 10**12)
TABLE = IndependentTasks(3, [[4, 2, INF], [3, 6, 5], [INF, INF, 7], [2, 2, 2], [8, 3, 9]])
SPEEDS = IndependentTasks(3, [9, 7, 5, 4, 3, 1], speeds=[1, 2, 4])


@pytest.mark.parametrize("seed", few(120, 15))
def test_nothing_false_is_claimed(seed: int) -> None:
    """Plans are valid, bounds hold, what is optimal is least, by every method that applies."""
    problem = unlike_problem(random.Random(seed))
    least = least_makespan(problem)
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    assert set(RULES) < set(names)
    assert ("uniform-lpt" in names) == (problem.speeds is not None)
    assert not {"lpt", "multifit", "bin-completion", "exact", "mcnaughton"} & set(names)
    for bound in bounds(problem):
        assert Fraction(bound.value) <= least * (1 + ROUNDING)
    assert Fraction(lower_bound(problem).value) <= least * (1 + ROUNDING)
    for name in ("auto", *names):
        result = solve(problem, method=name)
        assert check(result).ok
        assert result.makespan is not None
        assert result.lower_bound is not None
        assert Fraction(result.makespan) >= least * (1 - ROUNDING)
        assert Fraction(result.lower_bound) <= least * (1 + CLOSE)
        if result.status == "optimal":
            assert Fraction(result.makespan) <= least * (1 + CLOSE)
        if name == "branch-and-bound":
            assert result.status == "optimal"
        if name in ("auto", "milp"):
            assert float(Fraction(result.makespan)) <= float(least) * (1 + 2e-6)
        if name == "lenstra-shmoys-tardos":
            assert Fraction(result.makespan) <= 2 * least * (1 + Fraction(2, 100))
        if name == "uniform-lpt":
            assert Fraction(result.makespan) <= 2 * least


def test_whole_durations_are_proved() -> None:
    """The bound is rounded up to what makespans are multiples of, with speeds, too."""
    for problem in (TABLE, SPEEDS):
        result = solve(problem)
        assert result.status == "optimal"
        assert Fraction(result.makespan) == least_makespan(problem)


@pytest.mark.parametrize("environment", ["uniform", "unrelated"])
def test_durations_without_a_unit_are_proved(environment: str, form: str) -> None:
    """By branch and bound, plain and compiled: the plan is one of the shortest of all."""
    for seed in range(4):
        options = {"tasks": 7, "machines": 3, "environment": environment}
        problem = generate("independent", seed=seed, options=options)
        result = solve(problem, method="branch-and-bound")
        assert result.status == "optimal"
        assert math.isclose(result.makespan, least_makespan(problem), rel_tol=1e-12)
        assert solve(problem).status == "optimal"


def test_branch_and_bound_ends_by_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is proved, and the plan is that of before or a better one."""
    from makespan.independent.methods import branch_and_bound

    monkeypatch.setattr(branch_and_bound, "MOST", 1)
    monkeypatch.setattr(branch_and_bound, "EACH", 5)
    options = {"tasks": 12, "machines": 3, "environment": "unrelated"}
    result = solve(generate("independent", seed=1, options=options), method="branch-and-bound")
    assert result.status == "feasible"
    assert check(result).ok


@pytest.mark.parametrize(
    ("method", "machine"),
    [
        ("mct", [0, 0, 1]),
        ("min-min", [1, 0, 0]),
        ("max-min", [0, 0, 1]),
        ("sufferage", [1, 0, 0]),
    ],
)
def test_the_rules_by_hand(method: str, machine: list[int]) -> None:
    """Three tasks on two machines, followed with pencil and paper; of ties, the first."""
    problem = IndependentTasks(2, [[5, 6], [4, 9], [1, 2]])
    plan = solve(problem, method=method).schedule
    assert plan is not None
    found = dict(zip(plan.item.tolist(), plan.machine.tolist(), strict=True))
    assert [found[task] for task in range(3)] == machine


def test_lpt_by_speeds_by_hand() -> None:
    """The longest on the fast machine, then where each ends first."""
    problem = IndependentTasks(2, [2, 6, 4], speeds=[1, 2])
    plan = solve(problem, method="uniform-lpt").schedule
    assert plan is not None
    assert (plan.item.tolist(), plan.machine.tolist()) == ([1, 2, 0], [1, 0, 1])


def test_the_referee_knows_where_tasks_can_run() -> None:
    """A task where it can't run, and one that is not done whole there."""
    zero = np.zeros(1, np.int64)
    problem = IndependentTasks(2, [[INF, 3.0]])
    wrong = check(problem, scheduled(problem, zero, np.array([3.0]), zero))
    assert [each.rule for each in wrong.violations] == ["eligibility"]
    problem = IndependentTasks(2, [6.0], speeds=[1.0, 2.0])
    assert check(problem, scheduled(problem, zero, np.array([3.0]), zero + 1)).ok
    wrong = check(problem, scheduled(problem, zero, np.array([3.0]), zero))
    assert [each.rule for each in wrong.violations] == ["work"]


@pytest.mark.parametrize(
    ("keywords", "place"),
    [
        ({"durations": [[1, 2], [3]]}, "durations[1]"),
        ({"durations": [[1, 2], [INF, INF]]}, "durations[1]"),
        ({"durations": [[1, -2]]}, "durations[0][1]"),
        ({"durations": [[1, 2], 3]}, "durations[1]"),
        ({"durations": [1, INF]}, "durations[1]"),
        ({"durations": [1], "speeds": [1]}, "speeds"),
        ({"durations": [1], "speeds": [1, 0]}, "speeds[1]"),
        ({"durations": [[1, 2]], "speeds": [1, 2]}, "speeds"),
        ({"durations": [1, 2], "release": [1]}, "release"),
        ({"durations": [1, 2], "release": [1, -1]}, "release[1]"),
        ({"durations": [1, 2], "release": INF}, "release"),
    ],
)
def test_mistakes_have_places(keywords: dict, place: str) -> None:
    """In Python."""
    with pytest.raises(ProblemError) as error:
        IndependentTasks(2, **keywords)
    assert [mistake.place for mistake in error.value.mistakes] == [place]


@pytest.mark.parametrize("problem", [TABLE, SPEEDS])
def test_files_keep_problems(problem: IndependentTasks) -> None:
    """What is written is read again, and answers name the machines."""
    data = write(problem)
    data.pop("format")
    assert read(data) == problem
    answer = solve(problem).answer
    assert set(answer["machine_of"]) == set(problem.tasks)
