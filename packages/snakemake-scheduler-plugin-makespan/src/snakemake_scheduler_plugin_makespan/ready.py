"""The jobs that are ready, in order, from which those are taken that fit."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Mapping, Set
from typing import Any

Key = tuple[float, ...]
Demand = tuple[int, ...]
FEW = 64  # new jobs that are put in one by one; more are sorted in


class Ready:
    """Keeps the order from call to call, so that a call pays for new jobs and a scan only.

    The scan ends where some resource is scarcer than the least that any job asks of it. A job
    whose demand equals one that was refused is passed over by one look-up.
    """

    def __init__(self, key: Callable[[Any], Key]) -> None:
        self._key = key
        self._entries: list[tuple[Key, int, Any, Demand]] = []
        self._known: set[Any] = set()
        self._names: tuple[str, ...] = ()
        self._least: list[int] = []
        self._count = 0

    def take(self, jobs: Collection[Any], available: Mapping[str, Any]) -> list[Any]:
        """Return jobs in order, each that fits beside those before it."""
        names = tuple(name for name, value in available.items() if not isinstance(value, str))
        if names != self._names:  # demands are tuples over these
            self._entries, self._known, self._names = [], set(), names
            self._least = []
        present = jobs if isinstance(jobs, (set, frozenset)) else set(jobs)
        self._add(jobs, present - self._known)
        free = [int(available[name]) for name in names]
        taken: list[Any] = []
        kept: list[tuple[Key, int, Any, Demand]] = []
        refused: set[Demand] = set()
        scanned = 0
        for scanned, entry in enumerate(self._entries):  # noqa: B007
            if any(map(int.__lt__, free, self._least)):
                break
            _, _, job, demand = entry
            if job not in present:
                self._known.discard(job)
            elif demand in refused:
                kept.append(entry)
            elif any(map(int.__lt__, free, demand)):
                refused.add(demand)
                kept.append(entry)
            else:
                free = [have - need for have, need in zip(free, demand, strict=True)]
                taken.append(job)
        else:
            scanned = len(self._entries)
        self._entries[:scanned] = kept
        self._known.difference_update(taken)
        return taken

    def _add(self, jobs: Collection[Any], new: Set[Any]) -> None:
        if not new:
            return
        interned: dict[Demand, Demand] = {}
        entries = []
        for job in jobs:
            if job in new:
                demand = demand_of(job, self._names)
                demand = interned.setdefault(demand, demand)
                self._count += 1  # equal keys: in the order in which they came
                entries.append((self._key(job), self._count, job, demand))
        for demand in interned:
            self._least = list(map(min, self._least, demand)) if self._least else list(demand)
        if len(entries) <= FEW:
            for entry in entries:
                insort(self._entries, entry)
        else:
            self._entries.extend(entries)
            self._entries.sort()
        self._known |= new


def demand_of(job: Any, names: Collection[str]) -> Demand:
    """Return what a job asks of each resource; what is not a number asks nothing."""
    resources = job.scheduler_resources
    found = map(resources.get, names)
    return tuple([0 if each is None or isinstance(each, str) else int(each) for each in found])
