"""What a table allows up to the number of tasks, and what one pass over it found out."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from makespan.core.inputs.rules import GREATEST, LEAST
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel, pays
from makespan.partition.model.costs import COST
from makespan.partition.model.table import Flags, Table

BLOCK_BITS = 9
BLOCK = 1 << BLOCK_BITS
ROUNDING = 4e-15
INFINITE = np.int64(0x7FF0000000000000)
NONE = np.int64(0x7FFFFFFFFFFFFFFF)
ZERO = np.int64(0)


@kernel
def scan(
    values: Any,
    bits: Any,
    start: Any,
    stop: Any,
    low: Any,
    high: Any,
    monotone: Any,
    convex: Any,
    least_of_block: Any,
) -> Any:
    """Fill the minima of blocks, clear flags of rows that lack a shape.

    Return the least and the greatest bit pattern, the least above 0, and the greatest of a finite
    cost. Each stretch of a row inside a block is read while it is in the cache.
    """
    smallest, greatest, least_positive, greatest_finite = NONE, ZERO, NONE, ZERO
    for row in range(len(start)):
        p = start[row]
        while p < stop[row]:
            block = p >> BLOCK_BITS
            end = min(stop[row], (block + 1) << BLOCK_BITS)
            stretch = bits[p:end]
            least, most = stretch[0], stretch[0]
            positive, finite = NONE, ZERO
            for k in range(len(stretch)):
                least = min(least, stretch[k])
                most = max(most, stretch[k])
                positive = min(positive, stretch[k] if stretch[k] > 0 else NONE)
                finite = max(finite, stretch[k] if stretch[k] < INFINITE else ZERO)
            least_positive = min(least_positive, positive)
            greatest_finite = max(greatest_finite, finite)
            least_of_block[block] = min(least_of_block[block], least)
            smallest = min(smallest, least)
            greatest = max(greatest, most)
            if monotone[row]:
                a = max(p, low[row])
                b = max(a, min(end, high[row] - 1))
                here, after = bits[a:b], bits[a + 1 : b + 1]
                falls = False
                for k in range(len(here)):
                    falls |= after[k] < here[k]
                monotone[row] = not falls
            if convex[row]:
                a = max(p, low[row])
                b = max(a, min(end, high[row] - 2))
                one, two, three = values[a:b], values[a + 1 : b + 1], values[a + 2 : b + 2]
                bends = False
                for k in range(len(one)):
                    bend = (three[k] - two[k]) - (two[k] - one[k])
                    bends |= not bend >= -ROUNDING * (three[k] + one[k])
                convex[row] = not bends
            p = end
    return smallest, greatest, least_positive, greatest_finite


@kernel
def largest_least(bits: Any, least_of_block: Any, low: Any, high: Any) -> Any:
    """Return the greatest of the rows' least bit patterns; whole blocks are not read."""
    result = np.int64(0)
    for row in range(len(low)):
        least = np.int64(0x7FFFFFFFFFFFFFFF)
        p = low[row]
        while p < high[row]:
            block = p >> BLOCK_BITS
            end = (block + 1) << BLOCK_BITS
            if p == block << BLOCK_BITS and end <= high[row]:
                least = min(least, least_of_block[block])
            else:
                end = min(end, high[row])
                for k in range(p, end):
                    least = min(least, bits[k])
            p = end
        result = max(result, least)
    return result


@kernel
def least_above(bits: Any, low: Any, high: Any, limit: Any) -> Any:
    """Return the least bit pattern above ``limit`` in any row."""
    least = NONE
    for row in range(len(low)):
        stretch = bits[low[row] : high[row]]
        for k in range(len(stretch)):
            least = min(least, stretch[k] if stretch[k] > limit else NONE)
    return least


@kernel
def last_allowed(
    bits: Any, least_of_block: Any, limit: Any, above: Any, below: Any, found: Any
) -> Any:
    """Find each row's last entry in ``(above, below]`` at most ``limit``; ``above`` if none."""
    for row in range(len(found)):
        p = below[row]
        stop = above[row]
        while p > stop:
            first = max((p >> BLOCK_BITS) << BLOCK_BITS, stop + 1)
            if least_of_block[p >> BLOCK_BITS] <= limit:
                while p >= first and bits[p] > limit:
                    p -= 1
                if p >= first:
                    break
            p = first - 1
        found[row] = p


@kernel
def first_allowed(
    bits: Any, least_of_block: Any, limit: Any, above: Any, below: Any, found: Any
) -> Any:
    """Find each row's first entry in ``[above, below)`` at most ``limit``; ``below`` if none."""
    for row in range(len(found)):
        p = above[row]
        stop = below[row]
        while p < stop:
            end = min(((p >> BLOCK_BITS) + 1) << BLOCK_BITS, stop)
            if least_of_block[p >> BLOCK_BITS] <= limit:
                while p < end and bits[p] > limit:
                    p += 1
                if p < end:
                    break
            p = end
        found[row] = p


LARGE = 100_000  # from this many entries on, compiled loops are worth loading


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
        from makespan.partition.model.allowed_counts import scan

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
