"""Without a front end: between which receptions a worker computes its chunks.

A worker that receives or computes, but not both, may compute a chunk at once or after it has
received more of them: a decision for every chunk but the last of each worker. They are made in
the order of the chunks, depth first; the programme without those that are open bounds all that is
below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Behind = tuple[int, ...]
"""For each of the first chunks, the chunk behind whose reception it is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A sequence of transfers: chunk k is sent (k) or returned (-1 - k).

    ``worker`` holds the worker of each chunk. The first return of a worker is that of its first
    chunk, and so on; returns of those who return nothing are left out. Where links share a number
    of places, ``place`` holds that of the send of each chunk.
    """

    worker: tuple[int, ...]
    transfers: tuple[int, ...]
    place: tuple[int, ...] = ()


def at_once(sequence: Sequence) -> Behind:
    """Return the decisions by which every chunk is computed right behind its own reception."""
    return tuple(range(len(sequence.worker)))


class Receptions:
    """The decisions of one sequence, chunk by chunk."""

    def __init__(self, sequence: Sequence) -> None:
        self.count = len(sequence.worker)
        self._worker = sequence.worker
        self._chunks: dict[int, list[int]] = {}  # of each worker
        self._place: list[int] = []  # of each chunk among those of its worker
        for chunk, worker in enumerate(sequence.worker):
            mine = self._chunks.setdefault(worker, [])
            self._place.append(len(mine))
            mine.append(chunk)

    def are_few(self, most: int) -> bool:
        """Whether there are at most so many decisions: a Catalan number for each worker."""
        number = 1
        for chunks in self._chunks.values():
            for count in range(2, len(chunks) + 1):
                number = number * (4 * count - 2) // (count + 1)
                if number > most:
                    return False
        return True

    def ways(self, behind: Behind) -> list[Behind]:
        """Return the decisions with one more: no chunk is computed before an earlier one."""
        chunk = len(behind)
        mine, place = self._chunks[self._worker[chunk]], self._place[chunk]
        least = behind[mine[place - 1]] if place else -1
        return [(*behind, other) for other in mine[place:] if other >= least]

    def all(self) -> Iterator[Behind]:
        """Iterate over all decisions, with every chunk computed as late as it can be last."""
        open_: list[Behind] = [()]
        while open_:
            behind = self.forced(open_.pop())
            if len(behind) == self.count:
                yield behind
            else:
                open_ += reversed(self.ways(behind))

    def forced(self, behind: Behind) -> Behind:
        """Return the decisions with those that follow without a choice."""
        while len(behind) < self.count:
            ways = self.ways(behind)
            if len(ways) > 1:
                break
            behind = ways[0]
        return behind
