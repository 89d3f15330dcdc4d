"""What machines hold before and must hold after, who reaches whom over links, and whole times.

Times become whole numbers of a common unit, found from the numbers as they were written.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats

Collective = Literal[
    "reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter", "gather", "scatter",
    "all-to-all", "custom",
]  # fmt: skip
Bools = NDArray[np.bool_]
ROOT = 0
ALL, AT_ROOT, DEALT, OWN = "all", "root", "dealt", "own"
ENDS = {
    "reduce": (ALL, AT_ROOT),
    "broadcast": (AT_ROOT, ALL),
    "all-reduce": (ALL, ALL),
    "all-gather": (DEALT, ALL),
    "reduce-scatter": (ALL, DEALT),
    "gather": (DEALT, AT_ROOT),
    "scatter": (AT_ROOT, DEALT),
    "all-to-all": (OWN, DEALT),
}
"""Where segments are before and after: segment k is dealt to machine k mod n."""
COMBINING = ("reduce", "all-reduce", "reduce-scatter")


class Statement(NamedTuple):
    """Which machine (row) holds which segment (column) before, and must hold it after.

    ``combining``: what machines hold before are parts of a segment, and all have to be combined.
    Then every machine that holds a part but one, which must hold the segment after, gives its own
    away once, after all that it got; that one has the segment then. Complete segments are copied:
    to every machine that must hold them once, and to any other once at most.
    """

    before: Bools
    after: Bools
    combining: bool

    @property
    def one_way(self) -> bool:
        """Whether segments are only copied, or only combined."""
        return not self.combining or bool((self.after.sum(axis=0) == 1).all())

    @property
    def copied(self) -> tuple[Bools, Bools]:
        """Who holds and who lacks what, where all is copied; of parts to combine, reversed."""
        holds, others = (self.after, self.before) if self.combining else (self.before, self.after)
        return holds, others & ~holds


def statement_of(
    collective: Collective, machines: int, segments: int, before: Any, after: Any, combine: bool
) -> Statement:
    """Return the statement; ``before`` and ``after`` are those of a custom one, from 1."""
    if collective == "custom":
        ends = [np.zeros((machines, segments), dtype=bool) for _ in range(2)]
        for table, given in zip(ends, (before, after), strict=True):
            for segment, holders in enumerate(given):
                table[np.array(holders, dtype=np.int64) - 1, segment] = True
        return Statement(ends[0], ends[1], combine)
    count = segments * machines if collective == "all-to-all" else segments

    def end(where: str) -> Bools:
        if where == ALL:
            return np.broadcast_to(np.True_, (machines, count))
        if where == AT_ROOT:
            return np.broadcast_to((np.arange(machines) == ROOT)[:, None], (machines, count))
        holder = np.arange(count) // segments if where == OWN else np.arange(count) % segments
        return np.asarray(np.arange(machines)[:, None] == holder % machines)

    first, last = ENDS[collective]
    return Statement(end(first), end(last), collective in COMBINING)


def links_of(machines: int, *tables: Any) -> Bools | None:
    """Return which machine (row) has a link to which; None where every one has to every other.

    ``tables`` are numbers or n × n tables that are infinite where there is no link.
    """
    if not any(np.ndim(table) for table in tables):
        return None
    linked = ~np.eye(machines, dtype=bool)
    for table in tables:
        if np.ndim(table):
            linked &= np.isfinite(table)
    return None if linked.sum() == machines * (machines - 1) else linked


def homes_of(statement: Statement, links: Bools | None) -> Bools:
    """Return which machines (rows) segments may be combined on: those that must hold them after.

    With missing links, all parts must reach it by machines that hold one, and from there the
    complete segment all that must hold it. Complexity: O(n³) for each different pair of ends.
    """
    before, after, _ = statement
    if links is None or _all_do(statement, links):
        return after
    found = np.zeros_like(after)
    for own, wanted, columns in _alike(before, after):
        for home in np.flatnonzero(wanted).tolist():
            root = np.arange(len(own)) == home
            parts = _reached(links.T, root, own)
            if not (own & ~parts).any() and not (wanted & ~_reached(links, root)).any():
                found[home, columns] = True
    return found


def unreachable(
    statement: Statement, links: Bools, machines: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Yield a segment of each sort that can't be done, and why; O(n²) for each pair of ends."""
    before, after, combining = statement
    if _all_do(statement, links):
        return
    homes = homes_of(statement, links) if combining else after
    for own, wanted, columns in _alike(before, after):
        segment = int(columns[0])
        if combining and not homes[:, segment].any():
            home = int(np.flatnonzero(wanted)[0])
            root = np.arange(len(own)) == home
            lost = own & ~_reached(links.T, root, own)
            if lost.any():
                stray = machines[int(np.flatnonzero(lost)[0])]
                what = f"no way from {stray} to {machines[home]} by machines that hold a part"
            else:
                lost = wanted & ~_reached(links, root)
                stray = machines[int(np.flatnonzero(lost)[0])]
                what = f"no way from {machines[home]} to {stray}"
            several = wanted.sum() > 1
            yield segment, what + (", and none by another home" if several else "")
        elif not combining:
            lost = wanted & ~_reached(links, own)
            if lost.any():
                stray = machines[int(np.flatnonzero(lost)[0])]
                yield segment, f"no way to {stray} from a machine that holds it"


