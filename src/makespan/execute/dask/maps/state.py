"""What is known of a run: who has what, what is missing, and what it costs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from makespan.execute.dask.cluster.crew import Crew, Member
from makespan.execute.dask.cluster.items import Stream
from makespan.execute.dask.maps.backlog import Backlog, Chunk
from makespan.execute.dask.maps.costs import Costs
from makespan.execute.dask.maps.job import Job
from makespan.execute.dask.maps.pool import Pool, Range
from makespan.execute.dask.maps.suspects import Suspects


class State:
    """What the parts of a run share.

    Parameters
    ----------
    job
        What to run.
    crew
        The workers.
    costs
        What is known of the workers' costs; it learns.
    """

    def __init__(self, job: Job, crew: Crew, costs: Costs) -> None:
        self.job, self.crew, self.items, self.costs = job, crew, job.items, costs
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
        self._here = bytearray()

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

    def knows(self, member: Member) -> bool:
        """Whether a worker has returned anything."""
        return self.costs[member.name].largest > 0.0

    def expect(self, count: int, *, pool: bool = True) -> None:
        """Note that so many more results are needed, of items that lie in the pool."""
        first = len(self._here)
        self._here += bytes(count)
        self.missing_items += count
        if pool:
            self.pool.put(Range(first, first + count))

    def withdraw(self, chunk: Chunk) -> None:
        """Let go of a chunk of which nothing is done any more."""
        self.open[chunk].cancel()

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

    def give_back(self, chunk: Chunk) -> None:
        """Let others have what is missing of a chunk."""
        for missing in self.missing(chunk):
            if chunk.alone:
                self.suspects.put(missing)
            else:
                self.pool.put(missing)
