"""The loop that copies segments while ports are free of what is planned already."""

from heapq import heappop, heappush

import numpy as np

from makespan.core.numeric.jit import loop, next_seed, part
from makespan.reduction.heuristics import strike_off, worked

LOOKS = 128  # at machines, until a sender waits for one of them
NOTHING = -1  # instead of a segment or a machine
ENOUGH = 16  # machines that can take a segment, of which the one with the least room does


@part
def _free_beside(machine, at, over, transfer, planned_from, planned, following):  # type: ignore[no-untyped-def]
    """Return from when on, after ``at``, a port can send between the transfers planned for it."""
    last = planned_from[machine + 1]
    while following[machine] < last and planned[following[machine]] + transfer <= over:
        following[machine] += 1
    step = following[machine]
    while step < last and planned[step] < at + transfer:
        at = max(at, planned[step] + transfer)
        step += 1
    return at


@part
def _choose_segment(  # type: ignore[no-untyped-def]
    sender, now, soonest, written, transfer, prepare, roots, limit, children, lead, hold, left,
    made, made_in_all, unit, tried,
):  # fmt: skip
    """Return what most lack of what a machine holds and has not tried, -1 for none.

    The second value is when it has more to send, at the latest ``soonest``.
    """
    machines = len(hold)
    segment = NOTHING
    for other in range(len(roots)):
        lack = left[other]
        if tried[other] or hold[sender, other] < 0 or machines - lack >= limit:
            continue
        if machines - lack < machines // 20 and made[sender, other] >= children:
            continue
        ready = hold[sender, other]
        if prepare > 0:
            ready = worked(ready, unit[sender], prepare)
        ahead = made_in_all[sender] * machines - written
        if roots[other] != sender and ahead >= lead * machines:
            ready = max(ready, now + max(transfer, 1))
        if ready > now:
            soonest = min(soonest, ready)
        elif segment < 0 or lack > left[segment]:
            segment = other
    return segment, soonest


@part
def _choose_receiver(  # type: ignore[no-untyped-def]
    segment, now, soonest, offset, latency, transfer, in_from, in_begin, in_next, in_port, owned,
    lacking, left,
):  # fmt: skip
    """Return who can take a segment at once, and to whom the most is still to come, -1 for nobody.

    Then when the first of the others can, at the latest ``soonest``, and how many were looked at.
    """
    receiver = NOTHING
    fewest = found = looks = 0
    for step in range(min(left[segment], LOOKS)):
        looks += 1
        taker = lacking[segment, (offset + step) % left[segment]]
        at = max(now + latency, in_port[taker])
        at = _free_beside(taker, at, now + latency, transfer, in_from, in_begin, in_next)
        if at > now + latency:
            soonest = min(soonest, at - latency)
            continue
        score = owned[taker] - (in_from[taker + 1] - in_next[taker])
        if receiver < 0 or score < fewest:
            receiver, fewest = taker, score
        found += 1
        if found >= ENOUGH:
            break
    return receiver, soonest, looks


