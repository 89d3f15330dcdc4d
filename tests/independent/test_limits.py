"""Limits on machines: how many tasks they run, and what the sizes add up to."""

import random
from fractions import Fraction

import numpy as np
import pytest

from makespan import IndependentTasks, ProblemError, Schedule, check, lower_bound, methods, solve
from makespan.core.errors import MethodError
from makespan.independent import file
from makespan.independent.limits import tightened
from tests.oracles.independent_counts import least_makespan, limited_problem
from tests.thorough import up_to

ROUNDING = Fraction(1, 10**9)


def false_claims(seed, skip=()):
    """Yield what methods say of a problem that enumeration contradicts."""
    problem = limited_problem(random.Random(seed))
    least = least_makespan(problem)
    bound = lower_bound(problem).value
    if least is not None and Fraction(bound) > least * (1 + Fraction(1, 10**12)):
        yield "bound", bound, float(least)
    names = [verdict.name for verdict in methods(problem) if verdict.applies]
    assert names
    for name in ["auto", *(name for name in names if name not in skip)]:
        result = solve(problem, method=name, time_limit=20)
        if least is None:
            if result.schedule is not None or result.status == "optimal":
                yield name, "a plan, though none keeps the limits"
            continue
        if result.status == "infeasible":
            yield name, "no plan, though there is one"
        if result.schedule is not None and Fraction(result.makespan) < least * (1 - ROUNDING):
            yield name, result.makespan, float(least)
        if result.status == "optimal" and Fraction(result.makespan) > least * (1 + ROUNDING):
            yield name, "optimal", result.makespan, float(least)
        if result.lower_bound is not None and result.lower_bound > least * (1 + ROUNDING):
            yield name, "bound", result.lower_bound, float(least)
        if name in ("exact", "auto") and result.status not in ("optimal", "feasible"):
            yield name, result.status


@pytest.mark.parametrize("count", up_to(20, 200))
def test_nothing_false_is_claimed(count):
    """Plans, bounds and optima of all kinds of machines and limits, against every assignment."""
    for seed in range(count):
        assert list(false_claims(seed)) == [], seed


@pytest.mark.slow
def test_nothing_false_is_claimed_of_thousands():
    """The same of 2,000."""
    for seed in range(1000, 3000):
        assert list(false_claims(seed)) == [], seed


@pytest.mark.parametrize("method", ["lpt", "list-scheduling", "interchange", "bin-completion"])
def test_equal_counts(method):
    """Seven tasks on three machines: three, two and two."""
    result = solve(IndependentTasks(3, [9, 1, 8, 2, 7, 3, 3], counts="equal"), method=method)
    counts = np.bincount(result.schedule.machine)
    assert sorted(counts) == [2, 2, 3]
    assert result.lower_bound == 11.0


def test_balanced_differencing_is_wrong_by_the_chunks_it_starts_from():
    """Each machine has one task of each three: two of the long ones never run together."""
    tasks = IndependentTasks(2, [8, 7, 1, 1], counts="equal")
    assert solve(tasks, method="largest-differencing").makespan == 9
    skewed = IndependentTasks(2, [90, 20, 10, 9, 5, 1], counts="equal")
    assert solve(skewed, method="largest-differencing").makespan == 90 + 9 + 1
    assert solve(skewed).makespan == 90 + 5 + 1
    uneven = IndependentTasks(2, [1, 1, 1, 1], counts=[1, 3])
    with pytest.raises(MethodError, match="counts that are equal are not allowed"):
        solve(uneven, method="largest-differencing")


@pytest.mark.parametrize("seed", range(4))
def test_counts_of_twelve_tasks_agree_with_cp_sat(seed):
    """Too many to enumerate: bin completion and CP-SAT, with limits that differ."""
    rng = np.random.default_rng(seed)
    most = [3, 4, 5] if seed % 2 else 4
    problem = IndependentTasks(3, rng.integers(1, 10 ** (1 + seed), 12), counts=most)
    found = [solve(problem, method=method) for method in ("bin-completion", "exact")]
    assert [each.status for each in found] == ["optimal", "optimal"]
    assert found[0].makespan == found[1].makespan


