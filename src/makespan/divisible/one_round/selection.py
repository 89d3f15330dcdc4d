"""The search over subsets of workers whose order of service is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.one_round.ending_together import AffineCosts
from makespan.divisible.one_round.newton import BEATS, CELLS, FoundSubset, Remainder

MAX_STATES = 1_000_000
TABLE_ENTRIES = 65_536
MANY = 3_000


@dataclass(slots=True)
class _Choices:
    """Choices among the workers so far: the time left for the port, the load done, a bound."""

    left: Floats
    load: Floats
    upper: Floats

    def __len__(self) -> int:
        return len(self.left)

    def some(self, rows: np.ndarray) -> _Choices:
        return _Choices(self.left[rows], self.load[rows], self.upper[rows])


class Selection:
    """Seeks the subset that does the most load by a given time, served in a given order.

    Every worker in turn is taken or left out. Of all choices only those are kept that no other
    one beats in the time left and the load done (Nemhauser and Ullmann's list for knapsacks);
    a second left is worth at most what the workers to come do in it without fixed costs.

    ``costs``: the workers; c + w is positive for each. ``order``: their order of service.
    ``control``: asked after each worker whether to stop.
    """

    def __init__(self, costs: AffineCosts, order: Integers, control: Control) -> None:
        self.order = order
        self.costs = costs.some(order)
        self.control = control
        self.rates = _suffix_rates(self.costs)
        self.cells = int(np.clip(TABLE_ENTRIES // max(1, len(order)), 1, CELLS))

    def __call__(self, horizon: float, target: float, width: int) -> FoundSubset:
        """Search with at most ``width`` choices at a time; see :class:`newton.SubsetSearch`."""
        remainder = Remainder.within(self.costs, horizon, self.cells)
        width = min(width, MAX_STATES)
        states = _Choices(np.array([horizon]), np.zeros(1), np.array([np.inf]))
        trail: list[Integers] = []  # per worker: the row each choice came from, -1 - row if taken
        best: tuple[int, int] | None = None
        goal, lost, made = target, -np.inf, 1
        open_workers = np.ones(len(self.costs), dtype=bool)
        for position in range(len(self.costs)):
            if not len(states) or self.control.expired():
                break
            open_workers[position] = False
            both, origin = self._taken_or_not(states, position)
            top = int(both.load.argmax())
            if both.load[top] > goal:
                goal, best = float(both.load[top]) * BEATS, (position, int(origin[top]))
            cell = np.minimum(self.cells - 1, (both.left * self.cells / horizon).astype(np.int64))
            both.upper = both.load + both.left * remainder.per_second(open_workers)[cell]
            kept = _unbeaten(both, np.flatnonzero(both.upper > goal), self.rates[position + 1])
            if len(kept) > width:
                ranked = kept[np.argsort(-both.upper[kept], kind="stable")]
                lost = max(lost, float(both.upper[ranked[width]]))
                kept = ranked[:width]
            states = both.some(kept)
            trail.append(origin[kept])
            made += len(states)
        if len(trail) < len(self.costs):  # stopped early: all that is left is open
            lost = max(lost, float(states.upper.max(initial=-np.inf)))
        sequence = self._sequence(trail, best)
        return FoundSubset(
            load=goal / BEATS if sequence else 0.0,
            sequence=sequence,
            upper=max(goal, lost),
            states=made,
        )

    def _taken_or_not(self, states: _Choices, position: int) -> tuple[_Choices, Integers]:
        """Return the states with the worker left out, then those with it, and their origins."""
        costs = self.costs
        rows = np.arange(len(states))
        able = np.flatnonzero(states.left > costs.start_up[position])
        room = states.left[able]
        amount = (room - costs.start_up[position]) / costs.total[position]
        left = room - costs.send_fixed[position] - costs.send[position] * amount
        both = _Choices(
            np.concatenate([states.left, left]),
            np.concatenate([states.load, states.load[able] + amount]),
            np.concatenate([states.upper, states.upper[able]]),
        )
        return both, np.concatenate([rows, -1 - able])

    def _sequence(self, trail: list[Integers], best: tuple[int, int] | None) -> list[int]:
        if best is None:
            return []
        position, origin = best
        backwards = []
        while True:
            if origin < 0:
                backwards.append(int(self.order[position]))
                origin = -1 - origin
            position -= 1
            if position < 0:
                return backwards[::-1]
            origin = int(trail[position][origin])


def _unbeaten(states: _Choices, rows: Integers, rate: float) -> Integers:
    """Return those of ``rows`` that no other one beats, by falling time left."""
    rows = rows[np.lexsort((-states.load[rows], -states.left[rows]))]
    load = states.load[rows]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], load[:-1]]))
    rows = rows[load > before] if len(rows) else rows
    worth = (states.load[rows] + rate * states.left[rows])[::-1]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], worth[:-1]]))
    kept: Integers = rows[(worth >= before)[::-1]] if len(rows) else rows
    return kept


def _suffix_rates(costs: AffineCosts) -> Floats:
    """Return the load a second of the workers from each position on, without fixed costs.

    Served by non-decreasing send cost, which is best. Complexity: O(n^2) by insertion; of many
    workers only some rates are made, which stand for those of the workers behind them, too.
    """
    every = max(1, len(costs) // 20) if len(costs) > MANY else 1
    by_send = np.argsort(costs.send, kind="stable")
    position = np.argsort(by_send)
    rates = np.zeros(len(costs) + 1)
    share = np.zeros(len(costs))
    keep = np.ones(len(costs))
    total = costs.total
    for first in reversed(range(0, len(costs), every)):
        block = slice(first, first + every)
        share[position[block]] = 1.0 / total[block]
        keep[position[block]] = costs.compute[block] / total[block]
        before = np.concatenate([[1.0], np.cumprod(keep)[:-1]])
        rates[block] = float((before * share).sum())
    return rates
