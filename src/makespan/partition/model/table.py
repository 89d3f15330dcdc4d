"""Cost tables: one flat array of values, and where each resource's row lies in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats, Integers, equal_in

Flags: TypeAlias = NDArray[np.bool_]

GivenAffine: TypeAlias = tuple[Affine, Affine | None]

NO_LIMIT = np.iinfo(np.int64).max
NO_COUNTS = np.empty(0, dtype=np.int64)
NO_COUNTS.flags.writeable = False
ALL_ROWS = slice(None)


def read_only(values: ArrayLike, dtype: type) -> NDArray[Any]:
    """Return ``values`` as a flat read-only array, without a copy where that is possible."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype).reshape(-1)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """The cost of every allowed count of every resource.

    Row i holds ``values[start[i]:stop[i]]``. Its entry k is the cost of ``first[i] + k`` tasks, or
    of ``counts[start[i] + k]`` tasks where ``counts`` is given (increasing in each row). An
    infinite entry forbids its count, and so do the limits.
    """

    values: Floats  # seconds, all rows one after another
    start: Integers  # where each row begins
    stop: Integers  # and ends
    first: Integers  # the count of each row's first entry
    counts: Integers | None  # of every entry, where some row is not contiguous; None otherwise
    energies: Floats | None  # of every entry; None where there is none
    lower: Integers  # the least count allowed to each resource
    upper: Integers  # the greatest
    given: tuple[GivenAffine | None, ...] = ()

    def __len__(self) -> int:
        return len(self.start)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return equal_in((name for name in self.__slots__ if name != "given"), self, other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def base(self) -> Integers:
        """What is to be added to the index of an entry to get its count, in contiguous rows."""
        return self.first - self.start

    @property
    def listed(self) -> Integers:
        """The count of every entry; empty where all rows are contiguous: what kernels take."""
        return NO_COUNTS if self.counts is None else self.counts

    def row(self, index: int) -> slice:
        """Return where row ``index`` lies in the flat arrays."""
        return slice(int(self.start[index]), int(self.stop[index]))

    def entries_of(self, amounts: Integers) -> Integers:
        """Return the index of the entry of ``amounts[i]`` tasks in row i, -1 where not allowed."""
        if self.counts is None:
            entries = amounts - self.base
            inside = (entries >= self.start) & (entries < self.stop)
        else:
            entries = np.array(
                [
                    start + np.searchsorted(self.counts[start:stop], amount)
                    for start, stop, amount in zip(
                        self.start.tolist(), self.stop.tolist(), amounts.tolist(), strict=True
                    )
                ],
                dtype=np.int64,
            )
            inside = entries < self.stop
            inside[inside] = self.counts[entries[inside]] == amounts[inside]
        inside &= (amounts >= self.lower) & (amounts <= self.upper)
        inside[inside] = self.values[entries[inside]] < np.inf
        return np.where(inside, entries, -1)

    def counts_at(self, entries: Integers, rows: Any = ALL_ROWS) -> Integers:
        """Return the counts of one entry per row, or of entries in these ``rows``, or this one."""
        if self.counts is not None:
            return self.counts[entries]
        return np.asarray(entries + (self.first[rows] - self.start[rows]))

    def costs_of(self, amounts: Integers) -> Floats:
        """Return the cost of ``amounts[i]`` tasks on resource i, infinite where not allowed."""
        return _at(self.values, self.entries_of(amounts))

    def energies_of(self, amounts: Integers) -> Floats:
        """Return the energy of ``amounts[i]`` tasks on resource i, infinite where not allowed."""
        assert self.energies is not None
        return _at(self.energies, self.entries_of(amounts))

    def window(self, tasks: int) -> tuple[Integers, Integers]:
        """Return where the entries that ``tasks`` and limits allow lie, without infinite ends."""
        lower = np.maximum(self.lower, 0)
        upper = np.minimum(self.upper, tasks)
        if self.counts is None:
            low = np.clip(lower - self.base, self.start, self.stop)
            high = np.clip(upper + 1 - self.base, low, self.stop)
        else:
            rows = [self.counts[self.row(index)] for index in range(len(self))]
            low = self.start + [
                np.searchsorted(row, at) for row, at in zip(rows, lower, strict=True)
            ]
            high = self.start + [
                np.searchsorted(row, at, side="right") for row, at in zip(rows, upper, strict=True)
            ]
            high = np.maximum(low, high)
        full = np.flatnonzero(high > low)
        at_end = (self.values[low[full]] == np.inf) | (self.values[high[full] - 1] == np.inf)
        for index in full[at_end].tolist():
            finite = np.flatnonzero(self.values[low[index] : high[index]] < np.inf)
            high[index] = low[index] + (finite[-1] + 1 if len(finite) else 0)
            low[index] += finite[0] if len(finite) else 0
        return low, high


def _at(values: Floats, entries: Integers) -> Floats:
    known = entries >= 0
    found = np.full(len(entries), np.inf)
    found[known] = values[entries[known]]
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """One resource's costs as they were given, on their way into a table.

    ``place`` names the row and ``costs`` the costs in mistakes; ``counts`` is None where the row
    is contiguous from ``first``; ``given`` is the affine cost and energy that it stands for.
    """

    place: str
    values: Floats
    counts: Integers | None = None
    first: int = 0
    energies: Floats | None = None
    lower: int = 0
    upper: int = NO_LIMIT
    given: GivenAffine | None = None


def table_of(rows: Sequence[Row]) -> Table:
    """Join rows into one table."""
    lengths = np.array([len(row.values) for row in rows], dtype=np.int64)
    stop = np.cumsum(lengths)
    start = stop - lengths
    first = np.array(
        [row.first if row.counts is None else _first(row.counts) for row in rows], dtype=np.int64
    )
    counts = None
    if any(row.counts is not None for row in rows):
        counts = np.concatenate(
            [
                row.first + np.arange(len(row.values), dtype=np.int64)
                if row.counts is None
                else row.counts
                for row in rows
            ]
        )
        inside = np.ones(len(counts), dtype=bool)
        inside[start[lengths > 0]] = False
        if (np.diff(counts)[inside[1:]] == 1).all():
            counts = None
    energies = None
    if any(row.energies is not None for row in rows):
        energies = np.concatenate(
            [np.zeros(len(row.values)) if row.energies is None else row.energies for row in rows]
        )
    return Table(
        values=read_only(np.concatenate([row.values for row in rows]), np.float64),
        start=start,
        stop=stop,
        first=first,
        counts=None if counts is None else read_only(counts, np.int64),
        energies=None if energies is None else read_only(energies, np.float64),
        lower=np.array([row.lower for row in rows], dtype=np.int64),
        upper=np.array([row.upper for row in rows], dtype=np.int64),
        given=given if any(given := tuple(row.given for row in rows)) else (),
    )


def _first(counts: Integers) -> int:
    return int(counts[0]) if len(counts) else 0
