"""Latency, transfer and reduction times of all pairs of ranks, measured in a given time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, cycle
from statistics import median
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.execute.collectives.calibration import Calibration, Pair
from makespan.execute.collectives.together import ROOT, rest_until_all
from makespan.execute.progress import Tell

PAIRS, PORTS, SHARING, COMBINING = 0.5, 0.2, 0.15, 0.1  # of the time; the rest is in between
SMALLEST, LARGEST, STEP = 2**14, 2**24, 4  # bytes of a message
TELLING = 2**18  # less may pass a link before it is slowed
TRIPS, STREAM, AGAIN = 15, 16, 2
SLOWER = 1.4  # together than alone, where a link is shared
ADDED = tuple(2**power for power in (12, 16, 20))
POOL = 2**23
DATA = 1  # the number of a message that is measured while others, numbered 0, say when


def rounds_of(ranks: int) -> list[list[Pair]]:
    """Return rounds of pairs in which every rank is at most once, and every pair in one round.

    >>> rounds_of(4)
    [[(0, 3), (1, 2)], [(1, 3), (0, 2)], [(2, 3), (0, 1)]]
    """
    even = ranks + ranks % 2
    rounds = []
    for turn in range(even - 1):
        pairs = [(turn, even - 1)]
        pairs += [
            ((turn + step) % (even - 1), (turn - step) % (even - 1)) for step in range(1, even // 2)
        ]
        rounds.append([(min(pair), max(pair)) for pair in pairs if max(pair) < ranks])
    return rounds


class Measuring:
    """Measures in turn; what the ranks saw is kept in tables on each, and shared at the end."""

    def __init__(self, comm: Any, seconds: float, tell: Tell) -> None:
        self.comm, self.tell, self.seconds = comm, tell, seconds
        self.clock = time.perf_counter
        self.begin = self.clock()
        self.rank, self.ranks = comm.rank, comm.size
        self.latency, self.overhead, self.per_byte = np.zeros((3, self.ranks, self.ranks))
        self.ports = np.zeros((2, self.ranks))
        self.out, self.into = np.ones((2, LARGEST), dtype=np.uint8)

    def all(self, type_: str) -> Calibration:
        """Measure everything."""
        rounds = rounds_of(self.ranks)
        for turn, pairs in enumerate(rounds):
            self.tell(PAIRS * turn / len(rounds), "measuring pairs of ranks")
            self._together(pairs, PAIRS * self.seconds / len(rounds))
        for table in (self.latency, self.overhead, self.per_byte):
            self._sum(table)
        self.tell(PAIRS, "measuring all at once")
        for rank in range(self.ranks):
            for way in (0, 1):
                self._port(rank, way, PORTS * self.seconds / (2 * self.ranks))
        self._sum(self.ports)
        self.tell(PAIRS + PORTS, "measuring pairs alone")
        shared = self._sharing(rounds) if self.ranks > 3 else []
        self.tell(1 - COMBINING, "measuring combinations")
        rest_until_all(self.comm)
        fixed, per_byte = zip(*self.comm.allgather(self._combining(type_)), strict=True)
        took = self.comm.bcast(self.clock() - self.begin, root=ROOT)
        return Calibration(
            ranks=self.ranks,
            type=type_,
            latency=_rows(self.latency),
            message_overhead=_rows(self.overhead),
            transfer_per_byte=_rows(self.per_byte),
            send_per_byte=tuple(self.ports[0].tolist()),
            receive_per_byte=tuple(self.ports[1].tolist()),
            reduce_overhead=fixed,
            reduce_per_byte=per_byte,
            shared=tuple(shared),
            seconds=took,
        )

    def _sum(self, table: Floats) -> None:
        table[...] = sum(self.comm.allgather(table))

    def _together(self, pairs: Sequence[Pair], share: float) -> None:
        """Measure pairs at the same time, both ways, within a share of the time."""
        rest_until_all(self.comm)
        own = next((pair for pair in pairs if self.rank in pair), None)
        if own is None:
            return
        until = self.clock() + share
        for one, other in (own, own[::-1]):
            peer = other if self.rank == one else one
            if self.rank == own[0]:
                self._lead(one, other, peer, (until - self.clock()) / (1 + (one == own[0])))
            else:
                while (asked := self.comm.recv(source=peer)) is not None:
                    self.comm.send(self._message(one, peer, *asked), dest=peer)

    def _lead(self, one: int, other: int, peer: int, share: float) -> None:
        """Measure messages from one to another rank; this one leads, the peer follows."""

        def least(size: int, count: int, times: int, until: float) -> float:
            found = np.inf
            for _ in range(times):
                self.comm.send((size, count), dest=peer)
                seen = self._message(one, peer, size, count)
                found = min(found, max(seen, self.comm.recv(source=peer)))
                if self.clock() > until:
                    break
            return found

        begin = self.clock()
        trip = least(8, 1, TRIPS, begin + share / 10)
        stream = least(8, STREAM, TRIPS, begin + share / 5)
        overhead = max(0.0, stream - trip) / (STREAM - 1)
        size, times = SMALLEST, {8: trip}
        while True:
            left = begin + share - self.clock()
            if times.get(size // STEP, trip) * STEP > left and len(times) > 2:
                break
            times[size] = least(size, 1, 1, begin)
            if size >= LARGEST:
                break
            size *= STEP
        for size in list(times)[-2:]:
            more = int(min(AGAIN, (begin + share - self.clock()) / (2 * times[size])))
            times[size] = min(times[size], least(size, 1, more, begin + share))
        self.comm.send(None, dest=peer)
        small, large = sorted(times)[-2:]
        place = one, other
        self.per_byte[place] = _slope(small, times[small], large, times[large])
        self.overhead[place] = overhead
        self.latency[place] = max(0.0, trip / 2 - overhead)

    def _message(self, one: int, peer: int, size: int, count: int) -> float:
        """Exchange messages that ``one`` sends; return what it took, on the rank that sends."""
        comm = self.comm
        if self.rank == one:
            comm.recv(source=peer)
            begin = self.clock()
            for request in [comm.Isend(self.out[:size], peer) for _ in range(count)]:
                request.Wait()
            comm.Recv(self.into[:0], source=peer)
            return float(self.clock() - begin)
        rows = self.into[: count * size].reshape(count, size)
        receives = [comm.Irecv(row, source=peer) for row in rows]
        comm.send(None, dest=peer)
        for request in receives:
            request.Wait()
        comm.Send(self.out[:0], dest=peer)
        return 0.0

    def _size(self, one: int, other: int, share: float) -> int:
        """Return the bytes of a message that takes a share of the time alone."""
        most = LARGEST // self.ranks  # for a rank that exchanges with all others at once
        per_byte = max(float(self.per_byte[one, other]), share / most)
        return int(max(min(SMALLEST, most), share / per_byte))

    def _port(self, rank: int, way: int, share: float) -> None:
        """Measure a rank that sends to all others at once (0), or receives from all (1).

        Each message takes the same time alone, so what limits is that of all, or of one.
        """
        comm = self.comm
        rest_until_all(comm)
        others = [other for other in range(self.ranks) if other != rank]
        sizes = {
            other: self._size(*((rank, other) if way == 0 else (other, rank)), share / 4)
            for other in others
        }
        if self.rank != rank:
            mine = (self.out if way else self.into)[: sizes[self.rank]]
            request = (comm.Irecv if way == 0 else comm.Send_init)(mine, rank, DATA)
            comm.send(None, dest=rank)
            comm.recv(source=rank)
            if way:
                request.Start()
            request.Wait()
            comm.Send(mine[:0], dest=rank)
            return
        ends = np.cumsum([sizes[other] for other in others]).tolist()
        buffer = self.into if way else self.out
        data = {
            other: buffer[end - sizes[other] : end] for other, end in zip(others, ends, strict=True)
        }
        requests = [comm.Irecv(data[other], other, DATA) for other in others] if way else []
        for other in others:
            comm.recv(source=other)
        begin = self.clock()
        for other in others:
            comm.send(None, dest=other)
        if not way:
            requests = [comm.Isend(data[other], other, DATA) for other in others]
        for request in requests:
            request.Wait()
        for other in others:
            comm.Recv(data[other][:0], source=other)
        self.ports[way, rank] = (self.clock() - begin) / sum(sizes.values())

    def _sharing(self, rounds: Sequence[Sequence[Pair]]) -> list[tuple[Pair, Pair, float]]:
        """Return which pairs of the same round slow each other, as far as the time reaches."""
        both_ways = [pairs for round_ in rounds for pairs in (round_, [p[::-1] for p in round_])]
        tests = sum(len(pairs) + 1 for pairs in both_ways)
        until = self.begin + (PAIRS + PORTS + SHARING) * self.seconds
        share = self.comm.bcast((until - self.clock()) / tests / (AGAIN + 1), root=ROOT)
        found: list[tuple[Pair, Pair, float]] = []
        for pairs in both_ways:
            alone = {}
            for pair in pairs:
                if self._late(until):
                    return found
                alone[pair] = self._timed([pair], share)[pair]
            slowed = self._slowed(pairs, alone, share)
            for one, other in combinations(slowed, 2):
                if len(pairs) > 2 and self._late(until):
                    return found
                two = slowed if len(pairs) == 2 else self._slowed([one, other], alone, share)
                if len(two) == 2:
                    found.append((one, other, min(two.values())))
        return found

    def _late(self, until: float) -> bool:
        return bool(self.comm.bcast(self.clock() > until, root=ROOT))

    def _slowed(self, pairs: Sequence[Pair], alone: dict[Pair, float], share: float) -> Any:
        """Return the pairs that take longer together than alone, and how many times as long."""
        times = self._timed(pairs, share)
        return {
            pair: times[pair] / alone[pair] for pair in pairs if times[pair] > SLOWER * alone[pair]
        }

    def _timed(self, pairs: Sequence[Pair], share: float) -> dict[Pair, float]:
        """Return what a message takes between each of these pairs, begun at the same time.

        A pair that is faster alone than it was beside others gets these costs.
        """
        rest_until_all(self.comm)
        took, small = np.zeros(len(pairs)), np.zeros(2)
        for place, (one, other) in enumerate(pairs):
            if self.rank in (one, other):
                size = self._size(one, other, share)
                peer = other if self.rank == one else one
                took[place] = min(self._message(one, peer, size, 1) for _ in range(AGAIN))
                if len(pairs) == 1:
                    small[0] = self._message(one, peer, size // STEP, 1)
                    small[1] = min(self._message(one, peer, 8, 1) for _ in range(TRIPS))
        rest_until_all(self.comm)
        self._sum(took)
        if len(pairs) == 1:
            self._sum(small)
            self._alone(pairs[0], self._size(*pairs[0], share), float(took[0]), *small.tolist())
        return dict(zip(pairs, took.tolist(), strict=True))

    def _alone(self, pair: Pair, size: int, took: float, quarter: float, trip: float) -> None:
        """Keep what a pair needs alone, where that is less."""
        if size >= TELLING:
            seen = _slope(size // STEP, quarter, size, took)
            self.per_byte[pair] = min(self.per_byte[pair], seen)
        self.overhead[pair] = min(self.overhead[pair], trip / 2)
        self.latency[pair] = min(self.latency[pair], trip / 2 - self.overhead[pair])

    def _combining(self, type_: str) -> tuple[float, float]:
        """Return what a combination costs while all ranks combine: each, and per byte."""
        share = COMBINING * self.seconds / len(ADDED) / 2
        return fitted(ADDED, [_median_time(_addition(size, type_), share) for size in ADDED])


def _slope(small: int, quick: float, large: int, slow: float) -> float:
    """Return the time per byte between two sizes; that of all bytes where noise hides it."""
    slope, whole = (slow - quick) / (large - small), slow / large
    return slope if slope > whole / STEP else whole


def _rows(table: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, table.tolist()))


def _addition(size: int, type_: str) -> Callable[[], object]:
    """Return the sum of two arrays of so many bytes, others each time, as arrivals are."""
    length = max(1, size // np.dtype(type_).itemsize)
    pools = np.zeros((2, POOL // np.dtype(type_).itemsize // length, length), dtype=type_)
    turns: Iterator[Any] = cycle(zip(*pools, strict=True))

    def add() -> None:
        one, other = next(turns)
        np.add(one, other, out=other)

    return add


def _median_time(work: Callable[[], object], share: float) -> float:
    """Return the median of what work takes within a share of the time."""
    clock = time.perf_counter
    work()
    times: list[float] = []
    until = clock() + share
    while len(times) < 3 or clock() < until:
        begin = clock()
        work()
        times.append(clock() - begin)
    return median(times)


def fitted(sizes: Sequence[float], times: Sequence[float] | Floats) -> tuple[float, float]:
    """Return fixed cost and cost per byte, neither negative, with the least relative errors.

    >>> fixed, per_byte = fitted([1.0, 10.0, 100.0], [3.0, 12.0, 102.0])
    >>> round(fixed, 9), round(per_byte, 9)
    (2.0, 1.0)
    """
    x, y = np.asarray(sizes, dtype=float), np.maximum(np.asarray(times, dtype=float), 1e-9)
    columns = np.array([1 / y, x / y]).T
    both = np.linalg.lstsq(columns, np.ones(len(x)), rcond=None)[0]
    if both.min() >= 0:
        return float(both[0]), float(both[1])
    alone = columns.sum(axis=0) / (columns**2).sum(axis=0)  # the best fit by each column alone
    errors = ((columns * alone - 1) ** 2).sum(axis=0)
    return (float(alone[0]), 0.0) if errors[0] < errors[1] else (0.0, float(alone[1]))
