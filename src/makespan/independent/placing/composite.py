"""Tasks on uniform machines, cut so that all end in time: Gonzalez and Sahni's composite machines.

A machine of which a task has taken the beginning, and another of which it has taken the end, are
one machine from then on: the first's end behind the other's beginning.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise

from makespan.core.numeric.arrays import Floats
from makespan.independent.placing.pieces import Piece

SLIVER = 2.0**-50

Part = tuple[float, float, int]
"""From when until when, and the machine."""


def composed(
    work: Sequence[tuple[int, float]], speeds: Floats, start: float, length: float
) -> list[Piece]:
    """Return the pieces of tasks that all end within ``length`` seconds from ``start``.

    Parameters
    ----------
    work
        Tasks and their work, above 0, the most first.
    speeds
        Of the machines: k tasks have no more work than the k fastest do in ``length``, all no more
        than all do.

    Complexity: O(n (m + log m)), at most 2 (m - 1) cuts.
    Source: Gonzalez and Sahni 1978, section 3.
    """
    rate = speeds.tolist()
    # what is left of machines: its work, a number that tells equal ones apart, its parts
    left: list[tuple[float, int, list[Part]]] = sorted(
        (speed * length, machine, [(0.0, length, machine)]) for machine, speed in enumerate(rate)
    )
    number, pieces = len(left), []
    for task, amount in work:
        place = min(bisect_left(left, (amount, -1, [])), len(left) - 1)
        if place == 0 and len(left[0][2]) == 1:  # it goes on what is left of one machine
            _, name, [(begin, end, machine)] = left[0]
            until = min(end, begin + amount / rate[machine])
            pieces.append(Piece(task, machine, start + begin, start + until))
            left[0] = (rate[machine] * (end - until), name, [(until, end, machine)])
            continue
        fast = left.pop(place)
        slow = left.pop(place - 1) if place else (0.0, -1, [])
        turn = _turn(fast[2], slow, amount, rate, length)
        for begin, end, machine in (*_until(fast[2], turn), *_since(slow[2], turn)):
            if end - begin > SLIVER * length:
                pieces.append(Piece(task, machine, start + begin, start + end))
        rest = [*_until(slow[2], turn), *_since(fast[2], turn)]
        if rest or len(left) == 0:
            insort(left, (_work(rest, rate), number, rest))
            number += 1
    return pieces


def _turn(
    fast: list[Part],
    slow: tuple[float, int, list[Part]],
    amount: float,
    rate: list[float],
    length: float,
) -> float:
    """Return when to change from the fast machine to the slow one, so that both do ``amount``."""
    changes = sorted({0.0, length, *(time for part in (*fast, *slow[2]) for time in part[:2])})
    done = slow[0]  # by the slow one alone
    for begin, end in pairwise(changes):
        middle = (begin + end) / 2
        gain = _rate(fast, middle, rate) - _rate(slow[2], middle, rate)
        if gain > 0 and done + gain * (end - begin) >= amount:
            return min(end, begin + max(0.0, amount - done) / gain)
        done += gain * (end - begin)
    return length


def _rate(parts: list[Part], time: float, rate: list[float]) -> float:
    return next((rate[machine] for begin, end, machine in parts if begin <= time < end), 0.0)


def _work(parts: list[Part], rate: list[float]) -> float:
    return sum(rate[machine] * (end - begin) for begin, end, machine in parts)


def _until(parts: list[Part], turn: float) -> Iterator[Part]:
    return ((begin, min(end, turn), machine) for begin, end, machine in parts if begin < turn)


def _since(parts: list[Part], turn: float) -> Iterator[Part]:
    return ((max(begin, turn), end, machine) for begin, end, machine in parts if end > turn)
