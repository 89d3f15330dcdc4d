"""The referee accepts what keeps to the statement and names what does not."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import IndependentTasks, Schedule, check, solve
from makespan.core.numeric import jit

TASKS = IndependentTasks(2, [3.0, 2.0, 1.0, 0.0])
CUT = IndependentTasks(2, [3.0, 2.0, 1.0, 0.0], preemptive=True)
GOOD = [(0, 0, 3.0, 0.0, 3.0), (1, 1, 2.0, 0.0, 2.0), (1, 2, 1.0, 2.0, 3.0)]


def schedule(rows, kind="compute", peer=-1):
    return Schedule.of_rows(
        ["M1", "M2"], [(kind, machine, peer, *others) for machine, *others in rows]
    )


def rules(problem, rows, **kwargs):
    return [found.rule for found in check(problem, schedule(rows, **kwargs)).violations]


def changed(row, **values):
    names = ("machine", "task", "amount", "start", "end")
    entry = dict(zip(names, GOOD[row], strict=True)) | values
    return [*GOOD[:row], tuple(entry.values()), *GOOD[row + 1 :]]


@pytest.mark.parametrize("problem", [TASKS, CUT])
def test_a_plan_is_valid_also_with_idle_time(problem):
    """Starting late breaks no rule, nor does a row for a task of no duration."""
    assert rules(problem, GOOD) == []
    assert rules(problem, changed(2, start=5.0, end=6.0)) == []
    assert rules(problem, [*GOOD, (0, 3, 0.0, 1.0, 1.0)]) == []


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (GOOD[:2], "missing-task"),
        ([*GOOD, (0, 2, 1.0, 3.0, 4.0)], "preemption"),
        (changed(2, task=3), "missing-task"),
        (changed(0, amount=2.5, end=2.5), "work"),
        (changed(0, end=2.5), "duration"),
        (changed(2, start=1.5, end=2.5), "one-task-at-a-time"),
        (changed(2, task=4), "task"),
        (changed(2, task=-1), "task"),
    ],
)
def test_each_rule_is_enforced(rows, rule):
    """A plan with one thing wrong is refused by the rule that it breaks."""
    assert rule in rules(TASKS, rows)


def test_only_computations_belong_here():
    """Transfers and peers are refused."""
    assert rules(TASKS, GOOD, kind="send") == ["kind"] * 3
    assert rules(TASKS, GOOD, peer=0) == ["peer"] * 3


def test_a_task_may_be_cut_only_with_preemption():
    """Two pieces one after the other are valid with preemption and refused without."""
    rows = [(0, 0, 1.0, 0.0, 1.0), (1, 0, 2.0, 2.0, 4.0), (1, 1, 2.0, 0.0, 2.0), *changed(2)[2:]]
    rows[3] = (0, 2, 1.0, 1.0, 2.0)
    assert rules(CUT, rows) == []
    assert rules(TASKS, rows) == ["preemption"]


def test_a_task_never_runs_on_two_machines_at_a_time():
    """Pieces of one task that overlap are refused, also where no machine is used twice."""
    rows = [(0, 0, 2.0, 0.0, 2.0), (1, 0, 1.0, 1.0, 2.0), (0, 1, 2.0, 2.0, 4.0), GOOD[2]]
    assert rules(CUT, rows) == ["one-machine-at-a-time"]


def test_pieces_add_up():
    """With preemption, too much and too little of a task are refused."""
    for amount in (0.5, 1.5):
        rows = [*GOOD[:2], (1, 2, amount, 2.0, 2.0 + amount)]
        assert rules(CUT, rows) == ["work"]


def test_rounding_is_tolerated_and_no_more():
    """A billionth of the makespan is the tolerance."""
    assert rules(TASKS, changed(2, start=2.0 - 1e-9, end=3.0 - 1e-9)) == []
    assert rules(TASKS, changed(2, start=2.0 - 1e-8, end=3.0 - 1e-8)) == ["one-task-at-a-time"]


def test_a_violation_says_who_when_and_by_how_much():
    """The message names machine, tasks and times."""
    report = check(TASKS, schedule(changed(2, start=1.5, end=2.5)))
    (found,) = report.violations
    assert found.message == "M2 starts task T3 at 1.5, but runs task T2 until 2.0"
    assert (found.activities, found.excess) == ((1, 2), 0.5)


def test_a_spoiled_large_plan_is_refused():
    """Among 10^5 tasks, the one that moved is found."""
    rng = np.random.default_rng(0)
    problem = IndependentTasks(100, rng.uniform(1, 2, 10**5))
    plan = solve(problem, method="lpt").schedule
    start, end = plan.start.copy(), plan.end.copy()
    start[70_000] -= 0.5
    end[70_000] -= 0.5
    spoiled = Schedule(
        machines=plan.machines,
        kind=plan.kind,
        machine=plan.machine,
        peer=plan.peer,
        item=plan.item,
        amount=plan.amount,
        start=start,
        end=end,
    )
    report = check(problem, spoiled)
    assert len(report.violations) == 1
    assert 70_000 in report.violations[0].activities


@pytest.mark.kernels
@pytest.mark.parametrize("preemptive", [False, True])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)),
        max_size=12,
    )
)
def test_compiled_loops_find_what_sorting_finds(preemptive: bool, rows: list) -> None:
    """Of many rows, in order or not, the referee says what it says of few."""
    problem = IndependentTasks(3, [2.0, 1.0, 3.0, 0.0], preemptive=preemptive)
    plan = Schedule.of_rows(
        list(problem.machines),
        [
            ("compute", machine, -1, task, float(length), float(start), float(start + length))
            for machine, task, length, start in rows
        ],
    )
    plainly = check(problem, plan)
    with patch.object(jit, "forced", True):
        assert check(problem, plan) == plainly
