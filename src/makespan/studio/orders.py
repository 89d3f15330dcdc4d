"""What the server and its processes say to each other."""

from __future__ import annotations

from typing import Any, NamedTuple

from makespan.flow.serialize import as_json


class Order(NamedTuple):
    """A request: which answer is asked for, and the text that says of what."""

    number: int
    what: str
    body: bytes


class Stop(NamedTuple):
    """Come to an end with the order of this number, with the best that is known."""

    number: int
    left: bool = False  # nobody waits for the answer any more


class Warm(NamedTuple):
    """Use what answers need for the first time, while there is nothing else to do."""


class Told(NamedTuple):
    """What a process tells of the order it is at: its ``limit``, ``startup``, ``progress``."""

    what: str
    value: Any


class Answer(NamedTuple):
    """What is sent back: a status of HTTP and a document."""

    status: int
    content: bytes
    media: str = "application/json"
    name: str | None = None  # of the file that it is to be saved as


GONE = Answer(499, b"")
"""Nobody reads this."""


def refused(status: int, message: str, **more: Any) -> Answer:
    """Return the answer that says why there is none."""
    return Answer(status, as_json({"error": message, **more}).encode())