@loop(pays_from=2_000)
def backfill_copies(  # type: ignore[no-untyped-def]
    latency, transfer, prepare, roots, release, out_from, out_begin, in_from, in_begin, given,
    holders, children, lead, seed, rows, times, stop,
):  # fmt: skip
    """Copy segments from their roots, who have them from ``release`` on; return how many copies.

    Whoever's port is free sends: of the segments that it holds, what most lack, to one who can take
    it at once, and of those to whom the most is still to come. Times are whole.

    - ``latency``, ``transfer``, ``prepare``: the same for all; the last is what a sender spends on
      a copy.
    - ``roots``, ``release``: (segment) Who has it, and from when on.
    - ``out_from``, ``out_begin``, ``in_from``, ``in_begin``: sends that are planned begin at
      ``out_begin[out_from[i] : out_from[i + 1]]`` on machine i, in order, and receptions likewise;
      nothing delays them.
    - ``given``, ``rows``, ``times``: the first ``given`` copies are ``rows`` (sender, receiver,
      segment) and ``times``, when they start, to which the others are added.
    - ``holders``, ``children``, ``lead``: no more than ``holders`` get a segment. Before a
      twentieth have it, each makes no more than ``children`` copies; and none but a segment's root
      makes ``lead`` more copies than all do on average.
    - ``seed``, ``stop``: of the random numbers; returns -1 as soon as ``stop[0]`` is no longer 0.

    Complexity: O(m + ``LOOKS``) for every time that one of n machines looks for what to send.
    """
    machines = out_from.shape[0] - 1
    segments = roots.shape[0]
    never = np.int64(2**62)
    hold = np.full((machines, segments), -1, np.int64)
    lacking = np.empty((segments, machines), np.int32)
    place = np.empty((segments, machines), np.int32)
    left = np.zeros(segments, np.int64)
    made = np.zeros((machines, segments), np.int32)
    made_in_all = np.zeros(machines, np.int64)
    owned = np.zeros(machines, np.int64)
    out_port = np.zeros(machines, np.int64)
    in_port = np.zeros(machines, np.int64)
    unit = np.zeros(machines, np.int64)
    out_next = out_from[:-1].copy()
    in_next = in_from[:-1].copy()
    wake = np.full(machines, never)
    tried = np.zeros(segments, np.bool_)
    for segment in range(segments):
        for machine in range(machines):
            if machine != roots[segment]:
                place[segment, machine] = left[segment]
                lacking[segment, left[segment]] = machine
                left[segment] += 1
        hold[roots[segment], segment] = release[segment]
        wake[roots[segment]] = min(wake[roots[segment]], release[segment])
    heap = [(never, 0)]
    heap.pop()
    for machine in range(machines):
        if wake[machine] < never:
            heappush(heap, (wake[machine], machine))
    written = 0
    while written < given or len(heap) > 0:
        if stop[0] != 0:
            return -1
        if written < given:
            sender, receiver, segment = rows[written, 0], rows[written, 1], rows[written, 2]
            arrival = times[written] + latency + transfer
        else:
            now, sender = heappop(heap)
            if wake[sender] != now:
                continue
            wake[sender] = never
            at = max(out_port[sender], now)
            at = _free_beside(sender, at, now, transfer, out_from, out_begin, out_next)
            if at > now:
                wake[sender] = at
                heappush(heap, (at, sender))
                continue
            soonest = never
            receiver = segment = NOTHING
            looks = 0
            tried[:] = False
            while receiver < 0 and looks < LOOKS:
                segment, soonest = _choose_segment(
                    sender, now, soonest, written, transfer, prepare, roots, holders, children,
                    lead, hold, left, made, made_in_all, unit, tried,
                )  # fmt: skip
                if segment < 0:
                    break
                tried[segment] = True
                seed = next_seed(seed)
                receiver, soonest, looked = _choose_receiver(
                    segment, now, soonest, (seed >> 8) % left[segment], latency, transfer, in_from,
                    in_begin, in_next, in_port, owned, lacking, left,
                )  # fmt: skip
                looks += looked
            if receiver < 0:
                if soonest < never:
                    wake[sender] = soonest
                    heappush(heap, (soonest, sender))
                continue
            rows[written, 0], rows[written, 1], rows[written, 2] = sender, receiver, segment
            times[written] = now
            arrival = now + latency + transfer
            if prepare > 0:
                unit[sender] = worked(hold[sender, segment], unit[sender], prepare)
            out_port[sender] = wake[sender] = now + transfer
            heappush(heap, (wake[sender], sender))
            in_port[receiver] = arrival
            made[sender, segment] += 1
            made_in_all[sender] += 1
        written += 1
        hold[receiver, segment] = arrival
        owned[receiver] += 1
        strike_off(segment, receiver, lacking, place, left)
        if arrival < wake[receiver]:
            wake[receiver] = arrival
            heappush(heap, (arrival, receiver))
    return written
