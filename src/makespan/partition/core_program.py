"""The dynamic programme over a core of entries with small reduced costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers
from makespan.partition.choices import Choices

WIDEST = 1 << 26
"""Sums in a wider range are kept in dictionaries, not in arrays."""
SMALL = 20_000
"""Up to this many entries times sums, a plain loop is quicker than loading a compiled one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Core:
    """Reduced costs; every row's ``origin`` has none, and ``missing`` tasks lack at the origins."""

    choices: Choices
    reduced: Floats
    origin: Integers
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoreResult:
    """The best entries, None where the time was up; no sum of reduced costs is below ``bound``."""

    entries: Integers | None
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Moves:
    """One row's entries in the core: how many tasks more than the origin, at which cost.

    ``least`` and ``most`` bound the sums from which the later rows can still get to the end.
    """

    row: int
    entries: Integers
    moves: Integers
    costs: Floats
    least: int
    most: int


def solve_core(core: Core, least: float, worst: float, control: Control) -> CoreResult:
    """Return the entries with the least sum of reduced costs that supply the missing tasks.

    Parameters
    ----------
    least
        A lower bound on that sum, above 0.
    worst
        The sum of a known plan.
    """
    limit, bound = least, least
    while True:
        limit = min(limit, worst * (1 + 1e-12))
        program = _Program(core, limit, control)
        entries = program.run()
        if entries is not None:
            return CoreResult(entries=entries, bound=bound)
        if program.expired or limit >= worst:
            return CoreResult(entries=None, bound=bound)
        bound, limit = limit, 1.5 * limit


class _Program:
    """One pass over the rows of a core, from the sum 0 to the missing tasks."""

    def __init__(self, core: Core, limit: float, control: Control) -> None:
        self.core = core
        self.limit = limit
        self.control = control
        self.rows = self._rows()
        self.expired = False

    def run(self) -> Integers | None:
        """Return the best entries whose reduced costs add up to ``limit`` at most, or None."""
        low = min([0, *(row.least for row in self.rows)])
        high = max([0, *(row.most for row in self.rows)])
        work = sum(len(row.moves) for row in self.rows) * (high - low + 1)
        if high - low > WIDEST or (work <= SMALL and not self.core.choices.is_large):
            return self._by_dictionary()
        return self._by_array(low, high)

    def _rows(self) -> list[_Moves]:
        """Return the rows that can move at all, those with the fewest moves first."""
        core, choices = self.core, self.core.choices
        inside = np.flatnonzero(core.reduced <= self.limit)
        row_of = np.searchsorted(choices.high, inside, side="right")
        counts = choices.table.counts
        moves = (
            inside - core.origin[row_of]
            if counts is None
            else counts[inside] - counts[core.origin[row_of]]
        )
        begin = np.searchsorted(row_of, np.arange(len(choices) + 1))
        sizes = np.diff(begin)
        order = [row for row in np.argsort(sizes, kind="stable").tolist() if sizes[row] > 1]
        least = most = core.missing
        rows = []
        for row in reversed(order):
            part = slice(int(begin[row]), int(begin[row + 1]))
            rows.append(
                _Moves(
                    row=row,
                    entries=inside[part],
                    moves=moves[part],
                    costs=core.reduced[inside[part]],
                    least=least,
                    most=most,
                )
            )
            least -= int(moves[part][-1])
            most -= int(moves[part][0])
        return rows[::-1] if least <= 0 <= most else []

    def _by_dictionary(self) -> Integers | None:
        best: dict[int, float] = {0: 0.0}
        steps: list[dict[int, tuple[int, int]]] = []
        for row in self.rows:
            if self._is_late():
                return None
            new: dict[int, float] = {}
            step: dict[int, tuple[int, int]] = {}
            moves = list(zip(row.moves.tolist(), row.costs.tolist(), strict=True))
            for index, (move, cost) in enumerate(moves):
                for total, value in best.items():
                    after, sum_ = total + move, value + cost
                    inside = row.least <= after <= row.most and sum_ <= self.limit
                    if inside and sum_ < new.get(after, np.inf):
                        new[after] = sum_
                        step[after] = (total, index)
            best = new
            steps.append(step)
        if self.core.missing not in best:
            return None
        entries = self.core.origin.copy()
        total = self.core.missing
        for row, step in zip(reversed(self.rows), reversed(steps), strict=True):
            total, index = step[total]
            entries[row.row] = row.entries[index]
        return entries

    def _by_array(self, low: int, high: int) -> Integers | None:
        from makespan.partition.sum_kernels import core_row

        best, new = np.full((2, high - low + 1), np.inf)
        choice = np.empty(len(best), dtype=np.int32)
        room = np.empty(len(best), dtype=np.int64)
        active = np.zeros(1, dtype=np.int64)
        best[-low] = 0.0
        steps: list[tuple[Integers, np.ndarray]] = []
        for row in self.rows:
            if self._is_late():
                return None
            number = core_row(
                active, best, low, row.least, row.most, row.moves, row.costs, self.limit,
                room, new, choice,
            )  # fmt: skip
            best[active - low] = np.inf
            active = np.sort(room[:number])
            steps.append((active, choice[active - low]))
            best, new = new, best
        if not len(active) or best[self.core.missing - low] == np.inf:
            return None
        entries = self.core.origin.copy()
        total = self.core.missing
        for position in range(len(self.rows) - 1, -1, -1):
            row, (sums, chosen) = self.rows[position], steps[position]
            at = int(np.searchsorted(sums, total))
            entries[row.row] = row.entries[chosen[at]]
            total -= int(row.moves[chosen[at]])
        return entries

    def _is_late(self) -> bool:
        self.expired = self.control.expired()
        return self.expired
