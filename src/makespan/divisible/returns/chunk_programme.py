"""A mixed-integer programme that no plan of a star is better than, whatever its fields are.

The first K sends are slots: slot k serves worker j (``x[k,j]``, 0 or 1) with ``a[k,j]`` units, at
most a cap times ``x[k,j]``. What comes behind them is a fluid ``rest``: a number of chunks, which
may be a fraction, and their amount. The sends up to slot k have ended at s[k] at the earliest, and
what worker j got from slot k on is computed after that, in whatever order:

    s[k] + sum_{l>=k} (W_j x[l,j] + w_j a[l,j]) + rest of j + D_j x[k,j] <= T

whether or not slot k is a send to j: those behind it come later still. No row needs a large
constant, but for the deadlines of workers. Results are the same in reversed time: the last K of
them are slots. On one port it loses nothing to send everything before the first result returns
(Yang and Casanova 2003, corrected); then what was sent to j from slot k on, less what returns
behind slot r, lies between both:

    s[k] + work of j from send k on - work of j returned behind r + returns from r on <= T.

Workers without any fixed cost in any number of rounds fill no slots, which empty chunks would: what
they get between two slots is a flow, computed from the end of the first on. Over links that share
something, slots may be in the order in which all sends end: those up to slot k have ended no
earlier than their data have passed the uplink, or their times have been shared out to the places.

Without slots it is a programme of sums: no machine and no port is ever idle but at the start.

Source: Benoit 2016, "Mixed linear program for DL with latencies", for several rounds and results.
"""

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.numeric.arrays import Floats
from makespan.divisible.returns.chunk_choices import ChunkChoices
from makespan.divisible.returns.decisions import Terms


def add_prices(
    programme: Programme,
    terms: Terms,
    *,
    served: Floats,
    amounts: Floats,
    busy: Floats,
    end: Floats,
    must: Floats,
) -> None:
    """Add the rows of a budget, and, where the least price is sought, the price.

    Rows of factors say whether each worker is ``served``, its load, its seconds of work, and the
    ``end`` of the plan.
    """
    if not terms.by_price and not np.isfinite(terms.budget):
        return
    total = terms.price_fixed @ served + terms.price @ amounts
    rented = np.flatnonzero(terms.rent)
    paid = programme.variables(len(rented))
    limit = float(terms.end)

    def at_most(row: Floats, extra: object, factors: object, high: float) -> None:
        there = np.flatnonzero(row)
        index = np.concatenate([there, np.atleast_1d(np.asarray(extra, np.int64))])
        value = np.concatenate([row[there], np.atleast_1d(np.asarray(factors, np.float64))])
        programme.row(index, value, high=high)

    for worker, seconds in zip(rented.tolist(), paid.tolist(), strict=True):
        at_most(busy[worker], seconds, -1.0, 0.0)
        if must[worker]:
            at_most(end, seconds, -1.0, 0.0)
        elif np.isfinite(limit):
            at_most(end + limit * served[worker], seconds, -1.0, limit)
    if np.isfinite(terms.budget):
        at_most(total, paid, terms.rent[rented], terms.budget)
    if terms.by_price:
        price = programme.variables(1, cost=1.0)
        at_most(total, [*paid, *price], [*terms.rent[rented], -1.0], 0.0)


