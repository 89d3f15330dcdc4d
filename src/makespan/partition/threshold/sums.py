"""Which totals the allowed counts of all resources can add up to, under a limit on the cost.

At a limit, resource i may take the counts ``A_i`` whose costs are within it. Let every resource
take its greatest allowed count; what is too much, ``width = sum max A_i - tasks``, must be taken
back in steps ``max A_i - j``. So the tasks are reached where ``width`` is a sum of one step of
each resource, and only steps up to ``width`` matter. The same holds from the least counts up;
the narrower side is taken. At the least limit whose greatest counts suffice, ``width`` is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers, frozen
from makespan.core.system.memory import claim
from makespan.partition.model.allowed_counts import Allowed, least_of_block

FEW = 1 << 14
BUDGET = 1 << 24  # words of sets after which the clock is read
LARGE_SET = 1 << 16
BEYOND = int(np.iinfo(np.int64).max)


class Expired(Exception):
    """The time is up; no plan is below ``bound`` (bits), and at ``feasible`` ends there is one."""

    def __init__(self, bound: int, feasible: Ends | None = None) -> None:
        self.bound = bound
        self.feasible = feasible
        super().__init__("the time is up")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ends:
    """The first and last allowed entry of each row at a limit, and the sums of their counts."""

    limit: int
    first: Integers
    last: Integers
    least: int
    greatest: int

    def allowed(self, bits: Integers, row: int) -> Integers:
        """Return the entries of a row that cost up to the limit."""
        first, last = int(self.first[row]), int(self.last[row])
        return np.asarray(first + np.flatnonzero(bits[first : last + 1] <= self.limit))

    def contain(self, tasks: int) -> bool:
        return self.least <= tasks <= self.greatest

    def from_top(self, tasks: int) -> bool:
        """Whether the sums are to be counted down from the greatest counts."""
        return self.greatest - tasks <= tasks - self.least

    def width(self, tasks: int) -> int:
        """Return what the steps must add up to."""
        return min(self.greatest - tasks, tasks - self.least)


class Sums(Protocol):
    """The sums of allowed counts, under limits given as bit patterns of costs.

    ``containing`` remembers what
    :func:`~makespan.partition.threshold.search.first_containing` found.
    """

    containing: dict[int, Ends]

    def largest_least(self) -> int:
        """Return the greatest of the rows' least costs, in bits: no limit below it allows all."""

    def least_above(self, limit: int) -> int:
        """Return the least cost above ``limit``, in bits; beyond all costs where there is none."""

    def ends(self, limit: int, inside: Ends | None, outside: Ends | None) -> Ends | None:
        """Return the ends at ``limit``, between ends known around it; None where a row has none."""

    def reach(self, ends: Ends, tasks: int) -> bool:
        """Whether the counts allowed at ``ends`` can add up to ``tasks``."""

    def trace(self, ends: Ends, tasks: int) -> Integers | None:
        """Return the entries of the lexicographically least counts, or None where none fit."""

    def costs_between(self, infeasible: int, ends: Ends, tasks: int) -> tuple[Integers, bool]:
        """Return the distinct costs above ``infeasible`` up to the limit of ``ends``, sorted.

        Only entries that a sum can use are looked at. The second value says whether these are
        all; if not, they are those of some rows.
        """

    def most(self, ends: Ends, width: int, from_top: bool) -> int:
        """Return the greatest sum up to ``width`` of steps from the given side."""


def sums_of(choices: Allowed, bits: Integers | None = None, control: Control | None = None) -> Sums:
    """Return the sums for the costs of ``choices``, or for other costs with these ``bits``.

    Compiled for large tables, NumPy and Python integers for small ones. With a ``control``,
    ``reach`` raises :class:`Expired` where the time is up.
    """
    if choices.is_large:
        return CompiledSums(choices, bits, control)
    return PlainSums(choices, choices.bits if bits is None else bits, control)


