"""The loop of hierarchical collectives: groups of machines that send to each other in turns."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop, part
from makespan.reduction.heuristics import start_of, worked
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import tables_of

PART, COMBINED, SPREAD, COPY = range(4)


@part
def _write(rows, done, sender, receiver, wave, kind, left):  # type: ignore[no-untyped-def]
    """Write a turn down; return how many there are then."""
    rows[done, 0], rows[done, 1], rows[done, 2] = sender, receiver, wave
    rows[done, 3], rows[done, 4] = kind, left
    return done + 1


@part
def _receive(receiver, wave, arrival, combine, unit, ready):  # type: ignore[no-untyped-def]
    """Combine what arrives at a group, behind all that it combines already."""
    unit[receiver] = worked(arrival, unit[receiver], combine)
    ready[receiver, wave] = max(ready[receiver, wave], unit[receiver])


@part
def _along_tree(  # type: ignore[no-untyped-def]
    wave, done, until, arrival, combine, combining, up, down, order, rows, waits, due, unsent,
    open_trees, child, given, has, out_free, in_free, ready, unit,
):  # fmt: skip
    """Send what was combined of a wave along its trees, up and then down; return the rows so far.

    What is ready ``until`` then may be sent. A group sends up when it waits for no other, and the
    root has the wave when no part of it is unsent; who has it sends to its next child.
    """
    groups = up.shape[1]
    for place in range(groups):
        group = order[wave, place]
        if ready[group, wave] > until or (given[group, wave] and not has[group, wave]):
            continue
        if not has[group, wave]:
            parent = up[wave, group] if combining else -1
            if waits[group, wave] > 0:
                continue
            if parent < 0:
                if unsent[wave] > 0:
                    continue
                has[group, wave] = True
            elif out_free[group] and in_free[parent]:
                out_free[group] = in_free[parent] = False
                given[group, wave] = True
                waits[parent, wave] -= 1
                due[parent] -= 1
                _receive(parent, wave, arrival, combine, unit, ready)
                open_trees[wave] -= 1
                done = _write(rows, done, group, parent, wave, COMBINED, 0)
                continue
        if not has[group, wave] or not out_free[group]:
            continue
        for other in range(max(child[group, wave], place + 1), groups):
            taker = order[wave, other]
            if down[wave, taker] == group:
                if in_free[taker]:
                    out_free[group] = in_free[taker] = False
                    child[group, wave] = other + 1
                    has[taker, wave] = True
                    ready[taker, wave] = arrival
                    open_trees[wave] -= 1
                    done = _write(rows, done, group, taker, wave, SPREAD, 0)
                break
            child[group, wave] = other + 1
    return done


@part
def _send_parts(  # type: ignore[no-untyped-def]
    first, done, arrival, combine, backlog, rows, left, load, unsent, given, out_free, in_free,
    ready, unit,
):  # fmt: skip
    """Let groups send a part each, to those to whom the least is still to come."""
    groups, waves = left.shape
    for sender in range(groups):
        wave = first
        while wave < waves and left[sender, wave] == 0:
            wave += 1
        if not out_free[sender] or wave == waves:
            continue
        receiver = -1
        some = False
        for shift in range(groups):
            other = (sender + shift) % groups
            if not in_free[other] or unit[other] > arrival + backlog:
                continue
            some = True
            if not given[other, wave] and (receiver < 0 or load[other] < load[receiver]):
                receiver = other
        if not some:
            break  # none for the others, either
        if receiver < 0:
            continue
        out_free[sender] = in_free[receiver] = False
        _receive(receiver, wave, arrival, combine, unit, ready)
        done = _write(rows, done, sender, receiver, wave, PART, left[sender, wave])
        left[sender, wave] -= 1
        load[receiver] += 1
        unsent[wave] -= 1
    return done


@part
def _send_copies(  # type: ignore[no-untyped-def]
    first, turn, done, until, rows, lacks, lacking, due, has, out_free, in_free, ready
):
    """Let groups send a copy each, to those to whom the most is still to come."""
    groups, waves = lacks.shape
    for step in range(groups):
        sender = (turn + step) % groups
        for wave in range(first, waves):
            if not out_free[sender]:
                break
            if not has[sender, wave] or ready[sender, wave] > until or lacking[wave] == 0:
                continue
            receiver = -1
            for shift in range(groups):
                other = (sender + shift) % groups
                if not in_free[other] or lacks[other, wave] == 0:
                    continue
                if receiver < 0 or due[other] > due[receiver]:
                    receiver = other
            if receiver < 0:
                continue
            out_free[sender] = in_free[receiver] = False
            done = _write(rows, done, sender, receiver, wave, COPY, lacks[receiver, wave])
            lacks[receiver, wave] -= 1
            due[receiver] -= 1
            lacking[wave] -= 1
    return done


@part
def _start_early(rows, latency, transfer, combine, ready, unit, out_port, in_port):  # type: ignore[no-untyped-def]
    """Return when the last turn ends, if all begin as early as can be, in their order."""
    unit[:] = ready[:] = end = 0.0
    for row in range(len(rows)):
        sender, receiver, wave, kind = rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]
        since = 0.0 if kind == PART else ready[sender, wave]
        start = start_of(since, out_port[sender], in_port[receiver], latency)
        arrival = start + latency + transfer
        out_port[sender] = start + transfer
        in_port[receiver] = arrival
        if kind <= COMBINED:
            arrival = worked(arrival, unit[receiver], combine)
            unit[receiver] = arrival
        if kind != COPY:
            ready[receiver, wave] = arrival
        end = max(end, arrival)
    return end


@loop(pays_from=500)
def exchange_in_turns(  # type: ignore[no-untyped-def]
    waves, own, combining, latency, transfer, combine, early, backlog, unsent_at, up, down, order,
    rows,
):  # fmt: skip
    """Let every group send to one other, or to itself, a turn; return when the last is done.

    Every group sends its parts of a wave in ``own`` turns, to whatever group is free that has not
    sent on yet what it combined. From when no more than ``unsent_at`` parts a group are unsent,
    what was combined goes along the tree ``up`` of the wave, then back along ``down``: (wave,
    group), with -1 for the root. ``order`` (wave, place) are the groups by when the tree down
    reaches them. Whoever has a wave complete then sends copies to those that need them, ``own``
    turns each. Trees go first, then parts, then copies. Times are in one unit. What is ready
    ``early`` after a turn began may be sent in it; no parts go where more than ``backlog`` of
    combining is still to be done when they come. The end is that of all in the order of the turns,
    begun as early as can be.

    Without ``combining`` the roots have all from the start, and nothing is sent but copies.

    ``rows`` gets the turns: sender, receiver, wave, kind, and how many parts the sender, or copies
    the receiver, had left of the wave.

    Complexity: O(g) for each of the sends of g groups.
    """
    groups = up.shape[1]
    # tables of few types: what makes one is compiled for each
    left = np.zeros((groups, waves), rows.dtype)
    lacks = np.zeros((groups, waves), rows.dtype)
    waits = np.zeros((groups, waves), rows.dtype)
    child = np.zeros((groups, waves), rows.dtype)  # place from which on a copy has to be made
    left[:], lacks[:] = own if combining else 0, own
    coming = np.zeros((2, groups), rows.dtype)
    due, load = coming[0], coming[1]  # what is still to come but for parts, and with those that do
    of_wave = np.zeros((3, waves), rows.dtype)
    unsent, lacking, open_trees = of_wave[0], of_wave[1], of_wave[2]
    due[:], unsent[:] = own * waves, groups * (own if combining else 0)
    lacking[:], open_trees[:] = own * groups, (2 if combining else 1) * (groups - 1)
    given = np.zeros((groups, waves), np.bool_)
    has = np.zeros((groups, waves), np.bool_)
    free = np.zeros((2, groups), np.bool_)
    out_free, in_free = free[0], free[1]
    ready = np.zeros((groups, waves))  # when all that has come is combined, or the copy there
    clock = np.zeros((3, groups))
    unit, out_port, in_port = clock[0], clock[1], clock[2]
    for wave in range(waves):
        for group in range(groups):
            if not combining:
                given[group, wave] = order[wave, 0] != group
            elif up[wave, group] >= 0:
                waits[up[wave, group], wave] += 1
                due[up[wave, group]] += 1
    total = len(rows)
    for group in range(groups):
        load[group] = due[group] + waves
    done = turn = first = 0
    while done < total:
        before = done
        now = turn * transfer
        arrival = now + latency + transfer
        out_free[:] = True
        in_free[:] = True
        while first < waves and lacking[first] == 0 and open_trees[first] == 0:
            first += 1
        for wave in range(first, waves):
            if unsent[wave] > unsent_at * groups:
                break
            if open_trees[wave] != 0 or own != 0:
                done = _along_tree(
                    wave, done, now + early, arrival, combine, combining, up, down, order, rows,
                    waits, due, unsent, open_trees, child, given, has, out_free, in_free, ready,
                    unit,
                )  # fmt: skip
        done = _send_parts(
            first, done, arrival, combine, backlog, rows, left, load, unsent, given, out_free,
            in_free, ready, unit,
        )  # fmt: skip
        done = _send_copies(
            first, turn, done, now + early, rows, lacks, lacking, due, has, out_free, in_free, ready
        )
        turn += 1
        if done == before:  # nothing can be sent until more is ready
            ahead = np.inf
            for group in range(groups):
                if unit[group] > arrival + backlog:
                    ahead = min(ahead, unit[group] - backlog - latency - transfer)
                for wave in range(first, waves):
                    if ready[group, wave] > now + early:
                        ahead = min(ahead, ready[group, wave] - early)
            if ahead < np.inf:
                turn = max(turn, int(np.ceil(ahead / transfer)))
    return _start_early(rows, latency, transfer, combine, ready, unit, out_port, in_port)


CHILDREN, EARLIEST, BACKLOGS = (2, 3, 4, 6, np.inf), 0.8, (0.5, 1, 2, 4, np.inf)
FURTHEST = 1e9  # turns: what takes longer counts as that, as turns are counted in floats


class Manner(NamedTuple):
    """How groups take turns."""

    children: float  # of a machine in the trees between groups: few leave time for others
    early: float  # by what part of a turn a send may precede what it waits for, and delay the turn
    backlog: float  # combinations that may wait for a unit, before no more parts are sent there
    unsent: float = 0.0  # parts of a wave that groups have to send on average when its tree begins

    def moved(self, rng: np.random.Generator) -> Manner:
        """Return the same with one of them drawn anew."""
        match int(rng.integers(4)):
            case 0:
                return self._replace(children=float(rng.choice(CHILDREN)))
            case 1:
                return self._replace(early=float(rng.random() * EARLIEST))
            case 2:
                return self._replace(backlog=float(rng.choice(BACKLOGS)))
        return self._replace(unsent=float(rng.random() ** 2))


MANNERS = tuple(
    Manner(*each)
    for each in (
        (np.inf, 0.0, np.inf), (3, 0.0, np.inf), (np.inf, 0.15, np.inf), (3, 0.15, np.inf),
        (np.inf, 0.3, 2.0), (np.inf, 0.2, 1.0), (4, 0.6, 1.0), (np.inf, 0.1, 1.5),
        (np.inf, 0.1, 3.0),
    )
)  # fmt: skip


class Shape(NamedTuple):
    """Groups of machines, the last ones of one less, with homes, one for a segment of each wave."""

    groups: int
    size: int
    homes: int
    waves: int

    @property
    def turns(self) -> int:
        """About how many turns it takes, but for the latency of trees that nothing hides."""
        return 2 * self.waves * (self.size - 1) + (0 if self.groups == 1 else 3 * self.waves)

    @property
    def sends(self) -> int:
        """How many sends of groups there are one way."""
        return self.waves * (self.groups * self.size - 1)


class InTurns(NamedTuple):
    """When groups that take turns are done, in the tables' unit, and who sends what in each."""

    end: float
    shape: Shape
    manner: Manner
    rows: Integers


