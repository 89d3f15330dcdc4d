"""Hierarchical collectives: within groups and between their homes, in waves that overlap."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.needs import ALL_LINKS, FREE_ORDER, GIVEN_COUNT, OPEN_PLAN, is_tried
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.between_groups import COMBINED, COPY, PART, between_groups
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import Sends, claim_sends, sends_in, tables_of
from makespan.reduction.timing import in_order

MOST_GROUPS = 4096
STEPS = 50_000_000  # about a quarter of a second
SHAPES, TIMED = 12, 3
MANY = 2_000  # sends from which other manners are tried
MOST_NEAR, STEPS_NEAR = 100, 400_000_000  # runs in such, and what they do in all
CHILDREN, EARLIEST, BACKLOGS = (2, 3, 4, 6, np.inf), 0.8, (0.5, 1, 2, 4, np.inf)
SHARE, SHARE_BEFORE = 0.4, 0.15  # of the time that is left, and where a search follows
ROUNDING = 1e-11
FURTHEST = 1e9  # turns: what takes longer counts as that, as turns are counted in floats
BYTES = 260  # a send of an all-reduce, the most that was measured, check included
TIMED_IN_ALL = 50_000  # sends


class Manner(NamedTuple):
    """How groups take turns.

    Parameters
    ----------
    children
        Of a machine in the trees between groups: few leave more time for sends within groups.
    early
        By what part of a turn a send may be put before what it waits for, and so delay the turn.
    backlog
        Combinations that may wait for a unit, before no more parts are sent there.
    unsent
        Parts of a wave that groups have still to send on average when its tree begins.
    """

    children: float
    early: float
    backlog: float
    unsent: float = 0.0

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


MANNERS = (
    Manner(np.inf, 0.0, np.inf),
    Manner(3, 0.0, np.inf),
    Manner(np.inf, 0.15, np.inf),
    Manner(3, 0.15, np.inf),
    Manner(np.inf, 0.3, 2.0),
    Manner(np.inf, 0.2, 1.0),
    Manner(4, 0.6, 1.0),
    Manner(np.inf, 0.1, 1.5),
    Manner(np.inf, 0.1, 3.0),
)


class Shape(NamedTuple):
    """So many groups of so many machines, the last ones of one less, and homes in each group.

    Every home is that of one segment in each of the waves.
    """

    groups: int
    size: int
    homes: int
    waves: int

    @property
    def turns(self) -> int:
        """About how many turns it takes, but for the latency of trees that nothing hides."""
        shared = 0 if self.groups == 1 else 3 * self.waves
        return 2 * self.waves * (self.size - 1) + shared

    @property
    def sends(self) -> int:
        """How many sends of groups there are one way."""
        return self.waves * (self.groups * self.size - 1)


def _not_over_groups(problem: Reduction) -> str | None:
    if problem.collective == "all-reduce":
        return None
    if problem.collective not in ("all-gather", "reduce-scatter"):
        return f"collective is {problem.collective!r}"
    few = problem.segments == "auto" or problem.segments < len(problem.machines)
    return None if few else "there are as many segments as machines"


OVER_GROUPS = Need(
    "an all-reduce, or an all-gather or reduce-scatter of fewer segments than machines",
    _not_over_groups,
)


@register(
    "reduction",
    name="hierarchical",
    needs=(OVER_GROUPS, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER, ALL_LINKS),
    complexity="O(n m + g² m), for the number g of groups",
    source="Jia et al. 2018 and Mikami et al. 2018: within groups, between groups, and back; here "
    "in waves that overlap, and between machines of any two groups",
)
def hierarchical(problem: Reduction, control: Control) -> Solution:
    """Combine every segment on a home in each group, between the homes, and copy it back.

    While homes wait for each other, parts and copies of other waves of segments are sent. Machines
    at one place of their groups do the same: it is groups that send to each other in turns, to
    whatever group is free, those at place p to those at place p + r for the r-th part. An
    all-gather is the way back, from machines that have segments; backwards, a reduce-scatter.

    Of many sends, groups take turns in more manners: near those in which they were done first.
    """
    claim_sends(problem, BYTES if problem.collective == "all-reduce" else None)
    lower_bound = best_bound(problem)
    searched = is_tried(problem, "earliest-due-date", "critical-path")
    with control.sharing(SHARE_BEFORE if searched else SHARE):
        best = _planned(problem, control, lower_bound * (1 + ROUNDING))
    return logged(problem, control, Solution(schedule=best, lower_bound=lower_bound))


def _planned(problem: Reduction, control: Control, met: float) -> Schedule:
    """Return the best plan of those that end first in turns, or the first that ends by ``met``."""
    found: list[_InTurns] = []
    for shape in _shapes(problem):
        for manner in MANNERS:
            if found and control.expired():
                break
            found.append(_turns(problem, shape, manner))
    found.sort(key=_end)
    first = found[0]
    best = _schedule(problem, first)
    if sends_in(problem) >= MANY and best.makespan > met:
        found = _near(problem, control, found)
    timed = max(TIMED, TIMED_IN_ALL // (1 + sends_in(problem)))
    for plan in [plan for plan in found[:timed] if plan is not first]:
        if best.makespan <= met or control.expired():
            break
        schedule = _schedule(problem, plan)
        best = schedule if schedule.makespan < best.makespan else best
    return best


class _InTurns(NamedTuple):
    """When groups that take turns are done, in the tables' unit, and who sends what in each."""

    end: float
    shape: Shape
    manner: Manner
    rows: Integers


