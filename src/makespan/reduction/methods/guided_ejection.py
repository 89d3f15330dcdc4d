"""Copies in rounds: those that are in the way are taken out, and placed again."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.registry import Need, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding.growth import last_arrival
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.merging import reduce_then_broadcast
from makespan.reduction.halves.rarest_first import rarest_first
from makespan.reduction.heuristics.ejection import eject_and_insert
from makespan.reduction.heuristics.symmetry import Plan, schedule_from_copies
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends, sends_in

MOST_SENDS, MOST_ROUNDS = 600_000, 2_000
MANY = 8_000  # sends of an all-reduce, of which others plan fewer as well
LENGTHS = 3  # of a round, that are tried
FIRST, STEPS = 3, 16  # a send, as long as there is no plan, and in the shortest try from then on
STEPS_IN_ALL = 5_000  # a send
SHARE, SHARE_ROUNDED = 0.5, 0.2  # of the time that is left, and where times are rounded
LARGE, LIKELY = 20_000, 1.15  # sends from which so many rounds, of the bound, are tried at first
STRIDE = 4  # the part of what may still be gained that is tried next
WATCHED_FROM = 100_000
ROUNDING = 1e-9


def _one_tree_or_two(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.collective == "all-reduce" or needs.one_way(problem):
        return None
    return "some are combined, and then copied"


def _units_keep_up(problem: Reduction) -> str | None:
    times = problem.times
    if times is None or problem.collective != "all-reduce" or times.reduce <= times.transfer:
        return None
    return f"reduce is {times.reduce:g}, transfer {times.transfer:g}"


def _many(problem: Reduction) -> str | None:
    if problem.segments == "auto" or problem.collective != "all-reduce":
        return None
    sends = sends_in(problem)
    return f"there are {sends}" if sends < MANY else None


@register(
    needs=(
        Need("an all-reduce, or segments only copied, or only combined", _one_tree_or_two),
        Need(
            "transfers that take time",
            lambda each: "transfer is 0" if each.times and each.times.transfer == 0 else None,
        ),
        Need("in an all-reduce, no combinations that take longer than transfers", _units_keep_up),
        needs.SAME_TIMES,
        *needs.FREE_PLAN,
        needs.ONE_PORT,
    ),
    reach=(
        needs.at_most(MOST_SENDS, "sends", sends_in),
        Need(f"at least {MANY} sends in an all-reduce", _many),
    ),
    complexity="O(r + d) a step, for r rounds and d copies that depend on what is taken out",
    source="Nagata and Bräysy 2009, with the restarts of Luby, Sinclair and Zuckerman 1993; "
    "copies in rounds as in the postal model of Bar-Noy and Kipnis 1992",
)
def guided_ejection(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Place every copy in a round; what is in the way is taken out, and placed again later.

    In a round, every port is used once, and a copy can be sent on some rounds later. Every plan is
    to have fewer rounds than those before. They are as long as a transfer, or a little longer, so
    that what is sent on was under way for a whole number of them.

    In an all-reduce, each segment is complete at one machine, one after another, evenly spread;
    before that it goes as a broadcast in reversed time.
    """
    claim_sends(problem)
    lower_bound = best_bound(problem)
    bound = lower_bound * (1 + 1e-12)
    best = control.incumbent.schedule if control.incumbent else None
    end = np.inf if best is None else best.makespan
    packings = [_Packing(problem, control, rounds) for rounds in _promising(problem)]
    packings = [each for each in packings if each.promises(end) and sends_in(problem)]
    turn, most = 0, STEPS_IN_ALL * sends_in(problem)
    exact = any(_exact(problem, each.rounds) for each in packings)
    share = SHARE if exact else SHARE_ROUNDED
    with control.sharing(share if control.incumbent else 1.0):
        while packings and (tries is None or turn < tries) and not control.expired():
            packing, turn = min(packings, key=lambda each: each.work), turn + 1
            if packing.work > most:
                break
            schedule = packing.run()
            if schedule is not None and (best is None or schedule.makespan < best.makespan):
                best = schedule
            end = np.inf if best is None else best.makespan
            packings = [each for each in packings if each.promises(end) and end > bound]
    if best is None:
        parts = reduce_then_broadcast if problem.collective == "all-reduce" else rarest_first
        best = parts(problem, control, restarts=1).schedule
        assert best is not None
    backwards = problem.collective != "all-reduce"
    return finished(problem, control, best, lower_bound, backwards=backwards)


class Rounds(NamedTuple):
    """Rounds of ``length`` seconds: a copy, or a part, can be sent on so many of them later.

    No plan has fewer than ``least`` of them.
    """

    length: float
    copy: int
    part: int
    least: int


def _times(problem: Reduction) -> tuple[float, float, float]:
    """Return for how long ports are held, and when a copy, and a part, can be sent on."""
    assert problem.times is not None
    latency, transfer, reduce = problem.times
    part = latency + transfer + reduce
    if problem.collective == "all-reduce":
        return transfer, latency + transfer, part
    return max(transfer, reduce), part, part


def _promising(problem: Reduction) -> list[Rounds]:
    """Return rounds of several lengths, those first in which the bound is least."""
    period, *lags = _times(problem)
    found = []
    for length in {period, *(lag / int(lag / period + ROUNDING) for lag in lags)}:
        copy, part = (int(np.ceil(lag / length - ROUNDING)) for lag in lags)
        least = _least(problem, copy, part)
        if least <= MOST_ROUNDS:
            found.append(Rounds(length, copy, part, least))
    return sorted(found, key=lambda each: (each.least * each.length, each))[:LENGTHS]


