"""Time limits: the best so far, its bound, and no false proof."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from makespan import Affine, Partition, solve
from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.partition.generate import generate
from makespan.partition.threshold import search, sums
from tests.thorough import few

OBJECTIVES = ("makespan", "total", "energy", "time-then-energy", "energy-then-time", "pareto")


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "prefer", few(["least-total", "lexicographic", "fewest-resources"], 1, thorough=3)
)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_time_nothing_is_claimed(objective, prefer):
    """With no time at all, a plan may be found, but only proved plans are called optimal."""
    if objective != "makespan" and prefer != "lexicographic":
        prefer = "lexicographic"
    rng = np.random.default_rng(0)
    costs, energy = rng.random((8, 201)), rng.random((8, 201))
    for costs_now in (costs, np.where(np.arange(201) % 2, costs + 1.0, costs)):
        problem = Partition(
            tasks=199, costs=costs_now, energy=energy, objective=objective, prefer=prefer
        )
        late = solve(problem, time_limit=0.0)
        full = solve(problem)
        assert full.status == "optimal"
        assert late.status in ("optimal", "feasible", "limit")
        if late.status == "optimal" and late.objective is not None:
            assert late.objective.value == pytest.approx(full.objective.value, rel=1e-12)
        elif late.status == "optimal":
            assert late.makespan == full.makespan
        elif late.lower_bound is not None:
            assert late.lower_bound <= full.makespan


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("objective", few(OBJECTIVES[:5], 1))
def test_where_the_time_is_up_a_plan_is_returned_with_its_bound(objective, monkeypatch):
    """The search is stopped after every number of looks at the clock."""
    problem = generate(
        np.random.default_rng(0), resources=6, tasks=61, family="parity", energy=True,
        objective=objective,
    )  # fmt: skip
    full = solve(problem)
    best = full.makespan if objective == "makespan" else full.objective.value
    statuses = []
    while "optimal" not in statuses:
        left = iter(range(len(statuses)))
        with monkeypatch.context() as patched:
            patched.setattr(Control, "expired", lambda _, left=left: next(left, None) is None)
            late = solve(problem)
        statuses.append(late.status)
        if objective == "makespan":
            assert late.lower_bound <= best <= late.makespan
        elif objective in ("total", "energy"):
            assert late.objective.value >= best - 1e-9
            assert late.objective.bound is None or late.objective.bound <= best + 1e-9
    assert set(statuses[:-1]) == {"feasible"}


def test_a_late_table_gives_another_plan():
    """The published table has no plan before its last row; one is found quickly."""
    problem = Partition(tasks=5, costs=[[2.0, 1.0, 2.0, 4.0, 4.0, 4.0]] * 3)
    result = solve(problem, method="dynamic-programming", time_limit=0.0)
    assert result.status in ("feasible", "optimal")
    assert sum(result.answer["counts"].values()) == 5


def test_sums_too_large_for_memory_leave_some_plan():
    """Where sets of sums don't fit, ``auto`` says so and steps towards the tasks."""
    far = 2**50
    rows = [{0: 0.0, far: 1.0, far + 1: 2.0}, {0: 0.5, far - 1: 0.7, far: 2.0}, {0: 0.0, 3: 1.0}]
    result = solve(Partition(tasks=2 * far - 1, costs=rows), time_limit=1.0)
    assert sum(result.answer["counts"].values()) == 2 * far - 1
    assert result.status in ("feasible", "optimal")


def test_any_plan_proves_nothing_by_itself():
    """Functions of a trillion tasks have no table, but a plan; fewer tasks are no optimum."""
    costs = [Affine(1.0, 2.0), Affine(3.0, 1.0)]
    result = solve(Partition(tasks=10**12, costs=costs, objective="total"))
    assert (result.method, result.status) == ("any-plan", "feasible")
    assert "a table of" in " ".join(result.notes)
    most = Partition(tasks=5, costs=[[1.0, inf, 1.0], [1.0, inf, inf, 1.0]], require="most")
    assert sum(solve(most, method="any-plan").answer["counts"].values()) == 5


@pytest.mark.usefixtures("form")
def test_the_lower_bound_is_searched_once_and_not_below_the_costs(monkeypatch):
    """Methods and bounds share one search, which does not look between 0 and the least cost."""
    costs = np.random.default_rng(0).uniform(0.5, 2.0, (20, 11))
    costs[:, 0] = 0.0
    problem = Partition(tasks=10, costs=costs)
    limits = []
    for twin in (sums.PlainSums, sums.CompiledSums):
        usual = twin.ends

        def ends(self, limit, inside, outside, usual=usual):
            limits.append(limit)
            return usual(self, limit, inside, outside)

        monkeypatch.setattr(twin, "ends", ends)
    result = solve(problem)
    assert result.status == "optimal"
    assert len(limits) == len(set(limits))
    assert sum(0.0 < search.value_of(limit) < 0.5 for limit in limits) == 0
    before = len(limits)
    assert solve(problem, method="any-plan").makespan >= result.makespan
    assert all(search.value_of(limit) >= result.lower_bound for limit in limits[before:])


@pytest.mark.parametrize("method", ["olar", "marin"])
def test_lists_of_a_whole_table_are_asked_for(monkeypatch, method):
    """What hands out one task after another takes a table as lists: 40 bytes an entry."""
    objective = "makespan" if method == "olar" else "total"
    problem = Partition(tasks=50_000, costs=[np.arange(50_001.0)] * 4, objective=objective)
    assert problem.choices is not None
    monkeypatch.setenv("MAKESPAN_MEMORY", "0.001")
    with pytest.raises(TooLarge, match=r"lists of 200,00\d costs"):
        solve(problem, method=method)


def test_a_quick_plan_of_a_front_is_a_front_of_one_point() -> None:
    """What a plan that is found quickly leaves unknown is listed, whichever method finds it."""
    problem = Partition(
        tasks=3,
        costs=[[0.0, 1.0, 2.0, 3.0], [0.0, 4.0, 2.0, 12.0]],
        energy=[[0.0, 9.0, 18.0, 27.0], [0.0, 1.0, 2.0, 3.0]],
        objective="pareto",
    )
    result = solve(problem, method="any-plan")
    (point,) = result.details["front"]
    assert point["time"] == result.makespan
    ((low, high),) = result.details["unknown"]
    assert low == 0.0
    assert high >= max(each["time"] for each in solve(problem).details["front"])
