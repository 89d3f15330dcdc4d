"""All-reduce by due dates: valid whatever the times and links, no worse than it began."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.control import Control
from makespan.reduction.bounds import bounds
from makespan.reduction.halves import rarest_first, tree_packing
from makespan.reduction.heuristics.hierarchical_exchange import rotated
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.methods import earliest_due_date
from makespan.reduction.referee import violations
from tests.thorough import few

pytestmark = pytest.mark.usefixtures("few_restarts")


def problem_of(seed: int, most: int = 9) -> Reduction:
    """Return a problem with equal or unequal times, in floats or units, maybe without all links."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(2, most, 2))
    equal = seed % 3 == 0
    times: list[Any] = [
        rng.integers(0, most, () if equal else shape) / 4
        for most, shape in ((20, (n, n)), (9, (n, n)), (9, n))
    ]
    if seed % 5 == 0:
        times = [time * np.sqrt(2) for time in times]  # no common unit
    if not equal and n > 2 and seed % 2:
        times[1] = times[1] + 0.25
        times[1][1, 2] = np.inf
    return Reduction(
        machines=n, segments=m, collective="all-reduce", latency=times[0], transfer=times[1],
        reduce=times[2], segment_sizes=rng.integers(1, 5, m) / 2 if seed % 4 == 0 else None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seed", "most"), few([(seed, 9 if seed > 1 else 5) for seed in range(40)], 1)
)
def test_plans_are_valid_and_no_worse_than_their_parts(seed: int, most: int) -> None:
    """The referee, which every result passes, accepts them, and none beats a bound."""
    held(problem_of(seed, most))


def equal_machines(times: Any, n: int, m: int) -> Reduction:
    """Return an all-reduce of equal machines; times of a latency, a transfer and a reduction."""
    latency, transfer, reduce = times
    return Reduction(
        machines=n, segments=m, collective="all-reduce", latency=latency, transfer=transfer,
        reduce=reduce,
    )  # fmt: skip


def held(problem: Reduction) -> None:
    """Assert it of one problem."""
    parts = makespan.solve(problem, method="reduce-then-broadcast", restarts=1)
    found = makespan.solve(problem, method="earliest-due-date", restarts=30)
    assert found.makespan is not None
    assert parts.makespan is not None
    assert found.makespan <= parts.makespan * (1 + 1e-9)
    assert all(bound.value <= found.makespan * (1 + 1e-9) for bound in bounds(problem))


@pytest.mark.thorough
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("seed", few([5, 1], 1, thorough=1))
def test_both_forms_of_the_loop(seed: int) -> None:
    """As plain Python, and compiled."""
    held(problem_of(seed, 5))


@pytest.mark.parametrize(
    ("times", "n", "m", "within"),
    [((0, 1, 0), 8, 8, 15), ((1, 1, 1), 8, 4, 14), ((1.1, 1, 1.3), 6, 12, 24.0)],
)
def test_plans_are_near_their_bounds(times: Any, n: int, m: int, within: float) -> None:
    """A hundred runs reach what a reduction and a broadcast do not."""
    problem = equal_machines(times, n, m)
    found = makespan.solve(problem, method="earliest-due-date", restarts=100)
    parts = makespan.solve(problem, method="reduce-then-broadcast", restarts=3)
    assert found.makespan is not None
    assert parts.makespan is not None
    assert found.makespan <= within < parts.makespan


@pytest.mark.thorough
def test_ports_of_a_round_are_dealt_out_by_due_date() -> None:
    """All sends of a moment are decided together: so 32 machines need no round more than three
    segments must have.
    """
    problem = Reduction(machines=32, segments=3, collective="all-reduce", transfer=1)
    found = makespan.solve(problem, method="earliest-due-date", restarts=400)
    assert (found.makespan, found.status) == (11.0, "optimal")


def test_a_mirrored_plan_is_the_plan_backwards() -> None:
    """Copies become parts, in the opposite direction and order; twice is none."""
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 1]])
    times = np.array([[0, 3], [5, 7]])
    turned = Plan(rows, times).mirrored()
    assert turned.rows.tolist() == [[1, 0, 0, 0], [0, 1, 0, 1]]
    assert turned.times.tolist() == [[0, 2], [4, 7]]
    again = turned.mirrored()
    assert (again.rows.tolist(), again.times.tolist()) == (rows.tolist(), times.tolist())


