"""The loop of a local search for copies: machines change places, senders are others.

A reduction is searched as the broadcast that it is in reversed time. Source: Kirkpatrick, Gelatt
and Vecchi 1983, simulated annealing; what is critical is drawn more often, as in van Laarhoven,
Aarts and Lenstra 1992.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop

HEAT = 0.25
SLOWER = 100  # times, the form that is not compiled


class Annealing:
    """A plan that is changed again and again; ``copies`` are the best so far, ending at ``end``.

    ``costs`` are the first arguments of :func:`anneal`, ``work`` the copies of all plans tried.
    """

    def __init__(self, costs: tuple[Any, ...], huge: Any, least: float, grain: int) -> None:
        self.costs = readonly(*costs)
        self.end, self.least, self.grain = huge, least, grain
        self.copies = self.rows = np.empty((0, 3), dtype=np.int64)
        self.taken: float = np.inf
        self.work = 0

    def take(self, copies: Integers, end: float) -> None:
        """Go on from a plan that ends at ``end``, if it is better than all before it."""
        if end < min(self.taken, self.end):
            self.rows = np.array(copies, dtype=np.int64, order="C")
        self.taken = min(end, self.taken)

    def run(self, tries: int, seed: int) -> None:
        """Change the plan so often."""
        form = anneal.at(self.work)
        tries = tries if form is not anneal.plain else max(1, tries // SLOWER)
        self.work += tries * len(self.rows)
        if not len(self.copies):
            self.copies = self.rows.copy()
        self.end = form(
            *self.costs, self.rows, self.copies, self.end, self.least, self.grain, tries, HEAT,
            seed, np.zeros(1, dtype=np.int64),
        )  # fmt: skip


@loop(pays_from=20_000)
def anneal(  # type: ignore[no-untyped-def]
    holds, latency, transfer, prepare, size, release, rows, record, best, least, grain, tries,
    heat, seed, stop,
):  # fmt: skip
    """Change a plan again and again; return when the best plan so far ends.

    ``rows`` (sender, receiver, segment) are sent in their order, each as early as it can, and go on
    changing; ``record`` gets the plan that ends first, if before ``best``. The cost of a plan is by
    how much its copies arrive after what is aimed at: an eighth of the way from ``best`` to
    ``least``, and no less than ``grain``. One that costs more is taken with a chance that grows
    with ``heat``. A change is one of: two machines change places in the tree of a segment, or of
    two segments; two copies change senders, or turns; a copy gets another sender. The other
    arguments are those of :func:`~makespan.reduction.rules.spreading.spread`.

    Complexity: O(n m) a try; what a change does not put off or forward is passed over, and what
    puts off the end by more than the chance allows ends the try.
    """
    machines, segments = holds.shape
    total = rows.shape[0]
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if prepare.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
    arrived = np.zeros((machines, segments), latency.dtype)
    by = np.full((machines, segments), -2, np.int64)  # the row that brings it, -1 for a holder
    for machine in range(machines):
        for segment in range(segments):
            if holds[machine, segment]:
                arrived[machine, segment] = release[segment]
                by[machine, segment] = -1
    # by row: its start, when ports and unit are free again, by when it must start for the plan not
    # to end later; the rows that have its ports before it, and the one that it waits for
    start, sent, got, done, latest = np.zeros((5, total), latency.dtype)
    sending, taking, cause = np.zeros((3, total), np.int64)
    tree = np.zeros((segments, machines), np.int64)  # the rows of each segment
    grown = np.zeros(segments, np.int64)
    user = np.zeros((2, machines), np.int64)  # the row that had the ports last
    path = np.zeros(total, np.int64)
    # of a change: what differs since ``turn``, and how
    free = np.zeros((3, machines), latency.dtype)  # ports for sending, for taking, and units
    since = np.zeros((2, machines), np.int64)
    fresh = np.zeros((machines, segments), latency.dtype)
    stamp = np.zeros((machines, segments), np.int64)
    mark = np.zeros(total, np.int64)
    begun = np.zeros(total, latency.dtype)
    touched = np.zeros(total, np.int64)
    changed = np.zeros((4 * machines, 4), np.int64)
    turn = tried = found = 0
    target = min(best - (best - least) / 8, best - grain * 1.0)
    cost = 0.0
    settled = False  # whether all this is known of the rows
    while tried < tries and stop[0] == 0 and best > least:
        if not settled:
            user[:] = -1
            grown[:] = 0
            cost = 0.0
            last = 0
            for row in range(total):
                giver, taker, segment = rows[row, 0], rows[row, 1], rows[row, 2]
                lasts = transfer[giver * pairs, taker * pairs] * size[segment]
                lag = latency[giver * pairs, taker * pairs]
                waits = by[giver, segment]
                if waits < -1 or waits >= row or lasts < 0:
                    return best
                begin = arrived[giver, segment]
                before = user[0, giver]
                if before >= 0 and done[before] > begin:
                    begin, waits = done[before], before
                begin += prepare[giver * units] * size[segment]
                done[row] = begin
                if before >= 0 and sent[before] > begin:
                    begin, waits = sent[before], before
                sending[row] = before
                before = user[1, taker]
                if before >= 0 and got[before] - lag > begin:
                    begin, waits = got[before] - lag, before
                taking[row] = before
                arrival = begin + lag + lasts
                start[row], sent[row], got[row], cause[row] = begin, begin + lasts, arrival, waits
                user[0, giver] = user[1, taker] = row
                arrived[taker, segment], by[taker, segment] = arrival, row
                tree[segment, grown[segment]] = row
                grown[segment] += 1
                cost += max(arrival - target, 0.0)
                if arrival >= got[last]:
                    last = row
            found = 0
            row = last
            while row >= 0:  # what the end waits for
                path[found] = row
                row = cause[row]
                found += 1
            for row in range(total - 1, -1, -1):  # by when it can start for all to end then
                latest[row] = got[last] - (got[row] - start[row])
            for row in range(total - 1, -1, -1):
                giver, segment = rows[row, 0], rows[row, 2]
                before = sending[row]
                if before >= 0:
                    until = latest[row] - (sent[before] - start[before])
                    latest[before] = min(latest[before], until)
                before = taking[row]
                if before >= 0:
                    until = latest[row] + (got[row] - sent[row]) - (got[before] - start[before])
                    latest[before] = min(latest[before], until)
                before = by[giver, segment]
                if before >= 0:
                    until = latest[row] - prepare[giver * units] * size[segment]
                    latest[before] = min(latest[before], until - (got[before] - start[before]))
            settled = got[last] >= best
            if not settled:
                best = got[last]
                np.positive(rows, record)
                target = min(best - (best - least) / 8, best - grain * 1.0)
            continue
        turn += 1
        tried += 1
        count = 0
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        limit = cost - heat * (best - target) * math.log(((seed >> 8) + 1) / 8388609)
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        allowed = limit - cost
        kind = (seed >> 8) % 16
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        row = (seed >> 9) % total if (seed >> 8) % 2 else path[(seed >> 9) % found]
        segment = rows[row, 2]
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        near = row + (seed >> 8) % (4 * machines + 1) - 2 * machines
        near = min(max(near, 0), total - 1)
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        some = (seed >> 8) % machines
        if kind < 9:  # two copies change senders (but for one kind), or turns
            if kind == 0 and cause[row] >= 0:
                near = cause[row]
            changed[0] = row, rows[row, 0], rows[row, 1], segment
            changed[1] = near, rows[near, 0], rows[near, 1], rows[near, 2]
            count = 2 if kind == 0 or kind > 4 else 1
            if kind == 0:
                np.positive(changed[1, 1:], rows[row])
                np.positive(changed[0, 1:], rows[near])
            elif count == 2:
                rows[row, 0], rows[near, 0] = changed[1, 1], changed[0, 1]
            else:
                rows[row, 0] = rows[tree[segment, 0], 0]
                for step in range(min(some, grown[segment])):
                    if tree[segment, step] < row:
                        rows[row, 0] = rows[tree[segment, step], 1]
        else:  # two machines change places
            one, other = rows[row, 1], some if kind > 13 else rows[near, 1]
            for both in range(1 + kind % 2):
                if both:  # and for what the other one gets about then
                    at = row
                    for step in range(2 * total):
                        at = row + (step // 2 if step % 2 else -step // 2)
                        if (
                            0 <= at < total
                            and changed[0, 3] != rows[at, 2]
                            and (rows[at, 1] == other)
                        ):
                            segment = rows[at, 2]
                            break
                if one == other or by[one, segment] < 0 or by[other, segment] < 0:
                    break
                if both and segment == changed[0, 3]:
                    break
                for step in range(grown[segment]):
                    at = tree[segment, step]
                    giver, taker = rows[at, 0], rows[at, 1]
                    gives, takes = giver in (one, other), taker in (one, other)
                    if gives or takes:
                        changed[count] = at, giver, taker, segment
                        count += 1
                        if gives:
                            rows[at, 0] = one + other - giver
                        if takes:
                            rows[at, 1] = one + other - taker
        first = total
        for step in range(count):
            at = changed[step, 0]
            mark[at] = turn
            first = min(first, at)
            stamp[changed[step, 2], changed[step, 3]] = turn
            fresh[changed[step, 2], changed[step, 3]] = -1  # is not there yet
        spent = cost
        touches = 0
        possible = count > 0
        for at in range(first, total):
            giver, taker, segment = rows[at, 0], rows[at, 1], rows[at, 2]
            known = stamp[giver, segment] != turn
            same = mark[at] != turn
            if known and same and since[0, giver] != turn and since[1, taker] != turn:
                continue
            before, behind = sending[at], taking[at]
            if not same:  # what was sent here before is not
                for step in range(count):
                    if changed[step, 0] == at:
                        machine = changed[step, 1]
                        if since[0, machine] != turn:
                            since[0, machine] = turn
                            free[0, machine] = sent[before] if before >= 0 else zero
                            free[2, machine] = done[before] if before >= 0 else zero
                        machine = changed[step, 2]
                        if since[1, machine] != turn:
                            since[1, machine] = turn
                            free[1, machine] = got[behind] if behind >= 0 else zero
                before = behind = at - 1
                if since[0, giver] != turn:
                    while before >= 0 and rows[before, 0] != giver:
                        before -= 1
                if since[1, taker] != turn:
                    while behind >= 0 and rows[behind, 1] != taker:
                        behind -= 1
            if since[0, giver] != turn:
                since[0, giver] = turn
                free[0, giver] = sent[before] if before >= 0 else zero
                free[2, giver] = done[before] if before >= 0 else zero
            if since[1, taker] != turn:
                since[1, taker] = turn
                free[1, taker] = got[behind] if behind >= 0 else zero
            lasts = transfer[giver * pairs, taker * pairs] * size[segment]
            lag = latency[giver * pairs, taker * pairs]
            begin = arrived[giver, segment] if known else fresh[giver, segment]
            possible = begin >= 0 and lasts >= 0 and giver != taker
            possible &= not known or -1 <= by[giver, segment] < at
            if not possible:
                break
            begin = max(begin, free[2, giver]) + prepare[giver * units] * size[segment]
            free[2, giver] = begin
            begin = max(begin, free[0, giver], free[1, taker] - lag)
            if same and begin > latest[at] + allowed:
                possible = False
                break
            arrival = begin + lag + lasts
            free[0, giver], free[1, taker] = begin + lasts, arrival
            if same and begin == start[at] and free[2, giver] == done[at]:
                since[0, giver] = since[1, taker] = 0
            fresh[taker, segment] = arrival
            stamp[taker, segment] = 0 if arrival == arrived[taker, segment] else turn
            spent += max(arrival - target, 0.0) - max(got[at] - target, 0.0)
            begun[at] = begin
            touched[touches] = at
            touches += 1
        if not possible or spent > limit:
            for step in range(count - 1, -1, -1):
                np.positive(changed[step, 1:], rows[changed[step, 0]])
            continue
        settled = False
        for step in range(touches):
            start[touched[step]] = begun[touched[step]]
        for at in range(first + 1, total):  # in the order of starts
            begin = start[at]
            if start[at - 1] > begin:
                here = at
                giver, taker, segment = rows[at, 0], rows[at, 1], rows[at, 2]
                while here > 0 and start[here - 1] > begin:
                    start[here] = start[here - 1]
                    np.positive(rows[here - 1], rows[here])
                    here -= 1
                start[here] = begin
                rows[here, 0], rows[here, 1], rows[here, 2] = giver, taker, segment
    return best
