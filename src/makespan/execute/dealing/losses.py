"""Items that workers had which died: which of them is to blame?"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from makespan.execute.dealing.pool import Range

CUT = 8  # pieces into which items are cut on which a worker died
MAX_LOSSES = 3  # after so many workers died while they had nothing else, an item is given up


class Suspects:
    """Pieces of what was lost, each of which is computed by a worker that has nothing else.

    Whoever dies then died of this piece, or by itself: the piece is cut smaller, until an item is
    alone. Nobody else's items are blamed. While there is other work, one worker does that.

    >>> suspects = Suspects()
    >>> suspects.blame(Range(0, 20), alone=False)
    >>> suspects.next(["a", "b"], ["b"], others=True) is None  # a shall be idle first
    True
    >>> suspects.next(["a", "b"], ["a", "b"], others=True)
    ('a', Range(low=0, high=3, losses=0, long=False))
    """

    def __init__(self) -> None:
        self._pieces: deque[Range] = deque()
        self._who = ""

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def put(self, one: Range) -> None:
        """Add a piece."""
        self._pieces.append(one)

    def blame(self, one: Range, *, alone: bool) -> Range | None:
        """Cut a range up whose worker died, unless it is an item that was alone.

        Returns it if as many workers have died of that as may; None otherwise.
        """
        if alone:
            one = replace(one, losses=one.losses + 1)
            if one.losses >= MAX_LOSSES:
                return one
        size = -(-len(one) // CUT)
        for low in range(one.low, one.high, size):
            self.put(replace(one, low=low, high=min(one.high, low + size)))
        return None

    def reserved(self, names: Sequence[str]) -> str:
        """Return which of the workers does nothing else; none where there is nothing to do."""
        if self._pieces and self._who not in names:
            self._who = next(iter(names), "")
        return self._who if self._pieces else ""

    def next(
        self, names: Sequence[str], idle: Sequence[str], *, others: bool
    ) -> tuple[str, Range] | None:
        """Return an idle worker and the piece it gets; without ``others`` to do, any may."""
        if others:
            who = self.reserved(names)
            idle = [name for name in idle if name == who]
        return (idle[0], self._pieces.popleft()) if idle and self._pieces else None
