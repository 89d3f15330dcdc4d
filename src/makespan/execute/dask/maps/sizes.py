"""Which worker gets the next chunk, and how many items."""

from __future__ import annotations

import math
from collections.abc import Sequence

from makespan.execute.dask.cluster.items import Stream
from makespan.execute.dask.maps.backlog import AHEAD, next_piece
from makespan.execute.dask.maps.costs import FIRST, PER_CHUNK
from makespan.execute.dask.maps.pool import Range
from makespan.execute.dask.maps.state import State

MAX_BOUND = 0.05  # of the work, that is ahead of a worker
AMPLE = 3.0  # times what is worth a message: more only makes the end ragged
FEW = 16  # items for each thread, where all of them together are known to be worth two messages
LONG = 1.0  # seconds of an item, from which one of them waits on a worker, not two


class Sizes:
    """Deals out the pool of a run, by what is known of all workers' costs, and what is left."""

    def __init__(self, run: State) -> None:
        self.run, self.costs, self.backlog = run, run.costs, run.backlog
        self.items, self.pool = run.items, run.pool

    def next(self, names: Sequence[str]) -> tuple[str, Range] | None:
        """Take a piece for the one of these workers that will be idle first, if any has room."""
        costs, backlog = self.costs, self.backlog
        idle = {name: backlog.idle(name, self._threads(name)) for name in names}
        free = [name for name in names if idle[name] or self._has_room(name)]
        if not free:
            return None
        speeds = {name: costs.speed(name) for name in names}
        left = {name: backlog.left(name, speeds[name]) for name in names}
        least = {name: costs.least(name, len(names)) for name in names}
        few, load, first = self.few, self.pool.load, self.pool.first
        if first is None:
            return None
        if first.long:  # nobody knows how long
            load = self.items.load_of(first.low, first.high)
            speeds = {name: float(self._threads(name)) for name in names}
            left = {name: backlog.items(name) * self.run.item for name in names}
            least = dict.fromkeys(names, 0.0)
        those = [name for name in free if idle[name]] or free
        found = next_piece(load, those, left, speeds, least, tiny=PER_CHUNK, few=few)
        if found is None:
            return None
        name, amount = found
        if few or first.long:
            amount = self.run.item * math.floor(amount / self.run.item + 0.5)
        else:
            most = max(least[name], costs.in_time(name, left[name]))
            amount = min(amount, most, self._most(name, least[name]))
        return name, self.pool.take(amount, self.run.job.batch_size)

    @property
    def few(self) -> bool:
        """Whether there are so few items that each worker gets its share at once."""
        if isinstance(self.items, Stream):
            return False
        members = self.run.crew.members.values()
        threads = sum(member.threads for member in members)
        if len(self.items) <= AHEAD * threads:
            return True
        if self.many:
            return False
        least = [self.costs.least(member.name, len(members)) for member in members]
        return all(least) and self.items.load <= AHEAD * sum(least)

    @property
    def many(self) -> bool:
        """Whether there are so many items that what sending them costs is worth to be learnt."""
        members = self.run.crew.members.values()
        most = FEW * sum(member.threads for member in members)
        return isinstance(self.items, Stream) or len(self.items) > most

    def _threads(self, name: str) -> int:
        return self.run.crew.members[name].threads

    def _has_room(self, name: str) -> bool:
        """Whether a worker may get a chunk, fewer if they take long, or nobody knows."""
        long = self.costs.due(name, self._threads(name) * self.run.item) > LONG
        return self.backlog.has_room(name, long=long)

    def _most(self, name: str, least: float) -> float:
        """Return how many units a chunk for a worker holds at most."""
        one = self._threads(name) * self.run.item
        first = one if not self.backlog.of(name) else FIRST * one
        bound = MAX_BOUND / AHEAD * self.items.load
        bound = min(bound, max(bound / 2, AMPLE * least))
        if not (self.many or self.run.job.batched):  # what is not begun can be taken back
            bound = max(bound, least)
        return min(self.costs.most(name, first), max(one, bound))
