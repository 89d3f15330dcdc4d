"""Units of tests that a worker runs one after another, and the pool of those not given out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from pytest_makespan.durations import Durations, class_of, file_of

UNKNOWN = 0.1  # seconds of a test where nothing at all is known
PARTS = 8  # parts of a worker's time into which tests of one costly fixture are cut
WORTH = 4  # seconds of tests for a second of the fixture that they share
HIGH = 0.9  # quantile of what is known by which a new test is taken for long


@dataclass(slots=True, eq=False)
class Unit:
    """Tests by index, what they take together, and the fixtures of the session that they need."""

    tests: list[int]
    seconds: float
    sure: bool = True
    fixtures: frozenset[str] = frozenset()


class Pool:
    """Units that no worker has: known ones by length, others in the order of the collection."""

    def __init__(self, units: Sequence[Unit], workers: int) -> None:
        self.known: dict[frozenset[str], deque[Unit]] = {}
        self.seconds: dict[frozenset[str], float] = {}  # of the known ones
        self.new: list[deque[Unit]] = []  # runs of neighbours, one to a worker
        self.walks: dict[object, deque[Unit]] = {}
        new = [unit for unit in units if not unit.sure]
        size = max(1, -(-len(new) // max(1, workers)))
        self.new = [deque(new[at : at + size]) for at in range(0, len(new), size)]
        self.unowned = list(self.new)
        self.new_seconds = math.fsum(unit.seconds for unit in new)
        self._sort([unit for unit in units if unit.sure])

    def __iter__(self) -> Iterator[Unit]:
        for units in (*self.known.values(), *self.new):
            yield from units

    def __len__(self) -> int:
        return sum(map(len, self.known.values())) + sum(map(len, self.new))

    def left(self) -> float:
        """Return the seconds of all."""
        return sum(self.seconds.values()) + self.new_seconds

    def _sort(self, units: Sequence[Unit]) -> None:
        """Sort units in among the known ones."""
        rest = [each for units in self.known.values() for each in units]
        self.known, self.seconds = {}, {}
        for unit in sorted([*units, *rest], key=lambda unit: (unit.seconds, -unit.tests[0])):
            self.known.setdefault(unit.fixtures, deque()).append(unit)
            self.seconds[unit.fixtures] = self.seconds.get(unit.fixtures, 0.0) + unit.seconds

    def add(self, unit: Unit) -> None:
        """Take a unit back."""
        self._sort([unit])

    def remove(self, unit: Unit) -> Unit:
        units = self.known.get(unit.fixtures, deque())
        if units and unit is units[-1]:
            units.pop()
        elif units and unit is units[0]:
            units.popleft()
        else:
            units = next(each for each in (units, *self.new) if unit in each)
            units.remove(unit)
        if unit.sure:
            self.seconds[unit.fixtures] -= unit.seconds
        else:
            self.new_seconds -= unit.seconds
        return unit

    def next_new(self, worker: object) -> Unit | None:
        """Give a worker the neighbour of what it had, or half of the longest run that is left."""
        own = self.walks.get(worker)
        if not own:
            if self.unowned:
                own = self.unowned.pop(0)
            else:
                longest = max(self.new, key=len, default=deque[Unit]())
                own = deque(longest.pop() for _ in range((len(longest) + 1) // 2))
                own.reverse()
                self.new.append(own)
            self.walks[worker] = own
            self.new = [units for units in self.new if units]
        if not own:
            return None
        self.new_seconds -= own[0].seconds
        return own.popleft()

    def settle(self, units: Sequence[Unit]) -> None:
        """Sort units in among the known ones that were new before."""
        settled = [unit for unit in units if unit.sure]
        for run in self.new:
            kept = [unit for unit in run if not unit.sure]
            run.clear()
            run.extend(kept)
        self.new = [units for units in self.new if units]
        self.new_seconds = math.fsum(unit.seconds for units in self.new for unit in units)
        self.unowned = [units for units in self.unowned if units]
        self._sort(settled)


def units_of(
    tests: Sequence[str],
    groups: Sequence[str | None],
    scope: str,
    durations: Durations,
    workers: int,
) -> list[Unit]:
    """Return the units of a collection, in its order.

    Groups, and scopes that are asked for, stay whole. Tests that share a costly fixture of a
    module, package or class stand together, since it is torn down when another test comes
    between; they are cut into parts, where one worker would be busy with them for too long.
    """
    estimates = durations.estimates(tests)
    each_of = [estimates[test] for test in tests]
    seconds = [UNKNOWN if found is None else found.seconds for found in each_of]
    sure = [found is not None and found.sure for found in each_of]
    share = math.fsum(seconds) / max(1, workers)
    together: dict[Hashable, list[int]] = {}
    shared: dict[Hashable, float] = {}  # seconds of what is made for each part
    for index, test in enumerate(tests):
        costly = frozenset(
            each for each in durations.fixtures_of(test) if not each.startswith("session ")
        )
        key: Hashable = index
        if groups[index] is not None:
            key = "group", groups[index]
        elif scope != "group":
            key = file_of(test) if scope == "module" else class_of(test)
        elif costly:
            key = costly
            shared[key] = math.fsum(durations.fixtures[each] for each in costly)
        together.setdefault(key, []).append(index)
    found = []
    for key, members in together.items():
        once = shared.get(key, 0.0)
        most = max(share / PARTS, min(WORTH * once, share / 2), once) if once else math.inf
        for part in _cut(members, seconds, most):
            needs = frozenset[str]().union(*(durations.fixtures_of(tests[each]) for each in part))
            found.append(
                Unit(
                    part,
                    once + math.fsum(seconds[each] for each in part),
                    all(sure[each] for each in part),
                    frozenset(each for each in needs if each.startswith("session ")),
                )
            )
    return sorted(found, key=lambda unit: unit.tests[0])


def _cut(members: list[int], seconds: Sequence[float], most: float) -> Iterator[list[int]]:
    """Cut neighbours into the fewest parts of about ``most`` seconds, about alike."""
    total = math.fsum(seconds[each] for each in members)
    size = total / max(1, math.ceil(total / most))
    part: list[int] = []
    taken = 0.0
    for each in members:
        if part and taken + seconds[each] / 2 > size:
            yield part
            part, taken = [], 0.0
        part.append(each)
        taken += seconds[each]
    yield part
