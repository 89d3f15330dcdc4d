"""The rules that turn trees or sequences into an order of sends.

Times are whole numbers of a common unit where there is one, else floats. Machines and segments
are counted from 0. The loops are plain Python over arrays, and are compiled for large inputs.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.schedule import Integers
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends

COMPILED_FROM = 50_000


def by_rule(parents, transfer, latency, reduce, size, backfilling):  # type: ignore[no-untyped-def]
    """Commit, again and again, the ready leaf that can start first.

    With ``backfilling`` among the leaves of all segments (ties: lowest segment, then lowest
    machine), else segment after segment (ties: lowest machine), as in paper 000. A machine is a
    leaf of a segment when it has received all that it waits for. A start never gets earlier, so
    the heap holds lower bounds, renewed when they come to the top.
    """
    machines, segments = parents.shape
    sending = np.zeros(machines, latency.dtype)
    receiving = np.zeros(machines, latency.dtype)
    combining = np.zeros(machines, latency.dtype)
    ready = np.zeros(parents.shape, latency.dtype)
    waits = np.zeros(parents.shape, np.int64)
    for machine in range(1, machines):
        for segment in range(segments):
            waits[parents[machine, segment], segment] += 1
    senders = np.empty((machines - 1) * segments, np.int64)
    sent = np.empty((machines - 1) * segments, np.int64)
    count = 0
    heap = [(latency[0, 0] * 0, 0, 0)]
    heap.pop()
    for opened in range(segments):
        for machine in range(1, machines):
            if waits[machine, opened] == 0:
                heappush(heap, (latency[0, 0] * 0, opened, machine))
        if backfilling and opened < segments - 1:
            continue
        while len(heap) > 0:
            bound, segment, machine = heappop(heap)
            target = parents[machine, segment]
            delay = latency[machine, target]
            start = max(ready[machine, segment], sending[machine], receiving[target] - delay)
            if start > bound:
                heappush(heap, (start, segment, machine))
                continue
            lasts = transfer[machine, target] * size[segment]
            sending[machine] = start + lasts
            receiving[target] = start + delay + lasts
            done = max(combining[target], receiving[target]) + reduce[target] * size[segment]
            combining[target] = done
            ready[target, segment] = done
            senders[count] = machine
            sent[count] = segment
            count += 1
            waits[target, segment] -= 1
            if waits[target, segment] == 0 and target != 0:
                heappush(heap, (done, segment, target))
    return senders, sent, combining[0]


def by_sequence(  # type: ignore[no-untyped-def]
    sequences, parents, transfer, latency, reduce, size
):
    """Commit, again and again, the next send of a machine that can start first.

    Ties: lowest segment, then lowest machine. Returns fewer sends than there are in a deadlock.
    """
    machines, segments = parents.shape
    sending = np.zeros(machines, latency.dtype)
    receiving = np.zeros(machines, latency.dtype)
    combining = np.zeros(machines, latency.dtype)
    ready = np.zeros(parents.shape, latency.dtype)
    waits = np.zeros(parents.shape, np.int64)
    position = np.zeros(machines, np.int64)
    for machine in range(1, machines):
        for segment in range(segments):
            waits[parents[machine, segment], segment] += 1
    senders = np.empty((machines - 1) * segments, np.int64)
    sent = np.empty((machines - 1) * segments, np.int64)
    count = 0
    heap = [(latency[0, 0] * 0, 0, 0)]
    heap.pop()
    for machine in range(1, machines):
        if waits[machine, sequences[machine, 0]] == 0:
            heappush(heap, (latency[0, 0] * 0, sequences[machine, 0], machine))
    while len(heap) > 0:
        bound, segment, machine = heappop(heap)
        target = parents[machine, segment]
        delay = latency[machine, target]
        start = max(ready[machine, segment], sending[machine], receiving[target] - delay)
        if start > bound:
            heappush(heap, (start, segment, machine))
            continue
        lasts = transfer[machine, target] * size[segment]
        sending[machine] = start + lasts
        receiving[target] = start + delay + lasts
        done = max(combining[target], receiving[target]) + reduce[target] * size[segment]
        combining[target] = done
        ready[target, segment] = done
        senders[count] = machine
        sent[count] = segment
        count += 1
        waits[target, segment] -= 1
        position[machine] += 1
        if position[machine] < segments:
            following = sequences[machine, position[machine]]
            if waits[machine, following] == 0:
                heappush(heap, (sending[machine], following, machine))
        free = target != 0 and waits[target, segment] == 0
        if free and sequences[target, position[target]] == segment:
            heappush(heap, (done, segment, target))
    return senders[:count], sent[:count], combining[0]


class Tables(NamedTuple):
    """The costs as the rules take them: whole numbers of a common unit where there is one."""

    transfer: Any
    latency: Any
    reduce: Any
    size: Any
    unit: Fraction | None


def tables_of(problem: Reduction) -> Tables:
    """Return the costs of a problem for the rules."""
    grid = problem.grid
    if grid is None:
        return float_tables_of(problem)
    unit, parts = grid

    def whole(values: Any, scale: Fraction) -> Any:
        return np.rint(np.asarray(values) * float(scale)).astype(np.int64)

    return Tables(
        whole(problem.transfers, 1 / unit),
        whole(problem.latencies, parts / unit),
        whole(problem.reduces, 1 / unit),
        whole(problem.sizes, Fraction(parts)),
        unit / parts,
    )


def float_tables_of(problem: Reduction) -> Tables:
    """Return the costs of a problem in seconds."""
    return Tables(
        np.ascontiguousarray(problem.transfers),
        np.ascontiguousarray(problem.latencies),
        np.ascontiguousarray(problem.reduces),
        np.ascontiguousarray(problem.sizes),
        None,
    )


def ordered_by_rule(
    problem: Reduction, parents: Integers, order: str, tables: Tables | None = None
) -> tuple[Sends, Any]:
    """Return the sends of trees in the order of a rule, and the makespan in the tables' unit.

    ``parents`` has a row per machine and a column per segment, counted from 0.
    """
    tables = tables or tables_of(problem)
    rule: Any = by_rule
    if parents.size >= COMPILED_FROM:
        from makespan.reduction.kernels import by_rule_compiled as rule
    sender, segment, end = rule(parents, *tables[:4], order == "backfilling")
    return _as_sends(parents, sender, segment), end


def ordered_by_sequence(
    problem: Reduction, parents: Integers, sequences: Integers, tables: Tables | None = None
) -> tuple[Sends, Any]:
    """Return the sends of given successions of segments, and the makespan in the tables' unit.

    ``sequences[machine]`` lists the segments in the order of sending; the root's row is unused.
    In a deadlock there are fewer sends than the plan has.
    """
    tables = tables or tables_of(problem)
    rule: Any = by_sequence
    if parents.size >= COMPILED_FROM:
        from makespan.reduction.kernels import by_sequence_compiled as rule
    sender, segment, end = rule(sequences, parents, *tables[:4])
    return _as_sends(parents, sender, segment), end


def _as_sends(parents: Integers, sender: Integers, segment: Integers) -> Sends:
    return Sends(
        sender=sender,
        receiver=parents[sender, segment],
        segment=segment,
        final=np.zeros(len(sender), dtype=bool),
    )


def deadlock(parents: Integers, sequences: Integers, sends: Sends) -> tuple[tuple[int, int], ...]:
    """Return the cycle of (machine, segment) sends that wait for each other, counted from 0.

    The next send of each machine waits for a segment from another machine, whose own next send
    waits in turn. Empty where the plan runs to its end.
    """
    _machines, segments = parents.shape
    done = np.zeros(parents.shape, dtype=bool)
    done[sends.sender, sends.segment] = True
    done[0] = True
    position = done.sum(axis=1)
    path: list[tuple[int, int]] = []
    seen: list[int] = []
    stuck = np.flatnonzero(position < segments)
    if not len(stuck):
        return ()
    machine = int(stuck[0])
    while machine not in seen:
        segment = int(sequences[machine, position[machine]])
        seen.append(machine)
        path.append((machine, segment))
        missing = (parents[:, segment] == machine) & ~done[:, segment]
        machine = int(np.flatnonzero(missing)[0])
    return tuple(path[seen.index(machine) :])
