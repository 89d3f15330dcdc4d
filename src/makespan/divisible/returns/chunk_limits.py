"""How much a chunk may hold, how many there may be by a horizon, and who may have which slot."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import SLACK
from makespan.core.numeric.arrays import Floats, Integers
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
    if by_end:
        pass
    elif allowed.entries is not None:
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


WHOLE = 1e-6
"""Units: chunks may be so little more than a whole number of them."""
LEAST_CAP = 1e-4
"""Of the load: caps are no less, lest what HiGHS lets a row be broken by is worth a choice."""


def caps(terms: Terms, able: NDArray[np.bool_], horizon: float) -> Floats:
    """Return the most that a chunk of each worker may hold."""
    load = np.inf if terms.load is None else terms.load
    most = np.minimum(terms.most(horizon), _within_windows(terms, horizon))
    cap = np.where(able, most, 0.0)
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
