"""Latency, transfer and reduction times of the ranks of MPI, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import cycle
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.core.shown import Shown, Table, counted
from makespan.execute.mpi.execution import seconds
from makespan.execute.mpi.run import TYPES
from makespan.execute.mpi.world import ROOT, all_or_none, mpi, rest_until_all
from makespan.execute.progress import Progress, Tell, teller
from makespan.reduction.problem import Collective, Reduction

SIZES = tuple(2**power for power in (6, 10, 12, 14, 16, 18, 20))
STREAM = 9
POOL = 2**23


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration(Shown):
    """The costs of messages and combinations, the same for all ranks.

    Parameters
    ----------
    ranks
        How many ranks were measured.
    type
        The type whose sums were timed.
    latency
        Seconds that a message needs beyond the time for which it holds the ports.
    message_overhead, transfer_per_byte
        Seconds for which a message holds a port: each, and per byte.
    reduce_overhead, reduce_per_byte
        Seconds of a combination: each, and per byte.
    """

    ranks: int
    type: str
    latency: float
    message_overhead: float
    transfer_per_byte: float
    reduce_overhead: float
    reduce_per_byte: float

    def problem(
        self,
        bytes: float,  # noqa: A002 - the word of the problem
        *,
        segments: int | Literal["auto"] = "auto",
        collective: Collective = "reduce",
    ) -> Reduction:
        """Return the problem of combining so many bytes on these ranks.

        >>> found = Calibration(ranks=4, type="float64", latency=1e-6, message_overhead=1e-6,
        ...     transfer_per_byte=1e-9, reduce_overhead=0.0, reduce_per_byte=1e-10)
        >>> found.problem(8e6).segments
        'auto'
        """
        open_ = Reduction(
            machines=self.ranks,
            segments="auto",
            latency=self.latency,
            collective=collective,
            bytes=bytes,
            message_overhead=self.message_overhead,
            transfer_per_byte=self.transfer_per_byte,
            reduce_overhead=self.reduce_overhead,
            reduce_per_byte=self.reduce_per_byte,
        )
        return open_ if segments == "auto" else open_.with_segments(segments)

    def _facts(self) -> Sequence[str]:
        return [counted(self.ranks, "rank"), self.type]

    def _tables(self) -> Sequence[Table]:
        names = [each.name for each in fields(self)][2:]
        costs = [getattr(self, name) for name in names]
        return [Table.of({"": [name.replace("_", " ") for name in names], "seconds": costs})]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.ranks} ranks, {self.type}",
                f"latency    {seconds(self.latency)}",
                f"transfer   {seconds(self.message_overhead)} a message, "
                f"{_rate(self.transfer_per_byte)}",
                f"reduction  {seconds(self.reduce_overhead)} each, {_rate(self.reduce_per_byte)}",
            ]
        )


def _rate(per_byte: float) -> str:
    return f"{1e-9 / per_byte:.3g} GB/s" if per_byte > 0 else "no time per byte"


@suggesting
def calibrate(
    comm: Any = None,
    *,
    type: str = "float64",  # noqa: A002
    repetitions: int = 15,
    progress: Progress = True,
) -> Calibration:
    """Measure what messages and combinations cost; every rank calls this, and all get the same.

    Each rank in turn exchanges messages of 64 bytes to 1 MiB with the next, while the others
    sleep: the time per message of a stream is what holds the ports, and what half a round trip
    takes beyond that is the latency. Then all ranks add arrays of these sizes. Costs are fitted to
    medians, and the medians over the pairs are returned.

    Parameters
    ----------
    comm
        The communicator; None: that of all ranks.
    type
        Of the elements that are added.
    repetitions
        How often each message and each addition is timed.
    progress
        See :mod:`makespan.execute.progress`.

    Raises
    ------
    InputError
        On all ranks alike, if there is only one, or the type is not one that can be combined.
    MissingExtra
        If mpi4py or an MPI library is not installed.
    """
    world = mpi().COMM_WORLD if comm is None else comm
    with all_or_none(world):
        if type not in TYPES:
            raise InputError(f"type: {type!r} can't be combined; allowed is {', '.join(TYPES)}")
        if world.size < 2:
            raise InputError("calibrate needs two ranks at least; start it with 'mpiexec -n 2'")
        private = world.Dup()
        try:
            with teller(progress if world.rank == ROOT else False) as tell:
                return _calibrate(private, type, repetitions, tell)
        finally:
            private.Free()


def _calibrate(comm: Any, type_: str, repetitions: int, tell: Tell) -> Calibration:
    pairs = [(rank, (rank + 1) % comm.size) for rank in range(comm.size if comm.size > 2 else 1)]
    fits, latencies = [], []
    for turn, (one, other) in enumerate(pairs):
        tell(turn / len(pairs), f"measuring messages of rank {one}")
        rest_until_all(comm)
        found = None
        if comm.rank in (one, other):
            peer = other if comm.rank == one else one
            first = comm.rank == one
            found = [_message_times(comm, peer, first, size, repetitions) for size in SIZES]
        trips, streams = np.array(comm.bcast(found, root=other)).T
        trips = np.array(comm.bcast(found, root=one)).T[0]
        fits.append(fitted(SIZES, streams))
        latencies.append(median(np.maximum(0.0, trips - streams).tolist()))
    combined = [_median_time(_addition(size, type_), repetitions) for size in SIZES]
    reduce = fitted(SIZES, [fmean(times) for times in zip(*comm.allgather(combined), strict=True)])
    return Calibration(
        ranks=comm.size,
        type=type_,
        latency=median(latencies),
        message_overhead=median(fixed for fixed, _ in fits),
        transfer_per_byte=median(per_byte for _, per_byte in fits),
        reduce_overhead=reduce[0],
        reduce_per_byte=reduce[1],
    )


def _message_times(
    comm: Any, peer: int, first: bool, size: int, repetitions: int
) -> tuple[float, float]:
    """Return half a round trip, as the first sees it, and the time a message of a stream.

    The latter is right on the rank that receives the stream, the second.
    """
    out, into = np.zeros(size, dtype=np.uint8), np.zeros((STREAM, size), dtype=np.uint8)

    def round_trip() -> None:
        if first:
            comm.Send(out, dest=peer)
        comm.Recv(into[0], source=peer)
        if not first:
            comm.Send(out, dest=peer)

    clock = mpi().Wtime
    trip = _median_time(round_trip, repetitions) / 2
    gaps = []
    for _ in range(repetitions):
        if first:
            comm.recv(source=peer)
            for _ in range(STREAM):
                comm.Isend(out, dest=peer).Wait()
            continue
        receives = [comm.Irecv(row, source=peer) for row in into]
        comm.send(None, dest=peer)
        receives[0].Wait()
        begin = clock()
        for receive in receives[1:]:
            receive.Wait()
        gaps.append((clock() - begin) / (STREAM - 1))
    return trip, median(gaps) if gaps else 0.0


def _addition(size: int, type_: str) -> Callable[[], object]:
    """Return the sum of two arrays of so many bytes, others each time, as arrivals are."""
    length = max(1, size // np.dtype(type_).itemsize)
    pools = np.zeros((2, POOL // np.dtype(type_).itemsize // length, length), dtype=type_)
    turns = cycle(zip(*pools, strict=True))

    def add() -> None:
        one, other = next(turns)
        np.add(one, other, out=other)

    return add


def _median_time(work: Callable[[], object], repetitions: int) -> float:
    clock = mpi().Wtime
    work()
    times: list[float] = []
    for _ in range(repetitions):
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