def take_turns(problem: Reduction, shape: Shape, manner: Manner) -> InTurns:
    """Let the groups take turns."""
    tables = tables_of(problem)
    transfer, latency, reduce = (float(np.mean(table)) for table in tables[:3])
    both, back = problem.collective == "all-reduce", problem.collective == "reduce-scatter"
    turn = (max(transfer, reduce) if back else transfer) or reduce or 1.0
    latency, reduce = min(latency, FURTHEST * turn), min(reduce, FURTHEST * turn)
    groups, place = shape.groups, places_of(shape)
    order = np.argsort(place, axis=1)
    trees = []
    for work in (reduce, reduce if back else 0.0):
        length, period = (
            np.ceil(each / turn - manner.early) for each in (latency + transfer + work, work)
        )
        parents = grown(groups, int(length), max(1, int(period)), manner.children)[place]
        of_group = np.take_along_axis(order, np.maximum(parents, 0), axis=1)
        trees.append(np.where(parents < 0, -1, of_group))
    rows = np.empty((shape.sends * (2 if both else 1), 5), dtype=np.int64)
    backlog = manner.backlog * reduce if reduce else np.inf
    latency += reduce if back else 0.0
    times = latency, turn, reduce, manner.early * turn, backlog, manner.unsent
    loop = exchange_in_turns.at(len(rows) * groups)
    end = float(loop(shape.waves, shape.size - 1, both, *times, *trees, order, rows))
    return InTurns(end, shape, manner, rows)


