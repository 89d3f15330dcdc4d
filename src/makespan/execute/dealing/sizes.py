"""Which worker gets the next chunk, and how many items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from makespan.execute.dealing.backlog import AHEAD
from makespan.execute.dealing.costs import FIRST, PER_CHUNK
from makespan.execute.dealing.items import Stream
from makespan.execute.dealing.pool import Range
from makespan.execute.dealing.state import State

PIECES = 2.0  # a worker gets its share of the rest divided by this
MAX_BOUND = 0.05  # of the work, that is ahead of a worker
AMPLE = 3.0  # times what is worth a message: more only makes the end ragged
FEW = 16  # items for each thread, where all of them together are known to be worth two messages
HELD = 2**27  # bytes that are ahead of all workers together, or read of a stream: 128 MiB
WORTH = 2**21  # bytes that a chunk may have in any case: 2 MiB
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
        if self.items.order is not None:  # what an item takes is known: it waits for who has room
            end = (load + sum(left.values())) / sum(speeds.values())
            item = self.items.load_of(first.low, first.low + 1)
            free = [one for one in free if not left[one] or end * speeds[one] - left[one] >= item]
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
        return name, self.pool.take(min(amount, self._fitting(name)), self.run.job.batch_size)

    @property
    def few(self) -> bool:
        """Whether there are so few items that each worker gets its share at once."""
        if isinstance(self.items, Stream):
            return False
        workers = self.run.engine.workers.values()
        if len(self.items) <= AHEAD * sum(worker.threads for worker in workers):
            return True
        if self.many:
            return False
        least = [self.costs.least(worker.name, len(workers)) for worker in workers]
        return all(least) and self.items.load <= AHEAD * sum(least)

    @property
    def many(self) -> bool:
        """Whether there are so many items that what sending them costs is worth to be learnt."""
        most = FEW * sum(worker.threads for worker in self.run.engine.workers.values())
        return isinstance(self.items, Stream) or len(self.items) > most

    def _threads(self, name: str) -> int:
        threads: int = self.run.engine.workers[name].threads
        return threads

    def _has_room(self, name: str) -> bool:
        """Whether a worker may get a chunk, fewer if they take long, or nobody knows."""
        long = self.costs.due(name, self._threads(name) * self.run.item) > LONG
        return self.backlog.has_room(name, long=long)

    def _fitting(self, name: str) -> float:
        """Return the units of a chunk for which there is memory, an item a thread at least."""
        unit, chunks = self.costs.unit_bytes, (AHEAD + 1) * len(self.run.engine.workers)
        fitting = max(WORTH, HELD / chunks) / unit if unit else math.inf
        return max(self._threads(name) * self.run.item, fitting)

    def _most(self, name: str, least: float) -> float:
        """Return how many units a chunk for a worker holds at most."""
        one = self._threads(name) * self.run.item
        first = one if not self.backlog.of(name) else FIRST * one
        bound = MAX_BOUND / AHEAD * self.items.load
        bound = min(bound, max(bound / 2, AMPLE * least))
        if not (self.many or self.run.job.batched):  # what is not begun can be taken back
            bound = max(bound, least)
        return min(self.costs.most(name, first), max(one, bound))


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
    Source: S. F. Hummel, J. Schmidt, R. N. Uma, J. Wein, Load-sharing in heterogeneous systems via
    weighted factoring, SPAA 1996: each batch is half of what is left.

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
