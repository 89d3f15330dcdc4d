"""Every exact method against exhaustive enumeration, on thousands of random problems."""

from __future__ import annotations

import random
from math import inf, isclose

import pytest

import makespan
from makespan import Partition, check, solve
from tests.oracles import partition_enumeration as oracle
from tests.oracles.partition_random import random_problem
from tests.thorough import few

pytestmark = pytest.mark.usefixtures("form")


def counts_of(result) -> tuple[int, ...]:
    return tuple(result.answer["counts"].values())


def problems(count: int, seed: int, shape: str | None = None):
    rng = random.Random(seed)
    return [random_problem(rng, shape) for _ in range(count)]


@pytest.mark.parametrize("seed", few(4, 1))
def test_threshold_finds_the_lexicographically_least_optimum(seed):
    """The makespan is equal to the bit, and so are the counts."""
    for rows, tasks in problems(100, seed):
        result = solve(Partition(tasks=tasks, costs=rows), method="threshold")
        best = oracle.least_makespan(rows, tasks)
        if best is None:
            assert result.status == "infeasible"
            assert result.schedule is None
            assert result.notes
        else:
            assert result.status == "optimal"
            assert (result.makespan, counts_of(result)) == (best[0], best[1][0])


@pytest.mark.parametrize("seed", few(2, 1))
def test_the_published_table_finds_the_same_plan(seed):
    """The dynamic programme returns the same counts as the threshold search."""
    for rows, tasks in problems(200, 10 + seed):
        problem = Partition(tasks=tasks, costs=rows)
        table = solve(problem, method="dynamic-programming")
        search = solve(problem, method="threshold")
        assert table.status == search.status
        assert table.makespan == search.makespan
        assert table.answer == search.answer


def test_monotone_costs_need_no_table():
    """The search on thresholds returns the same counts as enumeration."""
    for rows, tasks in problems(300, 20, "monotone"):
        result = solve(Partition(tasks=tasks, costs=rows), method="monotone")
        best = oracle.least_makespan(rows, tasks)
        if best is None:
            assert result.status == "infeasible"
        else:
            assert (result.makespan, counts_of(result)) == (best[0], best[1][0])


def test_olar_is_optimal_where_costs_never_fall():
    """The published heap reaches the same makespan to the bit."""
    for rows, tasks in problems(200, 30, "monotone"):
        result = solve(Partition(tasks=tasks, costs=rows), method="olar")
        best = oracle.least_makespan(rows, tasks)
        assert result.makespan == (None if best is None else best[0])


@pytest.mark.parametrize("method", ["total", "dynamic-programming"])
def test_the_least_total(method):
    """The sum agrees with enumeration in exact fractions."""
    for rows, tasks in problems(100, 40):
        result = solve(Partition(tasks=tasks, costs=rows, objective="total"), method=method)
        best = oracle.least_total(rows, tasks)
        if best is None:
            assert result.status == "infeasible"
        else:
            assert result.status == "optimal"
            assert isclose(result.objective.value, best, rel_tol=1e-12)
            assert isclose(oracle.sum_of(rows, counts_of(result)), best, rel_tol=1e-12)


def test_marin_is_optimal_where_costs_are_convex():
    """The published heap over marginal costs reaches the least total."""
    for rows, tasks in problems(200, 50, "convex"):
        result = solve(Partition(tasks=tasks, costs=rows, objective="total"), method="marin")
        best = oracle.least_total(rows, tasks)
        if best is None:
            assert result.status == "infeasible"
        else:
            assert isclose(result.objective.value, best, rel_tol=1e-12)


def test_convex_costs_need_their_price_alone():
    """The least total of convex costs agrees with enumeration, with and without a deadline."""
    rng = random.Random(55)
    for rows, tasks in problems(300, 55, "convex"):
        deadline = rng.choice([None, 2.0, 10.0])
        problem = Partition(tasks=tasks, costs=rows, objective="total", deadline=deadline)
        result = solve(problem)
        best = oracle.least_total(rows, tasks, inf if deadline is None else deadline)
        if best is None:
            assert result.status == "infeasible"
        else:
            assert result.status == "optimal"
            assert isclose(result.objective.value, best, rel_tol=1e-12)


def test_holes_are_not_convex():
    """Between two forbidden counts no cost is compared, and nothing is called convex."""
    problem = Partition(tasks=6, costs=[[0.0, 1.0, inf, inf, 5.0, 6.0]] * 2, objective="total")
    assert not problem.choices.convex.any()
    assert solve(problem).objective.value == 7.0


