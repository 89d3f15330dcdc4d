"""Copies in rounds: those that are in the way are taken out, and placed again."""

from collections.abc import Sequence
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
from makespan.reduction.sends import Sends, claim_sends, sends_in, tables_of
from makespan.reduction.timing import kept_to

MOST_SENDS, MOST_ROUNDS = 600_000, 2_000
MANY = 8_000  # sends of an all-reduce, of which others plan fewer as well
LENGTHS = 3  # of a round, that are tried
FIRST, STEPS = 3, 16  # a send, as long as there is no plan, and in the shortest try from then on
STEPS_IN_ALL = 5_000  # a send
SHARE, SHARE_ROUNDED = 0.5, 0.1  # of the time that is left, and where times are rounded
LARGE, LIKELY = 20_000, 1.15  # sends from which so many rounds, of the bound, are tried at first
LONGER = 10  # times as many steps where times differ
OFTEN, NEARLY = 0.6, 3  # how often segments are complete sooner or later, by how many rounds
WAITS, DEAR = 0.1, 2.0  # of all rounds, that a root may wait; rounds for one that ports are held
FINE = 4  # rounds of the shortest send, where times aren't whole
STRIDE = 4  # the part of what may still be gained that is tried next
WATCHED_FROM = 100_000
ROUNDING = 1e-9
NO_DUES, NONE_GIVEN = np.empty(0, dtype=np.int64), np.empty((0, 4), dtype=np.int64)


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
        needs.ONE_TREE_OR_TWO,
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
    best = control.incumbent.schedule if control.incumbent else None
    packings = [_Packing(problem, control, rounds) for rounds in _promising(problem)]
    exact = any(_exact(problem, each.rounds) for each in packings)
    share = (SHARE if exact else SHARE_ROUNDED) if control.incumbent else 1.0
    most = STEPS_IN_ALL * sends_in(problem)
    return _pack(problem, control, packings, best, share, tries, most)


@register(
    **needs.EJECTED._asdict(),
    complexity="O(r + d) a step, for r rounds and d copies that depend on what is taken out",
    source="Nagata and Bräysy 2009; copies in rounds of time-expanded networks, Ford and "
    "Fulkerson 1958",
)
def ejection_pool(problem: Reduction, control: Control, *, tries: int | None = None) -> Solution:
    """Let a plan end sooner: what comes too late is placed again, and what is in its way.

    Ports are held for as many rounds as a copy takes. From try to try, segments of an all-reduce
    are complete sooner or later, or elsewhere.
    """
    claim_sends(problem)
    known = control.known_or(lambda: _first(problem, control))
    share = needs.share_of_search(problem) if control.incumbent else 1.0
    most = LONGER * STEPS_IN_ALL * sends_in(problem)
    late = known.makespan > best_bound(problem) * (1 + 1e-12)
    packings = [_Mixed(problem, control, known)] if late else []
    return _pack(problem, control, packings, known, share, tries, most)


def _first(problem: Reduction, control: Control) -> Solution:
    parts = reduce_then_broadcast if problem.collective == "all-reduce" else rarest_first
    return parts(problem, control, restarts=1)


