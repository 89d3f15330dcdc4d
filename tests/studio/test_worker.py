"""A worker: orders and their ends, whichever it hears first."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from makespan import IndependentTasks, solve
from makespan.flow import plot
from makespan.flow.plot import chart
from makespan.flow.serialize import as_json, result_as_dict
from makespan.studio import answers
from makespan.studio.answers import size_of_plan, size_of_solution
from makespan.studio.exercises import examples
from makespan.studio.orders import GONE, Order, Task
from makespan.studio.worker import answered

TEXT = next(example["toml"] for example in examples() if example["name"] == "graph")


def task_of(what: str, request: dict[str, Any]) -> Task:
    return Task(Order(1, what, json.dumps(request).encode()), lambda _: None)


@pytest.mark.parametrize(
    ("what", "request_"),
    [
        ("solve", {"problem": TEXT, "view": True}),
        ("compare", {"problem": TEXT, "methods": ["heft", "cpop"], "view": True}),
    ],
)
def test_for_nobody_nothing_is_drawn(
    what: str, request_: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who leaves frees the process; who stops a search gets the best plan, as it is drawn."""
    drawn: list[Any] = []

    def noted(*given: Any, **how: Any) -> Any:
        drawn.append(given)
        return chart(*given, **how)

    monkeypatch.setattr(plot, "chart", noted)
    stopped, left = task_of(what, request_), task_of(what, request_)
    stopped.stop()
    assert answered(stopped).status == 200
    assert drawn
    drawn.clear()
    left.stop(left=True)
    assert answered(left) == GONE
    assert not drawn


def test_an_answer_that_gets_too_large_is_refused_before_anything_is_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By its size, from a few of its tasks."""
    monkeypatch.setattr(answers, "solve_controlled", None)
    seconds = np.random.default_rng(0).uniform(1, 100, 400_000).round(3).tolist()
    problem = {"kind": "independent", "machines": 200, "durations": seconds}
    answer = answered(task_of("solve", {"problem": problem, "time_limit": 3}))
    assert answer.status == 413
    assert b"the answer would be larger than 64 MiB, the most: about 8" in answer.content


def test_a_plan_that_is_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its problem did not show how many rows it has."""
    monkeypatch.setattr(answers, "size_of_plan", lambda _: 1e9)
    monkeypatch.setattr(answers, "result_as_dict", None)
    assert answered(task_of("solve", {"problem": TEXT})).status == 413


def test_sizes_are_nearly_those_that_are_written() -> None:
    """Of all but the problem."""
    seconds = np.random.default_rng(0).uniform(1, 100, 12_000).tolist()
    result = solve(IndependentTasks(20, seconds), method="lpt")
    assert result.schedule is not None
    data = result_as_dict(result)
    plan = len(as_json(data["schedule"]))
    assert size_of_plan(result.schedule) == pytest.approx(plan, rel=0.05)
    both = plan + len(as_json(data["answer"]))
    assert size_of_solution(result.problem) == pytest.approx(both, rel=0.1)
    assert size_of_solution(IndependentTasks(20, seconds[:100])) == 0.0
