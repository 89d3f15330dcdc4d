"""The statement: every form of costs, every refusal with its place."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from makespan import Affine, Partition, solve
from makespan.core.errors import ProblemError
from makespan.partition.model.allowed_counts import LARGE
from makespan.partition.model.curves import Curve, Samples


def mistakes_of(**parts) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        Partition(**parts)
    return [str(mistake) for mistake in caught.value.mistakes]


def costs_of(costs, counts, **parts):
    problem = Partition(tasks=10, costs=costs, **parts)
    return problem.costs_of(np.array(counts)).tolist()


def test_all_forms_of_costs_say_the_same():
    """Arrays, ragged lists, tables by count, affine costs, functions and names."""
    row = [0.0, 1.5, 2.0]
    forms = [
        np.array([row]),
        [row],
        [tuple(row)],
        [dict(enumerate(row))],
        {"gpu": row},
        [lambda count: np.where(count > 0, 1.0 + 0.5 * count, 0.0)],
        [Affine(1.0, 0.5)],
        [Curve(lambda count: np.where(count > 0, 1.0 + 0.5 * count, 0.0))],
        [Samples(counts=[2, 0, 1], costs=[2.0, 0.0, 1.5])],
    ]
    for costs in forms:
        assert [costs_of(costs, [count])[0] for count in range(3)] == row
        assert solve(Partition(tasks=2, costs=costs)).makespan == 2.0


def test_rows_may_differ_in_length_first_count_and_limits():
    """What is outside a row, or outside its limits, is not allowed."""
    parts = {"costs": [[1.0, 2.0, 3.0], [4.0]], "first": [2, 0], "lower": [3, 0], "upper": 4}
    problem = Partition(tasks=4, **parts)
    table = [problem.costs_of(np.array([count, 0]))[0] for count in range(6)]
    assert table == [inf, inf, inf, 2.0, 3.0, inf]
    assert problem.costs_of(np.array([3, 1])).tolist() == [2.0, inf]
    assert solve(problem).answer["counts"] == {"R1": 4, "R2": 0}


def test_a_plain_array_is_used_without_a_copy():
    """A million costs take no second million."""
    costs = np.random.default_rng(0).random((10, 1001))
    problem = Partition(tasks=1000, costs=costs)
    assert np.shares_memory(problem.costs.values, costs)
    assert costs.flags.writeable
    assert not problem.costs.values.flags.writeable


def test_structure_is_found_up_to_the_tasks():
    """What lies above the tasks or outside the limits says nothing about the shape."""
    rows = [[0.0, 1.0, 3.0, 2.0], [5.0, 1.0, 2.0, 3.0]]
    choices = Partition(tasks=2, costs=rows, lower=[0, 1]).choices
    assert choices.monotone.tolist() == [True, True]
    assert choices.convex.tolist() == [True, True]
    assert Partition(tasks=3, costs=rows).choices.monotone.tolist() == [False, False]
    assert "monotone and convex" in solve(Partition(tasks=2, costs=rows, lower=[0, 1])).notes[0]


@pytest.mark.parametrize("size", [50, LARGE // 100])
def test_large_and_small_tables_are_read_alike(size):
    """The compiled pass finds what the plain one does: faults, shapes, minima of blocks."""
    rng = np.random.default_rng(1)
    rising = np.sort(rng.random((110, size)), axis=1)
    rising[3, size // 2] = 0.0
    bent = rising**2
    for costs in (rising, np.cumsum(rising, axis=1), bent):
        choices = Partition(tasks=size - 1, costs=costs).choices
        falls = (np.diff(costs, axis=1) < 0).any(axis=1)
        assert choices.monotone.tolist() == (~falls).tolist()
        bends = np.diff(costs, 2, axis=1) < -1e-13
        assert choices.convex.tolist() == (~bends.any(axis=1)).tolist()
        blocks = np.arange(0, costs.size, 512)
        assert (
            choices.least_of_block[: len(blocks)].view(np.float64).tolist()
            == np.minimum.reduceat(costs.ravel(), blocks).tolist()
        )


@pytest.mark.parametrize("width", [4, LARGE])
@pytest.mark.parametrize("wrong", [nan, -nan, -1.0])
def test_an_entry_that_is_no_cost_is_refused_with_its_place(width, wrong):
    """NaN and negative costs, in small and in large tables."""
    costs = np.ones((2, width))
    costs[1, 2] = wrong
    (mistake,) = mistakes_of(tasks=3, costs=costs)
    assert mistake.startswith("costs[1][2]: ")
    costs[1, 2] = -0.0
    assert Partition(tasks=2, costs=costs).costs_of(np.array([0, 2])).tolist() == [1.0, 0.0]


def test_all_mistakes_are_reported_together():
    """Each with its place, what was found and what is allowed."""
    found = mistakes_of(
        tasks=-1,
        costs=[[0.0, "3", True], {0: 1.0, -2: 2.0, 1.5: 1.0}, 7],
        lower=[0, -1, 0],
        objective="time",
        deadline=nan,
    )
    places = [mistake.partition(":")[0] for mistake in found]
    assert places == [
        "tasks",
        "objective",
        "deadline",
        "lower[1]",
        "costs[0][1]",
        "costs[0][2]",
        "costs[1][-2]",
        "costs[1][1.5]",
        "costs[2]",
    ]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"costs": []}, "costs: are empty; at least one resource is needed"),
        ({"costs": 3}, "costs: 3 are not costs"),
        ({"costs": [[0.0]], "lower": [0, 0]}, "lower: holds 2 entries; there are 1 resources"),
        ({"costs": [[0.0]], "lower": 2, "upper": 1}, "lower: 2 is above the upper limit 1"),
        ({"costs": [[0.0]], "names": ["a", "b"]}, "names: holds 2 names"),
        (
            {"costs": [[0.0], [0.0]], "names": ["a", "a"]},
            "names[1]: 'a' is also the name of",
        ),
        ({"costs": [[0.0]], "objective": "pareto"}, "energy: is missing"),
        ({"costs": [[0.0, 1.0]], "energy": [[0.0]]}, "energy[0]: holds 1 entries"),
        ({"costs": [[0.0, 1.0]], "energy": [[0.0, nan]]}, "energy[0][1]: nan is not a number"),
        ({"costs": [[0.0, 1.0]], "energy": [[0.0, inf]]}, "energy[0][1]: inf is infinite"),
        ({"costs": [[0.0], [0.0]], "energy": [[0.0], None]}, "energy[1]: is missing"),
        ({"costs": [Affine(-1.0, 1.0)]}, "costs[0].fixed: -1.0 is negative"),
        ({"costs": [lambda count: "text"]}, "costs[0]: the function does not take"),
        ({"costs": [[0.0, 10**400]]}, "costs[0][1]: 1000"),
        (
            {"costs": [Samples(counts=[0, 1, 1], costs=[0.0, 1.0, 2.0])]},
            "costs[0].counts: count 1 stands twice",
        ),
        (
            {"costs": [Samples(counts=[0, 1], costs=[0.0])]},
            "costs[0].costs: holds 1 entries for 2 counts",
        ),
        (
            {"costs": [Samples(counts=[0, 1], costs=[0.0, inf])]},
            "costs[0].costs[1]: inf can't be interpolated",
        ),
        (
            {"costs": [Samples(counts=[0], costs=[0.0], interpolation="cubic")]},
            "costs[0].interpolation: 'cubic' is not allowed; it is",
        ),
        (
            {"costs": [Samples(counts=[0], costs=[0.0], granularity=0)]},
            "costs[0].granularity: 0 is below 1; a granularity is a whole number from 1",
        ),
    ],
)
def test_refusals(parts, expected):
    """What can't be used is named."""
    assert any(mistake.startswith(expected) for mistake in mistakes_of(tasks=5, **parts))


