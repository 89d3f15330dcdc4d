"""Comparisons: every method that applies, the best first, failures as notes."""

from __future__ import annotations

import csv
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from makespan import (
    DivisibleLoad,
    IndependentTasks,
    MethodError,
    Partition,
    Star,
    Worker,
    compare,
    methods,
    save,
    solve,
)
from makespan.core import registry
from makespan.core.control import Control
from makespan.core.errors import InputError
from makespan.core.solution import Solution
from makespan.flow.comparison.several import Comparisons

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


def test_of_two_goals_the_first_decides() -> None:
    """Less energy makes no better plan where time comes first; it does where energy comes first."""
    costs = [[0, 2.82, 6.86, 4.92, 0.57, 1.54, 3.2], [0, 3.6, 6.8, 3.73, 8.06, 1.16, 5.42]]
    energy = [[0, 1.59, 1.45, 10.1, 17.14, 5.41, 5.28], [0, 12.17, 7.14, 10.4, 1.07, 5.38, 4.81]]
    problem = Partition(tasks=6, costs=costs, energy=energy, objective="time-then-energy")
    first, second = compare(problem, methods=["any-plan", "lexicographic"]).rows
    assert (first.method, first.best, second.best) == ("lexicographic", True, False)
    assert first.makespan < second.makespan
    assert first.value > second.value
    other = Partition(tasks=6, costs=costs, energy=energy, objective="energy-then-time")
    best = compare(other, methods=["any-plan", "lexicographic"]).rows[0]
    assert best.value == pytest.approx(2.52)  # two of one, four of the other


def test_an_infeasible_problem_is_compared() -> None:
    """Rows without a plan have no value and are never the best."""
    comparison = compare(DivisibleLoad(load=1.0, platform=Star([])), methods=["star"])
    (row,) = comparison.rows
    assert (row.status, row.value, row.best) == ("infeasible", None, False)
    assert "infeasible" in str(comparison)


def test_one_name_is_a_method() -> None:
    """A single name is a method, not its letters."""
    assert [row.method for row in compare(STAR, methods="star").rows] == ["star"]


def test_all_names_are_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is solved where a name is wrong; of several kinds, each has its own methods."""
    solved: list[str] = []
    monkeypatch.setattr(
        "makespan.flow.solve.solve_controlled",
        lambda problem, control, method: solved.append(method),
    )
    with pytest.raises(MethodError, match="did you mean 'lpt'"):
        compare(TASKS, methods=["multifit", "ltp"])
    with pytest.raises(MethodError, match="no method 'ltp'"):
        compare([TASKS, STAR], methods=["star", "ltp"])
    assert solved == []


def test_several_problems_by_name() -> None:
    """Lists, tables of names, and problems of several kinds; each gets the methods of its kind."""
    told: list[str] = []
    found = compare({"a": TASKS, "b": STAR}, methods=["lpt", "star"], progress=told.append)
    assert list(found) == ["a", "b"]
    assert told == ["a: lpt (1 of 1)", "b: star (1 of 1)"]
    assert [row.method for row in found["b"].rows] == ["star"]
    assert list(compare([TASKS, TASKS], methods="lpt")) == ["problem 1", "problem 2"]
    frame = found.to_pandas()
    assert frame["problem"].tolist() == ["a", "b"]
    assert frame["kind"].tolist() == ["independent", "divisible"]
    assert "2 problems" in str(found)
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(InputError, match="3 is neither a problem nor a path"):
        compare([TASKS, 3])  # type: ignore[list-item]


def test_files_and_folders(tmp_path: Path) -> None:
    """A folder stands for its problems; what holds none is left out and named."""
    save(TASKS, tmp_path / "tasks.toml")
    save(STAR, tmp_path / "star.json")
    save(solve(TASKS), tmp_path / "result.json")
    found = compare(tmp_path, methods=["lpt", "star"])
    assert [Path(name).name for name in found] == ["star.json", "tasks.toml"]
    assert "result.json" in found.left_out[0]
    (name,) = compare(str(tmp_path / "tasks.toml"), methods="lpt")
    assert name == str(tmp_path / "tasks.toml")


@pytest.mark.parametrize("suffix", ["csv", "json", "html", "svg", "png", "pdf"])
def test_comparisons_are_saved(tmp_path: Path, suffix: str) -> None:
    """One, and several, as a table, as data, as a page and as a picture."""
    one = compare(TASKS, methods=["lpt", "multifit"])
    for thing in (one, Comparisons(by_name={"=1+2": one, "other": one})):
        path = tmp_path / f"methods.{suffix}"
        save(thing, path)
        assert path.stat().st_size > 100
        if suffix == "csv":
            rows = list(csv.DictReader(path.read_text().splitlines()))
            assert [row["method"] for row in rows][:2] == [row.method for row in one.rows]
            assert all(row.get("problem", "other") in ("'=1+2", "other") for row in rows)
        if suffix == "json":
            data = json.loads(path.read_text())
            assert data["comparisons"][0]["rows"][0]["method"] == one.rows[0].method


def test_the_note_on_a_gap_is_not_repeated() -> None:
    """Every row has a gap beside it; only other notes are shown."""
    assert not any("gap left" in row.note for row in compare(TASKS).rows)