def rotated(problem: Reduction, groups: int) -> Iterator[Integers]:
    """Yield all-reduces of groups of one size: what is sent of one home's segments.

    Those of the other homes are rotations. Rows (sender, receiver, segment, whether a copy) are in
    order; machine i is in group i mod ``groups``.
    """
    size = len(problem.machines) // groups
    shape = Shape(groups, size, size, -(-problem.items // size))
    for manner in MANNERS:
        sender, receiver, wave, kind, left = take_turns(problem, shape, manner).rows.T
        place = np.where(kind * (COPY - kind) == PART, left % size, 0) * groups
        there = kind <= COMBINED
        ends = sender + place * there, receiver + place * ~there
        yield np.column_stack([*ends, wave, ~there]).astype(np.int64)


def places_of(shape: Shape) -> Integers:
    """Return the place of every group, a column each, in the trees of every wave, a row each."""
    groups, waves = shape.groups, shape.waves
    return (np.arange(groups) + (np.arange(waves) * groups // waves)[:, None]) % groups


def grown(count: int, length: Any, period: Any, children: float = np.inf) -> Integers:
    """Return the tree of a broadcast that grows as fast as it can, in order of arrival."""
    parents, degree = np.full(count, -1), [0] * count
    heap = [(length, 0)]
    for taker in range(1, count):
        arrival, giver = heappop(heap)
        parents[taker] = giver
        degree[giver] += 1
        if degree[giver] < children:
            heappush(heap, (arrival + period, giver))
        heappush(heap, (arrival + length, taker))
    return parents