def _end(plan: _InTurns) -> float:
    return plan.end


def _near(problem: Reduction, control: Control, found: list[_InTurns]) -> list[_InTurns]:
    """Return the best of the plans and of others, each in a manner near that of one before."""
    known, steps = list(found), 0
    with control.sharing(1 / 2):
        for _ in range(MOST_NEAR):
            chosen = known[int(len(known) * control.rng.random() ** 3)]
            steps += chosen.shape.groups * chosen.shape.sends
            if steps > STEPS_NEAR or control.expired():
                break
            insort(known, _turns(problem, chosen.shape, chosen.manner.moved(control.rng)), key=_end)
            known.pop()
    return known


def _shapes(problem: Reduction) -> list[Shape]:
    """Return the shapes that promise the fewest turns."""
    found: dict[tuple[int, int], Shape] = {}
    for shape in _divided(len(problem.machines), problem.items):
        if problem.collective != "all-reduce" and shape.waves > shape.groups:
            continue  # a root has segments of two waves
        if shape.groups * shape.sends <= STEPS or shape.groups == 1:
            found.setdefault((shape.size, shape.waves), shape)
    tables = tables_of(problem)
    longest = float(np.max(tables.latency) + np.max(tables.reduce)) / float(
        np.max(tables.transfer) or 1
    )
    depth = 2 * len(problem.machines).bit_length() * (1 + longest)

    def turns(shape: Shape) -> float:
        return shape.turns + (depth if shape.groups > 1 == shape.waves else 0.0)

    return sorted(found.values(), key=turns)[:SHAPES]


