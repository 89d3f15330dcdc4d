"""Which orders of sends and returns a problem leaves open."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Orders, Terms

Rank = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is fixed of a pair of orders.

    Parameters
    ----------
    returns
        Whether each worker returns anything.
    send_rank, back_rank
        The place of each worker in a given order; None where the order is open.
    discipline
        ``"fifo"`` or ``"lifo"`` where the order of sends fixes that of returns.
    twins
        For each worker the first one that costs the same in every way: such workers are served
        by index.
    """

    returns: tuple[bool, ...]
    send_rank: Rank | None = None
    back_rank: Rank | None = None
    discipline: str | None = None
    twins: Rank = ()

    @classmethod
    def of(cls, problem: DivisibleLoad, terms: Terms, discipline: str | None = None) -> Rule:
        """Return the rule of a problem; ``discipline`` is that of the method."""
        send_rank, back_rank = _rank(problem, problem.order), _rank(problem, problem.return_order)
        is_open = send_rank is None and back_rank is None
        return cls(
            returns=tuple(terms.returns.tolist()),
            send_rank=send_rank,
            back_rank=back_rank,
            discipline=discipline or problem.discipline,
            twins=_twins(terms) if is_open else tuple(range(len(terms))),
        )

    @property
    def fixes_all(self) -> bool:
        """Whether only the choice of the workers is open."""
        has_back = self.back_rank is not None or self.discipline is not None
        return self.send_rank is not None and (has_back or not any(self.returns))

    @property
    def fixes_one(self) -> bool:
        """Whether at most one order is open."""
        fixed = (self.send_rank, self.back_rank, self.discipline)
        return any(each is not None for each in fixed) or not any(self.returns)

    def arranged(self, send: Iterable[int], back: Iterable[int], own: bool) -> Orders:
        """Return orders of the workers in ``send``, as near to these as the rule allows."""
        served = tuple(send)
        if self.send_rank is not None:
            served = tuple(sorted(served, key=self.send_rank.__getitem__))
        if self.discipline is not None:
            return Orders(send=served, back=self._tied(served), own=own)
        members = set(served)
        returned = [worker for worker in back if worker in members and self.returns[worker]]
        listed = set(returned)
        returned += [each for each in served if self.returns[each] and each not in listed]
        if self.back_rank is not None:
            returned.sort(key=self.back_rank.__getitem__)
        return Orders(send=served, back=tuple(returned), own=own)

    def insertions(self, orders: Orders, worker: int) -> Iterator[Orders]:
        """Iterate over the orders with one more worker in every place that the rule allows."""
        for sent in self.send_insertions(orders, worker):
            if self.returns_by_choice(worker):
                for back in self.back_insertions(orders.back, worker):
                    yield replace(sent, back=back)
            else:
                yield sent

    def returns_by_choice(self, worker: int) -> bool:
        """Whether a worker returns, at a place that its place among the sends leaves open."""
        return self.discipline is None and self.returns[worker]

    def send_insertions(self, orders: Orders, worker: int) -> Iterator[Orders]:
        """Iterate over the orders in which one more worker is sent load.

        It returns where the discipline says so; else it has no place among the returns yet.
        """
        for place in self._send_places(orders.send, worker):
            send = _inserted(orders.send, worker, place)
            back = orders.back if self.discipline is None else self._tied(send)
            yield Orders(send=send, back=back, own=orders.own)

    def back_insertions(self, back: Rank, worker: int) -> Iterator[Rank]:
        """Iterate over the orders of returns with one more worker."""
        for place in _places(self.back_rank, back, worker):
            yield _inserted(back, worker, place)

    def _send_places(self, send: Rank, worker: int) -> range:
        if self.send_rank is not None:
            return _places(self.send_rank, send, worker)
        first, last = 0, len(send)
        for place, other in enumerate(send):
            if self.twins[other] == self.twins[worker]:
                if other < worker:
                    first = place + 1
                else:
                    last = min(last, place)
        return range(first, last + 1)

    def _tied(self, send: Rank) -> Rank:
        back = tuple(worker for worker in send if self.returns[worker])
        return back[::-1] if self.discipline == "lifo" else back


def _rank(problem: DivisibleLoad, names: tuple[str, ...] | None) -> Rank | None:
    if names is None:
        return None
    rank = np.empty(len(names), dtype=np.int64)
    rank[problem.workers_in(names)] = np.arange(len(names))
    return tuple(rank.tolist())


def _twins(terms: Terms) -> Rank:
    first: dict[tuple[float, ...], int] = {}
    transfers = (terms.send_fixed, terms.send, terms.back_fixed, terms.back)
    columns = (*transfers, terms.compute_fixed, terms.compute, terms.memory)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(first.setdefault(row, index) for index, row in enumerate(rows))


def _places(rank: Rank | None, order: Rank, worker: int) -> range:
    if rank is None:
        return range(len(order) + 1)
    place = bisect([rank[each] for each in order], rank[worker])
    return range(place, place + 1)


def _inserted(order: Rank, worker: int, place: int) -> Rank:
    return (*order[:place], worker, *order[place:])