class PlainSums:
    """The twin for small tables: sets of sums are Python integers, bit t for sum t."""

    def __init__(self, choices: Allowed, bits: Integers, control: Control | None = None) -> None:
        self.choices = choices
        self.bits = bits
        self.control = control
        self.containing = choices.containing if bits is choices.bits else {}

    def largest_least(self) -> int:
        return max(0, *(int(self.bits[low:high].min()) for low, high in self._windows))

    def least_above(self, limit: int) -> int:
        inside = np.concatenate([self.bits[low:high] for low, high in self._windows])
        return int(np.min(inside, where=inside > limit, initial=BEYOND))

    def ends(self, limit: int, inside: Ends | None, outside: Ends | None) -> Ends | None:
        first, last = self.choices.low.copy(), self.choices.low.copy()
        for row, (low, high) in enumerate(self._windows):
            allowed = np.flatnonzero(self.bits[low:high] <= limit)
            if not len(allowed):
                return None
            first[row] += allowed[0]
            last[row] += allowed[-1]
        return ends_at(self.choices, limit, first, last)

    def reach(self, ends: Ends, tasks: int) -> bool:
        width = ends.width(tasks)
        if width <= 0:
            return width == 0
        unit = self._unit(ends, width, ends.from_top(tasks))
        if unit == 0 or width % unit:
            return False
        target, reached = width // unit, 1
        for row in range(len(self.choices)):
            steps = self._steps(row, ends, width, ends.from_top(tasks), unit)
            reached = self._added(reached, steps, target)
            if reached >> target & 1:
                return True
        return False

    def most(self, ends: Ends, width: int, from_top: bool) -> int:
        unit = self._unit(ends, width, from_top) or 1
        reached = 1
        for row in range(len(self.choices)):
            steps = self._steps(row, ends, width, from_top, unit)
            reached = self._added(reached, steps, width // unit)
        return (reached.bit_length() - 1) * unit

    def trace(self, ends: Ends, tasks: int) -> Integers | None:
        width, top = ends.width(tasks), ends.from_top(tasks)
        if width < 0:
            return None
        unit = self._unit(ends, width, top) or 1
        if width % unit:
            return None
        rest = width // unit
        steps = [self._steps(row, ends, width, top, unit) for row in range(len(self.choices))]
        later = [1]
        for row_steps in reversed(steps):
            later.append(self._added(later[-1], row_steps, rest, len(steps)))
        if not later.pop() >> rest & 1:
            return None
        counts = self.choices.table.counts_at(ends.last if top else ends.first)
        for row, row_steps in enumerate(steps):
            reached = later.pop()
            fitting = (step for step in (reversed(row_steps) if top else row_steps) if step <= rest)
            step = next(step for step in fitting if reached >> (rest - step) & 1)
            rest -= step
            counts[row] += -step * unit if top else step * unit
        return self.choices.table.entries_of(counts)

    def costs_between(self, infeasible: int, ends: Ends, tasks: int) -> tuple[Integers, bool]:
        inside = np.concatenate([self.bits[low:high] for low, high in self._windows])
        return _distinct(inside[(inside > infeasible) & (inside <= ends.limit)]), True

    def _added(self, reached: int, steps: list[int], target: int, kept: int = 3) -> int:
        """Return the sums with one more row, of which ``kept`` sets are held at a time."""
        claim(kept * target / 8, f"sets of sums up to {target:,}")
        return added_sums(reached, steps, target, self._look)

    def _look(self) -> None:
        if self.control is not None and self.control.expired():
            raise Expired(self.largest_least())

    def _unit(self, ends: Ends, width: int, from_top: bool) -> int:
        """Return the greatest common divisor of all steps up to ``width``."""
        divisor = 0
        for row in range(len(self.choices)):
            divisor = math.gcd(divisor, *self._steps(row, ends, width, from_top, 1))
        return divisor

    @cached_property
    def _windows(self) -> list[tuple[int, int]]:
        return list(zip(self.choices.low.tolist(), self.choices.high.tolist(), strict=True))

    def _steps(self, row: int, ends: Ends, width: int, from_top: bool, unit: int) -> list[int]:
        """Return the steps of a row in units, increasing, from 0 on."""
        places = self.choices.table.counts_at(ends.allowed(self.bits, row), row)
        steps = places[-1] - places[::-1] if from_top else places - places[0]
        found: list[int] = (steps[steps <= width] // unit).tolist()
        return found


def added_sums(
    reached: int, steps: list[int], target: int, look: Callable[[], None] | None = None
) -> int:
    """Return the sums of ``reached`` and one of ``steps``, up to ``target``.

    Arithmetic progressions of steps are added by doubling shifts. Between two shifts of large
    sets, ``look`` may end it by an exception.
    """
    mask = (2 << target) - 1
    result, k = reached, 1
    while k < len(steps):
        if look is not None and target > LARGE_SET:
            look()
        length = 1
        gap = steps[k + 1] - steps[k] if k + 1 < len(steps) else 0
        while k + length < len(steps) and steps[k + length] - steps[k + length - 1] == gap:
            length += 1
        run, covered = reached, 1
        while 2 * covered <= length:
            run |= run << covered * gap & mask
            covered *= 2
        if covered < length:
            run |= run << (length - covered) * gap & mask
        result |= run << steps[k] & mask
        k += length
    return result


class CompiledSums:
    """Bit sets in 64-bit words, in compiled loops that skip blocks of too high costs."""

    def __init__(
        self, choices: Allowed, bits: Integers | None, control: Control | None = None
    ) -> None:
        self.choices = choices
        self.control = control
        self.bits = choices.bits
        self.least = choices.least_of_block
        self.containing = choices.containing if bits is None else {}
        if bits is not None:
            self.bits = frozen(bits.view())
            self.least = least_of_block(self.bits)

    def largest_least(self) -> int:
        from makespan.partition.model.scan_kernels import largest_least

        found = largest_least(self.bits, self.least, self.choices.low, self.choices.high)
        return max(0, int(found))

    def least_above(self, limit: int) -> int:
        from makespan.partition.model.scan_kernels import least_above

        return int(least_above(self.bits, self.choices.low, self.choices.high, limit))

    def ends(self, limit: int, inside: Ends | None, outside: Ends | None) -> Ends | None:
        from makespan.partition.model.scan_kernels import first_allowed, last_allowed

        low, high = self.choices.low, self.choices.high
        first, last = np.empty_like(low), np.empty_like(low)
        above = low - 1 if inside is None else inside.last
        below = high - 1 if outside is None else outside.last
        last_allowed(self.bits, self.least, limit, above, below, last)
        if inside is None and (last < low).any():
            return None
        above = low if outside is None else outside.first
        below = last if inside is None else inside.first
        first_allowed(self.bits, self.least, limit, above, below, first)
        return ends_at(self.choices, limit, first, last)

    def reach(self, ends: Ends, tasks: int) -> bool:
        width = ends.width(tasks)
        if width <= 0:
            return width == 0
        reached = self._add_rows(ends, width, ends.from_top(tasks), None, early=True)
        return reached is not None and reached.has_target()

    def most(self, ends: Ends, width: int, from_top: bool) -> int:
        reached = self._add_rows(ends, width, from_top, None, early=False, divides=False)
        assert reached is not None
        bits = reached.bits
        bits[-1] &= np.uint64((2 << (reached.target & 63)) - 1)
        word = int(np.flatnonzero(bits)[-1])
        return (64 * word + int(bits[word]).bit_length() - 1) * reached.unit

    def trace(self, ends: Ends, tasks: int) -> Integers | None:
        from makespan.partition.threshold.kernels import trace

        width, top = ends.width(tasks), ends.from_top(tasks)
        if width < 0:
            return None
        stored: list[np.ndarray] = []
        reached = self._add_rows(ends, width, top, stored, early=False)
        if reached is None or not reached.has_target():
            return None
        entries, view = np.empty_like(ends.first), self._view(ends, width, top)
        trace(view, ends.first, ends.last, reached.unit, stored[0], entries)
        return entries

    def costs_between(self, infeasible: int, ends: Ends, tasks: int) -> tuple[Integers, bool]:
        from makespan.partition.threshold.kernels import costs_between

        found = np.empty(FEW, dtype=np.int64)
        view = self._view(ends, ends.width(tasks), ends.from_top(tasks))
        number = costs_between(view, ends.first, ends.last, infeasible, found)
        return _distinct(found[:number]), number <= FEW

    def _view(self, ends: Ends, width: int, from_top: bool) -> Any:
        return self.bits, self.least, self.choices.table.listed, ends.limit, from_top, width

    def _add_rows(
        self,
        ends: Ends,
        width: int,
        from_top: bool,
        room: list[np.ndarray] | None,
        *,
        early: bool,
        divides: bool = True,
    ) -> _Reached | None:
        """Return the sums of all rows' steps up to ``width``; None if no sum can be ``width``.

        The sums of the rows from each row on are put into ``room``.
        """
        from makespan.partition.threshold.kernels import common_divisor, reaches

        arguments = self._view(ends, width, from_top), ends.first, ends.last
        longest = int((ends.last - ends.first).max()) + 1
        steps = np.empty(min(width + 1, longest), dtype=np.int64)
        unit = int(common_divisor(*arguments, steps)) or 1
        if divides and width % unit:
            return None
        target, rows = width // unit, len(self.choices)
        words = (target >> 6) + 1
        claim(8 * words * (3 + (0 if room is None else rows)), f"sets of sums up to {target:,}")
        reached = np.zeros(words, dtype=np.uint64)
        reached[0] = 1
        stored = np.empty((1, 1), np.uint64)
        if room is not None:
            stored = np.zeros((rows + 1, words), np.uint64)
            stored[-1, 0] = 1
            room.append(stored)
        old, run = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
        state = np.array([0, target + 1, rows, 0, 0, 0, 0, 0], dtype=np.int64)
        while not reaches(*arguments, unit, steps, reached, stored, old, run, state, early, BUDGET):
            if self.control is not None and self.control.expired():
                raise Expired(self.largest_least())
        return _Reached(bits=reached, unit=unit, target=target)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Reached:
    """A set of sums in units, up to ``target``, bit by bit."""

    bits: np.ndarray
    unit: int
    target: int

    def has_target(self) -> bool:
        return bool(int(self.bits[-1]) >> (self.target & 63) & 1)


def _distinct(values: Integers) -> Integers:
    """Return the distinct values, sorted; sorting is quicker here than what ``unique`` does."""
    ordered = np.sort(values)
    return np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])


def ends_at(choices: Allowed, limit: int, first: Integers, last: Integers) -> Ends:
    """Return the ends with the sums of their counts."""
    table = choices.table
    return Ends(
        limit=limit,
        first=first,
        last=last,
        least=int(table.counts_at(first).sum()),
        greatest=int(table.counts_at(last).sum()),
    )
