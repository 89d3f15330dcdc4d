"""Comparisons: every method that applies, the best first, failures as notes."""

from __future__ import annotations

from typing import Any

import pytest

from makespan import (
    DivisibleLoad,
    IndependentTasks,
    MethodError,
    Star,
    Worker,
    compare,
    methods,
    solve,
)
from makespan.core import registry
from makespan.core.control import Control
from makespan.core.solution import Solution

STAR = DivisibleLoad(
    load=10.0, platform=Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
)
TASKS = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])


@pytest.mark.parametrize("problem", [STAR, TASKS], ids=lambda problem: problem.kind)
def test_every_method_that_applies_is_compared(problem: Any) -> None:
    """The published methods are among them; rows go from the best to the worst."""
    comparison = compare(problem)
    names = {verdict.name for verdict in methods(problem) if verdict.applies}
    assert {row.method for row in comparison.rows} == names == set(comparison.results)
    values = [row.value for row in comparison.rows]
    assert values == sorted(values)
    assert comparison.rows[0].best


def test_the_gap_is_to_the_best_bound_of_all() -> None:
    """A method without a bound of its own is measured by what another proved."""
    comparison = compare(STAR, methods=["equal-split", "star"])
    best, worst = comparison.rows
    assert (best.method, best.gap, best.status) == ("star", 0.0, "optimal")
    assert comparison.lower_bound == 28.0
    assert worst.gap == pytest.approx((40.0 - 28.0) / 40.0)
    assert not worst.best


def test_auto_can_be_compared() -> None:
    """The row of ``auto`` says which method it ended with."""
    (row,) = compare(STAR, methods=["auto"]).rows
    assert row.method == "auto"
    assert row.value == solve(STAR).makespan
    assert row.note == f"by {solve(STAR).method}"


def test_a_method_that_does_not_apply_says_why() -> None:
    """Its row comes last and carries the refusal; the others run all the same."""
    comparison = compare(STAR, methods=["fixed-order", "star"])
    assert [row.status for row in comparison.rows] == ["optimal", "failed"]
    assert "needs an order" in comparison.rows[1].note


def test_an_unknown_method_is_refused() -> None:
    """A name that no method has is a mistake of the caller."""
    with pytest.raises(MethodError, match="did you mean 'star'"):
        compare(STAR, methods=["sta"])


def test_a_method_that_breaks_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error inside a method is the note of its row."""

    def broken(problem: Any, control: Control) -> Solution:
        """Fail."""
        raise ZeroDivisionError("by zero")

    registry.methods_of("divisible")
    method = registry.Method(name="broken", run=broken, complexity="", source="")
    monkeypatch.setitem(registry._REGISTER["divisible"], "broken", method)
    comparison = compare(STAR, methods=["broken", "star"])
    assert comparison.rows[1].note == "internal error: ZeroDivisionError: by zero"
    assert comparison.rows[0].method == "star"


def test_the_first_interrupt_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ran until then is kept, and the comparison says that it is not complete."""

    def interrupted(problem: Any, control: Control) -> Solution:
        """Behave as if Ctrl-C had been pressed."""
        control.interrupted = True
        return Solution(schedule=None)

    registry.methods_of("divisible")
    method = registry.Method(name="slow", run=interrupted, complexity="", source="")
    monkeypatch.setitem(registry._REGISTER["divisible"], "slow", method)
    comparison = compare(STAR, methods=["star", "slow", "equal-split"])
    assert comparison.interrupted
    assert [row.method for row in comparison.rows] == ["star", "slow"]


def test_the_table_marks_the_best() -> None:
    """The text has a line a method, a star at the best, and the bound."""
    lines = str(compare(STAR, methods=["equal-split", "star"])).splitlines()
    assert lines[0].split() == ["method", "status", "makespan", "gap", "time", "note"]
    assert lines[1].startswith("*  star")
    assert lines[2].startswith("   equal-split")
    assert lines[3] == "lower bound 28"


def test_an_infeasible_problem_is_compared() -> None:
    """Rows without a plan have no value and are never the best."""
    comparison = compare(DivisibleLoad(load=1.0, platform=Star([])), methods=["star"])
    (row,) = comparison.rows
    assert (row.status, row.value, row.best) == ("infeasible", None, False)
    assert "infeasible" in str(comparison)
