"""What is imported, compiled and cached at the first use, used once before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from makespan.studio.answers import ANSWERS
from makespan.studio.examples import examples
from makespan.studio.orders import Order
from makespan.studio.task import Task


def warming() -> Iterator[None]:
    """Ask for what a page asks for with each example, one answer at a time."""
    for example in examples():
        stated = {"problem": example["toml"]}
        requests: dict[str, dict[str, Any]] = {
            "problem": stated,
            "solve": {**stated, "view": True, "time_limit": 0.05},
            "methods": stated,
        }
        for what, request in requests.items():
            with suppress(Exception):  # who asks for it will be told
                ANSWERS[what](request, Task(Order(0, what, b""), lambda _: None))
            yield
