"""What a table allows up to the number of tasks, and what one pass over it found out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from makespan.core.inputs.rules import GREATEST, LEAST
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import pays
from makespan.partition.model.costs import COST
from makespan.partition.model.table import Flags, Table

BLOCK_BITS = 9
BLOCK = 1 << BLOCK_BITS
LARGE = 100_000  # from this many entries on, compiled loops are worth loading

ROUNDING = 4e-15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Allowed:
    """The allowed entries of a table, and its structure.

    The values are also there as ``bits``, the integers with the same bit patterns: for costs, which
    are not negative, they are in the same order, and there is no NaN among them.

    ``containing`` holds, by tasks, the ends between which the least limit lies, as far as they were
    looked for: several methods and the bounds begin there.
    """

    table: Table
    bits: Integers
    low: Integers  # each row allows the finite entries from this index
    high: Integers  # to before this one
    least_of_block: Integers  # the least bit pattern of each block of 512 entries of the flat array
    contiguous: Flags  # per row: every count between the least and the greatest has an entry
    monotone: Flags  # per row: costs never fall
    convex: Flags  # per row: costs never grow more slowly, to within rounding
    containing: dict[int, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.low)

    @property
    def size(self) -> int:
        """How many entries the windows hold."""
        return int((self.high - self.low).sum())

    @property
    def is_large(self) -> bool:
        """Whether compiled loops are worth loading."""
        return pays(self.size, LARGE, of=("partition",))

    @property
    def empty_rows(self) -> Integers:
        """The resources without any allowed count."""
        return np.flatnonzero(self.high <= self.low)

    def allowed(self, row: int, limit: int) -> Integers:
        """Return the entries of a row that cost up to ``limit`` (bits)."""
        low, high = int(self.low[row]), int(self.high[row])
        return np.asarray(low + np.flatnonzero(self.bits[low:high] <= limit))

    @property
    def least_counts(self) -> Integers:
        """The least allowed count of each resource; no row may be empty."""
        return self.table.counts_at(self.low)

    @property
    def greatest_counts(self) -> Integers:
        """The greatest allowed count of each resource; no row may be empty."""
        return self.table.counts_at(self.high - 1)

    @property
    def all_convex(self) -> bool:
        return bool((self.convex & self.contiguous).all())

    def structure(self) -> str:
        """Return what was found, in words."""
        kinds = [
            word
            for word, flags in (("monotone", self.monotone), ("convex", self.convex))
            if (flags & self.contiguous).all()
        ]
        if kinds:
            return " and ".join(kinds)
        if not self.contiguous.all():
            return "sets of counts with gaps"
        bumpy = int((~self.monotone).sum())
        return f"no shape assumed: {bumpy} of {len(self)} cost tables fall somewhere"


def scanned(table: Table, tasks: int) -> Allowed | None:
    """Read the table in one pass: structure, minima of blocks; None where not all are costs."""
    bits = table.values.view(np.int64)
    low, high = table.window(tasks) if not _nan_at_ends(table) else (table.start, table.start)
    contiguous = _contiguous(table, low, high)
    if pays(len(table.values), LARGE, of=("partition",)):
        from makespan.partition.model.scan_kernels import scan

        monotone, convex = contiguous.copy(), contiguous.copy()
        least = np.full((len(bits) >> BLOCK_BITS) + 1, np.iinfo(np.int64).max)
        with np.errstate(invalid="ignore"):  # inf - inf, where the loop is not compiled
            smallest, greatest, positive, finite = scan(
                table.values, bits, table.start, table.stop, low, high, monotone, convex, least
            )
        faulty = (
            smallest < 0
            or greatest > _INFINITE
            or positive < _bits(LEAST)
            or finite > _bits(GREATEST)
        )
    else:
        faulty = len(COST.wrong(table.values)) > 0
        least = least_of_block(bits)
        monotone, convex = _shapes(table.values, low, high, contiguous)
    if faulty and len(COST.wrong(table.values)):
        return None
    return Allowed(
        table=table,
        bits=bits,
        low=low,
        high=high,
        least_of_block=least,
        contiguous=contiguous,
        monotone=monotone,
        convex=convex,
    )


def _bits(value: float) -> int:
    return int(np.array(value).view(np.int64))


_INFINITE = _bits(np.inf)


def _nan_at_ends(table: Table) -> bool:
    full = table.stop > table.start
    ends = np.concatenate([table.values[table.start[full]], table.values[table.stop[full] - 1]])
    return bool(np.isnan(ends).any())


def least_of_block(bits: Integers) -> Integers:
    """Return the least entry of each block of 512."""
    blocks = np.arange(0, len(bits), BLOCK)
    least = np.full((len(bits) >> BLOCK_BITS) + 1, np.iinfo(np.int64).max)
    if len(bits):
        least[: len(blocks)] = np.minimum.reduceat(bits, blocks)
    return least


def _contiguous(table: Table, low: Integers, high: Integers) -> Flags:
    if table.counts is None:
        return np.ones(len(table), dtype=bool)
    last = np.maximum(high - 1, low)
    last = np.minimum(last, len(table.counts) - 1)
    spans = table.counts[last] - table.counts[np.minimum(low, len(table.counts) - 1)]
    result: Flags = (high <= low) | (spans == last - low)
    return result


def _shapes(
    values: Floats, low: Integers, high: Integers, contiguous: Flags
) -> tuple[Flags, Flags]:
    """Return which rows never fall, and which never grow more slowly."""
    monotone, convex = contiguous.copy(), contiguous.copy()
    for index in range(len(low)):
        row = values[low[index] : high[index]]
        monotone[index] &= bool((row[1:] >= row[:-1]).all())
        with np.errstate(invalid="ignore"):
            bends = (row[2:] - row[1:-1]) - (row[1:-1] - row[:-2])
            convex[index] &= bool((bends >= -ROUNDING * (row[2:] + row[:-2])).all())
    return monotone, convex
