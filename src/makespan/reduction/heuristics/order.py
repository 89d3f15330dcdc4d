"""The rules that turn trees or sequences into an order of sends, and plans that are given.

Times are whole numbers of a common unit where there is one, else floats. Machines and segments
are counted from 0. The loops are plain Python over arrays, and are compiled for large inputs.
"""

from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.reduction.heuristics import start_of, worked
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.sends import Sends, Tables, tables_of

WATCHED_FROM = 5_000
GREEDY, BACKFILLING, SEQUENCES = 0, 1, 2
RULES = {"greedy": GREEDY, "backfilling": BACKFILLING}
LOOSE, BLOCKED, HELD, SENT = 0, 1, 2, 3
NO_SEQUENCES = np.zeros((0, 0), dtype=np.int64)


@loop(pays_from=2_000)
def commit(  # type: ignore[no-untyped-def]
    parents, sequences, transfer, latency, reduce, size, rule, stop
):
    """Commit, again and again, the ready send that can start first; return all in that order.

    ``GREEDY``: of the leaves of one segment after another (ties: lowest machine), as in the array
    reduction notebook.
    ``BACKFILLING``: of the leaves of all segments (ties: lowest segment, then lowest machine).
    ``SEQUENCES``: of the next sends of all machines (ties as before); fewer than all in a
    deadlock. A machine is a leaf of a segment when it has received all that it waits for.
    Fewer than all are returned as soon as ``stop`` says so, too.

    A start never gets earlier, so the heap holds lower bounds, renewed when they come to the top.
    Sends that wait for one receiver start in the order of their latencies, whenever it is free:
    only the first of them stands in the heap, the others in the receiver's ``pool``. Of sends that
    wait for their sender only that of the lowest segment stands there, the others are ``held``.
    """
    machines, segments = parents.shape
    # tables are 1 x 1 where all entries are equal
    far, wide = min(1, latency.shape[0] - 1), min(1, transfer.shape[0] - 1)
    own = min(1, reduce.shape[0] - 1)
    sending = np.zeros(machines, latency.dtype)
    receiving = np.zeros(machines, latency.dtype)
    combining = np.zeros(machines, latency.dtype)
    ready = np.zeros(parents.shape, latency.dtype)
    waits = np.zeros(parents.shape, np.int32)
    state = np.zeros(parents.shape, np.int8)
    position = np.zeros(machines, np.int64)
    for machine in range(1, machines):
        for segment in range(segments):
            waits[parents[machine, segment], segment] += 1
    senders = np.empty((machines - 1) * segments, np.int64)
    sent = np.empty((machines - 1) * segments, np.int64)
    count = 0
    zero = latency[0, 0] * 0
    heap = [(zero, 0, 0)]
    heap.pop()
    pools = [[(zero, 0, 0)] for _ in range(machines)]
    held = [[0] for _ in range(machines)]
    for machine in range(machines):
        pools[machine].pop()
        held[machine].pop()
    for opened in range(segments):
        for machine in range(1, machines):
            segment = sequences[machine, 0] if rule == SEQUENCES else opened
            if waits[machine, segment] == 0:
                heappush(heap, (zero, segment, machine))
        if rule == SEQUENCES:
            if opened > 0:
                break
        elif rule == BACKFILLING and opened < segments - 1:
            continue
        while len(heap) > 0 and stop[0] == 0:
            bound, segment, machine = heappop(heap)
            target = parents[machine, segment]
            pool = pools[target]
            known = state[machine, segment]
            if known == SENT or (known == HELD and held[machine][0] != segment):
                continue
            if known == BLOCKED and (pool[0][1] != segment or pool[0][2] != machine):
                continue
            delay = latency[machine * far, target * far]
            free = max(ready[machine, segment], sending[machine])
            start = start_of(free, free, receiving[target], delay)
            if start > bound:
                now = known
                if start > free:
                    now = BLOCKED
                elif known == BLOCKED or (rule == BACKFILLING and start == sending[machine]):
                    now = HELD if rule == BACKFILLING else LOOSE
                first = True
                if now == BLOCKED:
                    if known != BLOCKED:
                        heappush(pool, (-delay, segment, machine))
                    first = pool[0][1] == segment and pool[0][2] == machine
                elif now == HELD:
                    if known != HELD:
                        heappush(held[machine], segment)
                    first = held[machine][0] == segment
                state[machine, segment] = now
                if first:
                    heappush(heap, (start, segment, machine))
                if now == known:
                    continue
            else:
                lasts = transfer[machine * wide, target * wide] * size[segment]
                sending[machine] = start + lasts
                receiving[target] = start + delay + lasts
                work = reduce[target * own] * size[segment]
                done = worked(receiving[target], combining[target], work)
                combining[target] = done
                ready[target, segment] = done
                senders[count] = machine
                sent[count] = segment
                count += 1
                state[machine, segment] = SENT
                if rule == SEQUENCES:
                    position[machine] += 1
                    if position[machine] < segments:
                        following = sequences[machine, position[machine]]
                        if waits[machine, following] == 0:
                            heappush(heap, (sending[machine], following, machine))
                waits[target, segment] -= 1
                due = rule != SEQUENCES or (
                    target != 0 and sequences[target, position[target]] == segment
                )
                if waits[target, segment] == 0 and target != 0 and due:
                    heappush(heap, (done, segment, target))
            if known == BLOCKED:
                # the first that still waits here starts when the receiver is free
                heappop(pool)
                if len(pool) > 0:
                    early, other, giver = pool[0]
                    heappush(heap, (receiving[target] + early, other, giver))
            elif known == HELD:
                heappop(held[machine])
                if len(held[machine]) > 0:
                    heappush(heap, (sending[machine], held[machine][0], machine))
    return senders[:count], sent[:count], combining[0]


