"""Which worker of pytest-xdist runs which test, decided while the tests run.

A worker of xdist starts a test when it knows the next one, or that there is none. Whatever waits
behind a long test can't be given to anyone else. So a long test, the longest that is left, is
followed by the shortest one, and short ones are queued for a moment only. Near the end the rest is
planned anew with each test that ends; a worker that gets nothing of it may end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from xdist.scheduler import LoadScheduling
from xdist.workermanage import WorkerController

from pytest_makespan.durations import Durations
from pytest_makespan.units import HIGH, UNKNOWN, Pool, Unit, units_of
from pytest_makespan.worker import split_group

MOMENT = 0.1  # the longest that short tests wait in the queue of a worker, in seconds
LEAST = 0.01  # the shortest, for the way to the worker
MOMENTS = 50  # moments of the time that is left
PLANNED = 4  # units for each worker from which on the rest is planned
OFTEN = 1.25  # new tests are estimated anew when so many times as many have ended


class MakespanScheduling(LoadScheduling):  # type: ignore[misc] # xdist has no types
    """Longest tests first, each followed by a short one; scopes and shared fixtures together."""

    def __init__(
        self,
        config: pytest.Config,
        log: Any,
        durations: Durations,
        scope: str = "group",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(config, log)
        self.durations, self.scope, self.clock = durations, scope, clock
        self.pool = Pool([], 0)
        self.units: list[Unit] = []
        self.seconds: list[float] = []  # that each test may take
        self.owners: dict[int, Unit] = {}
        self.made: dict[WorkerController, set[str]] = {}  # fixtures of the session
        self.since: dict[WorkerController, float] = {}  # when the first of a queue may have begun
        self.began: float | None = None
        self.ended = 0
        self.estimate_at = 1.0
        self.high = math.inf

    @property
    def tests_finished(self) -> bool:
        queues = self.node2pending.values()
        return self.collection_is_completed and not self.pool and all(len(q) < 2 for q in queues)

    @property
    def has_pending(self) -> bool:
        return bool(self.pool) or any(self.node2pending.values())

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        if self.collection is not None:  # a worker in place of one that crashed
            collection = [split_group(name)[0] for name in collection]
        super().add_node_collection(node, collection)
        if node not in self.node2collection:  # it has other tests: it must not run any
            node.shutdown()

    def schedule(self) -> None:
        """Give tests out for the first time, or to workers that have come since."""
        assert self.collection_is_completed
        if self.collection is None:
            if not self._check_nodes_have_same_collection():
                self.log("**Different tests collected, aborting run**")
                return
            self._begin(next(iter(self.node2collection.values())))
        self._fill_all()

    def weights(self) -> list[float]:
        """Return what each unit took in this run, and each shared fixture once."""
        now = self.durations.now
        names = self.collection or []
        own = [math.fsum(now.get(names[test], 0.0) for test in unit.tests) for unit in self.units]
        return [*own, *self.durations.made.values()]

    def _begin(self, sent: Sequence[str]) -> None:
        split = [split_group(name) for name in sent]
        self.collection = [name for name, _ in split]
        groups = [group for _, group in split]
        self.began = self.clock()
        self.units = units_of(
            self.collection, groups, self.scope, self.durations, len(self.node2pending)
        )
        self.owners = {test: unit for unit in self.units for test in unit.tests}
        self._estimate()
        self.pool = Pool(self.units, len(self.node2pending))

    def _estimate(self) -> None:
        assert self.collection is not None
        estimates = self.durations.estimates(self.collection)
        found = [estimates[name] for name in self.collection]
        self.seconds = [UNKNOWN if each is None else each.seconds for each in found]
        known = sorted(each.seconds for each in found if each is not None and each.sure)
        self.high = known[int(HIGH * len(known))] if known else math.inf
        for unit in self.units:
            if not unit.sure:
                unit.seconds = math.fsum(self.seconds[test] for test in unit.tests)
                each = [found[test] for test in unit.tests]
                unit.sure = all(one is not None and one.sure for one in each)

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        self.node2pending[node].remove(item_index)
        self.since[node] = self.clock()
        assert self.collection is not None
        self.durations.record(self.collection[item_index], duration)
        self.ended += 1
        if self.pool.new and self.ended >= self.estimate_at:
            self.estimate_at = self.ended * OFTEN
            waiting = [unit for units in self.pool.new for unit in units]
            self._estimate()
            self.pool.settle(waiting)
        self._fill(node)

    def mark_test_pending(self, item: str) -> None:
        """Give a test out once more, as a plugin asks for that runs crashed tests again."""
        assert self.collection is not None
        self._take_back([self.collection.index(item)])
        self._fill_all()

    def remove_node(self, node: WorkerController) -> str | None:
        """Take a worker's tests back; return the one that it crashed in, if any."""
        queue = self.node2pending.pop(node)
        self.made.pop(node, None)
        self.since.pop(node, None)
        if not queue:
            return None
        assert self.collection is not None
        self._take_back(queue[1:])
        self._fill_all()
        return str(self.collection[queue[0]])

    def _take_back(self, tests: Sequence[int]) -> None:
        parts: dict[int, list[int]] = {}
        for test in tests:
            parts.setdefault(id(self.owners[test]), []).append(test)
        for part in parts.values():
            unit = self.owners[part[0]]
            rest = Unit(part, math.fsum(self.seconds[each] for each in part), True, unit.fixtures)
            self.owners.update(dict.fromkeys(part, rest))
            self.pool.add(rest)

    def _ready(self) -> list[WorkerController]:
        return [
            node
            for node in self.node2pending
            if node in self.node2collection and not node.shutting_down
        ]

    def _fill_all(self) -> None:
        for node in self._ready():
            self._fill(node)

    def _fill(self, node: WorkerController) -> None:
        """Give a worker what it needs in order to begin, and to be busy until it is heard of."""
        while not node.shutting_down:
            if not self.pool:
                for each in self._ready():
                    each.shutdown()
                return
            moment = self._moment()
            wanted = self._wanted(self.node2pending[node], moment)
            if wanted is None:
                return
            unit = self._pick(node, wanted, moment)
            if unit is not None:
                self._give(node, unit)
            elif wanted == "tail":
                return
            else:
                node.shutdown()

    def _moment(self) -> float:
        """Return for how long short tests may wait in a queue."""
        return min(MOMENT, max(LEAST, self.pool.left() / max(1, len(self._ready())) / MOMENTS))

    def _wanted(self, queue: list[int], moment: float) -> str | None:
        """Return what a worker lacks: the longest, the shortest, a short tail, or nothing."""
        long = [self.seconds[test] > moment for test in queue]
        if not queue or (len(queue) == 1 and not long[0]):
            return "longest"
        if len(queue) == 1:
            return "shortest"
        if any(long[:-1]):
            return None
        if long[-1]:
            return "tail"
        waits = math.fsum(self.seconds[test] for test in queue[1:])
        return None if waits >= moment else "longest"

    def _pick(self, node: WorkerController, wanted: str, moment: float) -> Unit | None:
        """Return the unit for a worker, out of the pool; None: nothing for it."""
        shortest = self._shortest(node)
        if wanted == "tail":
            fits = shortest is not None and shortest.seconds <= moment
            return self.pool.remove(shortest) if shortest is not None and fits else None
        ready = self._ready()
        if len(self.pool) > PLANNED * len(ready):
            if wanted == "shortest" and shortest is not None:
                return self.pool.remove(shortest)
            unit = self._longest(node)
            if self.pool.new and (unit is None or unit.seconds < self.high):
                return self.pool.next_new(node)
            if unit is not None:
                return self.pool.remove(unit)
        mine = self._planned(node, ready)
        if mine:
            return self.pool.remove(mine[-1] if wanted == "shortest" else mine[0])
        if shortest is not None and shortest.seconds <= moment and len(self.pool) > len(ready):
            return self.pool.remove(shortest)
        return None

    def _shortest(self, node: WorkerController) -> Unit | None:
        made = self.made.get(node, set())
        ends = [
            units[0] for fixtures, units in self.pool.known.items() if units and fixtures <= made
        ]
        return min(ends, key=lambda unit: (unit.seconds, -len(unit.fixtures)), default=None)

    def _longest(self, node: WorkerController) -> Unit | None:
        """Return the longest unit whose fixtures are there, or worth while to be made once more.

        Units of a fixture that only some workers have are as long as their share of each of these.
        """
        ready = self._ready()
        left = self.pool.left() / len(ready)
        best, longest = None, 0.0
        for fixtures, units in self.pool.known.items():
            if not units:
                continue
            having = [each for each in ready if fixtures <= self.made.get(each, set())]
            share = self.pool.seconds[fixtures] / max(1, len(having))
            if having and node not in having and share <= left:
                continue
            length = units[-1].seconds
            if len(having) < len(ready):
                length = max(length, share)
            if best is None or length > longest:
                best, longest = units[-1], length
        return best

    def _planned(self, node: WorkerController, ready: Sequence[WorkerController]) -> list[Unit]:
        """Return what a worker gets when each unit, longest first, goes where it ends first."""
        now = self.clock()
        ends = {}
        for each in ready:
            queue = self.node2pending[each]
            gone = now - self.since.get(each, now) if len(queue) > 1 else 0.0
            first = max(0.0, self.seconds[queue[0]] - gone) if queue else 0.0
            ends[each] = first + math.fsum(self.seconds[test] for test in queue[1:])
        made = {each: set(self.made.get(each, ())) for each in ready}
        mine = []
        for unit in sorted(self.pool, key=lambda unit: -unit.seconds):
            costs = {
                each: unit.seconds
                + math.fsum(self.durations.fixtures[name] for name in unit.fixtures - made[each])
                for each in ready
            }
            best = min(ready, key=lambda each: ends[each] + costs[each])
            ends[best] += costs[best]
            made[best] |= unit.fixtures
            if best is node:
                mine.append(unit)
        return mine

    def _give(self, node: WorkerController, unit: Unit) -> None:
        queue = self.node2pending[node]
        if not queue:
            self.since[node] = self.clock()
        self.made.setdefault(node, set()).update(unit.fixtures)
        queue.extend(unit.tests)
        node.send_runtest_some(unit.tests)
