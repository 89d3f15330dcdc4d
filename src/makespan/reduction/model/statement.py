"""What every machine holds before, and must hold after: the statement of every collective."""

from __future__ import annotations

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
