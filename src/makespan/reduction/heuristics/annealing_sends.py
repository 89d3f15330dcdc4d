"""The loop of a local search for sends of any collective: other senders, receivers, turns, homes.

Source: Kirkpatrick, Gelatt and Vecchi 1983, simulated annealing; what is critical is drawn more
often, as in van Laarhoven, Aarts and Lenstra 1992.
"""

import math
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.jit import loop, part
from makespan.core.numeric.random import next_seed, uniform
from makespan.reduction.heuristics import copy_rows, greatest
from makespan.reduction.heuristics.critical_path import (
    NOTHING,
    WATCHED_FROM,
    move_row,
    send_otherwise,
    time_sends,
    trace_waits,
)
from makespan.reduction.heuristics.regrowing import regrow
from makespan.reduction.heuristics.symmetry import Plan

HEAT, AIM = 0.5, 0.3
WILD = 3  # times the mean transfer by which who is served first varies
MOVED, FORWARD, BEHIND, RESENT = 8, 20, 24, 48  # of 64 changes; the others grow sends anew
COLUMNS = "latency transfer combine size holds exits entries shared ahead".split()


class AnnealedSends:
    """A plan that is changed again and again; ``plan`` is the best so far, ending at ``end``.

    ``given`` are columns of a problem, the first arguments of :func:`anneal_sends`; ``least`` is a
    lower bound, ``grain`` 1 where times are whole, else 0.
    """

    def __init__(
        self, given: tuple[Any, ...], least: float, grain: int, control: Control
    ) -> None:
        self.given = dict(zip(COLUMNS, given, strict=True))
        self.least, self.grain, self.control = least, grain, control
        self.end: Any = np.inf
        self.work = 0

    def take(self, plan: Plan, end: Any) -> None:
        """Go on from a plan that ends at ``end``, if it is better than all before it."""
        if end < self.end:
            self.rows = np.array(plan.rows, dtype=np.int64, order="C")
            self.plan, self.end = Plan(self.rows.copy(), plan.times.copy()), end

    def run(self, tries: int) -> Any:
        """Change the plan so often; return when the best one ends."""
        rows, times = self.plan
        work = len(rows) * (1 + tries)
        self.work += work
        seed = int(self.control.rng.integers(2**31))
        loop = anneal_sends.bind(
            self.work, **self.given, rows=self.rows, record=rows, times=times,
            best=times.dtype.type(self.end), least=float(self.least), grain=self.grain,
            tries=tries, seed=seed,
        )  # fmt: skip
        self.end = stoppable(self.control, loop, long=work / WATCHED_FROM)
        return self.end


@part
def _move_home(current, trial, now, segment, home):  # type: ignore[no-untyped-def]
    """Let a segment be complete on another machine; return when it is complete now."""
    first = NOTHING
    for row in range(len(current)):
        if current[row, 2] == segment and current[row, 3] == 1:
            if first < 0 or now[row, 0] < now[first, 0]:
                first = row
    for row in range(len(current)):
        if current[row, 2] == segment and trial[row, current[row, 3]] == home:
            trial[row, current[row, 3]] = current[first, 0]
    return now[first, 0]


@part
def _take_out(current, now, row, other, whole, begin, gone):  # type: ignore[no-untyped-def]
    """Take out copies that begin no earlier than a row, or parts that arrive no later, of its
    segment and another one; or all of its segment.
    """
    segment, copied = current[row, 2], current[row, 3]
    for at in range(len(current)):
        begin[at] = now[at, 0]
        late = now[at, 0] >= now[row, 0] if copied == 1 else now[at, 1] <= now[row, 1]
        here = current[at, 2] == segment or current[at, 2] == other
        gone[at] = here and (whole or (late and current[at, 3] == copied))


@part
def _sort_rows(trial, begin):  # type: ignore[no-untyped-def]
    """Sort rows by when they begin: an insertion sort, as few of them move."""
    for at in range(1, len(trial)):
        here, first = at, begin[at]
        one, two, three, four = trial[at, 0], trial[at, 1], trial[at, 2], trial[at, 3]
        while here > 0 and begin[here - 1] > first:
            begin[here] = begin[here - 1]
            for place in range(4):
                trial[here, place] = trial[here - 1, place]
            here -= 1
        begin[here] = first
        trial[here, 0], trial[here, 1], trial[here, 2], trial[here, 3] = one, two, three, four


@part
def _lateness(times, target):  # type: ignore[no-untyped-def]
    """Return by how much all sends arrive after a target."""
    spent = 0.0
    for row in range(len(times)):
        spent += max(times[row, 1] - target, 0.0)
    return spent


