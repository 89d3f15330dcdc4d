"""The best tree for segments that follow one another, by what was measured of the ranks.

Up the tree segments are combined, down it they are spread. Ports are not exclusive here: a rank
sends to several at once, each at the rate of their pair, and together at the rate of its port.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from makespan.execute.collectives.calibration import Calibration
from makespan.execute.collectives.ends import ends_of
from makespan.execute.collectives.tables import NO_MESSAGE, Receive, Step, Table, Work
from makespan.reduction.model import Collective, statement_of

LEAST_BYTES, MOST_SEGMENTS = 2048, 512
IMPROVED = 8  # of the trees to start from


class Pipeline(NamedTuple):
    """A tree, as the parent of every rank (the root is its own), and a number of segments."""

    collective: Collective
    parents: tuple[int, ...]
    segments: int
    predicted: float

    @property
    def root(self) -> int:
        """The rank where everything is combined, and spread from."""
        return next(rank for rank, parent in enumerate(self.parents) if rank == parent)

    def work(self, rank: int) -> Work:
        """Return what a rank does: per segment, what comes from its children by rank, up, down."""
        root, parent = self.root, self.parents[rank]
        children = [one for one, above in enumerate(self.parents) if above == rank and one != root]
        receives: list[Receive] = []
        steps: list[Step] = []

        def take(source: int, segment: int, final: bool) -> None:
            steps.append(Step(source, segment, final, len(receives), 0))
            receives.append(Receive(source, segment, final))

        for k in range(self.segments):
            if self.collective != "broadcast":
                for child in children:
                    take(child, k, False)
                steps += [Step(parent, k, False, NO_MESSAGE, 0)] * (rank != root)
            if self.collective != "reduce":
                if rank != root:
                    take(parent, k, True)
                steps += [Step(child, k, True, NO_MESSAGE, 0) for child in children]
        table = Table(receives=tuple(receives), steps=tuple(steps))
        ranks = [root, *(one for one in range(len(self.parents)) if one != root)]
        statement = statement_of(self.collective, len(ranks), self.segments, None, None, False)
        ends = ends_of(self.collective, statement, ranks)[rank]
        return Work(self.collective, self.predicted, np.ones(self.segments), root, table, ends)


def best_pipeline(
    found: Calibration,
    nbytes: int,
    collective: Collective,
    root: int | None = None,
    seconds: float = 1.0,
) -> Pipeline:
    """Return the tree and the number of segments with the least predicted time that were found.

    Stars, chains to the nearest and binomial trees from every root, or the one that is given; the
    best of them are improved by hanging one rank elsewhere or exchanging two, as long as that
    helps, or for so many seconds. Complexity: O(n) a tree and number of segments; n² trees a step.
    """
    until = time.monotonic() + seconds
    costs = _Costs(found, nbytes, collective)
    ports = np.add(found.send_per_byte, found.receive_per_byte)
    roots = np.argsort(ports, kind="stable").tolist() if root is None else [root]
    starts: dict[tuple[int, ...], Value] = {}
    for one in roots:
        if not starts or time.monotonic() < until:
            starts |= {parents: costs.best(parents) for parents in _shapes(found, one)}
    best = min(starts.values())
    for value in sorted(starts.values())[:IMPROVED]:
        best = min(best, _improved(costs, value, until, root))
    return Pipeline(collective, best[2], best[1], best[0])


Value = tuple[float, int, tuple[int, ...]]  # predicted seconds, number of segments, parents


def _improved(costs: _Costs, value: Value, until: float, root: int | None) -> Value:
    """Hang one rank elsewhere, or exchange two, as long as that makes the tree better."""
    while True:
        before = value
        for other in chain(_moved(value[2]), _exchanged(value[2], root)):
            value = min(value, costs.best(other, around=value[1]))
            if time.monotonic() > until:
                return value
        if value == before:
            return value


def _shapes(found: Calibration, root: int) -> Iterator[tuple[int, ...]]:
    """Yield a star, a chain to the nearest that is left, and a binomial tree, nearest first."""
    ranks = found.ranks
    per_byte = np.array(found.transfer_per_byte)
    per_byte = per_byte + per_byte.T
    yield (root,) * ranks
    parents, end, left = [root] * ranks, root, set(range(ranks)) - {root}
    order = [root]
    while left:
        nearest = min(left, key=lambda rank: (per_byte[end, rank], rank))
        parents[nearest], end = end, nearest
        left.remove(nearest)
        order.append(nearest)
    yield tuple(parents)
    for place in range(1, ranks):
        parents[order[place]] = order[place & (place - 1)]
    yield tuple(parents)


def _moved(parents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the trees in which one rank has another parent, not below itself."""
    for rank, parent in enumerate(parents):
        if rank == parent:
            continue
        for other in range(len(parents)):
            above = other
            while above not in (rank, parents[above]):
                above = parents[above]
            if other != parent and above != rank:
                yield (*parents[:rank], other, *parents[rank + 1 :])


