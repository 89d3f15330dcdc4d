"""Re-timing keeps the decisions and starts everything as early as possible."""

import numpy as np
import pytest

from makespan import IndependentTasks, Schedule, check, solve
from makespan.core.control import Control
from makespan.core.registry import find_method
from makespan.independent.timing import retimed


def test_idle_time_disappears():
    """Tasks of a machine follow each other from 0, in their order."""
    problem = IndependentTasks(2, [3.0, 2.0, 1.0])
    late = Schedule.of_rows(
        ["M2", "M1"],
        [
            ("compute", 0, -1, 0, 3.0, 5.0, 8.0),
            ("compute", 1, -1, 2, 1.0, 7.0, 8.0),
            ("compute", 1, -1, 1, 2.0, 1.0, 3.0),
        ],
    )
    early = retimed(problem, late)
    assert early.machines == problem.machines
    assert early.machine.tolist() == [1, 0, 0]
    assert early.start.tolist() == [0.0, 2.0, 0.0]
    assert early.end.tolist() == [3.0, 3.0, 2.0]


def test_a_piece_waits_for_the_task_s_earlier_piece():
    """With preemption, a free machine still waits for the task."""
    problem = IndependentTasks(2, [3.0, 1.0], preemptive=True)
    plan = Schedule.of_rows(
        ["M1", "M2"],
        [
            ("compute", 1, -1, 0, 1.0, 9.0, 10.0),
            ("compute", 0, -1, 0, 2.0, 4.0, 6.0),
            ("compute", 1, -1, 1, 1.0, 5.0, 6.0),
        ],
    )
    early = retimed(problem, plan)
    assert early.start.tolist() == [2.0, 0.0, 0.0]
    assert check(problem, early).ok


def test_factors_stretch_the_rows():
    """A factor on a row moves what follows it on the machine, and only that."""
    problem = IndependentTasks(2, [3.0, 2.0, 1.0])
    plan = solve(problem, method="list-scheduling").schedule
    factors = np.where(plan.item == 1, 2.0, 1.0)
    stretched = retimed(problem, plan, factors)
    start = dict(zip(stretched.item.tolist(), stretched.start.tolist(), strict=True))
    assert start == {0: 0.0, 1: 0.0, 2: 4.0}
    assert stretched.makespan == 5.0
    assert stretched.amount.tolist() == plan.amount.tolist()


def test_retiming_a_planned_schedule_changes_nothing():
    """Plans of the greedy rules are as early as possible already, to the bit."""
    rng = np.random.default_rng(1)
    problem = IndependentTasks(7, rng.uniform(0, 1, 200))
    plan = solve(problem, method="lpt").schedule
    assert retimed(problem, plan).start.tolist() == plan.start.tolist()


def test_no_rows_are_re_timed_to_no_rows():
    """A problem without work has an empty plan."""
    for preemptive in (False, True):
        problem = IndependentTasks(2, [0.0], preemptive=preemptive)
        assert len(retimed(problem, solve(problem).schedule)) == 0


@pytest.mark.parametrize("method", ["list-scheduling", "lpt", "multifit", "mcnaughton"])
def test_plans_come_at_their_earliest(method: str) -> None:
    """Timing a plan again would change nothing, so that nobody does."""
    seconds = np.random.default_rng(3).exponential(10.0, 40)
    problem = IndependentTasks(5, seconds, preemptive=method == "mcnaughton")
    plan = find_method("independent", method).run(problem, Control()).schedule
    assert plan.earliest
    assert np.allclose(retimed(problem, plan).end, plan.end, rtol=1e-12)
