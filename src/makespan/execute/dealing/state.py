"""What a run is to do, and what is known of it: who has what, and what is missing."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from makespan.execute.dealing.backlog import Backlog, Chunk
from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.engine import Engine, Failure, WorkerInfo
from makespan.execute.dealing.items import Items, Stream, footprint
from makespan.execute.dealing.pool import Pool, Range, Suspects
from makespan.execute.dealing.transfers import Order
from makespan.execute.progress import Tell
from makespan.flow.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to run on what, and how.

    Parameters
    ----------
    items, batched
        The data, and whether the function takes a whole chunk.
    tell
        Called with the share of the items that are done, and what was done last.
    recall, learn
        Give what is known of the costs on the workers that are there, and take what is known in the
        end.
    explain
        Takes the seconds of each item in the end.
    plan, chunks, order
        A plan, its chunks, and when they are sent and returned; None where there is no plan.
    batch_size
        The most items in a chunk.
    keep
        Called with the first item and the results of each chunk, once for every item; None: the run
        keeps them.
    taken
        Returns how many results are not held any more: a stream is read some seconds of work ahead
        of that. None: it is read as fast as it is needed.
    changed
        Set whenever there may be something to do.
    failures
        What failed, noted before :attr:`keep` is called with the results, None for it.
    """

    items: Items
    batched: bool
    tell: Tell
    recall: Callable[[Mapping[str, WorkerInfo]], Costs]
    learn: Callable[[Mapping[str, WorkerInfo], Costs], None] = lambda members, costs: None
    explain: Callable[[Any], None] = lambda took: None
    plan: Result | None = None
    chunks: Sequence[Chunk] = ()
    order: Order | None = None
    batch_size: int | None = None
    keep: Callable[[int, Any], None] | None = None
    taken: Callable[[], int] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    failures: list[Failure] = field(default_factory=list)

    @property
    def work(self) -> bool:
        """Whether there is anything to do, or may be."""
        return len(self.items) > 0 or isinstance(self.items, Stream)


class State:
    """What the parts of a run share; ``costs``, what is known of the workers', learns."""

    def __init__(self, job: Job, engine: Engine, costs: Costs) -> None:
        self.job, self.engine, self.items, self.costs = job, engine, job.items, costs
        self.pool = Pool(self.items)
        self.suspects = Suspects()
        self.backlog = Backlog()
        self.open: dict[Chunk, asyncio.Task[None]] = {}
        self.pieces: dict[int, Any] = {}
        self.keep = job.keep or self.pieces.__setitem__
        self.failures = job.failures
        self.events: list[str] = []
        self.changed = job.changed
        self.group = asyncio.TaskGroup()
        self.missing_items = 0
        self.reading = False
        self.result_bytes = 0.0  # of one, as those that came last
        self._here = bytearray()
        self.took, self.by = array("f"), array("I")  # the seconds of each item, and its worker
        self.names: list[str] = []

    @property
    def item(self) -> float:
        """The units of an item."""
        return self.items.load_of(0, len(self.items)) / len(self.items)

    @property
    def ended(self) -> bool:
        """Whether no more items come."""
        return not isinstance(self.items, Stream) or (self.items.ended and not self.reading)

    @property
    def read(self) -> int:
        """How many items are known."""
        return len(self._here)

    @property
    def share(self) -> float:
        """The share of the items that is done."""
        return 1.0 - self.missing_items / max(1, len(self._here))

    def knows(self, worker: WorkerInfo) -> bool:
        """Whether a worker has returned anything."""
        return self.costs[worker.name].largest > 0.0

    def expect(self, count: int, *, pool: bool = True) -> None:
        """Note that so many more results are needed, of items that lie in the pool."""
        first = len(self._here)
        self._here += bytes(count)
        self.took.frombytes(bytes(4 * count))
        self.by.frombytes(bytes(4 * count))
        self.missing_items += count
        if pool:
            self.pool.put(Range(first, first + count))

    def gaps(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return where results are missing from ``low`` up to ``high``."""
        gaps = []
        while (start := self._here.find(0, low, high)) >= 0:
            low = self._here.find(1, start, high)
            gaps.append((start, high if low < 0 else low))
            if low < 0:
                break
        return gaps

    def missing(self, chunk: Chunk) -> list[Range]:
        """Return what is missing of a chunk."""
        one = chunk.range
        return [replace(one, low=low, high=high) for low, high in self.gaps(one.low, one.high)]

    def arrived(self, low: int, values: Any) -> None:
        """Keep results that were missing."""
        high = low + len(values)
        self.keep(low, values)
        self._here[low:high] = bytes([1]) * len(values)
        self.missing_items -= len(values)
        self.pool.discard(low, high)
        if isinstance(self.items, Stream):
            self.items.drop(low, high)
            self.result_bytes += (footprint(values) - self.result_bytes) / 2

    def note(self, worker: str, low: int, seconds: array[float]) -> None:
        """Note who did the items from ``low`` on, in how many seconds each."""
        if worker not in self.names:
            self.names.append(worker)
        high = low + len(seconds)
        self.took[low:high] = seconds
        self.by[low:high] = array("I", [self.names.index(worker) + 1]) * len(seconds)

    def give_back(self, chunk: Chunk) -> None:
        """Let others have what is missing of a chunk."""
        for missing in self.missing(chunk):
            if chunk.alone:
                self.suspects.put(missing)
            else:
                self.pool.put(missing)
