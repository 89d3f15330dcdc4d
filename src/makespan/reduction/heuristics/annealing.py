"""A local search for copies: machines change places, senders are others.

A reduction is searched as the broadcast that it is in reversed time. Source: Kirkpatrick, Gelatt
and Vecchi 1983, simulated annealing; what is critical is drawn more often, as in van Laarhoven,
Aarts and Lenstra 1992.

The phases: time all rows, propose a change, judge it, accept it or not. What several take, beside
columns of :func:`anneal`:

``target``: when copies are to have arrived; what comes later costs.
``arrived``, ``by`` (machine, segment): when it is there, and the row that brings it.
``start``, ``sent``, ``got``, ``done`` (row): its start, when the ports of sender and receiver are
free again, and the sender's unit; ``latest`` (row): by when it must start.
``sending``, ``taking`` (row): the rows before it at the same ports, or :data:`NO_ROW`.
``cause`` (row): the row that it waits for.
``tree``, ``grown`` (segment, place): the rows of each segment, in their order, and how many.
``changed`` (place, 4): each row that a change changes, and what it was.
"""

import math
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop, next_seed, part
from makespan.reduction.heuristics import start_of

HOLDER, NOBODY = -1, -2  # instead of the row that brings a segment
NO_ROW = -1


@part
def time_rows(  # type: ignore[no-untyped-def]
    rows, latency, transfer, prepare, size, target, arrived, by, start, sent, got, done, sending,
    taking, cause, tree, grown, user,
):  # fmt: skip
    """Start all rows as early as they can, in their order; return the cost and the last to arrive.

    That is :data:`NO_ROW` where the rows are no plan. ``user`` (2, machine) gets the last row at
    each port for sending, and at each for receiving.
    """
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if prepare.shape[0] > 1 else 0
    user[:] = NO_ROW
    grown[:] = 0
    cost = 0.0
    last = 0
    for row in range(rows.shape[0]):
        giver, taker, segment = rows[row, 0], rows[row, 1], rows[row, 2]
        lasts = transfer[giver * pairs, taker * pairs] * size[segment]
        lag = latency[giver * pairs, taker * pairs]
        waits = by[giver, segment]
        if waits < HOLDER or waits >= row or lasts < 0:
            return cost, NO_ROW
        # worked and start_of, with the row that each waits for
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
    return cost, last


@part
def trace_back(last, cause, path):  # type: ignore[no-untyped-def]
    """Write the rows that the end waits for into ``path``; return how many they are."""
    found = 0
    row = last
    while row >= 0:
        path[found] = row
        row = cause[row]
        found += 1
    return found


@part
def find_latest(  # type: ignore[no-untyped-def]
    rows, prepare, size, last, by, start, sent, got, sending, taking, latest
):
    """Find by when each row must start for all to end when they do now, backwards."""
    units = 1 if prepare.shape[0] > 1 else 0
    total = rows.shape[0]
    for row in range(total - 1, -1, -1):
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


@part
def exchange_senders(  # type: ignore[no-untyped-def]
    rows, row, near, some, kind, tree, grown, changed
):
    """Let two copies change turns or senders, or give one another sender; return how many change.

    ``kind`` 0: turns; 1 to 4: another sender, ``some`` places on in the tree of its segment; 5 to
    8: senders.
    """
    segment = rows[row, 2]
    changed[0] = row, rows[row, 0], rows[row, 1], segment
    changed[1] = near, rows[near, 0], rows[near, 1], rows[near, 2]
    if kind == 0:
        np.positive(changed[1, 1:], rows[row])
        np.positive(changed[0, 1:], rows[near])
        return 2
    if kind > 4:
        rows[row, 0], rows[near, 0] = changed[1, 1], changed[0, 1]
        return 2
    rows[row, 0] = rows[tree[segment, 0], 0]
    for step in range(min(some, grown[segment])):
        if tree[segment, step] < row:
            rows[row, 0] = rows[tree[segment, step], 1]
    return 1


