"""What the server and its processes say to each other."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from makespan.core.control import Control
from makespan.core.system import startup
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


class Notice(NamedTuple):
    """What a process tells of the order it is at: its ``limit``, ``startup``, ``progress``."""

    what: str
    value: Any


class Answer(NamedTuple):
    """What is sent back: a status of HTTP and a document."""

    status: int
    content: bytes
    media: str = "application/json"
    name: str | None = None  # of the file that it is to be saved as


GONE = Answer(499, b"")  # nobody reads this


def refused(status: int, message: str, **more: Any) -> Answer:
    """Return the answer that says why there is none."""
    return Answer(status, as_json({"error": message, **more}).encode())


OFTEN = 0.1  # seconds between two words about progress


class Left(Exception):
    """Nobody waits for the answer any more."""


class Task:
    """What an order is answered with: controls that end when nobody waits any more, and progress.

    ``tell`` sends a word to the server.
    """

    def __init__(self, order: Order, tell: Callable[[Any], None]) -> None:
        self.order, self.tell = order, tell
        self.stopped = self.left = False
        self._control: Control | None = None
        self._told = 0.0

    def stop(self, *, left: bool = False) -> None:
        """Come to an end, for nobody any more where they ``left``; called from another thread."""
        self.stopped = True
        self.left = self.left or left
        if self._control is not None:
            self._control.interrupted = True

    def go_on(self) -> None:
        """Raise :class:`Left` where what is still to do is for nobody any more."""
        if self.left:
            raise Left

    def limit(self, seconds: float) -> None:
        """Say how long this may take."""
        self.tell(Notice("limit", seconds))

    def progress(self, **known: Any) -> None:
        """Say how far it is, not too often."""
        now = time.monotonic()
        if now > self._told + OFTEN:
            self._told = now
            self.tell(Notice("progress", known))

    def control(self, **asked: Any) -> Control:
        """Return a control that this task can stop, with its progress told."""
        control = Control(
            progress=lambda value, bound, elapsed: self.progress(
                value=value, bound=bound, elapsed=elapsed
            ),
            **asked,
        )
        self._control = control
        if self.stopped:
            control.interrupted = True
        return control

    def watching(self) -> Any:
        """Return a block in which start-up work, which limits leave out, is told."""
        return startup.watched(lambda what: self.tell(Notice("startup", what)))
