"""When segments along given trees have arrived, by the times of a problem, in list order."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan import Reduction, check
from makespan.reduction.heuristics.symmetry import schedule_at


def along_trees(problem: Reduction, trees: list[Any], times: int) -> float:
    """Return when segments along given trees have arrived: of those that can start, the one with
    the longest way to go goes first.
    """
    machines = len(problem.machines)
    dealt = [0] * machines
    copies: list[tuple[int, int, int]] = []
    for root, count, links in trees:
        for _ in range(count * times):
            segment = root + machines * dealt[root]
            dealt[root] += 1
            copies += [(giver, taker, segment) for giver, taker in links]
    table = np.array(copies)
    exits, entries = problem.ports_of(table[:, 0], table[:, 1])
    lasts = problem.transfers[table[:, 0], table[:, 1]].tolist()
    below: dict[tuple[int, int], list[int]] = {}
    for row, (giver, _, segment) in enumerate(copies):
        below.setdefault((giver, segment), []).append(row)
    left = lasts.copy()
    for segment in range(problem.items):
        order = [(segment % machines, segment)]
        for key in order:
            order += [(copies[row][1], segment) for row in below.get(key, [])]
        longest: dict[int, float] = {}
        for giver, _ in reversed(order):
            for row in below.get((giver, segment), []):
                left[row] += longest.get(copies[row][1], 0.0)
                longest[giver] = max(longest.get(giver, 0.0), left[row])
    return _listed(problem, table, exits.tolist(), entries.tolist(), lasts, left, below)


def _listed(
    problem: Reduction, copies: Any, exits: list[int], entries: list[int], lasts: list[float],
    left: list[float], below: dict[tuple[int, int], list[int]],
) -> float:  # fmt: skip
    """Return the refereed makespan of list scheduling by what is left to go."""
    machines = len(problem.machines)
    start = np.zeros(len(copies))
    waiting: list[list[tuple[float, int]]] = [[] for _ in range(max(exits) + 1)]
    events: list[tuple[float, int]] = []  # when what arrives
    for segment in range(problem.items):
        for row in below[segment % machines, segment]:
            heappush(waiting[exits[row]], (-left[row], row))
    out_free, in_free = [0.0] * len(waiting), [0.0] * (max(entries) + 1)
    now = 0.0
    while True:
        ready = [port for port, queued in enumerate(waiting) if queued and out_free[port] <= now]
        for port in sorted(ready, key=lambda port: waiting[port][0]):
            queued = waiting[port]
            passed: list[tuple[float, int]] = []
            while queued and out_free[port] <= now:
                each = heappop(queued)
                row = each[1]
                if in_free[entries[row]] > now:
                    passed.append(each)
                    continue
                start[row] = now
                out_free[port] = in_free[entries[row]] = now + lasts[row]
                heappush(events, (now + lasts[row], row))
            for each in passed:
                heappush(queued, each)
        if not events:
            break
        now, row = heappop(events)
        arrived = [row]
        while events and events[0][0] <= now:
            arrived.append(heappop(events)[1])
        for row in arrived:
            for following in below.get((int(copies[row, 1]), int(copies[row, 2])), []):
                heappush(waiting[exits[following]], (-left[following], following))
    schedule = schedule_at(problem, copies, start)
    assert check(problem, schedule).ok
    return float(schedule.makespan)