class ChunkProgramme(ChunkChoices):
    """The programme: its choices and the rows that all plans keep."""

    def _rows(self) -> None:
        self._amounts_fit()
        self._choices_fit()
        self._machines()
        self._ports()
        for side in (0, 1):
            self._waits(side)
        self._between()

    def _amounts_fit(self) -> None:
        """All load is placed, only where a choice was made, and what was sent returns."""
        terms, allowed, cap = self.terms, self.allowed, self.cap[:, np.newaxis]
        bounded = np.isfinite(self.cap)
        for side in (0, 1):
            for used, amount in ((self.x, self.a), (self.n, self.z)):
                rows = amount[side] - np.where(np.isfinite(cap), cap, 0.0) * used[side]
                self._at_most(rows[..., bounded & ~self.fluid, :])
        free = allowed.rounds is None and allowed.entries is None and not terms.everyone
        if terms.whole and free:
            self._at_most(self.x[0] - self.a[0])  # a chunk of nothing need not be sent
        everything = self.amounts[0].sum(axis=0)
        own = np.zeros_like(self.end)
        own[self._own] = 1.0
        if terms.load is not None:
            self._equal(everything + own, terms.load)
        if terms.given is not None:
            self._equal(self.amounts[0], terms.given)
            self._equal(own, terms.own_given)
        add_prices(
            self.programme,
            terms,
            served=self.served,
            amounts=self.amounts[0],
            busy=self.works,
            end=self.end,
            must=self.must,
        )
        back = terms.returns
        for kind in (self.numbers, self.amounts):
            self._equal((kind[0] - kind[1])[back])
        discipline = allowed.discipline
        if self.by_end:
            return
        if discipline is not None and len(self._backs.may) and self.terms.returns.all():
            if discipline == "lifo":  # the last result is that of the first send
                for kind in (self.x, self.a, self.n, self.z):
                    self._equal(kind[0] - kind[1])
            elif not self._has_rest:
                for kind in (self.x, self.a):
                    self._equal(kind[0] - kind[1][::-1])

    def _choices_fit(self) -> None:
        """A slot has one worker; rounds have each worker once; who gets anything is served."""
        terms = self.terms
        self._at_most(self.served - self.numbers[0])
        if self.by_end and self.allowed.entries is not None:
            entries = np.array(self.allowed.entries, dtype=np.int64)
            needed = np.bincount(entries, minlength=self.count)
            needed[np.array(self.allowed.may_miss, dtype=bool)] = 0
            self._at_most(-self.numbers[0], -needed.astype(np.float64))
        finite = np.isfinite(self.chunks)
        most = self.chunks[finite, np.newaxis]
        self._at_most(self.numbers[0][finite] - most * self.served[finite])
        room = np.minimum(self._load, self.room)
        bounded = np.isfinite(room)
        self._at_most(self.amounts[0][bounded] - room[bounded, np.newaxis] * self.served[bounded])
        for side, slots in ((0, self._sends), (1, self._backs)):
            x = self.x[side]
            if not len(x):
                continue
            taken = x
            if terms.ports != 0 or (self.by_end and side == 0):
                taken = x.sum(axis=1, keepdims=True)
                self._at_most(taken, 1.0)
            self._at_most((x - self.served)[slots.may])
            for group in slots.groups:
                self._at_most(x[group].sum(axis=0), 1.0)
            if slots.in_turn:
                self._at_most(taken[1:] - taken[:-1])
                if self._has_rest:
                    last = np.broadcast_to(taken[-1], self.n[side].shape)[finite]
                    self._at_most(self.n[side][finite] - most * last)

    def _machines(self) -> None:
        """What each machine does lies within the plan, and within its own limits."""
        terms, end = self.terms, self.end
        column = np.newaxis
        number, amount = self.numbers[0], self.amounts[0]
        work, last = self.works, terms.back_fixed[:, column] * self.served
        sends = self._transfer(0, number, amount)
        backs = self._transfer(1, number, amount)
        released = terms.release[:, column] * self.served
        first = np.maximum(terms.send_fixed, terms.release)[:, column] * self.served
        start = terms.compute_fixed[:, column] * self.served
        once, often = self.once, ~self.once
        self._at_most((sends + work + backs - end)[once])
        self._at_most((released + work + backs - end)[once])
        begun = sends if not self.front_end else first
        self._at_most((begun + work + last - end)[often])
        self._at_most((first + work + last - end)[often])
        self._at_most((first + start + backs - end)[often])
        self._at_most((sends + start + last - end)[often])
        limited = np.isfinite(terms.deadline)
        for mine, rows in (
            (once, sends + work),
            (once, released + work),
            (often, begun + work),
            (often, first + work),
        ):
            chosen = mine & limited
            self._at_most(rows[chosen], terms.deadline[chosen])
        if terms.own is not None and len(self._own):
            row = -end.copy()
            row[self._own_used], row[self._own] = terms.own.fixed, terms.own.per_unit
            self._at_most(row)
            row = np.zeros_like(end)
            row[self._own_used], row[self._own] = -self._own_cap, 1.0
            if np.isfinite(self._own_cap):
                self._at_most(row)

    def _ports(self) -> None:
        """Transfers that exclude each other fit into the plan, and so does what surrounds them."""
        terms, end = self.terms, self.end
        sends = self._transfer(0, self.numbers[0], self.amounts[0]).sum(axis=0)
        backs = self._transfer(1, self.numbers[0], self.amounts[0]).sum(axis=0)
        behind, before = (
            float((terms.compute_fixed + fixed)[self.able].min(initial=np.inf))
            for fixed in (terms.back_fixed, terms.send_fixed)
        )
        behind, before = (each if np.isfinite(each) else 0.0 for each in (behind, before))
        if terms.ports == 1:
            self._at_most(sends + backs - end)
        if terms.ports != 0:
            self._at_most(sends - end + behind * self.served)
            self._at_most(backs - end + before * self.served[terms.returns])
            return
        if terms.at_a_time:
            self._at_most(sends / terms.at_a_time - end)
        if self.uplink is not None:
            seconds = terms.unit / (self.uplink * terms.second)
            self._at_most(seconds * self.amounts[0].sum(axis=0) - end + behind * self.served)

    def _ended(self, side: int) -> list[Floats]:
        """Return least times by which the transfers up to each slot end.

        Tables (slots, 1 or workers, variables). Of a fluid, what comes before the slot.
        """
        terms = self.terms
        taken = self._up_to(side, *self._costs[side])
        if terms.ports != 0:
            return [taken.sum(axis=1, keepdims=True)]
        found = [taken]
        if self.by_end and side == 0 and terms.at_a_time:
            found.append(taken.sum(axis=1, keepdims=True) / terms.at_a_time)
        if self.by_end and side == 0 and self.uplink is not None:
            each = np.full(self.count, terms.unit / (self.uplink * terms.second))
            sent = self._up_to(side, np.zeros(self.count), each).sum(axis=1, keepdims=True)
            first = float(terms.send_fixed[self.able].min(initial=np.inf))
            found.append(sent + (first if np.isfinite(first) else 0.0) * self.served)
        return found

    def _up_to(self, side: int, fixed: Floats, per_unit: Floats) -> Floats:
        """Return what the transfers up to each slot cost, (slots, workers, variables)."""
        fixed, per_unit = fixed[:, np.newaxis], per_unit[:, np.newaxis]
        cost = fixed * self.x[side] + per_unit * self.a[side]
        summed: Floats = np.cumsum(cost, axis=0)
        fluid = self.fluid
        summed[:, fluid] += (per_unit * self.z[side])[fluid] - cost[:, fluid]
        return summed

    def _from(self, side: int) -> Floats:
        """Return the work of each worker from each slot on, and that of the rest.

        The rest of a fluid comes before all slots.
        """
        later: Floats = np.cumsum(self.work[side][::-1], axis=0)[::-1]
        rest = ~self.fluid
        later[:, rest] += self.rest_work[side][rest]
        return later

    def _waits(self, side: int) -> None:
        """What comes with or behind a slot is computed after it; in reversed time the same."""
        x, a, terms, column = self.x[side], self.a[side], self.terms, np.newaxis
        if not len(x):
            return
        mine = self.able if side == 0 else self.able & terms.returns
        other = terms.back_fixed if side == 0 else np.maximum(terms.send_fixed, terms.release)
        later = self._from(side)
        if not self.front_end:  # what comes is received before or behind computations
            taken = self._transfer(0, x, a)
            received = np.cumsum(taken[::-1], axis=0)[::-1]
            received += self._transfer(0, self.n[side], self.z[side])
            if side == 0:
                received += other[:, column] * x - taken
        if terms.returns.any():
            alone = self.work[side] + self._transfer(1 - side, x, a) - self.end
        late = mine & np.isfinite(terms.deadline) & np.isfinite(self.horizon)
        slack = np.maximum(0.0, self.horizon - terms.deadline[late])[:, column]
        limit = np.broadcast_to(terms.deadline[late] + slack[:, 0], (len(x), int(late.sum())))
        for ended in self._ended(side):
            self._at_most((ended + later + other[:, column] * x - self.end)[:, mine])
            if not self.front_end:
                self._at_most((ended + later + received - self.end)[:, mine])
            if terms.returns.any():
                self._at_most((ended + alone)[:, mine & ~self.fluid])
            if side == 0:
                self._at_most((ended + later)[:, late] + slack * x[:, late], limit.ravel())
            elif terms.release.any():
                first = terms.release[:, column] * x + self.work[side]
                self._at_most((ended + first - self.end)[:, mine])

    def _between(self) -> None:
        """On one port: what is sent from a slot on and returns up to another is done between."""
        terms, fluid = self.terms, self.fluid
        if terms.ports != 1 or not self.front_end or not len(self.x[1]) or not len(self.x[0]):
            return
        mine = self.able & terms.returns
        sent = (self._ended(0)[0] + self._from(0))[:, mine]
        work = self.work[1]
        behind = np.cumsum(work, axis=0) - work
        behind[:, fluid] += self.rest_work[1][fluid]
        back = self._ended(1)[0] - behind[:, mine]
        for slot in sent:
            self._at_most(slot + back - self.end)
