"""The loop of a local search for copies: machines change places, senders are others.

A reduction is searched as the broadcast that it is in reversed time. Source: Kirkpatrick, Gelatt
and Vecchi 1983, simulated annealing; what is critical is drawn more often, as in van Laarhoven,
Aarts and Lenstra 1992.
"""

import math
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop
from makespan.core.numeric.random import next_seed
from makespan.reduction.heuristics.annealing_phases import (
    HOLDER,
    NO_ROW,
    NOBODY,
    accept_change,
    exchange_machines,
    exchange_senders,
    find_latest,
    judge_change,
    take_back_change,
    time_rows,
    trace_back,
)

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