def _pack(
    problem: Reduction, control: Control, packings: "Sequence[_Packing]", best: Schedule | None,
    share: float, tries: int | None, most: int,
) -> Solution:  # fmt: skip
    """Let packings take turns until none promises a better plan."""
    lower_bound = best_bound(problem)
    bound, turn = lower_bound * (1 + 1e-12), 0
    end = np.inf if best is None else best.makespan
    packings = [each for each in packings if each.promises(end) and sends_in(problem)]
    with control.sharing(share):
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
        best = _first(problem, control).schedule
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

    giver: Any  # (segment, machine) of the last try: who gives it, -1 for nobody
    when: Any  # in which round, of reversed time where parts come together

    def __init__(self, problem: Reduction, control: Control, rounds: Rounds) -> None:
        self.problem, self.control, self.rounds = problem, control, rounds
        self.target = rounds.least
        self.failed, self.fewest = rounds.least - 1, 0
        if sends_in(problem) > LARGE:
            self.target = int(LIKELY * rounds.least)
        self.turn = self.work = 0
        machines, items = len(problem.machines), problem.items
        self.both = problem.collective == "all-reduce"
        self.mirrored = np.repeat([True, False], items if self.both else [0, items])
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
        self.giver, self.when = np.empty((2, *self.lacks.shape), dtype=np.int32)
        loop = eject_and_insert.bind(
            self.work, **self._columns(), lacks=self.lacks, mirrored=self.mirrored, steps=steps,
            seed=int(self.control.rng.integers(2**31)), giver=self.giver, when=self.when,
        )  # fmt: skip
        left = stoppable(self.control, loop, long=steps / WATCHED_FROM)
        if left:  # the rounds were too few
            machines = self.lacks.shape[1]
            if not self.fewest:
                self.failed, self.target = self.target, self.target + max(1, left // machines)
            elif self.fewest - self.target > 1:
                self.failed, self.target = self.target, (self.target + self.fewest) // 2
            return None
        self.fewest, self.turn = self.target, 0
        found = self._schedule()
        self._aim()
        return found

    def _aim(self) -> None:
        """Choose fewer rounds than those of the best plan."""
        self.target = self.fewest - max(1, (self.fewest - self.failed) // STRIDE)
        self.failed = min(self.failed, self.target - 1)

    def _columns(self) -> dict[str, Any]:
        """Return what the next try starts from."""
        total = self.target - self.rounds.copy + 1
        ready = self._complete(total) if self.both else self._held()
        reserved = np.full((self.lacks.shape[1], total), -1, dtype=np.int32)
        if not self.both:  # what nobody else has is sent once, before others send it on
            first, alone = ready.max(axis=1), (ready >= 0).sum(axis=1) == 1
            rows = np.flatnonzero(alone & (first < total))
            reserved[ready[rows].argmax(axis=1), first[rows]] = rows
        lag = np.zeros((2, 1, 1), dtype=np.int64)
        work = np.array([[self.rounds.copy - 1], [self.rounds.part - 1]])
        return dict(
            ready=ready, lag=lag, lasts=lag + 1, work=work, due=NO_DUES, given=NONE_GIVEN,
            reserved=reserved, rounds=total, dear=0.0,
        )  # fmt: skip

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

    def _schedule(self) -> Schedule:
        """Return the plan that was found."""
        total = self.target - self.rounds.copy + 1
        tree, taker = np.nonzero(self.giver >= 0)
        source, moment, back = self.giver[tree, taker], self.when[tree, taker], self.mirrored[tree]
        order = np.argsort(np.where(back, total - 1 - moment, moment), kind="stable")
        tree, taker, source, back = tree[order], taker[order], source[order], back[order]
        if not self.both:
            return schedule_from_copies(self.problem, np.column_stack([source, taker, tree]))
        sender, receiver = np.where(back, [taker, source], [source, taker])
        rows = np.column_stack([sender, receiver, tree % self.problem.items, ~back])
        return Plan(rows, np.empty((len(rows), 2))).schedule(self.problem)


class _Mixed(_Packing):
    """Plans whose sends take rounds that differ, each made from one that is known.

    Trees of parts grow in reversed time, those of copies forwards. Of an all-reduce, each segment
    has one of both, from the machine and the round at which it is complete.
    """

    def __init__(self, problem: Reduction, control: Control, known: Schedule) -> None:
        self.problem, self.control = problem, control
        count, self.items = len(problem.machines), problem.items
        tables, unit = tables_of(problem).over(count), float(tables_of(problem).unit or 1)
        size = tables.size.max()
        lag = np.broadcast_to(tables.latency, (count, count))
        sent = np.broadcast_to(tables.transfer, (count, count)) * size
        work = np.broadcast_to(tables.reduce, count) * size
        end = known.makespan / unit
        fine = 1.0 if problem.unit is not None else sent[sent > 0].min(initial=end) / FINE
        self.length = max(fine, end / MOST_ROUNDS)
        lasts = np.stack([sent, np.maximum(sent.T, work[:, None])])
        links = np.stack([sent >= 0, sent.T >= 0])
        self.lag = self._rounds(np.stack([lag, lag.T]))
        self.lasts = np.maximum(self._rounds(lasts), 1) * links
        self.work_of = self._rounds(np.stack([0 * work, work]))
        least = int(np.ceil(best_bound(problem) / unit / self.length - ROUNDING))
        self.rounds = Rounds(self.length * unit, 0, 0, least)
        self.both = problem.collective == "all-reduce"
        self.mirrored = np.repeat([True, False], self.items)
        self.lacks = np.ones((2 * self.items, count), dtype=bool)
        if not self.both:
            self.holds, self.lacks = (np.ascontiguousarray(a.T) for a in problem.statement.copied)
            self.mirrored = np.full(self.items, problem.statement.combining)
        self.turn = self.work = 0
        self.failed = least - 1
        self._take(known)

    def _rounds(self, times: Any) -> Any:
        return np.ceil(times / self.length - ROUNDING).astype(np.int64)

    def _take(self, schedule: Schedule) -> None:
        """Go on from a plan."""
        rows, times = Plan.of(self.problem, schedule)
        sender, receiver, segment, copied = rows.T
        back = (copied == 0).astype(np.int64)
        self.fewest = int(np.ceil(schedule.makespan / self.rounds.length - ROUNDING))
        source, taker = np.where(back, [receiver, sender], [sender, receiver])
        held = self.lag[back, source, taker] + self.lasts[back, source, taker]
        start = self._rounds(times[:, 0])
        tree = segment + self.items * copied if self.both else segment
        self.known = np.full((2, *self.lacks.shape), -1)
        self.known[:, tree, taker] = source, np.where(back, self.fewest - start - held, start)
        self._aim()

    def _columns(self) -> dict[str, Any]:
        rng, rounds = self.control.rng, self.target
        giver, when = self.known.copy()
        when[self.mirrored] -= self.fewest - rounds
        again, due = rng.random() < OFTEN and self.turn > 1, NO_DUES
        anew = rng.choice(self.items, 1 if self.both else min(self.items, 2), replace=False)
        anew = anew if again else anew[:0]
        if self.both:
            ready, due = self._roots(giver, when, rng, anew)
            when[anew + self.items] = -1
        else:
            ready = np.where(self.holds, self.work_of[self.mirrored.astype(int)], -1)
            ready = ready.astype(np.int32)
        when[anew] = -1
        tree, taker = np.nonzero(when >= 0)
        given = np.column_stack([tree, taker, giver[tree, taker], when[tree, taker]])
        return dict(
            ready=ready, lag=self.lag, lasts=self.lasts, work=self.work_of, due=due,
            given=given[np.argsort(given[:, 3], kind="stable")],
            reserved=np.full((self.lacks.shape[1], rounds), -1, dtype=np.int32), rounds=rounds,
            dear=DEAR,
        )  # fmt: skip

    def _roots(self, giver: Any, when: Any, rng: Any, anew: Any) -> tuple[Any, Any]:
        """Return from when on trees grow where, and by when their roots begin at the latest.

        That is where segments are complete in the known plan, or a little sooner or later, but for
        those that are planned ``anew``.
        """
        rounds, items = self.target, self.items
        root = (giver < 0).argmax(axis=1)  # of each tree, the one who isn't given it
        begin = np.where(giver == root[:, None], when, rounds).min(axis=1)
        work = self.work_of.sum(axis=0)
        low = rounds + work[root[:items]] - begin[:items]
        complete = rng.integers(low, np.maximum(low, begin[items:]) + 1)
        if self.turn > 1:
            complete += rng.integers(-NEARLY, NEARLY + 1, items) * (rng.random(items) < OFTEN)
        root[anew] = root[anew + items] = rng.integers(len(work), size=len(anew))
        complete[anew] = rng.integers(rounds // 4, 3 * rounds // 4 + 1, size=len(anew))
        complete = np.clip(complete, 0, rounds)
        since = np.concatenate([rounds - complete + work[root[:items]], complete])
        ready = np.full(giver.shape, -1, dtype=np.int32)
        ready[np.arange(2 * items), root] = since
        return ready, np.minimum(since + int(WAITS * rounds), rounds)

    def _schedule(self) -> Schedule:
        rounds = self.target
        tree, taker = np.nonzero(self.giver >= 0)
        source, at, back = self.giver[tree, taker], self.when[tree, taker], self.mirrored[tree]
        way = back.astype(np.int64)
        lag = self.lag[way, source, taker]
        start = np.where(back, rounds - at - lag - self.lasts[way, source, taker], at)
        order, takes = np.lexsort((~back, start)), np.lexsort((start, start + lag))
        sender, receiver = np.where(back, [taker, source], [source, taker])
        sends = Sends(sender=sender, receiver=receiver, segment=tree % self.items, final=~back)
        schedule = kept_to(self.problem, sends.take(order), np.argsort(order)[takes])
        self.known = np.stack([self.giver, self.when])
        if schedule.makespan <= (rounds - 1 + ROUNDING) * self.rounds.length:
            self._take(schedule)
        return schedule


def _luby(turn: int) -> int:
    """Return how long a try is: 1, 1, 2, 1, 1, 2, 4, 1, … from turn 1 on."""
    while turn & (turn + 1):
        turn -= (1 << turn.bit_length() - 1) - 1
    return (turn + 1) // 2
