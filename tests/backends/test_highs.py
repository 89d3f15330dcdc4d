"""The adapter of HiGHS against enumeration: optima, bounds, and what has no solution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from makespan.backends import highs
from makespan.backends.answer import Verdict
from makespan.backends.highs import Programme
from makespan.backends.repeated import Repeated
from makespan.core.control import Control
from tests.thorough import few


def random_mixed(rng):
    """Return a cost, rows with their limits, upper bounds (fractions among them), and integers."""
    count, rows = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    integer = rng.random(count) < 0.6
    cost = rng.integers(-5, 6, count).astype(float)
    matrix = rng.integers(-4, 8, (rows, count)).astype(float)
    high = rng.integers(-6, 15, rows) / rng.choice([1.0, 3.0, 7.0])
    lower = rng.choice([0.0, 0.25], count)
    upper = lower + rng.choice([0.4, 1.0, 1.5, 2.75, 1 / 3], count)
    return cost, matrix, high, lower, upper, integer


def enumerated(cost, matrix, high, lower, upper, integer):
    """Return the least value by trying all whole numbers, each with a linear programme."""
    best = np.inf
    ranges = [
        range(int(np.ceil(low)), int(np.floor(up)) + 1)
        for low, up in zip(lower[integer], upper[integer], strict=True)
    ]
    for whole in itertools.product(*ranges):
        low, up = lower.copy(), upper.copy()
        low[integer] = up[integer] = whole
        solved = linprog(cost, A_ub=matrix, b_ub=high, bounds=np.column_stack([low, up]))
        if solved.status == 0:
            best = min(best, solved.fun)
    return best


@pytest.mark.parametrize("seed", range(150))
def test_optimum_bound_and_verdict_agree_with_enumeration(seed):
    """Also where integer variables have fractional bounds, or no whole number between them."""
    cost, matrix, high, lower, upper, integer = random_mixed(np.random.default_rng(seed))
    programme = Programme()
    columns = np.concatenate(
        [
            programme.variables(1, cost=c, lower=low, upper=up, integer=bool(whole))
            for c, low, up, whole in zip(cost, lower, upper, integer, strict=True)
        ]
    )
    for row, limit in zip(matrix, high, strict=True):
        programme.row(columns, row, high=limit)
    answer = programme.solve(Control())
    best = enumerated(cost, matrix, high, lower, upper, integer)
    if np.isinf(best):
        assert answer.verdict is Verdict.INFEASIBLE
        return
    assert answer.verdict is Verdict.OPTIMAL
    assert answer.value == pytest.approx(best, abs=1e-6)
    size = max(1, abs(best))
    assert best - 3e-6 * size <= answer.bound <= best + 1e-12 * size
    assert answer.proves(best)
    assert not answer.proves(best + 1e-4)
    assert np.array_equal(answer.values[integer], np.rint(answer.values[integer]))


def test_a_bound_a_hair_below_a_whole_number_keeps_it():
    programme = Programme()
    x = programme.variables(1, cost=-1.0, upper=3 * (1 - 1e-12), integer=True)
    programme.row(x, 1.0, high=10.0)
    assert programme.solve(Control()).values.tolist() == [3.0]


def test_without_a_bound_below_nothing_is_claimed_optimal():
    programme = Programme()
    x = programme.variables(1, cost=-1.0)
    programme.row(x, 1.0, low=1.0)
    assert programme.solve(Control()).verdict is Verdict.UNBOUNDED


def test_no_solution_is_not_claimed_without_time_to_confirm_it():
    """A limit of nothing leaves the verdict open."""
    programme = Programme()
    x = programme.variables(3, upper=1.0, integer=True)
    programme.row(x, 1.0, low=4.0)
    assert programme.solve(Control()).verdict is Verdict.INFEASIBLE
    assert programme.solve(Control(time_limit=0.0)).verdict is Verdict.NOTHING


@pytest.mark.parametrize("seed", few(20, 3))
def test_repeated_programmes_agree_with_fresh_ones(seed):
    """The basis of the last solve changes nothing, also after one without a solution."""
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 6, 3).astype(float)
    low = np.array([-np.inf, 2.0])
    programme = Repeated(cost, low)
    for _ in range(20):
        matrix = rng.integers(-3, 6, (2, 3)).astype(float)
        high = np.array([float(rng.integers(-4, 9)), np.inf])
        upper = rng.choice([0.5, 1.0, 4.0], 3)
        rows = np.vstack([matrix[0], -matrix[1]])
        solved = linprog(cost, A_ub=rows, b_ub=[high[0], -2.0], bounds=[(0, up) for up in upper])
        expected = solved.fun if solved.status == 0 else np.inf
        assert programme.solve(matrix, high, upper) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("large", "done"), [(0, False), (50_000, True)])
def test_large_programmes_go_without_steps_that_know_no_clock(large, done, monkeypatch):
    """HiGHS looks for symmetries, and jumps, without a look at its clock: only in small ones."""
    import highspy

    monkeypatch.setattr(highs, "LARGE", large)
    found = []
    run = highspy.Highs.run

    def run_and_keep(solver):
        found.extend(solver.getOptionValue(step)[1] for step in highs.UNCLOCKED)
        return run(solver)

    monkeypatch.setattr(highspy.Highs, "run", run_and_keep)
    programme = Programme()
    x = programme.variables(2, cost=[1.0, 1.0], upper=1.0, integer=True)
    programme.row(x, [1.0, 1.0], low=1.0)
    assert programme.solve(Control()).value == 1.0
    assert found == [done] * 2