def test_limits_of_machines_follow_from_those_of_the_others():
    """Six tasks: the second machine can't leave more than four to the first."""
    problem = IndependentTasks(2, [1] * 6, counts={"least": [0, 2], "most": [9, 3]})
    assert tightened(problem) == ([3, 2], [4, 3])


def plan(rows):
    return Schedule.of_rows(["M1", "M2"], [("compute", at, -1, *row) for at, *row in rows])


def test_the_referee_counts_tasks_and_adds_up_sizes():
    """A machine with one task too many, sizes above a capacity, a task of no time left out."""
    rows = [(0, 0, 1.0, 0.0, 1.0), (0, 1, 1.0, 1.0, 2.0), (0, 2, 1.0, 2.0, 3.0)]
    equal = IndependentTasks(2, [1, 1, 1, 0], counts="equal")
    found = check(equal, plan([*rows, (1, 3, 0.0, 0.0, 0.0)])).violations
    assert [each.rule for each in found] == ["count", "count"]
    assert found[0].message == "M1 runs 3 tasks; it may run 2 to 2"
    assert "missing-task" in [each.rule for each in check(equal, plan(rows)).violations]
    sized = IndependentTasks(2, [1, 1, 1], sizes=[2, 2, 2], capacity=[5, 2])
    (found,) = check(sized, plan(rows)).violations
    assert found.message == "the sizes on M1 add up to 6.0; its capacity is 5.0"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"counts": "even"}, "counts: 'even' is not allowed"),
        ({"counts": 1.5}, "counts: 1.5 is not a whole number"),
        ({"counts": [1, 2, 3]}, "counts: has 3 entries; there are 2 machines"),
        ({"counts": {"least": 2}}, "counts.least: adds up to 4 tasks; there are 3"),
        ({"counts": 1}, "counts.most: adds up to 2 tasks; there are 3"),
        ({"counts": {"least": [2, 0], "most": 1}}, "counts.least: is 2 on M1, which may have 1"),
        ({"counts": {"fewest": 1}}, "counts: unknown key 'fewest'"),
        ({"counts": "equal", "preemptive": True}, "counts: can't be given where tasks may be cut"),
        ({"counts": "equal", "release": 1.0}, "counts: can't be given beside releases"),
        ({"sizes": [1, 2, 3]}, "capacity: is missing"),
        ({"capacity": 3}, "sizes: is missing"),
        ({"sizes": [1, 2], "capacity": 3}, "sizes: has 2 entries; there are 3 tasks"),
        ({"sizes": [1, 2, 4], "capacity": 3}, "sizes[2]: 4 is above 3"),
        ({"sizes": [3, 3, 3], "capacity": 4}, "capacity: adds up to 8 on all machines"),
        ({"sizes": [1, 1, 1], "capacity": -4}, "capacity: -4 is negative"),
    ],
)
def test_what_no_plan_can_keep_is_refused(limits, message):
    """Each with its place."""
    with pytest.raises(ProblemError) as caught:
        IndependentTasks(2, [1, 1, 1], **limits)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [
        {"counts": "equal"},
        {"counts": 3},
        {"counts": [1, 3]},
        {"counts": {"least": 1, "most": [2, 2]}},
        {"sizes": [1, 2, 3], "capacity": 4},
        {"sizes": [1, 2, 3], "capacity": [4, float("inf")]},
    ],
)
def test_limits_are_written_and_read(limits):
    """An equal problem comes back."""
    problem = IndependentTasks(2, [1, 1, 1], **limits)
    assert file.read(file.write(problem)) == problem
    assert problem != IndependentTasks(2, [1, 1, 1])


def test_without_a_plan_that_keeps_the_sizes_that_is_proved():
    """Three tasks of size 2 on two machines of 3: there is room, and yet none fit."""
    result = solve(IndependentTasks(2, [1, 1, 1], sizes=[2, 2, 2], capacity=[3.5, 3.5]))
    assert result.status == "infeasible"


def test_many_tasks_keep_equal_counts():
    """A thousand on sixty-four, lognormal: within a ten-thousandth of the bound."""
    lengths = np.minimum(16_000, np.random.default_rng(0).lognormal(7, 1, 1024)).astype(int)
    result = solve(IndependentTasks(64, lengths, counts="equal"), method="interchange")
    assert set(np.bincount(result.schedule.machine)) == {16}
    assert result.makespan <= lower_bound(result.problem).value * 1.0001
