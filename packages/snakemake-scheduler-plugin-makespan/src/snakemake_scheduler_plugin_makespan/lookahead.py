"""Which order of the jobs ends first, by list scheduling of the whole graph in advance."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

Demand = tuple[int, ...]


def end_of(
    keys: Sequence[tuple[float, ...]],
    seconds: Sequence[float],
    needs: Sequence[Sequence[int]],
    demands: Sequence[Demand],
    capacity: Demand,
    most: int,
) -> float | None:
    """Return when the last job ends, each started as soon as it is ready and fits, least key first.

    None if that takes more than ``most`` looks at a job, or a job never fits.
    """
    dependents: list[list[int]] = [[] for _ in needs]
    for job, places in enumerate(needs):
        for need in places:
            dependents[need].append(job)
    waiting = [len(each) for each in needs]
    ready = [(keys[job], job) for job, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    least = tuple(map(min, zip(*demands, strict=True)))
    running: list[tuple[float, int]] = []
    free, now, looks = list(capacity), 0.0, 0
    while ready or running:
        refused: set[Demand] = set()
        aside = []
        while ready and not any(map(int.__lt__, free, least)):
            looks += 1
            entry = heapq.heappop(ready)
            job = entry[1]
            demand = demands[job]
            if demand in refused or any(map(int.__lt__, free, demand)):
                refused.add(demand)
                aside.append(entry)
            else:
                free = [have - need for have, need in zip(free, demand, strict=True)]
                heapq.heappush(running, (now + seconds[job], job))
        if looks > most or not running:
            return None
        for entry in aside:
            heapq.heappush(ready, entry)
        now = running[0][0]
        while running and running[0][0] <= now:
            job = heapq.heappop(running)[1]
            free = [have + need for have, need in zip(free, demands[job], strict=True)]
            for each in dependents[job]:
                waiting[each] -= 1
                if not waiting[each]:
                    heapq.heappush(ready, (keys[each], each))
    return now
