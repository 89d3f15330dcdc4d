"""Shares of a batch by what steps cost on each rank, adapted when measured times drift."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from makespan.core.display import Displayable, Table, counted
from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.execute.torch.calibration import Calibration
from makespan.execute.torch.world import gathered, rank_of
from makespan.flow.result import Result
from makespan.flow.solve import solve
from makespan.partition.problem import Partition

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

WINDOW = 3  # steps whose median tells of a drift, so that one that is disturbed does not
WORTH = 0.98  # of the time of the shares there are: others that take longer are not worth a change


class Shares(Displayable):
    """How many samples of each global batch a rank gets, the best by what was measured.

    ``counts`` are the shares now, ``changes`` the shares in turn; ``plan`` is the result they are
    from, after a change on rank 0 alone. :func:`weigh` tells it the times of steps; where one
    rank's drift from the others', all ranks get other shares together.

    Parameters
    ----------
    calibration
        What :func:`calibrate` returned, or a file of it.
    batch
        Samples of a global batch, at least one for each rank.
    memory
        Bytes that a step may use: a number for all ranks, or one for each; None for no limit but
        what did not fit when it was measured.
    objective
        ``"makespan"``: the least time of a step. ``"energy"``: the least energy, within
        ``deadline`` seconds a step. ``"time-then-energy"``: the least energy of the fastest.
    deadline
        The most seconds of a step.
    accumulate
        Whether a rank whose share is above its memory does it in pieces, one after another; else
        such shares are forbidden.
    drift
        The share by which a rank's times may change against the others' before shares do.
    group
        The ranks; None: all.

    Raises
    ------
    InputError
        If the calibration is not one, the batch is too small, or no shares keep the limits.

    >>> from makespan.execute.torch import Calibration
    >>> found = Calibration(sizes=(8, 64), times=((0.1, 0.8), (0.2, 1.6)), memory=((1, 8), (1, 8)))
    >>> Shares(found, batch=48).counts, Shares(found, batch=48, memory=[9, 1]).pieces(1)
    ((32, 16), [8, 8])
    """

    @suggesting
    def __init__(
        self,
        calibration: Calibration | str | os.PathLike[str],
        batch: int,
        *,
        memory: float | Sequence[float | None] | None = None,
        objective: Literal["makespan", "energy", "time-then-energy"] = "makespan",
        deadline: float | None = None,
        accumulate: bool = True,
        drift: float = 0.1,
        group: ProcessGroup | None = None,
    ) -> None:
        found = Calibration.given(calibration)
        if not isinstance(batch, int) or batch < found.ranks:
            raise InputError(
                f"batch: {quoted(batch)} is not a whole number from {found.ranks} on, "
                "a sample for each rank at least"
            )
        if isinstance(memory, Sequence) and len(memory) != found.ranks:
            raise InputError(f"memory: has {len(memory)} limits; there are {found.ranks} ranks")
        each = np.array(np.inf if memory is None else memory, dtype=float)  # None is not a number
        limits = np.broadcast_to(np.where(np.isnan(each), np.inf, each), found.ranks)
        self.calibration, self.batch, self.drift = found, batch, drift
        self.largest: list[int] = found.largest(limits, batch)
        self._objective, self._deadline = objective, deadline
        self._accumulate, self._group = accumulate, group
        self._costs = self._by_count("times")
        self._energy = self._by_count("energy") if found.energy else None
        self._factors = np.ones(found.ranks)
        self._seen: deque[Floats] = deque(maxlen=WINDOW)
        self.plan: Result = self._planned()
        if self.plan.schedule is None:
            raise InputError(f"shares: none keep the limits: {' '.join(self.plan.notes)}")
        self.changes: list[tuple[int, ...]] = [self._counts_of(self.plan)]

    @property
    def counts(self) -> tuple[int, ...]:
        """The share of each rank, samples."""
        return self.changes[-1]

    @property
    def due(self) -> bool:
        """Whether the times of the last steps call for other shares."""
        if len(self._seen) < WINDOW:
            return False
        middle = np.median(self._seen, axis=0)
        return bool(middle.max() > (1 + self.drift) * middle.min())

    def split(self, samples: int) -> tuple[int, ...]:
        """Return the shares of a smaller batch, in proportion; one sample each at least."""
        if samples == self.batch:
            return self.counts
        exact = np.array(self.counts) * samples / self.batch
        counts = np.maximum(1, exact.astype(int))
        while (rest := samples - int(counts.sum())) != 0:
            wanted = np.where((rest > 0) | (counts > 1), exact - counts, np.inf)
            counts[wanted.argmax() if rest > 0 else wanted.argmin()] += np.sign(rest)
        return tuple(counts.tolist())

    def pieces(self, rank: int | None = None, samples: int | None = None) -> list[int]:
        """Return the batches that a rank's share is done in, by its memory; its own where None."""
        rank = rank_of(self._group) if rank is None else rank
        return _even(self.counts[rank] if samples is None else samples, self.largest[rank])

    def observe(self, samples: Sequence[float], seconds: Sequence[float]) -> None:
        """Take in what a step took on every rank; all ranks are told the same."""
        counts, took = np.array(samples, dtype=int), np.array(seconds)
        if counts.min() > 0 and counts.max() <= self.batch and (took > 0).all():
            costs = self._costs[np.arange(len(counts)), counts] * self._factors
            self._seen.append(took / costs)

    def adapt(self) -> None:
        """Choose other shares by the times of the last steps; every rank calls this, when due.

        Rank 0 decides for all. Shares that would save little are left as they are.
        """
        middle = np.median(self._seen, axis=0)
        self._seen.clear()
        self._factors = self._factors * middle
        found: tuple[int, ...] | None = None
        if rank_of(self._group) == 0:
            plan = self._planned()
            if plan.schedule is None:  # nothing keeps the deadline any more: as fast as can be
                plan = self._planned(fast=True)
            found = self._counts_of(plan)
            gained = self._seconds(found) <= WORTH * self._seconds(self.counts)
            if gained or self._objective != "makespan":
                self.plan = plan
            else:
                found = self.counts
        counts = gathered(found, self._group)[0]
        if counts != self.counts:
            self.changes.append(counts)

    def _seconds(self, counts: Sequence[int]) -> float:
        ranks = np.arange(len(counts))
        return float((self._costs[ranks, list(counts)] * self._factors).max())

    def _by_count(self, name: str) -> Floats:
        """Return what each count costs on each rank: in pieces, or forbidden, above its memory."""
        table = self.calibration.table(name, self.batch)
        for row, most in zip(table, self.largest, strict=True):
            for count in range(most + 1, self.batch + 1):
                pieces = _even(count, most) if self._accumulate and most else []
                row[count] = row[pieces].sum() if pieces else np.inf
        table[:, 0] = np.inf  # every rank takes part, as gradients are summed over all
        return table

    def _planned(self, fast: bool = False) -> Result:
        return solve(
            Partition(
                tasks=self.batch,
                costs=self._costs * self._factors[:, None],
                energy=self._energy,
                names=[f"rank {rank}" for rank in range(self.calibration.ranks)],
                objective="makespan" if fast else self._objective,
                deadline=None if fast else self._deadline,
            )
        )

    def _counts_of(self, plan: Result) -> tuple[int, ...]:
        return tuple(plan.answer["counts"].values())

    def _facts(self) -> list[str]:
        return [
            counted(self.calibration.ranks, "rank"),
            f"shares {', '.join(map(str, self.counts))} of {self.batch}",
            counted(len(self.changes) - 1, "change"),
        ]

    def _tables(self) -> list[Table]:
        ranks: list[Any] = list(range(self.calibration.ranks))
        return [Table.of({"rank": ranks, "samples": list(self.counts), "at once": self.largest})]


def _even(samples: int, most: int) -> list[int]:
    """Return as few pieces of at most so many as there can be, which differ by 1 at most."""
    number = -(-samples // most)
    return [samples // number + (piece < samples % number) for piece in range(number)]
