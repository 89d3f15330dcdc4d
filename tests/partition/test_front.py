"""The front of time and energy: whole or cut by the limit, against enumeration."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from campaign.cuts import Cut
from makespan import Partition, read_problem, solve
from makespan.core.control import Control
from makespan.partition.least_sum import front as search
from makespan.partition.pictures import front as drawn_front
from tests.oracles import partition_enumeration as oracle
from tests.oracles.partition_random import random_problem

pytestmark = pytest.mark.usefixtures("form")
FOUND = Path(__file__).parents[1] / "cases" / "found"


def problems(count: int, seed: int):
    rng = random.Random(seed)
    for _ in range(count):
        rows, tasks = random_problem(rng)
        most = rng.choice([1, 9, 40])
        energies = [{count: rng.randint(0, most) / 4 for count in row} for row in rows]
        truth = oracle.front(rows, energies, tasks)
        if truth:
            yield Partition(tasks=tasks, costs=rows, energy=energies, objective="pareto"), truth


def points_of(result) -> list[tuple[float, float]]:
    return [(point["time"], point["energy"]) for point in result.details["front"]]


def held(problem: Partition, truth, result) -> None:
    """The points are plans, none beats another, and what is missing lies where it may."""
    points, unknown = points_of(result), result.details["unknown"]
    for point in result.details["front"]:
        amounts = np.array(list(point["counts"].values()))
        assert amounts.sum() == problem.tasks
        assert max(problem.costs_of(amounts)) == point["time"]
        assert sum(problem.energies_of(amounts)) == pytest.approx(point["energy"], rel=1e-12)
    for (one, more), (other, less) in pairwise(points):
        assert one < other
        assert more > less
    assert result.makespan == points[0][0]
    for point in truth:
        if point not in points:
            assert any(low <= point[0] <= high for low, high in unknown), (point, points, unknown)
    if not unknown:
        assert (result.status, points) == ("optimal", truth)
    else:
        assert result.status == "feasible"
        assert any("the time limit was reached" in note for note in result.notes)


@pytest.mark.parametrize("bisected", [0, 3, 64])
def test_the_front_is_whole_however_gaps_are_closed(bisected, monkeypatch):
    """By halves, from the ends, or both: every point, with nothing unknown."""
    monkeypatch.setattr(search, "BISECTED_UP_TO", bisected)
    for problem, truth in problems(80, bisected):
        result = solve(problem)
        assert result.details["unknown"] == []
        held(problem, truth, result)


def test_a_front_that_is_cut_says_where_it_is_not_complete(monkeypatch):
    """The search is stopped after more and more looks at the clock."""
    whole = 0
    for problem, truth in problems(30, 7):
        looks, unknown = 0, [()]
        while unknown:
            left = iter(range(looks))
            with monkeypatch.context() as patched:
                patched.setattr(Control, "expired", lambda _, left=left: next(left, None) is None)
                result = solve(problem, method="pareto")
            if len(result.details.get("unknown", ())) or result.status == "optimal":
                held(problem, truth, result)
                unknown = result.details["unknown"]
            looks += 1 + looks // 4
        whole += looks > 2
    assert whole > 5


def test_a_cheapest_plan_that_was_not_found_is_unknown():
    """Cut at any look, after which the cheap end that was found is dearer than the fast one."""
    problem = read_problem(FOUND / "partition_front_cut.json")
    truth = points_of(solve(problem))
    missed = 0
    for looks in range(40, 200, 3):
        result = Cut(looks=looks).solve(problem, "auto")
        held(problem, truth, result)
        missed += len(result.details["front"]) < len(truth)
    assert missed > 3


def test_both_ends_are_found_first(monkeypatch):
    """With a look at the clock for little more than the ends, both are there."""
    problem = Partition(
        tasks=60,
        costs=[[0.1 * count for count in range(61)], [0.4 * count for count in range(61)]],
        energy=[[5.0 * count for count in range(61)], [1.0 * count for count in range(61)]],
        objective="pareto",
    )
    full = points_of(solve(problem))
    monkeypatch.setattr(search, "_refine", lambda *_: None)
    cut = solve(problem)
    assert points_of(cut) == [full[0], full[-1]]
    assert cut.details["unknown"] == [[full[0][0], full[-1][0]]]
    assert cut.makespan == full[0][0]
    note = next(note for note in cut.notes if "on the front" in note)
    assert note.startswith("2 points on the front (time and energy): 4.8 s 252; 24 s 60")
    drawn = drawn_front(problem, cut.schedule, details=cut.details)
    assert drawn.title == "Pareto front: 2 points; others may lie between 4.8 and 24 s"
    assert drawn.lines[1].labels[1] == "24 s, 60: R2 60"


def test_the_least_energy_is_an_objective():
    """It is that of the slow end of the front; by a deadline, that of the point there."""
    for problem, truth in problems(60, 3):
        parts = {"tasks": problem.tasks, "costs": problem.costs, "objective": "energy"}
        least = solve(Partition(**parts))
        assert (least.status, least.objective.name) == ("optimal", "energy")
        assert least.objective.value == truth[-1][1]
        time, energy = truth[len(truth) // 2]
        assert solve(Partition(**parts, deadline=time)).objective.value == energy
