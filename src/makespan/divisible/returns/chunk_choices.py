"""What the programme of chunks decides, and what its rows are made of.

Who is served, in which slot and by how much, and what the rest of the chunks hold: variables, and
tables of the factors with which numbers, amounts and times of chunks depend on them.

What a chunk holds beyond a size b is a variable of its own: o >= a - b x, for one that is chosen by
x; of several chunks of a worker the same of their sums. Costs are convex, so it is no more than
that where it counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import SLACK
from makespan.backends.highs import Programme
from makespan.core.cached import cached_property
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.rounds.sequences import Allowed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slots:
    """Who may be served in which slot of the sends, or of the results in reversed time.

    ``may`` is a table (slots, workers); ``must`` says which of these are served for certain,
    ``groups`` which slots belong together: a round, in which no worker is served twice.
    ``in_turn``: a slot is only used where the one before it is.
    """

    may: NDArray[np.bool_]
    must: NDArray[np.bool_]
    groups: tuple[Integers, ...] = ()
    in_turn: bool = False

    @classmethod
    def free(cls, count: int, able: NDArray[np.bool_]) -> Slots:
        """Slots of any of the workers."""
        may = np.tile(able, (count, 1))
        return cls(may=may, must=np.zeros_like(may), in_turn=True)

    @classmethod
    def listed(cls, entries: tuple[int, ...], may_miss: tuple[bool, ...]) -> Slots:
        """A slot for each entry of a sequence; some may be missing."""
        may = np.zeros((len(entries), len(may_miss)), dtype=bool)
        may[np.arange(len(entries)), list(entries)] = True
        return cls(may=may, must=may & ~np.array(may_miss, dtype=bool))

    @classmethod
    def in_rounds(cls, rounds: int, able: NDArray[np.bool_], order: Integers | None) -> Slots:
        """As many slots as there are workers in each round, in a given order of them or in any."""
        size = len(able)
        may = np.tile(able, (rounds * size, 1))
        if order is not None:
            may &= np.tile(order[:, np.newaxis] == np.arange(size), (rounds, 1))
        groups = tuple(np.arange(rounds * size).reshape(rounds, size))
        return cls(may=may, must=np.zeros_like(may), groups=groups if order is None else ())


def slots_of(
    allowed: Allowed, able: NDArray[np.bool_], returns: NDArray[np.bool_], count: int, by_end: bool
) -> tuple[Slots, Slots]:
    """Return the slots of the sends and those of the results, the last result first.

    ``able`` workers may be served, those that ``returns`` say send something back. ``count`` is
    how many slots there are where the problem does not say it; 0: there are none.
    """
    sends = Slots.free(count, able)
    if not count:
        return sends, sends
    if allowed.entries is not None and not by_end:
        sends = Slots.listed(allowed.entries, allowed.may_miss)
    elif allowed.rounds is not None and not by_end:
        sends = Slots.in_rounds(allowed.rounds, able, _order(allowed.place))
    backs = Slots.free(len(sends.may) if returns.any() else 0, able & returns)
    if not returns.any():
        return sends, backs
    if allowed.back_entries is not None:
        backs = Slots.listed(allowed.back_entries[::-1], (True,) * len(able))
    elif allowed.rounds is not None and allowed.back_place is not None:
        order = _order(allowed.back_place)
        assert order is not None
        backs = Slots.in_rounds(allowed.rounds, able & returns, order[::-1])
    if allowed.discipline is not None:  # the slots follow those of the sends, with their gaps
        backs = replace(backs, in_turn=False)
    return sends, backs


def _order(place: tuple[int, ...] | None) -> Integers | None:
    return None if place is None else np.argsort(np.array(place))


WHOLE = 1e-6  # units: chunks may be so little more than a whole number of them
LEAST_CAP = 1e-4  # of the load: no cap is less, lest what HiGHS lets a row be broken by matters


def caps(terms: Terms, able: NDArray[np.bool_], horizon: float) -> Floats:
    """Return the most that a chunk of each worker may hold."""
    load = np.inf if terms.load is None else terms.load
    cap = np.where(able, np.minimum(terms.most(horizon), _within_windows(terms, horizon)), 0.0)
    if terms.whole:
        cap = np.floor(cap + WHOLE)
    least = min(load, float(cap[np.isfinite(cap)].max(initial=0.0))) * LEAST_CAP
    return np.where(cap > 0, np.maximum(cap, least), 0.0)


def _within_windows(terms: Terms, horizon: float) -> Floats:
    """Return the most that one chunk holds between its send or release and what has to follow."""
    late = terms.deadline * (1 + SLACK)
    most = np.full(len(terms), np.inf)
    for fixed, per_unit, whose in terms.works:
        for begun, before in ((terms.send_fixed, terms.send), (terms.release, 0.0)):
            for left, behind in ((horizon - terms.back_fixed, terms.back), (late, 0.0)):
                room = np.maximum(0.0, left - begun - fixed)
                slope = before + per_unit + behind
                with np.errstate(divide="ignore", invalid="ignore"):
                    holds = np.where(slope > 0, room / slope, np.inf)
                most = np.where(whose, np.minimum(most, holds), most)
    return most


def most_chunks(terms: Terms, allowed: Allowed, able: NDArray[np.bool_], horizon: float) -> Floats:
    """Return the most chunks of each worker in a plan that ends by the horizon."""
    count = len(terms)
    if allowed.entries is not None:
        entries = np.array(allowed.entries, dtype=np.int64)
        return np.bincount(entries, minlength=count).astype(np.float64)
    if allowed.rounds == 1:
        return np.where(able, 1.0, 0.0)
    most = _in_turn(terms, horizon)
    if allowed.rounds is not None:
        most = np.minimum(most, float(allowed.rounds))
    if terms.whole and terms.load is not None:
        most = np.minimum(most, terms.load + 1)
    return np.where(able, most, 0.0)


def _in_turn(terms: Terms, horizon: float) -> Floats:
    """Return how many chunks fit one behind another, each of which is begun in its turn.

    All are received, computed and returned one by one; before the first is computed it has come,
    behind the last received one there is a computation, and so on. Of given loads the costs per
    unit are known, too.
    """
    given = np.zeros(len(terms)) if terms.given is None else terms.given
    stages = (
        (terms.send_fixed, terms.send),
        (terms.compute_fixed, terms.compute),
        (terms.back_fixed, terms.back),
    )
    most: Floats = np.full(len(terms), np.inf)
    for left, last in ((horizon, 3), (terms.deadline, 2)):
        once = np.sum([fixed for fixed, _ in stages[:last]], axis=0)
        for fixed, per_unit in stages[:last]:
            room = left * (1 + SLACK) - per_unit * given - once + fixed
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.minimum(most, np.where(fixed > 0, np.floor(room / fixed), np.inf))
    np.maximum(most, 1.0, out=most)
    return most


def without_uplink(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem in which each send has the whole uplink."""
    star, master = problem.star, problem.star.master
    assert not isinstance(master, str)
    if master.uplink is None:
        return problem
    send = np.maximum(star.send_per_unit, 1.0 / master.uplink)
    freed = replace(master, uplink=None)
    return replace(problem, platform=star.changed(send_per_unit=send, master=freed))