@pytest.mark.parametrize(
    ("n", "m", "rotations", "times"),
    [
        (6, 4, 3, (1, 1, 1)), (6, 6, 6, (0, 1, 0)), (4, 3, 2, (0, 1, 2**0.5)),
        pytest.param(8, 5, 2, (0.5, 1, 2), marks=pytest.mark.thorough),
    ],
)  # fmt: skip
def test_plans_that_stand_for_their_rotations(n: int, m: int, rotations: int, times: Any) -> None:
    """The referee accepts them, also where more segments were planned, and where half are added."""
    problem = equal_machines(times, n, m)
    control = Control()
    known = makespan.solve(problem, method="hierarchical").schedule
    assert known is not None
    alike, fewer, every = (
        earliest_due_date._Search(problem, control, known, 0.0, count)
        for count in (rotations, rotations // 2 or 1, 1)
    )
    every.best = fewer.best = alike.huge
    assert alike.run()
    for other in (fewer, every):
        other.adopt(alike)
        assert other.best == alike.best or rotations % other.rotations
    for _ in range(5):
        every.run()
    schedule = every.schedule()
    assert not list(violations(problem, schedule))
    assert schedule.makespan <= float(alike.best) * every.unit * (1 + 1e-9)
    assert all(bound.value <= schedule.makespan * (1 + 1e-9) for bound in bounds(problem))


@pytest.mark.parametrize("seed", few(30, 1))
def test_what_is_critical_is_sent_otherwise(seed: int) -> None:
    """A chain there and back gets shorter, and what is left is a plan that ends when it says."""
    n, m = 4 + seed % 5, 3 + seed % 4
    problem = equal_machines((seed % 3 / 2, 1, seed % 2), n, m)
    way = np.arange(n - 1)
    rows = [(way + 1, way, 0), (way, way + 1, 1)]
    script = np.concatenate(
        [
            np.column_stack([a, b, np.full(n - 1, k), np.full(n - 1, copied)])[:: 2 * copied - 1]
            for k in range(m)
            for a, b, copied in rows
        ]
    )
    known = makespan.solve(problem, method="reduce-then-broadcast", restarts=1).schedule
    assert known is not None
    search = earliest_due_date._Search(problem, Control(), known, 0.0, 1)
    search.best = search.huge
    search.begin(script)
    first = search.best
    for _ in range(3):
        search.shorten()
    assert search.best < first
    schedule = search.schedule()
    assert not list(violations(problem, schedule))
    assert schedule.makespan == pytest.approx(float(search.best) * search.unit)


def test_what_is_no_plan_is_not_shortened() -> None:
    """Nor taken: a machine that gave its part away has no second one."""
    problem = equal_machines((1, 1, 1), 3, 1)
    known = makespan.solve(problem, method="hierarchical").schedule
    assert known is not None
    search = earliest_due_date._Search(problem, Control(), known, 0.0, 1)
    best = search.best
    search.begin(np.array([[1, 0, 0, 0], [1, 2, 0, 0], [2, 0, 0, 1], [2, 1, 0, 1]]))
    assert search.best == best


@pytest.mark.parametrize(("n", "m", "size"), [(6, 7, 3), (8, 3, 2)])
def test_hierarchical_plans_stand_for_their_rotations(n: int, m: int, size: int) -> None:
    """The referee accepts what the sends of one home's segments are rotated to."""
    problem = equal_machines((1, 1, 0.5), n, m)
    known = makespan.solve(problem, method="hierarchical").schedule
    assert known is not None
    search, every = (
        earliest_due_date._Search(problem, Control(), known, 0.0, count) for count in (size, 1)
    )
    for rows in rotated(problem, n // size):
        search.best = every.best = search.huge
        search.begin(rows)
        every.adopt(search)
        schedule = every.schedule()
        assert not list(violations(problem, schedule))
        assert schedule.makespan <= float(search.best) * search.unit * (1 + 1e-9)


def test_how_many_rotations_plans_may_be_the_same_by() -> None:
    """The number divides the machines, and about the segments; times must be equal."""

    def rotations(n: int, m: int, reduce: Any = 1) -> list[int]:
        problem = Reduction(
            machines=n, segments=m, collective="all-reduce", transfer=1, reduce=reduce
        )
        return earliest_due_date._rotations(problem)

    assert rotations(12, 8) == [4, 2, 1]
    assert rotations(12, 23) == [12, 6, 4, 3, 2, 1]
    assert rotations(12, 12) == [6, 4, 3, 2, 1]
    assert rotations(7, 8) == [1]
    assert rotations(4, 8, reduce=[1, 2, 1, 1]) == [1]


def test_no_clock_ends_runs_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is: the plan that a search begins with is that of its parts."""
    problem = problem_of(20)
    monkeypatch.setattr(rarest_first, "MAX_RESTARTS", 6)
    monkeypatch.setattr(rarest_first, "MAX_REBUILDS", 6)
    monkeypatch.setattr(tree_packing, "RUNS", 6)

    def plans() -> list[float | None]:
        found = makespan.solve(problem, method="reduce-then-broadcast", restarts=1)
        better = makespan.solve(problem, method="earliest-due-date", restarts=1)
        return [found.makespan, better.makespan]

    quick = plans()
    clock = itertools.count(0.0, 100.0)
    monkeypatch.setattr("makespan.core.system.startup.clock", lambda: next(clock))
    assert plans() == quick
