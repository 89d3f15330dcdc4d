"""What workers still have to do, and who gets a piece of the pool next."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from makespan.execute.dask.maps.pool import piece

AT_A_TIME = 2  # chunks that a worker holds while the pool is dealt out: one computes, one waits


class Backlog:
    """Chunks and load that each worker holds: on their way to it, waiting there, under work.

    >>> backlog = Backlog()
    >>> backlog.add("a", 5.0); backlog.add("a", 2.0); backlog.remove("a", 5.0, came=False)
    >>> backlog.has_room("a"), backlog.load("a"), backlog.left("a", speed=1.0)
    (False, 2.0, 2.0)
    """

    def __init__(self) -> None:
        self._chunks: Counter[str] = Counter()
        self._load: dict[str, float] = {}
        self._coming: Counter[str] = Counter()
        self._here: Counter[str] = Counter()
        self._since: dict[str, float] = {}

    def add(self, worker: str, load: float) -> None:
        """Note a chunk that a worker gets."""
        self._chunks[worker] += 1
        self._coming[worker] += 1
        self._load[worker] = self.load(worker) + load

    def remove(self, worker: str, load: float, *, came: bool) -> None:
        """Note that a chunk is over, or, if it never ``came``, lost or taken back."""
        self._chunks[worker] -= 1
        self._coming[worker] -= not came
        self._load[worker] = self.load(worker) - load

    def arrived(self, worker: str) -> None:
        """Note that a chunk is on its worker, which begins with it if it was idle."""
        if not self._here[worker]:
            self._since[worker] = time.monotonic()
        self._coming[worker] -= 1
        self._here[worker] += 1

    def computed(self, worker: str) -> None:
        """Note that a chunk is computed, and that the worker goes on with the next."""
        self._here[worker] -= 1
        self._since[worker] = time.monotonic()

    def has_room(self, worker: str) -> bool:
        """Whether a worker may get a chunk: none is on its way to it, and hardly any waits."""
        return not self._coming[worker] and self._chunks[worker] < AT_A_TIME

    def load(self, worker: str) -> float:
        """Return the load of these chunks."""
        return self._load.get(worker, 0.0)

    def left(self, worker: str, speed: float) -> float:
        """Return the load less what a worker of this speed has computed of its present chunk."""
        begun = self._here[worker] > 0
        done = speed * (time.monotonic() - self._since[worker]) if begun else 0.0
        return max(0.0, self.load(worker) - done)


def next_piece(
    rest: float,
    free: Sequence[str],
    left: Mapping[str, float],
    speeds: Mapping[str, float],
    least: Mapping[str, float],
) -> tuple[str, float] | None:
    """Return which of the ``free`` workers gets how much of the ``rest``; None: better to wait.

    If all workers ended together, each would have room for what it can compute until then beside
    what it has ``left``. The one that will be idle first gets a piece by factoring, not more than
    its room; one without room for half of what is worth a message (``least``) gets nothing while
    any worker is busy, as it would end last.

    >>> each = {"a": 1.0, "b": 1.0}
    >>> next_piece(9.0, ["a", "b"], {"a": 0.0, "b": 8.0}, speeds=each, least=each)
    ('a', 2.25)
    >>> next_piece(9.0, ["b"], {"a": 0.0, "b": 9.0}, speeds=each, least=each)
    """
    together = sum(speeds.values())
    end = (rest + sum(left.values())) / together
    room = {name: end * speeds[name] - left[name] for name in free}
    if any(left.values()):
        room = {name: units for name, units in room.items() if units >= least[name] / 2}
    if not room:
        return None
    name = min(room, key=lambda one: left[one] / speeds[one])
    amount = piece(rest, speeds[name], together, least[name])
    return name, min(amount, max(room[name], least[name]))
