"""Linear programmes of how much is sent over each way, in the least time that ports take for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from makespan.backends.repeated import CuttingPlanes
from makespan.core.numeric.arrays import Floats
from makespan.reduction.model.statement import Bools
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.occupation import occupation_of


class Amounts(ABC):
    """Variables are the time, in units of ``seconds``, and amounts of each layer over each way.

    Amounts are parts of all segments. Layers share ports and links; in the first one, givers
    prepare. ``more`` are variables up to 1 beside them. Ways are those of ``occupation_of``, and
    ``start`` says when each machine can begin at the earliest, seconds.
    """

    def __init__(
        self, problem: Reduction, start: Floats, *, layers: int = 1, more: int = 0
    ) -> None:
        self.ways = ways = occupation_of(problem)
        self.count, self.layers, self.more = len(problem.machines), layers, more
        columns = len(ways.giver)
        unit = float(ways.unit or 1)
        total = float(ways.size.sum()) * unit
        self.seconds = max(float(np.max(ways.lasts)), float(np.max(ways.prepare))) * total or 1.0
        size = 1 + layers * columns + more
        self.programme = CuttingPlanes(np.eye(1, size)[0], [np.inf, *[1.0] * (size - 1)])
        self.size = size
        self.sides: list[tuple[float, float]] = []
        self.factors: list[Floats] = []
        self._ports(start, float(ways.size.min()) * unit, total, unit)

    @abstractmethod
    def need(self, group: Bools) -> float:
        """Return what part of all segments must enter a group."""

    def _ports(self, start: Floats, least: float, total: float, unit: float) -> None:
        """Let no port, unit or shared link be held for longer than there is time for it."""
        ways = self.ways
        begin, last = start[ways.giver], ways.latency * unit
        prepare = ways.prepare if self.layers == 1 else 0 * ways.prepare
        held: dict[int, list[tuple[Any, Any, Any, Any]]] = {}
        for column in range(ways.holds.shape[1]):
            number = ways.holds[:, column]
            since = begin + prepare * least + ways.after[:, column] * unit
            left = last - ways.after[:, column] * unit
            for each in np.unique(number[number >= 0]).tolist():
                used = np.flatnonzero(number == each)
                found = used, ways.lasts[used] * total, since[used], left[used]
                held.setdefault(each, []).append(found)
        for each in np.unique(ways.holds[:, 0]).tolist():
            used = np.flatnonzero(ways.holds[:, 0] == each)
            left = last[used] + ways.lasts[used] * least
            held[-1 - each] = [(used, ways.prepare[used] * total, begin[used], left)]
        for place, parts in held.items():
            used, lasts, since, left = map(np.concatenate, zip(*parts, strict=True))
            if lasts.any():
                outside = 0.0
                layers = self.layers if place >= 0 else 1
                if layers == self.layers and self._must_be_used(used):
                    outside = max(0.0, since.min()) + max(0.0, left.min())
                used = (used + len(begin) * np.arange(layers)[:, None]).ravel()
                lasts = np.tile(lasts, layers)
                self.row(used, -lasts / self.seconds, outside / self.seconds, np.inf, 1.0)

    def _must_be_used(self, used: Any) -> bool:
        """Whether these are all ways to those they lead to, or from those they start at.

        What must go there, or away, then goes over some of them.
        """
        giver, taker = self.ways.giver, self.ways.taker
        others = np.ones(len(giver), dtype=bool)
        others[used] = False
        inside, outside = np.zeros((2, self.count), dtype=bool)
        inside[taker[used]] = True
        outside[:] = True
        outside[giver[used]] = False
        return any(
            group.any() and self.need(group) > 0
            and not (others & ~group[giver] & group[taker]).any()
            for group in (inside, outside)
        )  # fmt: skip

    def row(self, used: Any, factors: Any, low: float, high: float, time: float) -> None:
        """Add ``low <= time + sum(factors * amounts used) <= high``, with so much of the time."""
        row = np.zeros(self.size)
        row[0], row[1 + used] = time, factors
        held = np.flatnonzero(row)
        self.programme.row(held, row[held], low=low, high=high)
        self.sides.append((low, high))
        self.factors.append(row)

    def proved(self) -> float:
        """Return what the duals of the last solution prove, seconds, whatever HiGHS says of them.

        Weights of the rows, and for each way that no more than everything is sent over it.
        """
        weights = self.programme.duals
        table = np.array(self.factors[: len(weights)])
        low, high = np.array(self.sides[: len(weights)]).T
        weights = np.where(np.isfinite(high), weights, np.maximum(weights, 0.0))
        times = weights @ table
        if times[0] <= 0:
            return 0.0
        value = weights @ np.where(weights >= 0, low, np.where(np.isfinite(high), high, 0.0))
        value -= np.maximum(times[1:], 0.0).sum()
        return max(0.0, float(value / times[0])) * self.seconds
