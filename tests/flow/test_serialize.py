"""Summaries: status, values, answer and notes, as people read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from makespan import DivisibleLoad, InvalidSchedule, Schedule, Star, Worker, solve
from makespan.core.solution import Objective, Status
from makespan.flow.result import summary

STAR = DivisibleLoad(
    load=10.0, platform=Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
)


def test_a_summary_begins_with_status_makespan_and_bound() -> None:
    """The first lines say how it ended and what is proved; the answer follows."""
    lines = str(solve(STAR)).splitlines()
    assert lines[:3] == ["optimal (star)", "makespan     28", "lower bound  28  (gap 0 %)"]
    assert lines[4].split() == ["machine", "load", "share", "done"]


def test_notes_stand_at_the_end() -> None:
    """Every note has a line of its own."""
    text = summary(replace(solve(STAR), notes=("first", "second")))
    assert text.splitlines()[-2:] == ["note: first", "note: second"]


def test_a_gap_is_a_percentage() -> None:
    """A quarter of the makespan is 25 %."""
    result = replace(solve(STAR), lower_bound=21.0, gap=0.25, status=Status.FEASIBLE)
    assert "lower bound  21  (gap 25 %)" in summary(result)


def test_another_objective_stands_first() -> None:
    """Where the makespan is not the objective, the objective and its bound are shown."""
    objective = Objective(name="load", value=8.0, bound=10.0, maximise=True)
    text = summary(replace(solve(STAR), objective=objective, lower_bound=None, gap=0.2))
    assert text.splitlines()[1:3] == ["load      8  (bound 10, gap 20 %)", "makespan  28"]


def test_without_a_schedule_there_is_no_answer() -> None:
    """An infeasible problem's result says why and has an empty answer."""
    result = solve(DivisibleLoad(load=1.0, platform=Star([])))
    assert result.answer == {}
    assert summary(result).splitlines()[0] == f"infeasible ({result.method})"
    assert "note: there is a load, but no machine to compute it" in summary(result)


def test_a_schedule_that_does_not_fit_is_said_to() -> None:
    """A schedule on foreign machines has no answer; the summary points to the referee."""
    foreign = Schedule.of_rows(["P0", "X"], [("send", 0, 1, 0, 10.0, 0.0, 28.0)])
    broken = replace(solve(STAR), schedule=foreign)
    assert "does not fit its problem; check says why" in summary(broken)
    with pytest.raises(InvalidSchedule, match="does not fit"):
        _ = broken.answer
