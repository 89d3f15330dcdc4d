"""Places of chunks in a plan: who may be served in which, as far as a problem says it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Integers
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
    allowed: Allowed,
    able: NDArray[np.bool_],
    returns: NDArray[np.bool_],
    count: int,
    by_end: bool,
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
    """Return the workers in the order of their places."""
    return None if place is None else np.argsort(np.array(place))
