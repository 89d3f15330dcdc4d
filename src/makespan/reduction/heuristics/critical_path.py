"""The loop of a local search: what is on the critical path of a collective is sent otherwise.

Source: van Laarhoven, Aarts and Lenstra 1992, "Job shop scheduling by simulated annealing": only
what is critical is worth exchanging; here also for other senders and receivers.
"""

from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.jit import loop, next_seed, part
from makespan.reduction.heuristics import copy_rows, greatest
from makespan.reduction.heuristics.symmetry import Plan

WATCHED_FROM = 5_000_000  # rows timed
NOTHING = -1  # instead of a row
TO_START, AT_PORT, FOR_UNIT = range(3)  # of what a row waits for
NEAR = 20  # rows by which a send is put off or forward at random


class Shortening:
    """A plan that is shortened; ``stale`` runs did not help.

    ``holds`` (machine, segment) says what machines have at first: a part 0, nothing 1, the whole 2.
    ``ways`` are the ports and shared links of :func:`shorten`.
    """

    def __init__(
        self, costs: tuple[Any, ...], holds: Any, ways: tuple[Any, ...], last: float,
        control: Control,
    ) -> None:  # fmt: skip
        self.given, self.control, self.last = readonly(*costs, holds, *ways), control, last
        self.plan = Plan(np.empty((0, 4), dtype=np.int64), np.empty((0, 2)))
        self.turn = self.stale = 0
        self.end = (np.inf, 0)

    def take(self, plan: Plan, backward: bool) -> None:
        """Go on from a copy of a plan, or of what it is in reversed time."""
        plan = plan.mirrored() if backward else plan
        order = np.argsort(plan.times[:, 0], kind="stable")
        self.plan = Plan(plan.rows[order], plan.times[order])
        self.end, self.stale = (np.inf, 0), 0

    def run(self, tries: int, deviation: float = 0.0) -> Any:
        """Return when the plan ends after so many tries to shorten it; infinite for no plan.

        Plans that end later by a part of ``deviation`` are gone on from, too.
        """
        rows, times = self.plan
        if not len(rows):
            return np.inf
        self.turn += 1
        work = len(rows) * (1 + tries)
        arguments = (
            *self.given, rows, times, tries, self.last,
            times.dtype.type(deviation * (times.max(initial=0) if self.turn > 1 else 0)),
            int(self.control.rng.integers(2**31)),
        )  # fmt: skip
        form = shorten.at(work * self.turn)
        reached = stoppable(self.control, form, *arguments, long=work / WATCHED_FROM)
        if reached < 0:
            return np.inf
        late = int((times[:, 1] > reached - self.last).sum())
        self.stale = 0 if (reached, late) < self.end else self.stale + 1
        self.end = reached, late
        return reached


@part
def trace_waits(final, kept, path, awaited):  # type: ignore[no-untyped-def]
    """Find the rows that the end waits for, and what each of them waits for; return their number.

    A row waits to start, for what it sends or for a port; or, where it is awaited combined, for the
    unit. What waits for a port waits for no more than that the row is sent.
    """
    found = 0
    row = final
    combined = True
    while row >= 0:
        path[found] = row
        if combined and kept[FOR_UNIT, row] >= 0:
            awaited[found] = kept[FOR_UNIT, row]
        else:
            awaited[found] = kept[TO_START, row]
            combined = kept[AT_PORT, row] == 0
        row = awaited[found]
        found += 1
    return found


@part
def move_row(current, trial, row, to):  # type: ignore[no-untyped-def]
    """Put a row of the plan at another place; those between go on by one."""
    if to > row:
        copy_rows(current[row + 1 : to + 1], trial[row:to])
    else:
        copy_rows(current[to:row], trial[to + 1 : row + 1])
    copy_rows(current[row : row + 1], trial[to : to + 1])


@part
def send_otherwise(current, trial, row, some, anywhere, machines, seed):  # type: ignore[no-untyped-def]
    """Give a copy another sender, or a part another receiver; return the seed.

    That is who sends or takes the same elsewhere in the plan; with ``anywhere``, any machine takes
    the part.
    """
    total = len(current)
    end = 1 - current[row, 3]
    other = some % total
    for _ in range(total):
        if current[other, 2] == current[row, 2] and current[other, 3] == current[row, 3]:
            break
        other = (other + 1) % total
    seed = next_seed(seed)
    trial[row, end] = current[other, (seed >> 8) % 2 if end == 0 else 1]
    if end == 1 and anywhere:
        trial[row, 1] = (seed >> 8) % machines
    return seed


