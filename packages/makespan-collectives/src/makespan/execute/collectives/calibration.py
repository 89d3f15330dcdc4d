"""What was measured of the links between ranks, as problems to plan on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar, Literal

import numpy as np

from makespan.core.display import Table, counted
from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.numeric.arrays import Floats
from makespan.execute.measured import Measurement
from makespan.reduction.problem import Collective, Reduction

BETWEEN = ("latency", "message_overhead", "transfer_per_byte")
OF_RANKS = ("reduce_overhead", "reduce_per_byte", "send_per_byte", "receive_per_byte")
Row = tuple[float, ...]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration(Measurement):
    """The costs of messages between all pairs of ranks, and of combinations.

    Parameters
    ----------
    ranks
        How many ranks were measured.
    type
        The type whose sums were timed.
    latency
        Seconds that a message from one rank (row) to another (column) needs beyond the time for
        which it holds the ports.
    message_overhead, transfer_per_byte
        Seconds for which a message holds the ports: each, and per byte; tables as ``latency``.
    send_per_byte, receive_per_byte
        Seconds per byte that each rank sends to all others at once, or receives from them. Where
        this is less than for one pair, transfers go on at the same time.
    reduce_overhead, reduce_per_byte
        Seconds of a combination on each rank: each, and per byte.
    shared
        Pairs of messages (from, to) without a common rank that take longer together than alone:
        both pairs, and how many times as long.
    seconds
        How long the measurement took.

    >>> from makespan.execute import mpi
    >>> costs = mpi.calibrate(seconds=0.5)  # doctest: +SKIP
    >>> makespan.solve(costs.problem(8e6)).status  # doctest: +SKIP
    """

    FORMAT: ClassVar[str] = "makespan.mpi-calibration/1"
    MADE_BY: ClassVar[str] = "mpi.calibrate(comm)"

    ranks: int
    type: str
    latency: tuple[Row, ...]
    message_overhead: tuple[Row, ...]
    transfer_per_byte: tuple[Row, ...]
    send_per_byte: Row
    receive_per_byte: Row
    reduce_overhead: Row
    reduce_per_byte: Row
    shared: tuple[tuple[Pair, Pair, float], ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for name in (*BETWEEN, *OF_RANKS):
            shape = (self.ranks,) * (2 if name in BETWEEN else 1)
            if np.shape(getattr(self, name)) != shape:
                raise InputError(f"{name}: is not {' × '.join(map(str, shape))} numbers")

    def problem(
        self,
        bytes: float,  # noqa: A002 - the word of the problem
        *,
        segments: int | Literal["auto"] = "auto",
        collective: Collective = "reduce",
        root: int = 0,
    ) -> Reduction:
        """Return the problem of combining so many bytes on these ranks, or of moving them.

        Machines are called by their ranks, the root first; :func:`~makespan.execute.mpi.prepare`
        takes them for those. The bytes are those of the larger array of a rank, and are divided
        into the segments; in an all-to-all every rank has so many.

        Raises
        ------
        InputError
            If the root is not a rank.
        ProblemError
            If the number of segments is ``"auto"``, and the collective does not take that.

        >>> none, each = (0.0, 0.0), ((0.0, 1e-6), (2e-6, 0.0))
        >>> found = Calibration(ranks=2, type="float64", latency=each, message_overhead=each,
        ...     transfer_per_byte=each, send_per_byte=none, receive_per_byte=none,
        ...     reduce_overhead=none, reduce_per_byte=none)
        >>> problem = found.problem(8e6, root=1)
        >>> problem.machines, problem.segments, float(problem.latency[0, 1])
        (('rank 1', 'rank 0'), 'auto', 2e-06)
        """
        if root not in range(self.ranks):
            raise InputError(f"root: {quoted(root)} is not a rank, from 0 to {self.ranks - 1}")
        order = [root, *(rank for rank in range(self.ranks) if rank != root)]
        costs: dict[str, Any] = {
            name: np.array(getattr(self, name))[np.ix_(order, order)] for name in BETWEEN
        }
        costs |= {name: np.array(getattr(self, name))[order] for name in OF_RANKS[:2]}
        machines = [f"rank {rank}" for rank in order]
        if segments == "auto":
            return Reduction(
                machines=machines, segments="auto", collective=collective, bytes=bytes, **costs
            )
        open_ = Reduction(machines=machines, segments="auto", bytes=bytes, **costs)
        return replace(open_.with_segments(segments), collective=collective)

    def _check(self) -> None:
        self.problem(1.0)  # says what is below 0

    def _apart(self, table: Any) -> Floats:
        """Return the entries of a table between different ranks."""
        entries: Floats = np.asarray(table)[~np.eye(self.ranks, dtype=bool)]
        return entries

    def _facts(self) -> Sequence[str]:
        return [counted(self.ranks, "rank"), self.type, f"measured in {self.seconds:.3g} s"]

    def _tables(self) -> Sequence[Table]:
        pairs = [(i, j) for i in range(self.ranks) for j in range(self.ranks) if i != j]
        columns: dict[str, list[Any]] = {"from": [i for i, _ in pairs], "to": [j for _, j in pairs]}
        columns |= {
            name.replace("_", " "): [getattr(self, name)[i][j] for i, j in pairs]
            for name in BETWEEN
        }
        return [Table.of(columns)]

    def __str__(self) -> str:
        rates = [_rate(per_byte) for per_byte in sorted(self._apart(self.transfer_per_byte))]
        latency, overhead = (
            seconds(median(self._apart(table))) for table in (self.latency, self.message_overhead)
        )
        lines = [
            f"{self.ranks} ranks, {self.type}, measured in {self.seconds:.3g} s; medians",
            f"latency    {latency}",
            f"transfer   {overhead} a message; {rates[-1]} to {rates[0]} between two ranks",
            f"reduction  {seconds(median(self.reduce_overhead))} each, "
            f"{_rate(median(self.reduce_per_byte))}",
        ]
        lines += [
            f"rank {a} to {b} and rank {c} to {d} take {times:.2g} times as long together"
            for (a, b), (c, d), times in self.shared
        ]
        return "\n".join(lines)


def _rate(per_byte: float) -> str:
    return f"{1e-9 / per_byte:.3g} GB/s" if per_byte > 0 else "no time per byte"


def seconds(value: float) -> str:
    """Return a time with its unit.

    >>> seconds(0.00123), seconds(2.5)
    ('1.23 ms', '2.5 s')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e-3)):
        if value >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value / 1e-6:.4g} µs"
