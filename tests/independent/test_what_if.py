"""One machine more, against the least makespan of all assignments."""

from itertools import product

import numpy as np
import pytest

from makespan import IndependentTasks, InputError, Partition, sensitivity, solve
from makespan.independent.what_if import copies


def least(table):
    """The least makespan over all assignments."""
    tasks, machines = table.shape
    return min(
        max(
            sum(table[task, m] for task, m in enumerate(of) if m == each)
            for each in range(machines)
        )
        for of in product(range(machines), repeat=tasks)
    )


@pytest.mark.parametrize(
    "problem",
    [
        IndependentTasks(2, [5, 4, 3, 3, 3]),
        IndependentTasks(2, [5, 4, 3, 3, 3], speeds=[1, 2]),
        IndependentTasks(2, [[5, 1], [4, 6], [3, 3], [2, 7]]),
    ],
    ids=["identical", "uniform", "unrelated"],
)
def test_a_machine_more(problem):
    known = sensitivity(solve(problem))
    assert len(known.additions) == (1 if problem.identical else 2)
    for index, each in enumerate(known.additions):
        table = np.column_stack([problem.table, problem.table[:, index]])
        assert each.value == pytest.approx(least(table))
        assert each.bound == pytest.approx(each.value)
    assert known.notes == ("costs: only what a machine more is worth is known of this kind",)


def test_named_machines_are_copied_though_they_are_alike():
    known = sensitivity(solve(IndependentTasks(3, [2, 2, 2, 2])), machines=("M2", "M3"))
    assert [each.machine for each in known.additions] == ["M2", "M3"]


def test_kinds_without_an_answer():
    result = solve(Partition(tasks=2, costs=[[0.0, 1.0, 2.0]] * 2))
    with pytest.raises(InputError, match="partition problems have no answer to what if"):
        sensitivity(result)


def test_a_copy_has_the_limits_of_its_machine():
    """It may run nothing where the others have a least number; with equal counts it runs tasks."""
    listed = IndependentTasks(2, [4, 3, 2, 1], counts={"least": 1, "most": [3, 2]})
    (first, second), _ = copies(listed, listed.machines, named=True)
    assert first.problem.counts == {"least": [1, 1, 0], "most": [3, 2, 3]}
    assert second.problem.counts == {"least": [1, 1, 0], "most": [3, 2, 2]}
    assert first.optional
    equal = IndependentTasks(2, [4, 3, 2, 1], counts="equal", sizes=[1, 1, 1, 1], capacity=[2, 3])
    (only, other), _ = copies(equal, equal.machines, named=True)
    assert only.problem.counts == "equal"
    assert other.problem.capacity.tolist() == [2, 3, 3]
    assert not only.optional
