"""What every machine holds before and must hold after, and who reaches whom over links."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
