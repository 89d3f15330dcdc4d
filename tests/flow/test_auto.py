"""``auto`` believes no claim that a known plan contradicts, and says why a gap is left."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import makespan.independent.bounds
import makespan.independent.methods as room
from makespan import IndependentTasks, MethodError, lower_bound, solve
from makespan.core import registry
from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.registry import Method, Need, find_method
from makespan.core.solution import Bound, Solution

PROBLEM = IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])  # 6; LPT gives 7
Enter = Callable[..., None]


@pytest.fixture
def enter(monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Let LPT and then a method of the test be the line-up."""

    def enter(run: Callable[..., Solution], **more: Any) -> None:
        find_method("independent", "lpt")
        method = Method(name="claimant", run=run, complexity="", source="", **more)
        monkeypatch.setitem(registry._REGISTER["independent"], "claimant", method)
        monkeypatch.setattr(room, "AUTO", ("lpt", "claimant"))

    return enter


def by_lpt(problem: IndependentTasks) -> Solution:
    return find_method("independent", "lpt").run(problem, Control())


def by_list(problem: IndependentTasks) -> Solution:
    """All tasks on one machine after another: a worse plan."""
    plan = find_method("independent", "list-scheduling").run(
        IndependentTasks(machines=1, durations=[12]), Control()
    )
    return replace(plan, lower_bound=None, optimal=False)


def test_a_false_proof_is_not_believed(enter: Enter) -> None:
    """A worse plan that is called optimal proves nothing, nor does its bound."""

    def claim(problem: IndependentTasks, control: Control) -> Solution:
        return replace(by_list(problem), optimal=True, lower_bound=12.0)

    enter(claim)
    result = solve(PROBLEM)
    assert (result.status, result.makespan, result.lower_bound) == ("feasible", 7.0, 6.0)
    assert any("not believed" in note for note in result.notes)


def test_a_false_infeasibility_is_not_believed(enter: Enter) -> None:
    """Where a plan is known, there is one."""

    def claim(problem: IndependentTasks, control: Control) -> Solution:
        return Solution(schedule=None, infeasible="there is no plan")

    enter(claim)
    result = solve(PROBLEM)
    assert (result.status, result.makespan) == ("feasible", 7.0)
    assert any("not believed" in note for note in result.notes)


def test_a_bound_above_a_plan_is_not_believed(enter: Enter) -> None:
    """A bound that a refereed plan beats is dropped, and the notes say so."""

    def claim(problem: IndependentTasks, control: Control) -> Solution:
        return replace(by_lpt(problem), lower_bound=7.5)

    enter(claim)
    result = solve(PROBLEM)
    assert (result.status, result.lower_bound) == ("feasible", 6.0)
    assert any("not believed" in note for note in result.notes)


@pytest.mark.parametrize(
    ("stopped", "said"), [(True, "stopped at its limit"), (False, "have finished")]
)
def test_a_gap_has_a_reason(enter: Enter, stopped: bool, said: str) -> None:
    """A note says whether the search was stopped, or the bound is what is left."""
    enter(lambda problem, control: replace(by_lpt(problem), stopped=stopped))
    assert any(said in note for note in solve(PROBLEM).notes)


def test_what_needs_too_much_memory_is_left_out(enter: Enter) -> None:
    """The others plan; a note says what was left out. By name, it is an error."""

    def greedy(problem: IndependentTasks, control: Control) -> Solution:
        raise TooLarge("the table would take 6 GB")

    enter(greedy)
    assert any("left out: the table would take 6 GB" in note for note in solve(PROBLEM).notes)
    with pytest.raises(MethodError, match="6 GB"):
        solve(PROBLEM, method="claimant")


def test_sizes_out_of_reach_are_left_to_others(enter: Enter) -> None:
    """A method is not handed what is beyond its reach, unless it is named."""

    def claim(problem: IndependentTasks, control: Control) -> Solution:
        return replace(by_lpt(problem), details={"ran": True})

    enter(claim, reach=(Need("at most 4 tasks", lambda problem: "there are 5"),))
    assert solve(PROBLEM).method == "lpt"
    assert solve(PROBLEM, method="claimant").details == {"ran": True}


def test_bounds_are_rounded_up_to_whole_grains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where makespans are whole, a plan of 7 meets a bound of 6.5."""
    rooms = makespan.independent.bounds
    monkeypatch.setattr(rooms, "bounds", lambda problem: (Bound(value=6.5, name="b", source=""),))
    monkeypatch.setattr(rooms, "grain", lambda problem: 1.0, raising=False)
    assert lower_bound(PROBLEM).value == 7.0
    assert solve(PROBLEM, method="lpt").status == "optimal"


@pytest.mark.parametrize("method", ["auto", "claimant"])
def test_a_plan_of_a_search_that_ctrl_c_ended_says_so(enter: Enter, method: str) -> None:
    """First, as it takes the place of KeyboardInterrupt; without a plan that is raised."""

    def interrupted(problem: IndependentTasks, control: Control) -> Solution:
        signal.raise_signal(signal.SIGINT)
        return by_lpt(problem)

    def without_a_plan(problem: IndependentTasks, control: Control) -> Solution:
        signal.raise_signal(signal.SIGINT)
        return Solution(schedule=None)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        enter(interrupted)
        result = solve(PROBLEM, method=method)
        enter(without_a_plan)
        with pytest.raises(KeyboardInterrupt):
            solve(PROBLEM, method="claimant")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.status == "feasible"
    assert result.notes[0].startswith("interrupted: ")
