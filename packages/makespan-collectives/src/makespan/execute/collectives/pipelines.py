"""The best tree for segments that follow one another, by what was measured of the ranks.

Along the tree segments are combined and copied, from any rank to any other. Ports are not exclusive
here: a rank sends to several at once, each at the rate of their pair, and together at the rate of
its port.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, pairwise
from typing import NamedTuple

import numpy as np

from makespan.execute.collectives.calibration import Calibration
from makespan.execute.collectives.ends import ends_of
from makespan.execute.collectives.tables import NO_MESSAGE, Receive, Step, Table, Work
from makespan.reduction.model import Collective, statement_of
from makespan.reduction.model.validation import COUNTED

LEAST_BYTES, MOST_SEGMENTS = 2048, 512
IMPROVED = 8  # of the trees to start from


class Pipeline(NamedTuple):
    """A tree, as the parent of every rank (the root is its own), and a number of segments.

    Where segments are dealt, it is their number for each rank.
    """

    collective: Collective
    parents: tuple[int, ...]
    segments: int
    predicted: float

    @property
    def root(self) -> int:
        """The rank where everything is combined, and spread from."""
        return next(rank for rank, parent in enumerate(self.parents) if rank == parent)

    def work(self, rank: int) -> Work:
        """Return what a rank does: per segment, what it combines, and then what it copies."""
        root, ranks = self.root, len(self.parents)
        order = [root, *(one for one in range(ranks) if one != root)]
        count = self.segments * (1 if self.collective in COUNTED else ranks)
        statement = statement_of(self.collective, ranks, count, None, None, False)
        turn = routes_of(self.collective, self.parents)
        receives: list[Receive] = []
        steps: list[Step] = []
        for segment in range(count):
            for edges, final in zip(turn[segment % len(turn)].edges, (False, True), strict=True):
                for source in (one for one, other in edges if other == rank):
                    steps.append(Step(source, segment, final, len(receives), 0))
                    receives.append(Receive(source, segment, final))
                peers = (other for one, other in edges if one == rank)
                steps += [Step(peer, segment, final, NO_MESSAGE, 0) for peer in peers]
        table = Table(receives=tuple(receives), steps=tuple(steps))
        ends = ends_of(self.collective, statement, order)[rank]
        return Work(self.collective, self.predicted, np.ones(count), root, table, ends)


Edge = tuple[int, int]


class Route(NamedTuple):
    """The paths of a segment in a tree, to where parts are combined, and to where it is copied.

    ``edges`` are those of both, each once.
    """

    paths: tuple[list[tuple[int, ...]], list[tuple[int, ...]]]
    edges: tuple[list[Edge], list[Edge]]


@lru_cache(maxsize=8)
def routes_of(collective: Collective, parents: tuple[int, ...]) -> list[Route]:
    """Return the route in a tree of every segment, or where they are dealt, of one of each rank.

    >>> routes_of("gather", (0, 0, 1))[2].paths
    ([], [(2, 1, 0)])
    """
    ranks, root = len(parents), next(rank for rank, above in enumerate(parents) if rank == above)
    order = [root, *(rank for rank in range(ranks) if rank != root)]
    count = 1 if collective in COUNTED else ranks
    before, after, combining = statement_of(collective, ranks, count, None, None, False)
    lines = []
    for machine in order:
        line = [machine]
        while line[-1] != root:
            line.append(parents[line[-1]])
        lines.append(line)
    routes = []
    for segment in range(count):
        home = lines[int((after if combining else before)[:, segment].argmax())]
        wanted = np.flatnonzero(after[:, segment]).tolist()
        paths = (
            [_path(line, home) for line in lines] if combining else [],
            [_path(home, lines[machine]) for machine in wanted],
        )
        combined, copied = (sorted({e for path in some for e in pairwise(path)}) for some in paths)
        routes.append(Route(paths, (combined, copied)))
    return routes


def _path(one: list[int], other: list[int]) -> tuple[int, ...]:
    """Return the ranks from the beginning of a line to the root to that of another."""
    common = 1
    while common < min(len(one), len(other)) and one[-common - 1] == other[-common - 1]:
        common += 1
    return (*one[: len(one) - common + 1], *reversed(other[: len(other) - common]))


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
        each = 1 if self.collective in COUNTED else self.found.ranks
        most = max(1, min(MOST_SEGMENTS, self.nbytes // LEAST_BYTES) // each)
        counts = [2**k for k in range(most.bit_length())]
        if around is not None:
            counts = [count for count in (around // 2, around, 2 * around) if 1 <= count <= most]
        parents = tuple(parents)
        return min((self.seconds(parents, count), count, parents) for count in counts)

    def seconds(self, parents: tuple[int, ...], segments: int) -> float:
        """Return when the last segment is through: one all the way, and the others behind it.

        They follow at the rate of what is busiest: an edge, a port, a shared link, or a rank that
        handles messages and combines. Where segments are dealt, ``segments`` are those of a rank.
        """
        found, turn = self.found, routes_of(self.collective, parents)
        crossing = Counter(edge for route in turn for edges in route.edges for edge in edges)
        combined = Counter(other for route in turn for _, other in route.edges[0])
        share = self.nbytes / segments / len(turn)
        ranks = range(found.ranks)
        busy = [found.reduce_overhead[r] + share * found.reduce_per_byte[r] for r in ranks]
        handled = [combined[rank] * busy[rank] for rank in ranks]
        sent, received = ([0.0] * found.ranks for _ in range(2))
        single, passing = {}, {}
        for (one, other), times in crossing.items():
            overhead = found.message_overhead[one][other]
            single[one, other] = overhead + share * found.transfer_per_byte[one][other]
            passing[one, other] = times * single[one, other]
            handled[one] += times * overhead
            handled[other] += times * overhead
            sent[one] += times * share * found.send_per_byte[one]
            received[other] += times * share * found.receive_per_byte[other]
        together = [
            passing[first] + passing[second]
            for first, second, _ in found.shared
            if first in passing and second in passing
        ]
        period = max(*passing.values(), *together, *sent, *received, *handled, 0.0)

        way = 0.0
        for stage, then in enumerate((busy, [0.0] * found.ranks)):
            steps = {
                edge: took + found.latency[edge[0]][edge[1]] + then[edge[1]]
                for edge, took in single.items()
            }
            paths = (path for route in turn for path in route.paths[stage])
            way += max((sum(map(steps.__getitem__, pairwise(path))) for path in paths), default=0.0)
        return way + (segments - 1 / len(turn)) * period
