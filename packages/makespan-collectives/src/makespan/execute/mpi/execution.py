"""What a run on MPI gave: values, times, and the schedule that was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from numpy.typing import NDArray

from makespan.core.display import Displayable, HasFrame, Table
from makespan.core.schedule import Schedule
from makespan.execute.collectives.calibration import seconds
from makespan.reduction.model import COMBINING

CALLS = {
    "reduce": "MPI.Reduce",
    "broadcast": "MPI.Bcast",
    "all-reduce": "MPI.Allreduce",
    "all-gather": "MPI.Allgather",
    "reduce-scatter": "MPI.Reduce_scatter",
    "gather": "MPI.Gather",
    "scatter": "MPI.Scatter",
    "all-to-all": "MPI.Alltoall",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Execution(Displayable, HasFrame):
    """A plan that was carried out, beside MPI's own collective operation.

    Parameters
    ----------
    values
        What this rank got: the combined array of a reduction, on its root, or what else the
        collective gives a rank; None where that is nothing.
    schedule
        The activities of the plan with their measured times, of the repetition with the median
        time; rows as in the plan. A send ends when its buffer is free again, and begins when the
        one before has ended.
    collective, operation, type, length, ranks
        What was run; ``length`` is that of the largest array of a rank.
    predicted
        The makespan of the plan, seconds.
    planned, classical
        Seconds of every repetition, of the plan and of MPI's own operation: the longest of any
        rank, from the end of a barrier.
    exact
        Whether both gave the same bits.
    difference
        The largest difference between both, relative to the values that were combined.
    crowd, cores
        The most ranks on a computer that has fewer cores, and its cores; 0 where each has one.

    >>> import numpy as np
    >>> from makespan.execute import mpi
    >>> execution = mpi.run(plan, np.arange(3.0))  # doctest: +SKIP
    >>> print(execution)  # doctest: +SKIP
    """

    values: NDArray[Any] | None
    schedule: Schedule
    collective: str
    operation: str
    type: str
    length: int
    ranks: int
    predicted: float
    planned: tuple[float, ...]
    classical: tuple[float, ...]
    exact: bool
    difference: float
    crowd: int = 0
    cores: int = 0

    @property
    def measured(self) -> float:
        """The median time of the plan, seconds."""
        return median(self.planned)

    @property
    def ratio(self) -> float:
        """The median time of the plan over that of MPI's own operation."""
        return self.measured / median(self.classical)

    def _columns(self) -> Mapping[str, Sequence[float]]:
        return {"plan": self.planned, CALLS[self.collective]: self.classical}

    def _facts(self) -> Sequence[str]:
        return str(self).partition("\n")[:1]

    def _notes(self) -> Sequence[str]:
        return str(self).split("\n")[-1:]

    def _tables(self) -> Sequence[Table]:
        rows = {"predicted": (self.predicted,), **self._columns()}
        return [
            Table.of(
                {
                    "": list(rows),
                    "median (s)": [median(times) for times in rows.values()],
                    "least (s)": [min(times) for times in rows.values()],
                    "most (s)": [max(times) for times in rows.values()],
                }
            )
        ]

    def __str__(self) -> str:
        call = CALLS[self.collective]
        width = max(len(call), len("predicted") + 2)
        rank = "rank" if self.ranks == 1 else "ranks"
        what = f", {self.operation}" if self.collective in COMBINING else ""
        same = "equal to the bit" if self.exact else f"differ by {self.difference:.2g}, relative"
        return "\n".join(
            [
                f"{self.collective} of {self.length:,} {self.type} on {self.ranks} {rank}{what}",
                f"{'predicted':<{width}} {seconds(self.predicted)}",
                f"{'plan':<{width}} {_spread(self.planned)}",
                f"{call:<{width}} {_spread(self.classical)}",
                *self._why_late(),
                f"the plan takes {self.ratio:.2f} of the time of {call}; results: {same}",
            ]
        )

    def _why_late(self) -> list[str]:
        """Say why a run took far longer than planned, where that is known."""
        if not self.cores * self.predicted or self.measured < LATE * self.predicted:
            return []
        late = f"{self.measured / self.predicted:.2g} times as long as predicted"
        return [
            f"the plan took {late}: up to {self.crowd} ranks share {self.cores} "
            f"core{'s' * (self.cores > 1)} and wait for each other; give each rank its own core"
        ]


LATE = 2.0  # times the predicted seconds from which a run says why it took so long


def _spread(times: tuple[float, ...]) -> str:
    return (
        f"{seconds(median(times))}, median of {len(times)} "
        f"({seconds(min(times))} to {seconds(max(times))})"
    )
