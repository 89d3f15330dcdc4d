"""A worker: orders and their ends, whichever it hears first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from makespan.flow.pictures import page
from makespan.flow.pictures.page import chart
from makespan.studio.exercises import examples
from makespan.studio.orders import GONE, Order
from makespan.studio.task import Task
from makespan.studio.worker import _answered

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

    monkeypatch.setattr(page, "chart", noted)
    stopped, left = task_of(what, request_), task_of(what, request_)
    stopped.stop()
    assert _answered(stopped).status == 200
    assert drawn
    drawn.clear()
    left.stop(left=True)
    assert _answered(left) == GONE
    assert not drawn