def test_a_problem_can_be_changed_without_losing_costs():
    """Costs above the tasks are kept for later."""
    problem = Partition(tasks=1, costs=[[0.0, 1.0, 3.0]])
    assert solve(replace(problem, tasks=2)).makespan == 3.0
    assert replace(problem, tasks=1) == problem


def test_a_curve_that_falls_is_refused_where_that_is_seen():
    """A declared shape is not believed against the evidence."""
    falling = Partition(tasks=10**6, costs=[Curve(lambda count: 2.0**20 - count)] * 2)
    with pytest.raises(ProblemError, match="the cost falls from"):
        solve(falling)
    none = Partition(tasks=10**6, costs=[Curve(lambda count: count * nan)] * 2)
    with pytest.raises(ProblemError, match="a cost is 0 or more"):
        solve(none)


def test_a_function_that_is_no_cost_is_refused_with_the_counts_where_it_is_none():
    """As a table is: the resource, the count, what was found."""
    problem = Partition(tasks=4, costs=[Affine(0.0, 1.0), Affine(1.0, 0.5e100)], objective="total")
    with pytest.raises(ProblemError) as found:
        solve(problem)
    assert [str(mistake)[:15] for mistake in found.value.mistakes] == [
        "costs[1][3]: 1.",
        "costs[1][4]: 2e",
    ]


def test_functions_of_too_many_counts_are_not_tabulated():
    """Without a declared shape, a table of 10^12 entries is refused."""
    (mistake,) = mistakes_of(tasks=10**12, costs=[lambda count: count * 1.0])
    assert "too many for a table" in mistake