def ordered(
    problem: Reduction,
    parents: Integers,
    by: str | Integers,
    tables: Tables | None = None,
    control: Control | None = None,
) -> tuple[Sends, Any]:
    """Return the sends of trees in order, and the makespan in the tables' unit.

    ``parents`` has a row per machine, a column per segment, counted from 0. ``by`` is ``"greedy"``,
    ``"backfilling"``, or a row per machine: the segments in the order of its sends; the root's is
    unused.

    In a deadlock, and when the time of a ``control`` is up, there are fewer sends than the trees
    have.
    """
    rule, sequences = (RULES[by], NO_SEQUENCES) if isinstance(by, str) else (SEQUENCES, by)
    given = (*readonly(parents, sequences, *(tables or tables_of(problem))[:4]), rule)
    run = commit.at(parents.size)
    long = parents.size / WATCHED_FROM
    sender, segment, end = stoppable(control, run, *given, long=long)
    final = np.zeros(len(sender), dtype=bool)
    receiver = parents[sender, segment]
    return Sends(sender=sender, receiver=receiver, segment=segment, final=final), end


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


def given_sends(problem: Reduction) -> tuple[Sends | None, Any, str]:
    """Return the sends of the given plan in order, its makespan in units, or why it never ends."""
    if problem.destinations is not None:
        parents = np.array(problem.destinations, dtype=np.int64) - 1
        order = "backfilling" if problem.order == "backfilling" else "greedy"
        return *ordered(problem, parents, order), ""
    assert problem.sequences is not None
    parents, segments = np.zeros((2, len(problem.machines), len(problem.sizes)), dtype=np.int64)
    for machine, row in enumerate(problem.sequences):
        for turn, (segment, destination) in enumerate(row):
            segments[machine, turn] = segment - 1
            parents[machine, segment - 1] = destination - 1
    sends, end = ordered(problem, parents, segments)
    cycle = deadlock(parents, segments, sends)
    if not cycle:
        return sends, end, ""
    names = problem.machines
    steps = [
        f"{names[machine]} waits to send {segment_name(segment)} until {names[other]} has sent"
        for (machine, segment), (other, _) in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    ]
    return None, None, f"sequences: deadlock: {'; '.join(steps)}"
