"""Sequences of chunks that a problem allows, where to begin with them, and their neighbours.

Of all sequences of a kind none is met twice, and the steps from one to the next are bounded by the
length, as a sequence is begun only if it can be ended: whoever looks at the clock in between can.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from makespan.divisible.model.plan import rounds_of
from makespan.divisible.problem import DivisibleLoad

Send = tuple[int, ...]  # the worker of each chunk in the order of sending


def some_entries(
    entries: Send, *, may_miss: Sequence[bool], needed: Collection[int]
) -> Iterator[Send]:
    """Yield the different sequences that are left when entries are missing.

    Of the ways to get one sequence, that is looked at which keeps the earliest entries.

    ``entries``: the workers of a given activation. ``may_miss``: whether entries of each worker may
    be missing. ``needed``: the workers of whom one entry has to be left.

    >>> list(some_entries((0, 0, 1), may_miss=[True, False], needed=()))
    [(0, 0, 1), (0, 1), (1,)]
    """
    last = {worker: at for at, worker in enumerate(entries)}
    if any(worker not in last for worker in needed):
        return
    order = sorted(needed, key=last.__getitem__)
    fixed = [len(entries)] * (len(entries) + 1)  # the next entry that can't be missing, from each
    for at in reversed(range(len(entries))):
        fixed[at] = fixed[at + 1] if may_miss[entries[at]] else at
    served: Counter[int] = Counter()

    def ways(begin: int, met: int) -> Iterator[tuple[int, int]]:
        """Yield the first entry of each worker who may be next; ``order[met]`` must still come."""
        until = fixed[begin] if met == len(order) else min(fixed[begin], last[order[met]])
        seen = set()
        for at in range(begin, min(until + 1, len(entries))):
            if entries[at] not in seen:
                seen.add(entries[at])
                yield entries[at], at + 1

    send: list[int] = []
    open_ = [(ways(0, 0), 0)]
    if not order and fixed[0] == len(entries):
        yield ()
    while open_:
        choices, met = open_[-1]
        worker, begin = next(choices, (-1, 0))
        if worker < 0:
            open_.pop()
            if send:
                served[send.pop()] -= 1
            continue
        send.append(worker)
        served[worker] += 1
        while met < len(order) and served[order[met]]:
            met += 1
        if met == len(order) and fixed[begin] == len(entries):
            yield tuple(send)
        open_.append((ways(begin, met), met))


def in_rounds(
    workers: Send, *, rounds: int, place: Send | None, needed: Collection[int]
) -> Iterator[Send]:
    """Yield the sequences of at most so many rounds, none of which serves a worker twice.

    ``workers``: the workers that may be served. ``rounds``: the most rounds; each is as long as it
    can be. ``place``: the place of each worker in the order that every round keeps, where one is
    given. ``needed``: the workers that have to be served.

    >>> list(in_rounds((0, 1), rounds=1, place=None, needed=(1,)))
    [(1,), (1, 0), (0, 1)]
    """
    open_: list[tuple[Send, int, int]] = [((), 0, 0)]  # how many rounds, where the last one begins
    while open_:
        send, number, begin = open_.pop()
        missing = [worker for worker in workers if worker in needed and worker not in send]
        if not missing:
            yield send
        for worker in [*(each for each in workers if each not in missing), *missing]:
            behind = place is not None and begin < len(send) and place[worker] <= place[send[-1]]
            again = not send or behind or worker in send[begin:]
            longer = (*send, worker), number + again, len(send) if again else begin
            if longer[1] > rounds:
                continue
            left = [place[each] for each in missing if each != worker] if place else []
            if longer[1] < rounds or not place or min(left, default=len(place)) > place[worker]:
                open_.append(longer)


def dealt_out(count: int, places: int) -> Iterator[Send]:
    """Yield the ways to deal sends out to places that are alike; one where nothing is shared.

    >>> list(dealt_out(3, 2))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    if not places:
        yield ()
        return
    place = [0] * count
    while True:
        yield tuple(place)
        used = [1] * count  # places ahead of each send that are used
        for at in range(1, count):
            used[at] = max(used[at - 1], place[at - 1] + 1)
        more = [at for at in range(1, count) if place[at] < min(used[at], places - 1)]
        if not more:
            return
        place[more[-1]] += 1
        place[more[-1] + 1 :] = [0] * (count - more[-1] - 1)


