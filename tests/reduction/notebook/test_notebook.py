"""Evaluating given plans: destinations, sequences, deadlocks, exactness."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import makespan
from makespan import ProblemError, Reduction
from makespan.reduction import estimate, evaluate
from makespan.reduction.notebook import notebook_evaluate
from makespan.reduction.notebook.trees import all_trees, first_of_each_class
from tests.oracles.reduction_brute import equal_up_to_renaming


def test_value_is_exact_in_the_kind_of_the_times() -> None:
    """Integers give integers, fractions fractions, floats the nearest float."""
    plan = [(1, 1), (1, 3), (1, 1)]
    assert evaluate(plan, 1, 10, 3) == 38
    assert isinstance(evaluate(plan, 1, 10, 3), int)
    assert evaluate(plan, Fraction(1, 10), 1, Fraction(3, 10)) == Fraction(19, 5)
    assert evaluate(plan, 0.1, 1.0, 0.3) == 3.8
    assert evaluate(plan, 2**0.5, 1.0, 0.3) == pytest.approx(2 * 2**0.5 + 3.6)


def test_one_machine_takes_no_time() -> None:
    """The notebook gives infinity for a single machine; it should give 0."""
    assert evaluate([(1, 1)], 1, 1, 1) == 0
    assert evaluate([(1, 1)], 1, 1, 1, compatible=True) == float("inf")


def test_exact_and_notebook_agree_on_whole_times() -> None:
    """With whole numbers floats are exact, and both evaluations are the same."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        n, m = int(rng.integers(2, 6)), int(rng.integers(1, 5))
        trees = all_trees(n)
        plan = (trees[rng.integers(len(trees), size=m)].T + 1).tolist()
        times = rng.integers(0, 5, 3).tolist()
        assert evaluate(plan, *times) == notebook_evaluate(plan, *map(float, times))


def test_backfilling_takes_the_leaves_of_all_segments() -> None:
    """A later segment may go first: the same trees end at 9 instead of 17."""
    plan = [(1, 1, 1, 1), (3, 4, 3, 1), (1, 1, 1, 2), (2, 1, 1, 2)]
    assert evaluate(plan, 1, 1, 1) == 17
    assert evaluate(plan, 1, 1, 1, order="backfilling") == 9


def test_deadlock_is_told_with_its_cycle() -> None:
    """Two machines that wait for each other's later send never go on."""
    plan: list[tuple[tuple[int, int], ...]] = [(), ((2, 1), (1, 3)), ((1, 1), (2, 2))]
    with pytest.raises(ProblemError, match=r"deadlock: M2 waits .* M3 waits"):
        evaluate(plan, 1, 1, 1)
    problem = Reduction(machines=3, segments=2, transfer=1, sequences=plan)
    for method in ("auto", "cp-sat"):
        result = makespan.solve(problem, method=method)
        assert result.status == "infeasible"
        assert "deadlock" in result.notes[0]


def test_given_sequences_keep_their_order() -> None:
    """The schedule of given sequences passes the referee, which compares every order."""
    problem = Reduction(
        machines=3, segments=2, latency=1, transfer=1, reduce=1,
        sequences=[[], [[2, 3], [1, 1]], [[1, 1], [2, 1]]],
    )  # fmt: skip
    result = makespan.solve(problem)
    assert result.makespan == 6.0
    assert makespan.check(result).ok


def test_classes_under_renaming() -> None:
    """First solutions of classes are those of trying all renamings."""
    rng = np.random.default_rng(8)
    trees = all_trees(4)
    solutions = trees[rng.integers(len(trees), size=(120, 2))].transpose(0, 2, 1)
    expected: list[int] = []
    lists = [(solution + 1).tolist() for solution in solutions]
    for index, solution in enumerate(lists):
        if not any(equal_up_to_renaming(solution, lists[other]) for other in expected):
            expected.append(index)
    assert first_of_each_class(solutions) == expected


def test_trees_are_as_many_as_cayley_says() -> None:
    """There are n^(n-2) trees, all different, in lexicographic order."""
    for n in range(2, 7):
        trees = all_trees(n).tolist()
        assert len(trees) == n ** (n - 2)
        assert trees == sorted(trees)


def test_estimate_predicts_both_searches() -> None:
    """The tables hold the numbers of solutions of the notebook, times the time of one."""
    found = estimate(4, 3)
    each = found.seconds_per_solution / 60
    assert found.search[3][2] == pytest.approx(each * 3**9)
    assert found.ordered[3][2] == pytest.approx(each * 3**9 * 6**3)
    assert "minutes" in str(found)