def _exact(problem: Reduction, rounds: Rounds) -> bool:
    """Whether all takes a whole number of rounds."""
    _, copy, part = _times(problem)
    waits = copy - rounds.copy * rounds.length, part - rounds.part * rounds.length
    return max(map(abs, waits)) <= ROUNDING * part


def _least(problem: Reduction, copy: int, part: int) -> int:
    """Return how many rounds a plan has at least."""
    latency, reduce = copy - 1.0, float(part - copy)
    there = replace(problem, network=None, latency=latency, transfer=1.0, reduce=reduce)
    return int(np.ceil(best_bound(there) - ROUNDING))


class _Packing:
    """Plans in rounds of one length, of ``target`` rounds next.

    Segments are trees in which copies go from who has them to others; in an all-reduce, there is
    another one for each, in which parts come together.
    """

    def __init__(self, problem: Reduction, control: Control, rounds: Rounds) -> None:
        self.problem, self.control, self.rounds = problem, control, rounds
        self.target = rounds.least
        self.failed, self.fewest = rounds.least - 1, 0
        if sends_in(problem) > LARGE:
            self.target = int(LIKELY * rounds.least)
        self.turn = self.work = 0
        machines, items = len(problem.machines), problem.items
        self.both = problem.collective == "all-reduce"
        if self.both:
            self.lacks = np.ones((2 * items, machines), dtype=bool)
            return
        holds, lacks = (each.T for each in problem.statement.copied)
        wanted: Any = lacks.any(axis=1)
        self.lacks, self.holds = np.ascontiguousarray(lacks), holds & wanted[:, None]

    def promises(self, end: float) -> bool:
        """Whether there may be plans that end before ``end``; go on with so few rounds."""
        if end == np.inf:
            return True
        most = int(np.ceil(end / self.rounds.length - ROUNDING)) - 1
        if self.target > most:
            self.target, self.fewest = most, most + 1
            self.failed = min(self.failed, most - 1)
        return self.target >= self.rounds.least

    def run(self) -> Schedule | None:
        """Try to make a plan of so many rounds; return it, or None."""
        self.turn += 1
        steps = (STEPS * _luby(self.turn) if self.fewest else FIRST) * int(self.lacks.sum())
        self.work += steps
        total = self.target - self.rounds.copy + 1
        mirrored = np.zeros(len(self.lacks), dtype=bool)
        mirrored[: self.problem.items if self.both else 0] = True
        ready = self._complete(total) if self.both else self._held()
        reserved = np.full((self.lacks.shape[1], total), -1, dtype=np.int32)
        if not self.both:  # what nobody else has is sent once, before others send it on
            first, alone = ready.max(axis=1), (ready >= 0).sum(axis=1) == 1
            rows = np.flatnonzero(alone & (first < total))
            reserved[ready[rows].argmax(axis=1), first[rows]] = rows
        giver, when = np.empty_like(ready), np.empty_like(ready)
        lag = np.where(mirrored, self.rounds.part, self.rounds.copy)
        loop = eject_and_insert.at(self.work)
        left = stoppable(
            self.control, loop, ready, self.lacks, lag, mirrored, reserved, total, steps,
            int(self.control.rng.integers(2**31)), giver, when, long=steps / WATCHED_FROM,
        )  # fmt: skip
        if left:  # the rounds were too few
            machines = self.lacks.shape[1]
            if not self.fewest:
                self.failed, self.target = self.target, self.target + max(1, left // machines)
            elif self.fewest - self.target > 1:
                self.failed, self.target = self.target, (self.target + self.fewest) // 2
            return None
        self.fewest, self.turn = self.target, 0
        self.target = self.fewest - max(1, (self.fewest - self.failed) // STRIDE)
        self.failed = min(self.failed, self.target - 1)
        return self._schedule(giver, when, mirrored, total)

    def _held(self) -> Any:
        """Return the rounds from which machines send what they have: one a segment."""
        return np.where(self.holds, np.cumsum(self.holds, axis=0) - 1, -1).astype(np.int32)

    def _complete(self, total: int) -> Any:
        """Return the rounds from which the roots of all trees give copies, and get parts."""
        machines, items = self.lacks.shape[1], self.problem.items
        copy, part = self.rounds.copy, self.rounds.part
        first = last_arrival(machines, part, 1)
        last = max(first, total - 1 + copy - last_arrival(machines, copy, 1))
        complete = np.rint(np.linspace(first, last, items)) if items > 1 else np.array([first])
        each = np.arange(items)
        roots = each * machines // items if items < machines else each % machines
        ready = np.full((2 * items, machines), -1, dtype=np.int32)
        ready[each, roots] = np.maximum(0, total - 1 + part - complete)
        ready[items + each, roots] = complete
        return ready

    def _schedule(self, giver: Any, when: Any, mirrored: Any, total: int) -> Schedule:
        tree, taker = np.nonzero(giver >= 0)
        source, moment, back = giver[tree, taker], when[tree, taker], mirrored[tree]
        order = np.argsort(np.where(back, total - 1 - moment, moment), kind="stable")
        tree, taker, source, back = tree[order], taker[order], source[order], back[order]
        if not self.both:
            return schedule_from_copies(self.problem, np.column_stack([source, taker, tree]))
        sender, receiver = np.where(back, [taker, source], [source, taker])
        rows = np.column_stack([sender, receiver, tree % self.problem.items, ~back])
        return Plan(rows, np.empty((len(rows), 2))).schedule(self.problem)


def _luby(turn: int) -> int:
    """Return how long a try is: 1, 1, 2, 1, 1, 2, 4, 1, … from turn 1 on."""
    while turn & (turn + 1):
        turn -= (1 << turn.bit_length() - 1) - 1
    return (turn + 1) // 2
