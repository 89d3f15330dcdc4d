"""What workers still have to do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from makespan.execute.dealing.pool import Range

AHEAD = 2  # chunks on the way to a worker, or waiting there, beside the one that it computes
LATE = 3.0  # times as long as expected: what is done by others, where they have nothing else to do,
MIN_LATE = 0.25  # and so many seconds more
OVERDUE = 0.02  # seconds beyond what was expected: somebody who has nothing to do looks after it


@dataclass(slots=True, eq=False)
class Chunk:
    """Items for a worker.

    ``sent`` once its transfer has begun, ``came`` once it lies on its worker, as ``key``; there so
    many tasks of it are not done (``running``), and all items before ``begun`` are done or under
    way. ``again`` where others were given its items, too; ``alone`` where its worker has nothing
    else meanwhile; ``long`` where it turned out to take longer than the costs say.
    """

    item: int
    worker: str
    range: Range
    units: float
    sent: bool = False
    came: bool = False
    again: bool = False
    alone: bool = False
    long: bool = False
    key: str = ""
    running: int = 0
    begun: int = 0

    @property
    def waiting(self) -> int:
        """How many of its items may not have been begun."""
        return self.range.high - max(self.range.low, self.begun)


@dataclass(slots=True)
class _Held:
    chunks: dict[Chunk, None] = field(default_factory=dict)
    since: float = 0.0  # when it began with what it computes
    heard: float = 0.0  # when anything was last seen to happen


class Backlog:
    """The chunks that each worker holds: on their way to it, waiting there, under work."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}

    def of(self, worker: str) -> list[Chunk]:
        """The chunks of a worker, in the order in which it gets them."""
        return list(self._of(worker).chunks)

    def _of(self, worker: str) -> _Held:
        return self._held.setdefault(worker, _Held())

    def _here(self, worker: str) -> int:
        return sum(chunk.came for chunk in self._of(worker).chunks)

    def add(self, chunk: Chunk) -> None:
        """Note a chunk that a worker gets."""
        held = self._of(chunk.worker)
        if not held.chunks:
            held.heard = time.monotonic()
        held.chunks[chunk] = None

    def arrived(self, chunk: Chunk) -> None:
        """Note that a chunk is on its worker, which begins with it if it was idle."""
        held = self._of(chunk.worker)
        held.heard = time.monotonic()
        if not self._here(chunk.worker):
            held.since = held.heard
        chunk.came = True

    def remove(self, chunk: Chunk) -> None:
        """Note that a chunk is computed, and that its worker goes on with the next; or lost."""
        held = self._of(chunk.worker)
        if held.chunks.pop(chunk, chunk) is None:
            held.since = held.heard = time.monotonic()

    def has_room(self, worker: str, *, long: bool) -> bool:
        """Whether a worker may get a chunk; while chunks are ``long``, one may wait, not two."""
        held = len(self._of(worker).chunks)
        return held < AHEAD or (not long and held - min(1, self._here(worker)) < AHEAD)

    def load(self, worker: str) -> float:
        """Return the load of what it holds."""
        return sum(chunk.units for chunk in self._of(worker).chunks)

    def items(self, worker: str) -> int:
        """Return how many items it has to do, as far as is known; those of ``long`` chunks count
        as all that others may wait for.
        """
        chunks = self._of(worker).chunks
        held = sum(
            one.waiting + (one.running if one.begun > one.range.low else 0) for one in chunks
        )
        return held * (AHEAD + 1) if any(one.long for one in chunks) else held

    def left(self, worker: str, speed: float) -> float:
        """Return that load less what a worker of this speed has computed of its present chunk."""
        held = self._of(worker)
        if not self._here(worker):
            return self.load(worker)
        first = next(chunk.units for chunk in held.chunks if chunk.came)
        return self.load(worker) - min(first, speed * (time.monotonic() - held.since))

    def idle(self, worker: str, threads: int) -> int:
        """Return how many of a worker's threads have nothing to do, nor anything on its way."""
        chunks = self._of(worker).chunks
        held = (one.running if one.came else min(threads, len(one.range)) for one in chunks)
        return max(0, threads - sum(held))

    def overdue_in(self, worker: str, seconds: float) -> float:
        """Return in how many seconds what it computes is overdue, which should take ``seconds``."""
        return self._of(worker).since + seconds + max(OVERDUE, seconds / 4) - time.monotonic()

    def under_way(self, worker: str) -> float:
        """Return for how many seconds it has computed what it computes."""
        return time.monotonic() - self._of(worker).since

    def heard(self, worker: str) -> None:
        """Note a sign of life."""
        self._of(worker).heard = time.monotonic()

    def late_in(self, worker: str, seconds: float) -> float:
        """Return in how many seconds a worker is late whose next chunk should take ``seconds``."""
        return self._of(worker).heard + LATE * seconds + MIN_LATE - time.monotonic()