def _divided(machines: int, segments: int) -> Iterator[Shape]:
    for groups in range(1, min(machines, MOST_GROUPS) + 1):
        size = -(-machines // groups)
        homes = size if size * groups == machines else size - 1
        if homes:
            waves = -(-segments // homes)
            yield Shape(groups, size, -(-segments // waves), waves)


def _turns(problem: Reduction, shape: Shape, manner: Manner) -> _InTurns:
    """Let the groups take turns."""
    tables = tables_of(problem)
    transfer, latency, reduce = (float(np.mean(table)) for table in tables[:3])
    both, back = problem.collective == "all-reduce", problem.collective == "reduce-scatter"
    turn = (max(transfer, reduce) if back else transfer) or reduce or 1.0
    latency, reduce = min(latency, FURTHEST * turn), min(reduce, FURTHEST * turn)
    groups, place = shape.groups, _places(shape)
    order = np.argsort(place, axis=1)
    trees = []
    for work in (reduce, reduce if back else 0.0):
        length, period = (
            np.ceil(each / turn - manner.early) for each in (latency + transfer + work, work)
        )
        parents = _grown(groups, int(length), max(1, int(period)), manner.children)[place]
        of_group = np.take_along_axis(order, np.maximum(parents, 0), axis=1)
        trees.append(np.where(parents < 0, -1, of_group))
    rows = np.empty((shape.sends * (2 if both else 1), 5), dtype=np.int64)
    backlog = manner.backlog * reduce if reduce else np.inf
    latency += reduce if back else 0.0
    times = latency, turn, reduce, manner.early * turn, backlog, manner.unsent
    loop = between_groups.at(len(rows) * groups)
    end = float(loop(shape.waves, shape.size - 1, both, *times, *trees, order, rows))
    return _InTurns(end, shape, manner, rows)


def rotated(problem: Reduction, groups: int) -> Iterator[Integers]:
    """Yield all-reduces of groups of one size: what is sent of one home's segments.

    Those of the other homes are rotations. Rows (sender, receiver, segment, whether a copy) are in
    order; machine i is in group i mod ``groups``.
    """
    size = len(problem.machines) // groups
    shape = Shape(groups, size, size, -(-problem.items // size))
    for manner in MANNERS:
        sender, receiver, wave, kind, left = _turns(problem, shape, manner).rows.T
        place = np.where(kind * (COPY - kind) == PART, left % size, 0) * groups
        there = kind <= COMBINED
        ends = sender + place * there, receiver + place * ~there
        yield np.column_stack([*ends, wave, ~there]).astype(np.int64)


def _places(shape: Shape) -> Integers:
    """Return the place of every group, a column each, in the trees of every wave, a row each."""
    groups, waves = shape.groups, shape.waves
    return (np.arange(groups) + (np.arange(waves) * groups // waves)[:, None]) % groups


def _grown(count: int, length: int, period: int, children: float) -> Integers:
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


def _schedule(problem: Reduction, plan: _InTurns) -> Schedule:
    """Return the plan of what groups send in turns."""
    sends = _sends(problem, plan.shape, plan.rows)
    if problem.collective != "all-reduce":
        copies = np.column_stack([sends.sender, sends.receiver, sends.segment])
        return schedule_from_copies(problem, copies)
    schedule = in_order(problem, sends)
    assert schedule is not None
    return schedule


def _sends(problem: Reduction, shape: Shape, rows: Integers) -> Sends:
    """Return the sends of machines, of every home's segment, that groups make in turns."""
    sender, receiver, wave, kind, left = (column[:, None] for column in rows.T)
    home = np.arange(shape.homes)
    within = kind * (COPY - kind) == PART  # not between homes
    other = (home - np.where(within, shape.size - left, 0)) % shape.size
    there = kind <= COMBINED
    place: Any = np.where(there, other, home), np.where(there, home, other)
    full = len(problem.machines) - shape.groups * (shape.size - 1)
    size = np.where(np.arange(shape.groups) < full, shape.size, shape.size - 1)
    first = np.cumsum(size) - size
    segment = np.broadcast_to(wave * shape.homes + home, place[0].shape)
    real = (segment < problem.items) & (other < np.where(there, size[sender], size[receiver]))
    ends = [(first[group] + at)[real] for group, at in zip((sender, receiver), place, strict=True)]
    if problem.collective != "all-reduce":  # the machines that have segments are the homes of roots
        roots = first[np.argmin(_places(shape), axis=1)]
        machine = np.full(len(problem.machines), -1)
        owners = (roots[:, None] + home).ravel()[: problem.items]
        machine[owners] = np.arange(problem.items)
        machine[machine < 0] = np.arange(problem.items, len(machine))
        ends = [machine[each] for each in ends]
    final = np.broadcast_to(~there, real.shape)[real]
    return Sends(sender=ends[0], receiver=ends[1], segment=segment[real], final=final)
