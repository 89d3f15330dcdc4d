"""What is imported, compiled and cached at the first use, used once before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from makespan.flow.files.files import as_dict
from makespan.flow.generate import generate
from makespan.studio.answers import ANSWERS
from makespan.studio.examples import examples
from makespan.studio.orders import Order
from makespan.studio.task import Task

LARGE = {"size": 100, "machines": 8}
"""A task graph whose methods are compiled, which those of the examples are not."""


def warming() -> Iterator[None]:
    """Ask for what a page asks for with each example, and with what is large, one at a time."""
    for example in examples():
        stated = {"problem": example["toml"]}
        yield from _asked("problem", stated)
        yield from _asked("solve", {**stated, "view": True, "time_limit": 0.05})
        yield from _asked("methods", stated)
    large = as_dict(generate("taskgraph", options=LARGE))
    yield from _asked("solve", {"problem": large, "time_limit": 0.2})


def _asked(what: str, request: dict[str, Any]) -> Iterator[None]:
    with suppress(Exception):  # who asks for it will be told
        ANSWERS[what](request, Task(Order(0, what, b""), lambda _: None))
    yield
