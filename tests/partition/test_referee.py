"""The referee accepts every plan and refuses every broken one."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from makespan import Partition, Schedule, check, solve

PROBLEM = Partition(tasks=3, costs=[[0.0, 1.0, inf, 4.0], [0.5, 2.0, 3.0]], deadline=3.0)
GOOD = [("compute", 0, -1, 0, 1.0, 0.0, 1.0), ("compute", 1, -1, 1, 2.0, 0.0, 3.0)]


def rules(rows, problem=PROBLEM, machines=("R1", "R2")) -> set[str]:
    report = check(problem, Schedule.of_rows(machines, rows))
    return {violation.rule for violation in report.violations}


def test_valid_schedules_pass():
    """Also with idle time before a start, and with machines in another order."""
    assert rules(GOOD) == set()
    swapped = [("compute", 1, -1, 0, 1.0, 2.0, 3.0), ("compute", 0, -1, 0, 2.0, 0.0, 3.0)]
    assert rules(swapped, machines=("R2", "R1")) == set()


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (GOOD[:1], "all-tasks"),
        (GOOD[:1], "idle-cost"),
        ([GOOD[0], GOOD[0], GOOD[1]], "one-share"),
        ([GOOD[0], ("compute", 1, -1, 1, 2.0, 0.0, 2.5)], "duration"),
        ([("compute", 0, -1, 0, 2.0, 0.0, 1.0), ("compute", 1, -1, 1, 1.0, 0.0, 2.0)],
         "allowed-count"),
        ([("compute", 0, -1, 0, 1.5, 0.0, 1.0), GOOD[1]], "whole-tasks"),
        ([GOOD[0], ("compute", 1, -1, 1, 2.0, 1.0, 4.0)], "deadline"),
        ([*GOOD, ("send", 0, 1, 0, 1.0, 0.0, 1.0)], "kind"),
        ([("compute", 0, -1, 0, 7.0, 0.0, 1.0), GOOD[1]], "allowed-count"),
    ],
)  # fmt: skip
def test_every_rule_is_seen(rows, rule):
    """Each broken schedule names its rule."""
    assert rule in rules(rows)


def test_most_allows_fewer_tasks_but_not_more():
    """With ``require = "most"`` the shares may add up to less."""
    few = Partition(tasks=9, costs=[[0.0, 1.0], [0.0, 2.0]], require="most")
    assert rules([("compute", 0, -1, 0, 1.0, 0.0, 1.0)], few) == set()
    many = Partition(tasks=1, costs=[[0.0, 1.0], [0.0, 2.0]], require="most")
    both = [("compute", 0, -1, 0, 1.0, 0.0, 1.0), ("compute", 1, -1, 1, 1.0, 0.0, 2.0)]
    assert rules(both, many) == {"all-tasks"}


def test_a_resource_that_must_compute_needs_a_row():
    """Count 0 is not allowed where the table begins at 1."""
    problem = Partition(tasks=1, costs=[[0.0, 1.0], {1: 1.0, 0: inf}])
    assert "allowed-count" in rules([("compute", 0, -1, 0, 1.0, 0.0, 1.0)], problem)


def test_count_zero_at_a_cost_has_a_row():
    """An idle resource counts its cost of 0 tasks."""
    result = solve(Partition(tasks=1, costs=[[9.0, 9.5], [0.0, 2.0]]))
    assert result.makespan == 9.0
    assert result.schedule.amount.tolist() == [0.0, 1.0]
    assert check(result).ok


@pytest.mark.parametrize("change", ["amount", "end", "machine"])
def test_mutated_plans_are_refused(change):
    """A change of any number of a tight plan is noticed."""
    rng = np.random.default_rng(3)
    problem = Partition(tasks=50, costs=rng.random((5, 51)) + 0.1)
    schedule = solve(problem).schedule
    for row in range(len(schedule)):
        columns = {
            name: getattr(schedule, name).copy()
            for name in ("kind", "machine", "peer", "item", "amount", "start", "end")
        }
        columns[change][row] += -1 if columns[change][row] >= 1 else 1
        assert not check(problem, Schedule.of_columns(schedule.machines, **columns)).ok
