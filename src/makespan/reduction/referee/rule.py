"""The order in which the greedy rule and backfilling let machines send.

Written from the statement: of all leaves (of one segment after another, or of all segments), the
one that can start first sends next; ties go to the lowest segment, then to the lowest machine.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop
from makespan.reduction.problem import ROOT, Reduction


def turns(problem: Reduction, parents: Integers) -> tuple[Integers, Integers]:
    """Return sender and segment of every send of given trees, in the order of the rule.

    Times are whole numbers where they have a common unit, so that ties are ties.
    """
    grid = problem.grid
    unit, parts = (float(1 / grid[0]), float(grid[1])) if grid else (1.0, 1.0)

    def scaled(values: Any, by: float) -> Any:
        table = np.asarray(values, dtype=float)
        return np.rint(table * by) if grid else table

    machines = np.arange(len(problem.machines))[:, None]
    size = scaled(problem.sizes, parts)
    # the root's row is never read
    delays = scaled(problem.latencies[machines, parents], unit * parts)
    lasts = scaled(problem.transfers[machines, parents], unit) * size
    works = scaled(problem.reduces[parents], unit) * size
    order = _turns.at(parents.size)(parents, delays, lasts, works, problem.order == "backfilling")
    return order[:, 0], order[:, 1]


@loop(pays_from=2_000)
def _turns(parents: Any, delays: Any, lasts: Any, works: Any, backfilling: bool) -> Any:
    """Return rows (machine, segment).

    Every receiver has two queues of the leaves that send to it: those that only wait for it go
    in the order of their latencies, the longest first; all others in the order of when they can
    start. It calls for its first leaf, as far as it knows; of all calls the least is answered.
    Of the leaves that a sender holds up itself, only the lowest segment stands in a queue.
    """
    machines, segments = parents.shape
    complete = np.zeros((machines, segments))
    sending = np.zeros(machines)
    receiving = np.zeros(machines)
    combining = np.zeros(machines)
    waits = np.zeros((machines, segments), np.int32)
    gone = np.zeros((machines, segments), np.bool_)
    patient = np.zeros((machines, segments), np.bool_)  # waits for its receiver only
    soon = [[(0.0, 0, 0)] for _ in range(machines)]
    late = [[(0.0, 0, 0)] for _ in range(machines)]
    kept = np.zeros((machines, segments), np.bool_)  # waits for its sender
    own = [[0] for _ in range(machines)]
    call = [(np.inf, 0, 0) for _ in range(machines)]
    for machine in range(machines):
        soon[machine].pop()
        late[machine].pop()
        own[machine].pop()
        if machine != ROOT:
            for segment in range(segments):
                waits[parents[machine, segment], segment] += 1
    order = np.zeros(((machines - 1) * segments, 2), np.int64)
    count = 0
    calls = [(0.0, 0, 0)]
    calls.pop()
    new = [(0, 0)]
    new.pop()
    for phase in range(1 if backfilling else segments):
        low, high = (0, segments) if backfilling else (phase, phase + 1)
        for machine in range(1, machines):
            for segment in range(low, high):
                if waits[machine, segment] == 0:
                    new.append((segment, machine))
        while len(new) > 0 or len(calls) > 0:
            while len(new) > 0:
                segment, machine = new.pop()
                to = parents[machine, segment]
                entry = (max(complete[machine, segment], sending[machine]), segment, machine)
                heappush(late[to], entry)
                if entry < call[to]:
                    call[to] = entry
                    heappush(calls, entry)
            answered = heappop(calls)
            to = parents[answered[2], answered[1]]
            if answered != call[to]:
                continue
            first = (np.inf, 0, 0)
            while len(late[to]) > 0:
                when, segment, machine = late[to][0]
                able = max(complete[machine, segment], sending[machine])
                behind = kept[machine, segment] and own[machine][0] != segment
                if gone[machine, segment] or patient[machine, segment] or behind:
                    heappop(late[to])
                elif able > when:
                    heappop(late[to])
                    if not kept[machine, segment]:
                        kept[machine, segment] = True
                        heappush(own[machine], segment)
                    if own[machine][0] == segment:
                        heappush(late[to], (able, segment, machine))
                elif able <= receiving[to] - delays[machine, segment]:
                    heappop(late[to])
                    heappush(soon[to], (-delays[machine, segment], segment, machine))
                    patient[machine, segment] = True
                    if kept[machine, segment]:
                        kept[machine, segment] = False
                        heappop(own[machine])
                        if len(own[machine]) > 0:
                            new.append((own[machine][0], machine))
                else:
                    first = late[to][0]
                    break
            while len(soon[to]) > 0:
                minus, segment, machine = soon[to][0]
                when = receiving[to] + minus
                able = max(complete[machine, segment], sending[machine])
                if gone[machine, segment]:
                    heappop(soon[to])
                    continue
                entry = (max(able, when), segment, machine)
                if able > when:
                    heappop(soon[to])
                    patient[machine, segment] = False
                    kept[machine, segment] = True
                    heappush(own[machine], segment)
                    if own[machine][0] != segment:
                        continue
                    heappush(late[to], entry)
                if entry < first:  # noqa: PLR1730 - Numba compares tuples, but has no least of them
                    first = entry
                if able <= when:
                    break
            call[to] = first
            if first != answered:
                if first[0] < np.inf:
                    heappush(calls, first)
                continue
            start, segment, machine = first
            order[count, 0] = machine
            order[count, 1] = segment
            count += 1
            gone[machine, segment] = True
            after = start + lasts[machine, segment]
            sending[machine] = after
            receiving[to] = start + delays[machine, segment] + lasts[machine, segment]
            combining[to] = max(combining[to], receiving[to]) + works[machine, segment]
            complete[to, segment] = combining[to]
            heappush(calls, first)  # the receiver calls again
            if kept[machine, segment]:
                kept[machine, segment] = False
                heappop(own[machine])
                if len(own[machine]) > 0:
                    new.append((own[machine][0], machine))
            waits[to, segment] -= 1
            if waits[to, segment] == 0 and to != ROOT:
                new.append((segment, to))
    return order
