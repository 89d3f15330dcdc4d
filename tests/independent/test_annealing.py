"""The Lagrangean bound, what it leaves out, and simulated annealing, against enumeration."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from makespan import IndependentTasks, check, solve
from makespan.core.control import Control
from makespan.independent.assignment import relaxed
from tests.oracles.independent_unlike import least_makespan, unlike_problem
from tests.thorough import few

ROUNDING = Fraction(1, 10**12)


@pytest.mark.parametrize("seed", range(40))
def test_plans_up_to_the_known_one_hold_no_pair_that_is_left_out(seed: int) -> None:
    """Every assignment that is no longer obeys the bound, and all its pairs are within."""
    problem = unlike_problem(random.Random(seed))
    table, (tasks, machines) = problem.table, problem.table.shape
    plans = []
    for places in itertools.product(range(machines), repeat=tasks):
        loads = [0.0] * machines
        for task, machine in enumerate(places):
            loads[machine] += float(table[task, machine])
        plans.append((max(loads), places))
    known = sorted(length for length, _ in plans)[len(plans) // 3]
    if not 0 < known < float("inf"):
        return
    found = relaxed(table, known, Control())
    assert Fraction(found.bound) <= least_makespan(problem) * (1 + ROUNDING)
    for length, places in plans:
        if length <= known:
            assert found.within(length)[np.arange(tasks), list(places)].all()


def test_the_bound_is_that_of_the_programme() -> None:
    """Two tasks, each quick on one machine and slow on the other, and one that is shared."""
    found = relaxed(np.array([[4.0, 9.0], [9.0, 4.0], [6.0, 6.0]]), 10.0, Control())
    assert found.bound == pytest.approx(7.0, rel=1e-4)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", few(12, 1))
def test_annealing_claims_nothing_false(seed: int) -> None:
    """Plans are valid, never below the least; on so few tasks they are the best nearly always."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 20, (6, 3)).astype(np.float64)
    table[rng.random(table.shape) < 0.2] = np.inf
    table[:, 0] = np.where(np.isfinite(table).any(axis=1), table[:, 0], 9.0)
    problem = IndependentTasks(3, table)
    result, least = solve(problem, method="simulated-annealing"), least_makespan(problem)
    assert check(result).ok
    assert Fraction(result.lower_bound) <= least * (1 + ROUNDING)
    assert least <= result.makespan <= 1.1 * float(least)
    again = solve(problem, method="simulated-annealing")
    assert again.schedule.machine.tolist() == result.schedule.machine.tolist()


@pytest.mark.parametrize("seed", few(8, 1))
def test_machines_that_differ_in_speed_alone_are_searched(seed: int) -> None:
    """There every place of a task costs the same by the weights; moves still have their chances."""
    rng = np.random.default_rng(seed)
    speeds = [1.0, 1.0, 1.0] if seed == 0 else rng.uniform(1, 4, 3)
    problem = IndependentTasks(3, rng.uniform(1, 20, 7), speeds=speeds)
    found = solve(problem, method="simulated-annealing")
    assert found.makespan <= 1.03 * float(least_makespan(problem))


@pytest.mark.thorough
def test_annealing_beats_the_rules_and_is_near_the_bound() -> None:
    """On tasks whose durations are of one size on all machines, in the limit of its moves."""
    rng = np.random.default_rng(3)
    problem = IndependentTasks(5, rng.integers(100, 200, (60, 5)).astype(np.float64))
    found = solve(problem, method="simulated-annealing")
    assert found.makespan < solve(problem, method="min-min").makespan
    assert found.makespan <= 1.02 * found.lower_bound
