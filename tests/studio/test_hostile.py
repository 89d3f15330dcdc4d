"""Requests with something wrong in them, wherever: refused or answered, never a failure."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from makespan.studio import answers, worker
from makespan.studio.exercises import examples
from makespan.studio.orders import Answer, Order, Task
from tests.thorough import few

VALUES = [
    *(None, True, 0, -1, 1.5, 1e308, 1e-308, 1e100, 10**30, "", "inf", "\u2028<b>"),
    *([], {}, [[]], ["a", "a"]),
]


def answered(what: str, request: Any) -> Answer:
    return worker.answered(Task(Order(1, what, json.dumps(request).encode()), lambda _: None))


def requests_about(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield one request of each sort about a problem and its plan."""
    problem = json.loads(answered("problem", {"problem": text}).content)["problem"]
    result = json.loads(answered("solve", {"problem": problem, "time_limit": 0.05}).content)
    yield "solve", {"problem": problem, "time_limit": 0.02, "view": True, "steps": True}
    yield "compare", {"problem": problem, "time_limit": 0.01, "methods": ["auto"], "view": True}
    yield "check", {"problem": problem, "schedule": result["schedule"], "view": True}
    yield "check", {"result": result, "view": True}
    varied = {"result": result, "time_limit": 0.01}
    if answered("sensitivity", varied).status == 200:  # of kinds that say what if
        yield "sensitivity", varied
    yield "methods", {"problem": problem}
    for form in ("svg", "html", "trace", "csv", "python", "toml"):
        yield "save", {"result": result, "format": form}


def places(data: Any, start: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each part of a document."""
    if start:
        yield start
    listed = data if isinstance(data, list) else ()
    for key, part in data.items() if isinstance(data, dict) else enumerate(listed):
        yield from places(part, (*start, key))


def broken(data: Any, rng: random.Random) -> Any:
    """Return a document of which one part is another, twice there, or missing."""
    data = copy.deepcopy(data)
    *way, last = rng.choice(list(places(data)))
    part = data
    for key in way:
        part = part[key]
    how = rng.random()
    if how < 0.6:
        part[last] = rng.choice(VALUES)
    elif how < 0.8 or not isinstance(part, list):
        del part[last]
    else:
        part.insert(rng.randrange(len(part) + 1), copy.deepcopy(part[last]))
    return data


@pytest.mark.parametrize(
    "name", few([each["name"] for each in examples()], 2, thorough=len(examples()))
)
def test_nothing_fails(name: str) -> None:
    """A sentence where it is wrong; an answer where it makes no difference."""
    rng = random.Random(name)
    text = next(example["toml"] for example in examples() if example["name"] == name)
    whole = list(requests_about(text))
    assert all(answered(what, request).status == 200 for what, request in whole)
    statuses = set()
    for _ in range(120):
        what, request = rng.choice(whole)
        wrong = broken(request, rng)
        answer = answered(what, wrong)
        assert answer.status in (200, 413, 422), (what, wrong, answer.content)
        statuses.add(answer.status)
    assert statuses >= {200, 422}


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be larger is refused."""
    monkeypatch.setattr(answers, "LARGEST", 100)
    answer = answered("problem", {"problem": examples()[0]["toml"]})
    assert answer.status == 413