@part
def exchange_machines(  # type: ignore[no-untyped-def]
    rows, row, other, both, by, tree, grown, changed
):
    """Let two machines change places in the tree of a segment; return how many rows change.

    It is the segment of ``row``, whose receiver is one of the two. With ``both`` they do so, too,
    in the tree of what the ``other`` one gets about then.
    """
    total = rows.shape[0]
    one, segment = rows[row, 1], rows[row, 2]
    count = 0
    for turn in range(1 + both):
        if turn:  # look for a row to the other one, nearer ones first
            at = row
            for step in range(2 * total):
                at = row + (step // 2 if step % 2 else -step // 2)
                if 0 <= at < total and changed[0, 3] != rows[at, 2] and rows[at, 1] == other:
                    segment = rows[at, 2]
                    break
        if one == other or by[one, segment] < 0 or by[other, segment] < 0:
            break
        if turn and segment == changed[0, 3]:
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
    return count


@part
def judge_change(  # type: ignore[no-untyped-def]
    rows, latency, transfer, prepare, size, target, spent, allowed, changed, count, turn, arrived,
    by, start, sent, got, done, latest, sending, taking, free, since, fresh, stamp, mark, begun,
    touched,
):  # fmt: skip
    """Time what a change puts off or forward; return whether it is possible, and what it costs.

    A row is passed over where nothing before it has changed. The change is given up as soon as a
    row that did not change itself starts more than ``allowed`` too late. Then come the first row
    that may have moved, and how many were timed.

    The ``rows`` are those after the change, the times those before it, which costs ``spent``.
    Where something differs, ``since``, ``stamp`` and ``mark`` hold ``turn``, the change's number.
    ``free`` (3, machine) says when the ports for sending, for receiving, and the units are free
    after the rows so far, ``since`` (2, machine) since which change that of a port is not as
    before; ``fresh`` and ``stamp`` (machine, segment) when it is there now, -1 for not yet, and
    since which change; ``mark`` (row) the change in which it was the last time. ``begun`` and
    ``touched`` get the new start of each row that was timed, and those rows.
    """
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if prepare.shape[0] > 1 else 0
    zero = latency[0, 0] * 0
    total = rows.shape[0]
    first = total
    for step in range(count):
        at = changed[step, 0]
        mark[at] = turn
        first = min(first, at)
        stamp[changed[step, 2], changed[step, 3]] = turn
        fresh[changed[step, 2], changed[step, 3]] = -1  # is not there yet
    touches = 0
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
        if begin < 0 or lasts < 0 or giver == taker:
            return False, spent, first, touches
        if known and not HOLDER <= by[giver, segment] < at:
            return False, spent, first, touches
        begin = max(begin, free[2, giver]) + prepare[giver * units] * size[segment]
        free[2, giver] = begin
        begin = start_of(begin, free[0, giver], free[1, taker], lag)
        if same and begin > latest[at] + allowed:
            return False, spent, first, touches
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
    return count > 0, spent, first, touches


@part
def take_back_change(rows, changed, count):  # type: ignore[no-untyped-def]
    """Make the rows what they were before a change, the last one first."""
    for step in range(count - 1, -1, -1):
        np.positive(changed[step, 1:], rows[changed[step, 0]])


@part
def accept_change(rows, start, begun, touched, touches, first):  # type: ignore[no-untyped-def]
    """Sort the rows by their new starts: an insertion sort, as few of them move."""
    for step in range(touches):
        start[touched[step]] = begun[touched[step]]
    for at in range(first + 1, rows.shape[0]):
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

    The cost of a plan is by how much its copies arrive after what is aimed at: an eighth of the way
    from ``best`` to ``least``, and no less than ``grain``. A plan that costs more is taken with a
    chance that grows with ``heat``. A try has four phases. Propose: two machines change places in
    the tree of a segment, or of two segments; two copies change senders, or turns; a copy gets
    another sender. Judge: the rows that this puts off or forward are timed. Accept: the rows are
    sorted by their new starts; else the change is taken back. Settle: all rows are timed anew.

    - ``holds``, ``latency``, ``transfer``, ``prepare``, ``size``, ``release``: those of
      :func:`~makespan.reduction.heuristics.rarest_first.broadcast_rarest_first`.
    - ``rows``: (row, 3) Sender, receiver and segment, sent in their order, each as early as it can;
      they go on changing.
    - ``record``: (row, 3) Gets the plan that ends first, if before ``best``.
    - ``best``, ``least``: when the best plan so far ends, and a lower bound.
    - ``grain``: 1 where times are whole, else 0.
    - ``heat``: what a worse plan may cost more, on average, in parts of the time from target to
      ``best``.
    - ``stop``: (1) The loop ends soon after this is no longer 0.

    Complexity: O(n m) a try at most.
    """
    machines, segments = holds.shape
    total = rows.shape[0]
    arrived = np.zeros((machines, segments), latency.dtype)
    by = np.full((machines, segments), NOBODY, np.int64)
    for machine in range(machines):
        for segment in range(segments):
            if holds[machine, segment]:
                arrived[machine, segment] = release[segment]
                by[machine, segment] = HOLDER
    # by row: its start, when ports and unit are free again, by when it must start; the rows that
    # have its ports before it, and the one that it waits for
    start, sent, got, done, latest = np.zeros((5, total), latency.dtype)
    sending, taking, cause = np.zeros((3, total), np.int64)
    tree = np.zeros((segments, machines), np.int64)
    grown = np.zeros(segments, np.int64)
    user = np.zeros((2, machines), np.int64)
    path = np.zeros(total, np.int64)
    # of a change: what differs since ``turn``, and how
    free = np.zeros((3, machines), latency.dtype)
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
    settled = False  # whether all columns are those of the rows
    while tried < tries and stop[0] == 0 and best > least:
        if not settled:
            cost, last = time_rows(
                rows, latency, transfer, prepare, size, target, arrived, by, start, sent, got,
                done, sending, taking, cause, tree, grown, user,
            )  # fmt: skip
            if last == NO_ROW:
                return best
            found = trace_back(last, cause, path)
            find_latest(rows, prepare, size, last, by, start, sent, got, sending, taking, latest)
            settled = got[last] >= best
            if not settled:  # the target is nearer now, and costs are others
                best = got[last]
                np.positive(rows, record)
                target = min(best - (best - least) / 8, best - grain * 1.0)
            continue
        # propose: what the end waits for is drawn as often as all other rows together
        turn += 1
        tried += 1
        seed = next_seed(seed)
        limit = cost - heat * (best - target) * math.log(((seed >> 8) + 1) / 8388609)
        seed = next_seed(seed)
        kind = (seed >> 8) % 16
        seed = next_seed(seed)
        row = (seed >> 9) % total if (seed >> 8) % 2 else path[(seed >> 9) % found]
        seed = next_seed(seed)
        near = row + (seed >> 8) % (4 * machines + 1) - 2 * machines
        near = min(max(near, 0), total - 1)
        seed = next_seed(seed)
        some = (seed >> 8) % machines
        if kind < 9:
            if kind == 0 and cause[row] >= 0:
                near = cause[row]
            count = exchange_senders(rows, row, near, some, kind, tree, grown, changed)
        else:
            other = some if kind > 13 else rows[near, 1]
            count = exchange_machines(rows, row, other, kind % 2, by, tree, grown, changed)
        possible, spent, first, touches = judge_change(
            rows, latency, transfer, prepare, size, target, cost, limit - cost, changed, count,
            turn, arrived, by, start, sent, got, done, latest, sending, taking, free, since, fresh,
            stamp, mark, begun, touched,
        )  # fmt: skip
        if not possible or spent > limit:
            take_back_change(rows, changed, count)
            continue
        settled = False
        accept_change(rows, start, begun, touched, touches, first)
    return best