@part
def time_sends(  # type: ignore[no-untyped-def]
    trial, trial_times, limited, allowed, latency, transfer, combine, size, exits, entries, shared,
    ahead, has, left, ready, origin, free, user, waits,
):  # fmt: skip
    """Start all rows as early as they can, in their order.

    Returns how many rows are a plan and end in time, when they end, and the row that does so; the
    plan may end at ``allowed`` at the latest where that is ``limited``. ``trial_times`` gets starts
    and arrivals, ``waits`` (3, row) what a row waits for: to start, whether at a port, and for the
    unit. ``has`` (machine, segment) says who has a part 0, nothing 1, all 2, ``left`` (segment) how
    many hold a part; ``ready`` and ``origin`` when it is there and the row by which it is, ``free``
    and ``user`` (4, port) when ports for sending, for receiving, units and links are free, and the
    row that had them last.
    """
    pairs = 1 if latency.shape[0] > 1 else 0
    units = 1 if combine.shape[0] > 1 else 0
    wide = 1 if exits.shape[1] > 1 else 0
    end = latency[0, 0] * 0
    latest = valid = 0
    while valid < len(trial):
        sender, receiver = trial[valid, 0], trial[valid, 1]
        segment, copied = trial[valid, 2], trial[valid, 3]
        lasts = transfer[sender * pairs, receiver * pairs] * size[segment]
        wanted = 2 * copied
        if has[sender, segment] != wanted or lasts < 0 or sender == receiver:
            break
        if has[receiver, segment] == 2 or has[receiver, segment] > wanted:
            break
        out, into = exits[sender, receiver * wide], entries[sender * wide, receiver]
        lag = latency[sender * pairs, receiver * pairs]
        # start_of and links_open, with the row that each waits for
        start, cause = ready[sender, segment], origin[sender, segment]
        waits[AT_PORT, valid] = 0
        if free[0, out] > start:
            start, cause, waits[AT_PORT, valid] = free[0, out], user[0, out], 1
        if free[1, into] - lag > start:
            start, cause, waits[AT_PORT, valid] = free[1, into] - lag, user[1, into], 1
        for way in range(shared.shape[2]):
            on = shared[sender, receiver, way]
            if on >= 0 and free[3, on] - ahead[sender, receiver, way] > start:
                start, cause = free[3, on] - ahead[sender, receiver, way], user[3, on]
                waits[AT_PORT, valid] = 1
        for way in range(shared.shape[2]):
            on = shared[sender, receiver, way]
            if on >= 0:
                free[3, on] = start + ahead[sender, receiver, way] + lasts
                user[3, on] = valid
        arrival = start + lag + lasts
        trial_times[valid, 0], trial_times[valid, 1] = start, arrival
        free[0, out], free[1, into] = start + lasts, arrival
        user[0, out] = user[1, into] = valid
        waits[TO_START, valid], waits[FOR_UNIT, valid] = cause, NOTHING
        if copied == 0:
            has[sender, segment] = 1
            left[segment] -= 1
            work = combine[receiver * units] * size[segment]
            if work > 0:
                if free[2, into] > arrival:
                    arrival = free[2, into]
                    waits[FOR_UNIT, valid] = user[2, into]
                arrival += work
                free[2, into] = arrival
                user[2, into] = valid
        if copied == 1 or left[segment] == 1:
            has[receiver, segment] = 2
        if arrival >= ready[receiver, segment]:
            ready[receiver, segment] = arrival
            origin[receiver, segment] = valid
        if arrival > end:
            end, latest = arrival, valid
            if limited and end > allowed:
                break
        valid += 1
    return valid, end, latest