@loop(pays_from=100_000)
def anneal_sends(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, holds, exits, entries, shared, ahead, rows, record,
    times, best, least, grain, tries, seed, stop,
):  # fmt: skip
    """Change a plan again and again; return when the best plan so far ends, or -1 for no plan.

    The cost of a plan is by how much sends arrive after what is aimed at: a part of the way from
    ``best`` to ``least``, and no less than ``grain``. A plan that costs more is taken with a chance
    that falls with how much more. A try has three phases: propose a change, time all rows, and
    keep the plan or not. A change: a send is put before what it waits for, or elsewhere; a copy
    gets another sender, a part another receiver; copies or parts of one or two segments are grown
    anew, those that are last on their way out or in; or both of a segment, from another machine.

    - ``latency`` to ``ahead``: those of :func:`~makespan.reduction.heuristics.critical_path.shorten`.
    - ``rows``: (row, 4) Sender, receiver, segment, whether a copy, sent in their order, each as
      early as it can; they go on changing.
    - ``record``, ``times``: (row, 4), (row, 2) Get the plan that ends first, if before ``best``.
    - ``best``, ``least``: when the best plan so far ends, and a lower bound.
    - ``grain``: 1 where times are whole, else 0.
    - ``seed``, ``stop``: of the random numbers; (1) no longer 0 to stop.

    Complexity: O(n m) a try, and O(n² m) where sends are grown.
    """
    total = rows.shape[0]
    machines, segments = holds.shape
    ports = max(greatest(exits), greatest(entries)) + 1
    zero = latency[0, 0] * 0
    copied_too = total > (machines - 1) * segments
    ready, there = np.zeros((machines, segments), latency.dtype), np.zeros(machines, latency.dtype)
    origin = np.zeros((machines, segments), np.int64)
    has = holds.copy()
    parts = np.zeros(segments, np.int64)
    for machine in range(machines):
        for segment in range(segments):
            parts[segment] += holds[machine, segment] == 0
    left = parts.copy()
    free, user = np.zeros((4, ports), latency.dtype), np.zeros((4, ports), np.int64)
    waits, kept = np.zeros((3, total), np.int64), np.zeros((3, total), np.int64)
    path, awaited = np.zeros(total, np.int64), np.zeros(total, np.int64)
    trial, trial_times = rows.copy(), times.copy()
    now, begin = times.copy(), np.zeros(total, latency.dtype)  # of the current plan, and of a trial
    gone, state = np.zeros(total, np.bool_), np.zeros(machines, np.int64)
    busy, giver = np.zeros((3, machines), np.int64), np.zeros(machines, np.int64)
    busy_from = np.zeros((3, machines, total), latency.dtype)
    busy_until, start = busy_from.copy(), there.copy()
    favour, value = np.zeros(machines), np.zeros(machines)
    mean = (times[:, 1] - times[:, 0]).sum() / total
    target = min(best - (best - least) * AIM, best - grain * 1.0)
    cost = limit = 0.0
    found = 0
    for turn in range(tries + 1):
        if stop[0] != 0 or best <= least:
            break
        if turn > 0:
            copy_rows(rows, trial)
            seed = next_seed(seed)
            limit = cost - HEAT * (best - target) * math.log(((seed >> 8) + 1) / 8388609)
            seed = next_seed(seed)
            kind = (seed >> 8) % 64
            seed = next_seed(seed)
            step = (seed >> 9) % found
            critical = (seed >> 8) % 2 > 0
            row = path[step] if critical else (seed >> 9) % total
            seed = next_seed(seed)
            some = seed >> 8
            if kind < BEHIND:
                to = min(max(row + some % (4 * machines + 1) - 2 * machines, 0), total - 1)
                if critical and kind >= MOVED and awaited[step] >= 0:
                    to = awaited[step]
                    if kind >= FORWARD:
                        row, to = to, row
                if row == to:
                    continue
                move_row(rows, trial, row, to)
            elif kind < RESENT:
                seed = send_otherwise(rows, trial, row, some, kind % 2 == 0, machines, seed)
            else:
                segment, since = rows[row, 2], zero
                whole = copied_too and some % 8 == 0
                other = (some >> 3) % (2 * segments)
                if whole or other >= segments:
                    other = segment
                if whole:
                    since = _move_home(rows, trial, now, segment, (some >> 3) % machines)
                _take_out(rows, now, row, other, whole, begin, gone)
                seed = next_seed(seed)
                dear = uniform(seed)
                seed = next_seed(seed)
                wild = WILD * mean * uniform(seed)
                for machine in range(machines):
                    seed = next_seed(seed)
                    favour[machine] = wild * uniform(seed)
                possible = True
                for half in range(1 + (whole or other != segment)):
                    possible = possible and regrow(
                        trial, begin, gone, other if half else segment,
                        half == 1 if whole else rows[row, 3] == 0, since, best, latency, transfer,
                        combine, size, holds, state, there, favour, dear, busy, busy_from,
                        busy_until, value, giver, start,
                    )  # fmt: skip
                if not possible:
                    continue
                _sort_rows(trial, begin)
        ready[:] = zero
        origin[:] = NOTHING
        copy_rows(holds, has)
        np.positive(parts, left)
        free[:] = zero
        user[:] = NOTHING
        valid, end, latest = time_sends(
            trial, trial_times, turn > 0, target + limit, latency, transfer, combine, size, exits,
            entries, shared, ahead, has, left, ready, origin, free, user, waits,
        )  # fmt: skip
        if valid < total:
            if turn == 0:
                return zero - 1
            continue
        spent = _lateness(trial_times, target)
        if turn > 0 and spent > limit:
            continue
        copy_rows(waits, kept)
        cost = spent
        copy_rows(trial, rows)
        copy_rows(trial_times, now)
        found = trace_waits(latest, kept, path, awaited)
        if end < best:
            best = end
            copy_rows(trial, record)
            copy_rows(trial_times, times)
            target = min(best - (best - least) * AIM, best - grain * 1.0)
            cost = _lateness(trial_times, target)
    return best
