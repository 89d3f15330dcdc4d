"""What workers still have to do, and who gets a piece of the pool next."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from makespan.execute.dask.maps.pool import Range

PIECES = 2.0  # a worker gets its share of the rest divided by this
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
        done = min(first, speed * (time.monotonic() - held.since))
        return self.load(worker) - done

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


def next_piece(
    rest: float,
    free: Sequence[str],
    left: Mapping[str, float],
    speeds: Mapping[str, float],
    least: Mapping[str, float],
    *,
    tiny: float = 0.0,
    few: bool = False,
) -> tuple[str, float] | None:
    """Return which of the ``free`` workers gets how much of the ``rest``; None: better to wait.

    If all workers ended together, each would have room for what it can compute until then beside
    what it has ``left``. The one that will be idle first gets a piece by factoring, or where that
    is less, what is worth a message (``least``), but not more than its room. Nobody gets less than
    ``tiny`` seconds of work, and one that is busy and has no room for half of ``least`` nothing, as
    it would end last. Where ``few`` items are dealt out, each gets all that it has room for.

    Source: S. F. Hummel, J. Schmidt, R. N. Uma, J. Wein, Load-sharing in heterogeneous systems
    via weighted factoring, SPAA 1996: each batch is half of what is left.

    >>> each = {"a": 1.0, "b": 1.0}
    >>> next_piece(9.0, ["a", "b"], {"a": 0.0, "b": 8.0}, speeds=each, least=each)
    ('a', 2.25)
    >>> next_piece(9.0, ["b"], {"a": 0.0, "b": 9.0}, speeds=each, least=each)
    """
    together = sum(speeds.values())
    end = (rest + sum(left.values())) / together
    room = {name: end * speeds[name] - left[name] for name in free}
    room = {
        name: units for name, units in room.items() if units >= least[name] / 2 or not left[name]
    }
    if not room:
        return None
    name = min(room, key=lambda one: left[one] / speeds[one])
    amount = max(rest * speeds[name] / together / PIECES, least[name])
    amount = room[name] if few else max(min(amount, room[name]), tiny * speeds[name])
    return name, amount if rest - amount > min(least[name], room[name] / 2) / 2 else rest
