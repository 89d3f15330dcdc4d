"""The search over pairs of orders: local search first, then branch and bound.

A node of the tree has an order of sends and one of returns for some of the workers; a child has
one worker more among the sends, and its children the same worker among the returns. The programme
without the workers that have no place yet, but for what holds wherever they go, bounds all that is
below. Workers who get nothing in it need no place.
"""

from __future__ import annotations

import heapq
import itertools
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Orders, Terms
from makespan.divisible.returns.order_programme import OrderProgramme
from makespan.divisible.rounds.sequences import places_of

Rank = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is fixed of a pair of orders."""

    returns: tuple[bool, ...]  # whether each worker returns anything
    # send_rank, back_rank: each worker's place in a given order; None where that is open
    send_rank: Rank | None = None
    back_rank: Rank | None = None
    # ``"fifo"`` or ``"lifo"`` where the order of sends fixes that of returns
    discipline: str | None = None
    # for each worker the first one that costs the same in every way: such workers are served by
    # index
    twins: Rank = ()

    @classmethod
    def of(cls, problem: DivisibleLoad, terms: Terms, discipline: str | None = None) -> Rule:
        """Return the rule of a problem; ``discipline`` is that of the method."""
        send_rank = places_of(problem, problem.order)
        back_rank = places_of(problem, problem.return_order)
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


PROVED = 1e-9
NOTHING = 1e-10  # of the load: what rounding leaves

Node = tuple[float, int, Orders, tuple[int, ...], int]
"""The bound, a number, the orders, the undecided workers, and the one to decide next."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestOrders:
    """The best orders by ``value``, an end or minus a load; no orders have less than ``bound``."""

    value: float = np.inf
    orders: Orders = field(default_factory=Orders)
    amount: Floats = field(default_factory=lambda: np.empty(0))
    own: float = 0.0
    bound: float = -np.inf

    @property
    def proved(self) -> bool:
        return not _beats(self.bound, self.value)


def _beats(value: float, other: float) -> bool:
    if np.isinf(other):
        return value < other
    return value < other - PROVED * abs(other)


class OrderSearch:
    """Seeks the best orders that a rule allows."""

    def __init__(self, terms: Terms, rule: Rule, control: Control) -> None:
        self.terms = terms
        self.rule = rule
        self.control = control
        self.optional = terms.optional
        self.best = BestOrders()
        self.programme = OrderProgramme(terms, np.inf)

    def tighten(self) -> None:
        """Take the end of the best plan as the horizon: what is undecided is then bound closer."""
        if self.terms.load is not None:
            self.programme = OrderProgramme(self.terms, self.best.value)

    def evaluate(self, orders: Orders) -> float:
        """Return the value of some orders, keeping them if they are the best."""
        value = self.programme.value(orders)
        if _beats(value, self.best.value):
            self._keep(value, orders)
        return value

    def _keep(self, value: float, orders: Orders) -> None:
        amount = self.programme.amount
        amount[amount < NOTHING] = 0.0
        own = max(0.0, self.programme.own)
        self.best = replace(self.best, value=value, orders=orders, amount=amount, own=own)

    def improve(self, orders: Orders, most: int) -> None:
        """Local search to the first better neighbour, until ``most`` are seen or none is better."""
        value = self.evaluate(orders)
        looked = 0
        improved = True
        while improved:
            improved = False
            for neighbour in self._neighbours(orders):
                if looked == most or self.control.expired():
                    return
                looked += 1
                other = self.evaluate(neighbour)
                if _beats(other, value):
                    orders, value, improved = neighbour, other, True
                    break

    def _neighbours(self, orders: Orders) -> Iterator[Orders]:
        """Iterate over orders with one worker less, more, or elsewhere."""
        rule = self.rule
        if len(self.terms.own_choices()) > 1:
            yield replace(orders, own=not orders.own)
        for worker in orders.send:
            if self.optional[worker]:
                yield _without(orders, worker)
        if not rule.fixes_all:
            for worker in orders.send:
                yield from self._moves(orders, worker)
        for worker in np.flatnonzero(self.optional & (self.programme.most > 0)).tolist():
            if worker not in orders.send:
                yield from rule.insertions(orders, worker)

    def _moves(self, orders: Orders, worker: int) -> Iterator[Orders]:
        """Iterate over orders in which one worker is sent, or returns, at another time."""
        rule, without = self.rule, _without(orders, worker)
        if rule.discipline is None and rule.returns[worker]:
            for back in rule.back_insertions(without.back, worker):
                if back != orders.back:
                    yield replace(orders, back=back)
        for place in range(len(without.send) + 1):
            send = (*without.send[:place], worker, *without.send[place:])
            if send != orders.send and rule.send_rank is None:
                yield rule.arranged(send, orders.back, orders.own)

    def prove(self, most: int) -> None:
        """Branch and bound, least bound first, for ``most`` programmes or until a proof."""
        useful = (self.programme.most > 0) | ~self.optional
        workers = tuple(np.flatnonzero(useful).tolist())
        counter = itertools.count()
        heap: list[Node] = []
        for own in self.terms.own_choices():
            self._push(heap, counter, Orders(own=own), workers)
        limit = self.programme.solved + most
        while heap and _beats(heap[0][0], self.best.value):
            if self.control.expired() or self.programme.solved > limit:
                break
            _, _, orders, undecided, worker = heapq.heappop(heap)
            rest = tuple(other for other in undecided if other != worker)
            if worker in orders.send:
                for back in self.rule.back_insertions(orders.back, worker):
                    self._push(heap, counter, replace(orders, back=back), rest)
                continue
            if self.optional[worker]:
                self._push(heap, counter, orders, rest)
            pending = worker if self.rule.returns_by_choice(worker) else None
            for child in self.rule.send_insertions(orders, worker):
                self._push(heap, counter, child, rest, pending)
            self.control.report(None, heap[0][0] if heap else None)
        bound = min(heap[0][0], self.best.value) if heap else self.best.value
        self.best = replace(self.best, bound=bound)

    def _push(
        self,
        heap: list[Node],
        counter: Iterator[int],
        orders: Orders,
        undecided: tuple[int, ...],
        pending: int | None = None,
    ) -> None:
        """Bound a node; keep it if it may lead to something better. ``pending`` has to return."""
        value = self.programme.value(orders, undecided)
        if not _beats(value, self.best.value):
            return
        worker = self._to_decide(undecided) if pending is None else pending
        if worker is None:
            for idle in undecided if self.terms.everyone else ():  # who does nothing takes part
                orders = next(self.rule.insertions(orders, idle))
            self._keep(value, orders)
        else:
            heapq.heappush(heap, (value, next(counter), orders, undecided, worker))

    def _to_decide(self, undecided: tuple[int, ...]) -> int | None:
        """Return the undecided worker with the most to do, None if all have nothing to do."""
        if not undecided:
            return None
        terms, members = self.terms, list(undecided)
        weight = self.programme.amount * (terms.total + NOTHING)
        busy = max(members, key=lambda worker: (weight[worker], -worker))
        if self.programme.amount[busy] > NOTHING:
            return busy
        matters = (terms.ports == 2) | (terms.start_up > 0)
        bound = [worker for worker in members if matters[worker] and not self.optional[worker]]
        return bound[0] if bound else None


def _without(orders: Orders, worker: int) -> Orders:
    return replace(
        orders,
        send=tuple(other for other in orders.send if other != worker),
        back=tuple(other for other in orders.back if other != worker),
    )