def test_a_deadline_limits_the_time_of_the_least_total():
    """The least total by a deadline, and infeasible where the least makespan is above it."""
    rng = random.Random(60)
    for rows, tasks in problems(300, 60):
        deadline = rng.choice([0.3, 0.6, 2.0])
        problem = Partition(tasks=tasks, costs=rows, objective="total", deadline=deadline)
        result = solve(problem)
        best = oracle.least_total(rows, tasks, deadline)
        if best is None:
            assert result.status == "infeasible"
        else:
            assert result.makespan <= deadline
            assert isclose(result.objective.value, best, rel_tol=1e-12)


def test_a_deadline_of_the_makespan_is_met_or_explained():
    """With a deadline below the optimum, the note names the optimum."""
    for rows, tasks in problems(200, 65):
        best = oracle.least_makespan(rows, tasks)
        result = solve(Partition(tasks=tasks, costs=rows, deadline=0.5))
        if best is not None and best[0] > 0.5:
            assert result.status == "infeasible"
            assert "deadline" in result.notes[0]
        elif best is not None:
            assert result.makespan == best[0]


def test_most_tasks_then_the_least_makespan():
    """With ``require = "most"`` as many tasks as possible are split, then the makespan counts."""
    for rows, tasks in problems(300, 70):
        result = solve(Partition(tasks=tasks, costs=rows, require="most"))
        most = oracle.most_tasks(rows, tasks)
        if most is None:
            assert result.status == "infeasible"
        else:
            assert sum(counts_of(result)) == most
            assert result.makespan == oracle.least_makespan(rows, most)[0]


def test_preferences_choose_among_optima():
    """Fewest resources, and least total, among the plans of least makespan."""
    for rows, tasks in problems(200, 80, "ties") + problems(200, 81):
        best = oracle.least_makespan(rows, tasks)
        if best is None:
            continue
        fewest = solve(Partition(tasks=tasks, costs=rows, prefer="fewest-resources"))
        used = min(sum(count > 0 for count in counts) for counts in best[1])
        assert fewest.makespan == best[0]
        assert sum(count > 0 for count in counts_of(fewest)) == used
        cheapest = solve(Partition(tasks=tasks, costs=rows, prefer="least-total"))
        total = min(oracle.sum_of(rows, counts) for counts in best[1])
        assert cheapest.makespan == best[0]
        assert isclose(oracle.sum_of(rows, counts_of(cheapest)), total, rel_tol=1e-12)


def with_energies(rows, rng):
    return [{count: rng.randint(0, 9) / 4 for count in row} for row in rows]


@pytest.mark.parametrize("seed", few(2, 1))
def test_the_front_of_time_and_energy(seed):
    """The whole front, and both lexicographic ends of it."""
    rng = random.Random(90 + seed)
    for rows, tasks in problems(60, 90 + seed):
        energies = with_energies(rows, rng)
        front = oracle.front(rows, energies, tasks)
        parts = {"tasks": tasks, "costs": rows, "energy": energies}
        result = solve(Partition(objective="pareto", **parts))
        if not front:
            assert result.status == "infeasible"
            continue
        found = [(point["time"], point["energy"]) for point in result.details["front"]]
        assert found == front
        for point in result.details["front"]:
            assert sum(point["counts"].values()) == tasks
        first = solve(Partition(objective="time-then-energy", **parts))
        assert (first.makespan, first.objective.value) == front[0]
        last = solve(Partition(objective="energy-then-time", **parts))
        assert (last.makespan, last.objective.value) == front[-1]


def test_every_plan_passes_the_referee_and_meets_no_bound_from_below():
    """What leaves ``solve`` is valid, and no lower bound is above an optimum."""
    for rows, tasks in problems(200, 110):
        problem = Partition(tasks=tasks, costs=rows)
        result = solve(problem)
        if result.schedule is not None:
            assert check(result).ok
            assert makespan.lower_bound(problem).value <= result.makespan


def test_renaming_the_resources_changes_nothing():
    """Any order of the resources has the same makespan and the same least total."""
    rng = random.Random(120)
    for rows, tasks in problems(150, 120):
        shuffled = rng.sample(rows, len(rows))
        one, other = (solve(Partition(tasks=tasks, costs=costs)) for costs in (rows, shuffled))
        assert (one.status, one.makespan) == (other.status, other.makespan)
        one, other = (
            solve(Partition(tasks=tasks, costs=costs, objective="total"))
            for costs in (rows, shuffled)
        )
        if one.objective is not None:
            assert isclose(one.objective.value, other.objective.value, rel_tol=1e-12)


def test_costs_that_differ_in_the_last_bit_are_told_apart():
    """Only comparisons of given costs decide."""
    rows = [{0: 0.0, 1: 1.0 + 2**-52}, {0: 0.0, 1: 1.0}]
    assert solve(Partition(tasks=1, costs=rows)).makespan == 1.0
    assert solve(Partition(tasks=2, costs=rows)).makespan == 1.0 + 2**-52
    assert solve(Partition(tasks=1, costs=[{0: 0.0, 1: inf}, {0: 0.0, 1: 0.0}])).makespan == 0.0
