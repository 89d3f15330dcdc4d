"""What notebooks, data frames and pickles make of problems, results and all that comes of them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

from makespan import compare, methods, simulate, solve
from makespan.core.errors import InputError
from makespan.core.schedule import Schedule
from makespan.core.solution import Status
from makespan.flow.kinds import KINDS, generate
from makespan.flow.result import Result


def planned(kind: str) -> Result:
    return solve(generate(kind, seed=1, options={}), time_limit=0.1, log=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_tables_and_a_pickle(kind: str) -> None:
    """Problem, result and schedule are short in a line, HTML in a notebook, equal when pickled."""
    result = planned(kind)
    shown: list[Any] = [result.problem, result, result.schedule]
    for thing in shown:
        assert len(repr(thing)) < 100
        assert repr(thing).startswith(f"<{type(thing).__name__}: ")
        fragment = ElementTree.fromstring(thing._repr_html_())
        assert fragment.find(".//table") is not None
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_rows_are_records_and_frames() -> None:
    """A schedule is iterable; lists, pandas and polars make rows of it, and of a result."""
    result = planned("independent")
    assert result.schedule is not None
    rows = list(result.schedule)
    assert rows == list(result.schedule.records())
    frame = pd.DataFrame(result.schedule)
    assert frame.equals(result.to_pandas())
    assert frame.equals(result.schedule.to_pandas())
    assert result.to_polars().rows(named=True) == rows


def test_schedules_are_equal_by_their_rows() -> None:
    """Another end, another machine or another type is another schedule."""
    one = Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)])
    same = Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)])
    assert one == same
    assert hash(one) == hash(same)
    assert one != Schedule.of_rows(["A", "B"], [("send", 0, 1, 0, 2.0, 0.0, 3.0)])
    assert one != Schedule.of_rows(["A", "C"], [("send", 0, 1, 0, 2.0, 0.0, 2.0)])
    assert one != Schedule.of_rows(["A", "B"], [])
    assert one != 1


def test_simulations_and_comparisons() -> None:
    """They are shown as tables, are frames, and are equal when pickled."""
    result = planned("independent")
    simulation = simulate(result, noise=0.1, repetitions=5)
    comparison = compare(result.problem, methods=["lpt", "multifit"])
    for thing in (simulation, comparison):
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert ElementTree.fromstring(thing._repr_html_()).find(".//table") is not None
        assert len(repr(thing)) < 130
    assert simulation.to_pandas()["makespan"].tolist() == simulation.makespans.tolist()
    assert comparison.to_pandas()["method"].tolist() == [row.method for row in comparison.rows]


def test_methods_are_a_table() -> None:
    """The methods of a kind are printed as a table; of a problem, with what is in the way."""
    of_kind, of_problem = methods("independent"), methods(generate("independent", options={}))
    assert "lpt" in repr(of_kind)
    assert "Longest task first" in str(of_kind)
    assert "these do not" not in str(of_kind)
    assert "these do not" in str(of_problem)
    assert of_problem.to_pandas()["applies"].sum() < len(of_problem)
    assert "Longest task first" in of_kind._repr_html_()


def test_a_result_without_a_plan_has_no_rows() -> None:
    """It says why."""
    result = solve(generate("partition", seed=1, options={}), time_limit=0.5)
    empty = replace(result, schedule=None, makespan=None, status=Status.INFEASIBLE)
    with pytest.raises(InputError, match="infeasible, without a plan"):
        empty.to_pandas()


def test_large_problems_are_a_line() -> None:
    """A notebook is not filled with a hundred thousand durations."""
    problem = generate("independent", options={"tasks": 100_000})
    assert len(problem._repr_html_()) < 300