def _alike(before: Bools, after: Bools) -> Iterator[tuple[Bools, Bools, Any]]:
    """Yield the different pairs of ends, and the segments of each."""
    both = np.packbits(np.concatenate([before, after]), axis=0)
    _, first, inverse = np.unique(both, axis=1, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    for kind, segment in enumerate(first.tolist()):
        yield before[:, segment], after[:, segment], np.flatnonzero(inverse == kind)


def _all_do(statement: Statement, links: Bools) -> bool:
    """Whether everybody reaches everybody, and all hold what has to be combined."""
    able = not statement.combining or bool(statement.before.all())
    return able and _reaches_all(links) and _reaches_all(links.T)


def _reaches_all(links: Bools) -> bool:
    start = np.zeros(len(links), dtype=bool)
    start[0] = True
    return bool(_reached(links, start).all())


def _reached(links: Bools, start: Bools, within: Any = True) -> Bools:
    """Return who is reached from ``start`` over machines ``within`` alone: breadth first."""
    reached, fresh = start, np.flatnonzero(start)
    while len(fresh):
        ahead = links[fresh].any(axis=0) & ~reached & within
        reached, fresh = reached | ahead, np.flatnonzero(ahead)
    return reached


LARGEST_DENOMINATOR = 10**9
LARGEST_WHOLE = 2**40
LARGEST_EXACT = 1e15  # decimals of so many digits are floats of their own
SAMPLE = 50
MAX_FRACTIONS = 5_000


def as_fraction(value: Any) -> Fraction | None:
    """Return the rational number that ``value`` was written as, or None where there is none.

    A float is read as the shortest decimal that it prints as, else as a fraction with a
    denominator up to a million that rounds to it.

    >>> as_fraction(0.1), as_fraction(1 / 3), as_fraction(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    >>> as_fraction(2 ** 0.5) is None
    True
    """
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    number = float(value)
    written = Fraction(repr(number))
    if written.denominator <= LARGEST_DENOMINATOR:
        return written
    near = Fraction(number).limit_denominator(10**6)
    return near if float(near) == number else None


def common_unit(values: Iterable[Any]) -> Fraction | None:
    """Return the largest unit of which all ``values`` are whole multiples, or None.

    None where a value is not rational in the sense of :func:`as_fraction`, or where the
    multiples would not fit into 40 bits. The unit of zeros is 1.

    >>> common_unit([0.1, 1, 0.3]), common_unit([2, 4]), common_unit([1, 2 ** 0.5])
    (Fraction(1, 10), Fraction(2, 1), None)
    """
    unit, largest = Fraction(0), Fraction(0)
    for value in dict.fromkeys(values):
        fraction = as_fraction(value)
        if fraction is None:
            return None
        denominator = unit.denominator * fraction.denominator
        divisor = math.gcd(
            unit.numerator * fraction.denominator, fraction.numerator * unit.denominator
        )
        unit, largest = Fraction(divisor, denominator), max(largest, fraction)
        if largest > LARGEST_WHOLE * unit:
            return None
    return unit or Fraction(1)


def common_unit_of(values: Floats) -> Fraction | None:
    """Return the common unit of the entries of an array; None also for many odd fractions.

    Decimals are read at once, others one by one.

    >>> common_unit_of(np.array([0.25, 1.5])), common_unit_of(np.array([1 / 3, 1.0]))
    (Fraction(1, 4), Fraction(1, 3))
    """
    flat = values.ravel()
    if any(as_fraction(value) is None for value in flat[:: len(flat) // SAMPLE + 1].tolist()):
        return None
    for digits in range(10):
        whole = np.rint(flat * 10.0**digits)
        if whole.max(initial=0.0) >= LARGEST_EXACT:
            break
        if np.array_equal(whole / 10.0**digits, flat):
            divisor = int(np.gcd.reduce(whole.astype(np.int64)))
            if whole.max(initial=0.0) > LARGEST_WHOLE * divisor:
                return None if divisor else Fraction(1)
            return Fraction(divisor or 1, 10**digits if divisor else 1)
    distinct = np.unique(flat)
    return None if len(distinct) > MAX_FRACTIONS else common_unit(distinct.tolist())