@loop(pays_from=100_000)
def shorten(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, holds, exits, entries, shared, ahead, rows, times, tries,
    last, deviation, seed, stop,
):  # fmt: skip
    """Change a plan again and again, and keep what is no worse; return when the last one ends.

    Of what the end waits for, something is put before what it waits for, or gets another sender (a
    copy) or receiver (a part). Returns -1 where the rows are no plan. A try has three phases:
    propose a change, time all rows, and keep the plan or not.

    - ``latency``, ``transfer``, ``combine``, ``size``: those of
      :class:`~makespan.reduction.heuristics.allreduce_edd.Costs`.
    - ``holds``: (machine, segment) What machines have at first: a part 0, nothing 1, the whole 2.
    - ``exits``, ``entries``: (sender, receiver) The ports; a column or a row where every machine
      has one.
    - ``shared``, ``ahead``: those of :class:`~makespan.reduction.heuristics.rarest_first.Ways`, but
      forwards.
    - ``rows``, ``times``: (row, 4), (row, 2) Sender, receiver, segment, whether a copy; start and
      arrival. They are sent in their order, each as early as it can; get the plan that ends first,
      and of several that in which less arrives in the ``last`` seconds.
    - ``deviation``: how much later than the best plan those may end that are gone on from; Dueck
      1993.
    - ``seed``, ``stop``: of the random numbers; (1) no longer 0 to stop.

    Complexity: O(n m) a try.
    """
    total = rows.shape[0]
    machines, segments = holds.shape
    ports = max(greatest(exits), greatest(entries)) + 1
    zero = latency[0, 0] * 0
    ready = np.zeros((machines, segments), latency.dtype)
    origin = np.zeros((machines, segments), np.int64)
    has = holds.copy()
    parts = np.zeros(segments, np.int64)
    for machine in range(machines):
        for segment in range(segments):
            parts[segment] += holds[machine, segment] == 0
    left = parts.copy()
    links = ports
    for machine in range(len(shared)):
        links = max(links, greatest(shared[machine]) + 1)
    free = np.zeros((4, links), latency.dtype)
    user = np.zeros((4, links), np.int64)
    waits = np.zeros((3, total), np.int64)
    kept = waits.copy()  # those of the current plan
    path = np.zeros(total, np.int64)
    awaited = np.zeros(total, np.int64)
    trial = rows.copy()
    trial_times = times.copy()
    current = rows.copy()
    least = reached = zero  # the best plan's end, and that of the current one
    fewest = few = final = 0
    for turn in range(tries + 1):
        if turn > 0 and stop[0] != 0:
            break
        if turn > 0:
            found = trace_waits(final, kept, path, awaited)
            copy_rows(current, trial)
            seed = next_seed(seed)
            place = (seed >> 8) % found
            seed = next_seed(seed)
            kind = (seed >> 8) % 8
            seed = next_seed(seed)
            some = seed >> 8
            row, to = path[place], awaited[place]
            if kind < 5:  # put it before what it waits for, but for kinds 0, 3 and 4
                if kind == 0:  # anything, by a little
                    row = some % total
                    seed = next_seed(seed)
                    to = row + (seed >> 8) % (2 * NEAR + 1) - NEAR
                elif to < 0:
                    to = row - 1 - some % NEAR
                elif kind > 2:  # what is waited for goes behind
                    row, to = to, row
                move_row(current, trial, row, min(max(to, 0), total - 1))
            else:
                if kind == 5 and to >= 0:
                    row = to
                seed = send_otherwise(current, trial, row, some, kind == 6, machines, seed)
        ready[:] = zero
        origin[:] = NOTHING
        copy_rows(holds, has)
        np.positive(parts, left)
        free[:] = zero
        user[:] = NOTHING
        allowed = max(least + deviation, reached)
        valid, end, latest = time_sends(
            trial, trial_times, turn > 0, allowed, latency, transfer, combine, size, exits,
            entries, shared, ahead, has, left, ready, origin, free, user, waits,
        )  # fmt: skip
        if valid < total:
            if turn == 0:
                return zero - 1
            continue
        late = 0
        for row in range(total):
            late += trial_times[row, 1] > end - last
        nearly = least < end <= least + deviation
        if turn == 0 or end < reached or late <= few or nearly:
            if turn == 0 or end < least or (end == least and late <= fewest):
                least, fewest = end, late
                copy_rows(trial, rows)
                copy_rows(trial_times, times)
            reached, few, final = end, late, latest
            copy_rows(trial, current)
            copy_rows(waits, kept)
    return least
