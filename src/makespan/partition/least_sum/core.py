"""The dynamic programme over a core of entries with small reduced costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.partition.model.allowed_counts import Allowed

WIDEST = 1 << 26  # sums in a wider range are kept in dictionaries, not in arrays
SMALL = 20_000  # entries times sums up to which a plain loop is quicker than loading another
BUDGET = 4_000_000  # after this many extended sums the clock is read
ENTRY = 200  # bytes of a sum in a dictionary
POOL = 4.0  # entries are collected up to this multiple of the limit: the table is seldom read
GROWTH = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Core:
    """Entries with small reduced costs, in the order of the table: rows, counts, costs."""

    entries: Integers
    row: Integers
    counts: Integers
    costs: Floats
    large: bool

    def where(self, flags: np.ndarray) -> Core:
        """Return the entries at which ``flags`` are true."""
        return Core(
            entries=self.entries[flags],
            row=self.row[flags],
            counts=self.counts[flags],
            costs=self.costs[flags],
            large=self.large,
        )


def core_of(choices: Allowed, reduced: Floats, limit: float) -> Core:
    """Return the entries with a reduced cost up to ``limit``."""
    entries = np.flatnonzero(reduced <= limit)
    row = np.searchsorted(choices.high, entries, side="right")
    return Core(
        entries=entries,
        row=row,
        counts=choices.table.counts_at(entries, row),
        costs=reduced[entries],
        large=choices.is_large,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoreResult:
    """The best entries, None where time or memory was up; no sum of theirs is below ``bound``."""

    entries: Integers | None
    bound: float


def solve_core(
    choices: Allowed, reduced: Floats, tasks: int, least: float, worst: float, control: Control
) -> CoreResult:
    """Return the entries with the least sum of reduced costs whose counts add up to the tasks.

    ``reduced``: the reduced cost of every entry. ``least``: a lower bound on that sum, above 0.
    ``worst``: the sum of a known plan.
    """
    worst *= 1 + 1e-12
    limit, bound, reach = least, least, 0.0
    while True:
        limit = min(limit, worst)
        if limit > reach:
            reach = min(POOL * limit, worst)
            pool = core_of(choices, reduced, reach)
        core = pool.where(pool.costs <= limit)
        try:
            entries = best_of(core, len(choices), tasks, limit, control)
        except TooLarge:
            return CoreResult(entries=None, bound=bound)
        if entries is not None:
            return CoreResult(entries=entries, bound=bound)
        if limit >= worst or control.expired():
            return CoreResult(entries=None, bound=bound)
        bound, limit = limit, GROWTH * limit


def best_of(core: Core, rows: int, tasks: int, limit: float, control: Control) -> Integers | None:
    """Return the plan from the core with the least sum, if that is at most ``limit``.

    Returns None if there is no such plan, or if the time was up first.
    """
    sizes = np.bincount(core.row, minlength=rows)
    if not sizes.all():
        return None
    order = np.lexsort((core.costs, core.row))
    origin = order[np.cumsum(sizes) - sizes]
    missing = tasks - int(core.counts[origin].sum())
    limit -= float(core.costs[origin].sum())
    entries: Integers = core.entries[origin]
    moving = np.flatnonzero(sizes > 1)
    moving = moving[np.argsort(sizes[moving], kind="stable")]
    moves = core.counts - core.counts[origin[core.row]]
    ends = np.cumsum(sizes) - 1
    farthest, nearest = moves[ends[moving]], moves[ends[moving] - sizes[moving] + 1]
    least = missing - _after(farthest)
    most = missing - _after(nearest)
    if len(moving) == 0 or not least[0] <= farthest[0] or not nearest[0] <= most[0]:
        return entries if missing == 0 and limit >= 0 else None
    position = np.full(rows, -1, dtype=np.int64)
    position[moving] = np.arange(len(moving))
    order = order[np.argsort(position[core.row[order]], kind="stable")]
    order = order[len(core.row) - int(sizes[moving].sum()) :]
    program = _Program(
        begin=np.concatenate([[0], np.cumsum(sizes[moving])]),
        moves=moves[order],
        costs=core.costs[order] - core.costs[origin[core.row[order]]],
        least=least,
        most=most,
        missing=missing,
        limit=limit,
    )
    chosen = program.run(core.large, control)
    if chosen is None:
        return None
    entries[moving] = core.entries[order[chosen]]
    return entries


def _after(values: Integers) -> Integers:
    """Return the sum of the values after each."""
    found: Integers = values.sum() - np.cumsum(values)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Program:
    """One pass over rows of moves, from the sum 0 to the missing tasks.

    The moves of row i are ``moves[begin[i]:begin[i + 1]]``, the cheapest first: how many tasks
    more than at the row's origin, and at which cost. Sums outside ``[least[i], most[i]]`` can't
    get to the end by the later rows.
    """

    begin: Integers
    moves: Integers
    costs: Floats
    least: Integers
    most: Integers
    missing: int
    limit: float

    def run(self, large: bool, control: Control) -> Integers | None:
        """Return the move of each row, cheapest in sum and within the limit, or None."""
        low, high = min(0, int(self.least.min())), max(0, int(self.most.max()))
        work = len(self.moves) * (high - low + 1)
        if high - low > WIDEST or (work <= SMALL and not large):
            return self._by_dictionary(control)
        return self._by_array(low, high, control)

    def _by_dictionary(self, control: Control) -> Integers | None:
        best: dict[int, float] = {0: 0.0}
        steps: list[dict[int, int]] = []
        moves, costs = self.moves.tolist(), self.costs.tolist()
        begin = self.begin.tolist()
        for row in range(len(self.least)):
            if control.expired():
                return None
            claim(ENTRY * sum(map(len, steps)), "the sums of a core of entries")
            least, most = int(self.least[row]), int(self.most[row])
            work = 0
            new: dict[int, float] = {}
            step: dict[int, int] = {}
            for total, value in best.items():
                work += begin[row + 1] - begin[row]
                if work > BUDGET // 40:
                    work = 0
                    if control.expired():
                        return None
                for move in range(begin[row], begin[row + 1]):
                    after, sum_ = total + moves[move], value + costs[move]
                    if sum_ > self.limit:
                        break
                    if least <= after <= most and sum_ < new.get(after, np.inf):
                        new[after] = sum_
                        step[after] = move
            best = new
            steps.append(step)
        if self.missing not in best:
            return None
        chosen, total = [], self.missing
        for step in reversed(steps):
            chosen.append(step[total])
            total -= moves[step[total]]
        return np.array(chosen[::-1], dtype=np.int64)

    def _by_array(self, low: int, high: int, control: Control) -> Integers | None:
        from makespan.partition.least_sum.kernels import core_rows

        rows = len(self.least)
        claim(20 * (high - low + 1), "the sums of a core of entries")
        best = np.full((2, high - low + 1), np.inf)
        best[0, -low] = 0.0
        choice = np.empty(best.shape[1], dtype=np.int32)
        room = int(np.diff(self.begin).max())
        sums, moved = np.zeros(1 + 2 * room, np.int64), np.zeros(1 + 2 * room, np.int32)
        ends = np.zeros(rows + 2, dtype=np.int64)
        state = np.array([0, 0, 1], dtype=np.int64)
        ends[1:] = 1
        while state[0] < rows:
            if control.expired():
                return None
            if len(sums) - state[2] < room:
                claim(24 * len(sums), "the sums of a core of entries")
                sums, moved = np.tile(sums, 2), np.tile(moved, 2)
            core_rows(
                self.begin, self.moves, self.costs, self.least, self.most, self.limit, low,
                best, choice, sums, moved, ends, state, BUDGET,
            )  # fmt: skip
        if best[rows & 1, self.missing - low] == np.inf:
            return None
        chosen, total = np.empty(rows, dtype=np.int64), self.missing
        for row in range(rows - 1, -1, -1):
            part = slice(int(ends[row + 1]), int(ends[row + 2]))
            chosen[row] = moved[part][int(np.argmax(sums[part] == total))]
            total -= int(self.moves[chosen[row]])
        return chosen