A_FACTOR = 40.0  # bytes for each pair of variables: vectors of factors, and sums of them


class ChunkChoices:
    """The variables of the programme of a star with a given master and no given transfers.

    ``horizon`` is the end of a known plan in seconds, infinite if none is known: later ones are of
    no interest. Where a problem does not say how many sends and results there are, so many
    ``slots`` of each stand for themselves; 0: none does. ``relaxed``: the choices may be fractions.
    ``by_end``: sends over links that share something have one slot each, in the order in which they
    end; otherwise each link has slots of its own.
    """

    def __init__(
        self,
        problem: DivisibleLoad,
        *,
        horizon: float,
        slots: int = 0,
        relaxed: bool = False,
        by_end: bool = False,
    ) -> None:
        self.uplink = getattr(problem.star.master, "uplink", None)
        self.terms = terms = Terms.of(without_uplink(problem))
        self.front_end = problem.front_end or problem.served_once
        self.allowed = allowed = Allowed.of(problem)
        self.count = len(terms)
        self.relaxed = relaxed
        self._load = np.inf if terms.load is None else terms.load
        self.horizon = min(horizon / terms.second * (1 + SLACK), terms.end)
        self.able = np.isin(np.arange(self.count), (*allowed.able, *(allowed.entries or ())))
        self.able &= (terms.start_up <= self.horizon) | terms.everyone
        self.cap = caps(terms, self.able, self.horizon)
        self.chunks = most_chunks(terms, allowed, self.able, self.horizon)
        self.once = (self.chunks <= 1) | problem.served_once
        self.room = np.zeros(self.count)
        np.multiply(self.cap, self.chunks, out=self.room, where=(self.cap > 0) & (self.chunks > 0))
        self.programme = Programme()
        given = allowed.entries is not None or allowed.rounds is not None
        self.by_end = by_end
        self.fluid = self.able & np.isinf(self.chunks) & (slots > 0) & self.front_end
        many = int(self.chunks.sum()) if by_end and given and slots else slots
        able = self.able & ~self.fluid
        self._sends, self._backs = slots_of(allowed, able, terms.returns, many, by_end)
        self._has_rest = not slots or bool(not given and self.chunks.sum() > slots)
        self._variables()
        self._tables()
        self._rows()

    def _rows(self) -> None:
        """Add the rows of a programme with these choices; there are none yet."""

    @property
    def most(self) -> float:
        """What all machines could do at most if nothing stood in the way of any, units."""
        return (float(self.room.sum()) + self._own_cap) * self.terms.unit

    def _variables(self) -> None:
        terms, programme, mixed = self.terms, self.programme, not self.relaxed
        is_open = terms.load is None
        weight = -1.0 if is_open else 0.0
        whole = terms.whole and mixed
        must = np.full(self.count, terms.everyone)
        if terms.given is not None:
            must |= terms.given > 0
        self.must = must
        self._served = programme.variables(
            self.count, lower=must, upper=self.able | must, integer=mixed
        )
        self._used, self._amount = [], []
        for side, cost in ((self._sends, weight), (self._backs, 0.0)):
            flat, cap = side.may.ravel(), np.tile(self.cap, len(side.may))
            mine = self.fluid & (terms.returns if side is self._backs else True)
            poured = np.tile(np.where(mine, np.minimum(self.room, self._load), 0.0), len(side.may))
            self._used.append(
                programme.variables(
                    len(flat), lower=side.must.ravel(), upper=flat, integer=mixed
                ).reshape(side.may.shape)
            )
            self._amount.append(
                programme.variables(
                    len(flat), cost=cost, upper=np.where(flat, cap, poured), integer=whole
                ).reshape(side.may.shape)
            )
        self._rest_used, self._rest = [], []
        for mine, cost in ((self.able, weight), (self.able & terms.returns, 0.0)):
            rest = mine & self._has_rest
            self._rest_used.append(
                programme.variables(self.count, upper=np.where(rest, self.chunks, 0.0))
            )
            upper = np.where(rest, np.minimum(self.room, self._load), 0.0)
            self._rest.append(
                programme.variables(self.count, cost=cost, upper=upper, integer=whole)
            )
        levels = (len(terms.beyond),)
        self._over, self._rest_over = (
            [programme.variables(int(np.prod(s))).reshape(s) for s in shapes]
            for shapes in (
                [levels + each.shape for each in self._amount],
                2 * [(*levels, self.count)],
            )
        )
        own = terms.own is not None and terms.own.fixed <= self.horizon
        self._own_cap = 0.0
        if own:
            assert terms.own is not None
            left = max(0.0, self.horizon - terms.own.fixed)
            self._own_cap = left / terms.own.per_unit if terms.own.per_unit > 0 else np.inf
            if self._own_cap > 0:
                least = LEAST_CAP * self._load if np.isfinite(self._load) else 0.0
                self._own_cap = min(max(self._own_cap, least), self._load)
        self._own_used = programme.variables(int(own), upper=1.0, integer=mixed)
        self._own = programme.variables(int(own), cost=weight, upper=self._own_cap, integer=whole)
        by_end = float(not is_open and not terms.by_price)
        self._end = int(programme.variables(1, cost=by_end, upper=terms.end)[0])

    def _tables(self) -> None:
        """Write what the rows are made of as vectors of factors, one for each variable."""
        width = self._end + 1
        claim(A_FACTOR * width**2, f"the programme of chunks of {self.count:,} workers")
        unit = np.eye(width)
        self.end = unit[self._end]
        self.served = unit[self._served]
        self.x, self.a = ([unit[each] for each in kind] for kind in (self._used, self._amount))
        self.n, self.z = ([unit[each] for each in kind] for kind in (self._rest_used, self._rest))
        self.numbers = [x.sum(axis=0) + n for x, n in zip(self.x, self.n, strict=True)]
        self.amounts = [a.sum(axis=0) + z for a, z in zip(self.a, self.z, strict=True)]
        self.work = [self._work(*each) for each in zip(self.x, self.a, self._over, strict=True)]
        self.rest_work = [
            self._work(*each) for each in zip(self.n, self.z, self._rest_over, strict=True)
        ]
        self.works = self.work[0].sum(axis=0) + self.rest_work[0]

    def _work(self, used: Floats, amount: Floats, over: Integers) -> Floats:
        """Return the times of computing chunks, by all variables, and bound what is beyond sizes.

        ``used``, ``amount``: tables (..., workers, variables): how many chunks there are, and what
        they hold; ``over`` are the variables of what is beyond each size, (levels, ..., workers).
        """
        # chunks of a fluid worker are as small as one likes: nothing is beyond
        for level, there in enumerate(self.terms.beyond.there & ~self.fluid):
            size = self.terms.beyond.above[level, there, np.newaxis]
            rows = amount - np.eye(amount.shape[-1])[over[level]]
            rows = rows[..., there, :] - size * used[..., there, :]
            self.programme.dense(rows.reshape(-1, rows.shape[-1]), high=0.0)
        fixed, per_unit = self.terms.compute_fixed[:, np.newaxis], self.terms.compute[:, np.newaxis]
        work: Floats = fixed * used + per_unit * amount
        for mine, steeper in zip(over, self.terms.beyond.steeper(self.terms.compute), strict=True):
            work += steeper[:, np.newaxis] * np.eye(work.shape[-1])[mine]
        return work

    def _at_most(self, rows: Floats, high: float | Floats = 0.0) -> None:
        self.programme.dense(rows.reshape(-1, rows.shape[-1]), high=high)

    def _equal(self, rows: Floats, value: float | Floats = 0.0) -> None:
        self.programme.dense(rows.reshape(-1, rows.shape[-1]), low=value, high=value)

    @cached_property
    def _costs(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        terms = self.terms
        return (terms.send_fixed, terms.send), (terms.back_fixed, terms.back)

    def _transfer(self, side: int, used: Floats, amount: Floats) -> Floats:
        """Return how long transfers take, of tables (..., workers, variables)."""
        fixed, per_unit = self._costs[side]
        taken: Floats = fixed[:, np.newaxis] * used + per_unit[:, np.newaxis] * amount
        return taken

    def sends(self, values: Floats) -> tuple[int, ...]:
        """Return the workers in the order of the sends of a solution, without the rest."""
        slot, worker = np.nonzero(values[self._used[0]] > 0.5)
        return tuple(worker[np.argsort(slot, kind="stable")].tolist())
