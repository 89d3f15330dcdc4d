"""Published schedules of modern methods, timed from their decisions alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from makespan import Dag, Network, TaskGraph, solve

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "taskgraph.json").read_text(encoding="utf-8")
    )
}
SCHEDULES = [
    ("topcuoglu2002", "heft", "topcuoglu HEFT"),
    ("topcuoglu2002", "cpop", "topcuoglu CPOP"),
    ("arabnejad2014_peft", "peft", "PEFT paper PEFT"),
    ("arabnejad2014_peft", "heft", "PEFT paper HEFT"),
]


def dag_of(case: dict[str, Any]) -> Dag:
    inputs = case["inputs"]
    edges = [(*ends.split("->"), float(size)) for ends, size in inputs["comm"].items()]
    return Dag({task: [float(x) for x in row] for task, row in inputs["W"].items()}, edges)


def problem_of(name: str, method: str, contention: str = "none") -> TaskGraph:
    case = CASES[name]
    plan = case["expected"][f"{method}_schedule"]
    sequence: dict[str, list[str]] = {}
    for task in sorted(plan, key=lambda each: plan[each]["start"]):
        sequence.setdefault(f"M{plan[task]['proc']}", []).append(task)
    return TaskGraph(dag_of(case), Network([1.0] * 3), contention=contention, sequence=sequence)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "method", "_replay"), SCHEDULES)
def test_starts_are_those_published(name: str, method: str, _replay: str) -> None:
    """Assignment and order of each published schedule give its starts and its makespan."""
    expected = CASES[name]["expected"]
    result = solve(problem_of(name, method))
    assert result.makespan == expected[f"{method}_makespan"]
    for task, place in expected[f"{method}_schedule"].items():
        assert result.answer["start"][task] == place["start"]
        assert result.answer["end"][task] == place["finish"]


@pytest.mark.parametrize(("name", "method", "replay"), SCHEDULES)
def test_one_port_is_no_worse_than_first_in_first_out(name: str, method: str, replay: str) -> None:
    """With one port a machine the plan's order of transfers is at least as good as the replays
    of a simulator that serves transfers in the order in which they are ready."""
    expected = CASES["simgrid_contention_replay"]["expected"][replay]
    result = solve(problem_of(name, method, "ports"))
    assert expected["free"] <= result.makespan <= expected["one_port_fifo"]


@pytest.mark.parametrize("name", ["topcuoglu2002", "arabnejad2014_peft"])
def test_no_plan_beats_the_proved_optimum(name: str) -> None:
    """``auto`` is not below the optimum, and not above what HEFT published."""
    expected = CASES[name]["expected"]
    result = solve(TaskGraph(dag_of(CASES[name]), Network([1.0] * 3)))
    assert result.lower_bound <= expected["optimal_makespan"]
    assert expected["optimal_makespan"] <= result.makespan <= expected["heft_makespan"]