def _exchanged(parents: tuple[int, ...], root: int | None) -> Iterator[tuple[int, ...]]:
    """Yield the trees in which two ranks have each other's place; a given root keeps its own."""
    for one, other in combinations(range(len(parents)), 2):
        if root not in (one, other):
            place = list(range(len(parents)))
            place[one], place[other] = other, one
            yield tuple(place[parents[rank]] for rank in place)


@dataclass(frozen=True, slots=True)
class _Costs:
    """What trees cost for so many bytes."""

    found: Calibration
    nbytes: int
    collective: Collective

    def best(self, parents: Sequence[int], around: int | None = None) -> Value:
        """Return the best number of segments for a tree, of powers of 2 or the next to one."""
        most = max(1, min(MOST_SEGMENTS, self.nbytes // LEAST_BYTES))
        counts = [2**k for k in range(most.bit_length())]
        if around is not None:
            counts = [count for count in (around // 2, around, 2 * around) if 1 <= count <= most]
        parents = tuple(parents)
        return min((self.seconds(parents, count), count, parents) for count in counts)

    def seconds(self, parents: tuple[int, ...], segments: int) -> float:
        """Return when the last segment is through: one all the way, and the others behind it.

        They follow at the rate of what is busiest: an edge, a port, a shared link, or a rank that
        handles messages and combines.
        """
        found, share = self.found, self.nbytes / segments
        up, down = self.collective != "broadcast", self.collective != "reduce"
        ranks = range(found.ranks)
        edges = [(rank, above) for rank, above in enumerate(parents) if rank != above]
        edges = [edge for edge in edges if up] + [edge[::-1] for edge in edges if down]
        busy = [found.reduce_overhead[r] + share * found.reduce_per_byte[r] for r in ranks]
        combining = [0.0] * found.ranks
        handling, sent, received = ([0.0] * found.ranks for _ in range(3))
        passing = {}
        for one, other in edges:
            overhead = found.message_overhead[one][other]
            passing[one, other] = overhead + share * found.transfer_per_byte[one][other]
            handling[one] += overhead
            handling[other] += overhead
            sent[one] += share * found.send_per_byte[one]
            received[other] += share * found.receive_per_byte[other]
            if up and parents[one] == other:
                combining[other] += busy[other]
        together = [
            passing[first] + passing[second]
            for first, second, _ in found.shared
            if first in passing and second in passing
        ]
        handled = [a + b for a, b in zip(handling, combining, strict=True)]
        period = max(*passing.values(), *together, *sent, *received, *handled, 0.0)
        ways = [0.0] * found.ranks, [0.0] * found.ranks
        for rank in ranks:
            below = rank
            while (above := parents[below]) != below:
                if up:
                    latency = found.latency[below][above]
                    ways[0][rank] += latency + passing[below, above] + busy[above]
                if down:
                    ways[1][rank] += found.latency[above][below] + passing[above, below]
                below = above
        return max(ways[0]) + max(ways[1]) + (segments - 1) * period
