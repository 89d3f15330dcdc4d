"""What an engine must do so that work is dealt out to its workers, and what passes between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from makespan.execute.dealing.items import Items


@dataclass(slots=True)
class WorkerInfo:
    """A worker: its name, where it is, how many threads it has, and whether it has gone.

    ``retired`` where somebody sent it away: nothing that it did is to blame. ``why`` says what
    became of one that has gone, as a predicate.
    """

    name: str
    address: str
    threads: int
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    retired: bool = False
    why: str = "left"


class WorkerLost(Exception):
    """A worker left, or fell silent, while something was under way on it."""

    def __init__(self, name: str, reason: object = "") -> None:
        self.name = name
        super().__init__(f"{name}: {reason}" if reason else name)


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when something took on the client's clock, seconds since the epoch."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class Packed:
    """Items as they are sent, the bytes, and what the engine needs with them (``inputs``)."""

    low: int
    high: int
    sent: Any
    bytes: int
    inputs: dict[Any, Any]


@dataclass(slots=True)
class Held:
    """A chunk that a worker has: its key, its items, and when it was sent.

    ``future`` is the engine's; None where the chunk goes with its tasks.
    """

    worker: WorkerInfo
    key: str
    packed: Packed
    future: Any
    window: Window


@dataclass(frozen=True, slots=True)
class Failure:
    """An item whose function raised: its place in the data, and what was raised where.

    ``last`` is the last item of a batch that failed as a whole; ``first`` itself otherwise.
    ``traceback`` is the text that Python would have printed on the worker.
    """

    first: int
    last: int
    error: BaseException
    traceback: str

    def __str__(self) -> str:
        items = f"item {self.first}"
        if self.last > self.first:
            items = f"items {self.first} to {self.last}"
        text = str(self.error)
        return f"{items}: {type(self.error).__name__}{': ' if text else ''}{text}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a part of a chunk, and when the worker's clock showed what.

    ``rows`` are the first and the last but one of the items in a row, in the order of the results.
    ``seconds`` are those of each item as 32-bit floats, in the same order, or none.
    """

    rows: tuple[tuple[int, int], ...]
    values: Any
    failures: tuple[Failure, ...]
    start: float
    end: float
    seconds: bytes = b""


class Engine(Protocol):
    """Workers, and what goes to them and comes back; all is called on one event loop.

    Whatever waits for a worker raises :class:`WorkerLost` when that worker leaves.
    """

    @property
    def workers(self) -> Mapping[str, WorkerInfo]:
        """The workers that are there now, by name."""

    def watch(self, changed: Callable[[WorkerInfo], None] | None) -> None:
        """Call a function with each worker that comes, or has gone; None: with none any more."""

    async def wait_for_worker(self, items: int) -> None:
        """Wait until a worker is there, for so many items.

        Raises ExecutionError where none can come any more: the run would never end.
        """

    def show_load(self, seconds: float | None, items: int, threads: int) -> None:
        """Show how much is to do, so that a cluster may grow; None: nobody knows how long."""

    async def pack(self, worker: WorkerInfo, items: Items, low: int, high: int) -> Packed:
        """Prepare the items from ``low`` to ``high``, and wait for what they need."""

    async def send(self, worker: WorkerInfo, packed: Packed, *, apart: bool = True) -> Held:
        """Send items; where they need not go ``apart``, they may go with their tasks."""

    def start(self, held: Held, priority: int) -> list[Any]:
        """Start a task for each thread that may work on a chunk; higher priorities first."""

    async def finished(
        self,
        worker: WorkerInfo,
        tasks: list[Any],
        each: Callable[[int], None] = lambda running: None,
    ) -> float:
        """Wait for tasks, call ``each`` with the number that runs on; return the time, seconds."""

    async def fetch(self, worker: WorkerInfo, tasks: list[Any]) -> tuple[list[Outcome], Window]:
        """Bring back what tasks have returned."""

    def release(self, *futures: Any) -> None:
        """Forget a chunk's future, and its tasks."""

    async def take_back(
        self, worker: WorkerInfo, chunks: Sequence[tuple[str, int, int]], kept: float
    ) -> list[tuple[int, int, float]]:
        """Take back what no thread has begun of chunks, but for a share that is ``kept``.

        ``chunks`` are their keys, first items, and last but one. The answer has of each the item
        that is begun next, the first that is not done any more, and for how many seconds the last
        that was begun has been under way.
        """