FEW = 5  # workers of which every subset is a start


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What a problem says of its sequences."""

    able: Send  # the workers that may be served, by index
    needed: frozenset[int]  # those that have to be
    returns: tuple[bool, ...]  # whether each worker returns anything
    # the most rounds, None where any number will do; a round holds no worker twice
    rounds: int | None
    # place, back_place: that of each worker in a given order of sends, of returns
    place: Send | None
    back_place: Send | None
    # entries, back_entries: a given activation and its order of returns, as workers
    entries: Send | None
    back_entries: Send | None
    # whether an entry of each worker may be missing: an empty chunk costs nothing
    may_miss: tuple[bool, ...]
    discipline: str | None  # ``"fifo"`` or ``"lifo"``, where one is asked for

    @classmethod
    def of(cls, problem: DivisibleLoad) -> Allowed:
        star, activation, back = problem.star, problem.activation, problem.return_order
        rounds = None if problem.rounds == "auto" else int(problem.rounds)
        given = problem.given_amounts
        able = np.full(len(star), True) if problem.loads is None else given > 0
        needed = given > 0 if problem.use == "any" else np.full(len(star), True)
        free = (star.send_fixed == 0) & (star.compute_fixed == 0) & (star.return_fixed == 0)
        each_round = activation is None and rounds is not None
        return cls(
            able=tuple(np.flatnonzero(able | needed).tolist()),
            needed=frozenset(np.flatnonzero(needed).tolist()),
            returns=tuple(star.returns.tolist()),
            rounds=rounds,
            place=places_of(problem, problem.order if each_round else None),
            back_place=places_of(problem, back if each_round else None),
            entries=_listed(problem, activation),
            back_entries=_listed(problem, back if activation is not None else None),
            may_miss=tuple(free.tolist()),
            discipline=problem.discipline,
        )

    def keeps(self, send: Send) -> bool:
        """Whether a sequence is allowed."""
        if not self.needed <= set(send):
            return False
        if self.entries is not None:
            return self._follows(send, self.entries)
        return self.rounds is None or max(rounds_of(send, self.place), default=0) < self.rounds

    def returned(self, send: Send, lifo: bool) -> list[int]:
        """Return the chunks whose results return, in an allowed order; ``lifo`` if it is open."""
        chunks = [chunk for chunk, worker in enumerate(send) if self.returns[worker]]
        if self.back_entries is not None:
            left: dict[int, deque[int]] = {}
            for chunk in chunks:
                left.setdefault(send[chunk], deque()).append(chunk)
            return [left[each].popleft() for each in self.back_entries if left.get(each)]
        place = self.back_place
        if place is not None:
            round_of = rounds_of(send, self.place)
            return sorted(chunks, key=lambda chunk: (round_of[chunk], place[send[chunk]]))
        lifo = self.discipline == "lifo" if self.discipline is not None else lifo
        return chunks[::-1] if lifo else chunks

    def all_returned(self, send: Send) -> Iterator[Send]:
        """Yield the allowed orders of the results, those of one worker as they were sent."""
        first = self.returned(send, lifo=False)
        return permutations(first) if self.returns_open else iter([tuple(first)])

    def everything(self) -> Iterator[Send]:
        """Yield all sequences that are allowed, of a number of rounds or of an activation."""
        if self.entries is not None:
            return some_entries(self.entries, may_miss=self.may_miss, needed=self.needed)
        assert self.rounds is not None
        return in_rounds(self.able, rounds=self.rounds, place=self.place, needed=self.needed)

    @property
    def returns_open(self) -> bool:
        """Whether the order of returns is part of the answer."""
        given = (self.back_entries, self.back_place, self.discipline)
        return any(self.returns) and all(each is None for each in given)

    def _follows(self, send: Send, entries: Send) -> bool:
        """Whether entries are missing only where they may."""
        at = 0
        for worker in entries:
            if at < len(send) and send[at] == worker:
                at += 1
            elif not self.may_miss[worker]:
                return False
        return at == len(send)

    def starts(self, orders: Iterator[Send]) -> Iterator[Send]:
        """Yield sequences of one round: the first few workers of orders, or some of a few."""
        if self.entries is not None:
            yield self.entries
            yield tuple(worker for worker in self.entries if not self.may_miss[worker])
            return
        for each in orders:
            order = each if self.place is None else tuple(sorted(each, key=self.place.__getitem__))
            count = len(order)
            sizes = range(count, 0, -1) if count <= FEW else {count, count - 1, count // 2, 1}
            for size in sizes:
                chosen = combinations(order, size) if count <= FEW else [order[:size]]
                for some in chosen:
                    kept = self.needed | set(some)
                    yield tuple(worker for worker in order if worker in kept)
        yield ()

    def neighbours(self, send: Send) -> Iterator[Send]:
        """Yield the allowed sequences with a chunk more, one less, of another worker, or moved."""
        count = len(send)
        for at in range(count):
            yield send[:at] + send[at + 1 :]
        if self.entries is not None:
            return
        for at in range(count - 1):
            yield (*send[:at], send[at + 1], send[at], *send[at + 2 :])
        for at in range(count + 1):
            for worker in self.able:
                yield (*send[:at], worker, *send[at:])
                if at < count and worker != send[at]:
                    yield (*send[:at], worker, *send[at + 1 :])


def _listed(problem: DivisibleLoad, names: tuple[str, ...] | None) -> Send | None:
    return None if names is None else tuple(problem.workers_in(names).tolist())


def places_of(problem: DivisibleLoad, names: tuple[str, ...] | None) -> Send | None:
    """Return the place of each worker in an order of all."""
    return None if names is None else tuple(np.argsort(problem.workers_in(names)).tolist())


def swapped(back: Send) -> Iterator[Send]:
    """Yield an order with two neighbours swapped."""
    for at in range(len(back) - 1):
        yield (*back[:at], back[at + 1], back[at], *back[at + 2 :])


def respread(send: Send, worker: int, often: int) -> Send:
    """Return a sequence in which one worker is served so often, at equal distances.

    >>> respread((0, 1, 0, 0), 1, 2)
    (0, 1, 0, 1, 0)
    """
    others = [each for each in send if each != worker]
    places = [((at + 0.5) / max(1, len(others)), each) for at, each in enumerate(others)]
    mine = [((at + 0.5) / often, worker) for at in range(often)]
    return tuple(each for _, each in sorted(places + mine))
