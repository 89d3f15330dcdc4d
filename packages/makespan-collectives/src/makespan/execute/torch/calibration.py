"""Seconds, memory and energy of a training step by its batch, measured on every rank."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from makespan.core.display import Table, counted
from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.core.system.memory import forget_peak, peak
from makespan.execute.measured import Measurement
from makespan.execute.progress import Progress, teller
from makespan.execute.torch.world import distributed, gathered, is_started, rank_of, torch

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup

Rows = tuple[tuple[float, ...], ...]
NO_MEMORY = re.compile("out of memory|not enough memory")  # of CUDA, and of the processor


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration(Measurement):
    """What a step costs on each rank, by the samples in its batch; :func:`calibrate` makes it.

    Parameters
    ----------
    sizes
        The batches that were measured, each larger than the one before.
    times
        Seconds of a step: a row per rank, a column per size; infinite where memory was too small.
    memory
        The most bytes in use during a step, in the same form.
    energy
        Joules of a step, in the same form; empty where nothing measures them.
    seconds
        How long measuring took.

    >>> found = Calibration(sizes=(1, 9), times=((0.1, 0.5), (0.2, 1.0)), memory=((1, 9), (1, 9)))
    >>> found.table("times", 11).round(2)[:, [1, 5, 11]].tolist()
    [[0.1, 0.3, 0.6], [0.2, 0.6, 1.2]]
    """

    FORMAT: ClassVar[str] = "makespan.torch-calibration/1"
    MADE_BY: ClassVar[str] = "calibrate(step, sizes)"

    sizes: tuple[int, ...]
    times: Rows
    memory: Rows
    energy: Rows = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        shape = len(self.times), len(self.sizes)
        for name in ("times", "memory", "energy")[: 3 if self.energy else 2]:
            if not self.sizes or np.shape(getattr(self, name)) != shape:
                raise InputError(f"{name}: is not {shape[0]} × {shape[1]} numbers")
        if self.sizes[0] < 1 or list(self.sizes) != sorted({*self.sizes}):
            raise InputError("sizes: each is a whole number of samples, above the one before")

    @property
    def ranks(self) -> int:
        """How many ranks were measured."""
        return len(self.times)

    def table(self, name: str, most: int) -> Floats:
        """Return the values of ``times``, ``memory`` or ``energy`` of 0 to ``most`` samples.

        A row per rank. Between measured sizes they are on lines, beyond on the last line, and below
        on the first or in proportion, whichever is more.
        """
        return np.array([_row(self.sizes, row, most) for row in getattr(self, name)])

    def largest(self, memory: Floats, most: int) -> list[int]:
        """Return how many samples, up to ``most``, each rank can do at once in so many bytes."""
        fits = np.isfinite(self.table("times", most))
        fits[:, 1:] &= self.table("memory", most)[:, 1:] <= memory[:, None]
        found: list[int] = (np.logical_and.accumulate(fits, axis=1).sum(axis=1) - 1).tolist()
        return found

    def _facts(self) -> Sequence[str]:
        return [
            counted(self.ranks, "rank"),
            f"batches of {self.sizes[0]} to {self.sizes[-1]}",
            f"measured in {self.seconds:.3g} s",
        ]

    def _tables(self) -> Sequence[Table]:
        columns: dict[str, list[Any]] = {"samples": list(self.sizes)}
        for rank, (times, memory) in enumerate(zip(self.times, self.memory, strict=True)):
            columns |= {f"rank {rank} (s)": list(times), f"rank {rank} (bytes)": list(memory)}
        return [Table.of(columns)]


def _row(sizes: Sequence[int], given: Sequence[float], most: int) -> Floats:
    """Return values of 0 to ``most`` samples on lines through what was measured."""
    known, count = np.isfinite(given), np.arange(most + 1)
    x, y = np.array(sizes)[known], np.array(given)[known]
    row = np.full(most + 1, np.inf)
    if len(x):
        slopes = np.diff(y) / np.diff(x) if len(x) > 1 else y / x
        first, last = max(0.0, y[0] - slopes[0] * x[0]), y[-1] + max(0.0, slopes[-1]) * (most + 1)
        row = np.interp(count, [0, *x, x[-1] + most + 1], [first, *y, last])
        if not known.all():
            row[count > x[-1]] = np.inf
    row[0] = 0.0
    return row


@suggesting
def calibrate(
    step: Callable[[int], object],
    sizes: Sequence[int],
    *,
    energy: Callable[[], float] | None = None,
    repetitions: int = 3,
    group: ProcessGroup | None = None,
    progress: Progress = True,
) -> Calibration:
    """Measure seconds and memory of a step by the size of its batch; every rank calls this.

    All ranks measure at the same time, as in training: what they share, they share here. Each
    size is run once to warm up. Of the times the median counts.

    Parameters
    ----------
    step
        A function of a number of samples: a forward and a backward pass with that many, without
        exchange between ranks (on the model itself, not on its ``DistributedDataParallel``).
    sizes
        The numbers of samples to measure, a few from the least to the greatest share expected.
        The first that does not fit into memory ends the measuring on its rank.
    energy
        Returns the joules that this rank's device has used so far, where a counter tells.
    repetitions
        How often each size is measured.
    group
        The ranks; None: all. Without ``torch.distributed`` started, this process alone.
    progress
        See :mod:`makespan.execute.progress`.

    Raises
    ------
    InputError
        If the sizes are not whole numbers above 0, or repetitions are not 1 or more.
    MissingExtra
        If PyTorch is not installed.

    >>> from makespan.execute.torch import calibrate
    >>> costs = calibrate(lambda samples: model(data[:samples]).sum().backward(),
    ...     [8, 32, 128])  # doctest: +SKIP
    """
    wanted = sorted({*sizes})
    if not wanted or not all(isinstance(size, (int, np.integer)) and size > 0 for size in wanted):
        raise InputError(f"sizes: {quoted(sizes)} are not whole numbers of samples from 1 on")
    if not isinstance(repetitions, int) or repetitions < 1:
        raise InputError(f"repetitions: {quoted(repetitions)} is not a whole number from 1 on")
    if is_started():
        distributed().barrier(group)
    begin = time.perf_counter()
    rows = np.full((3, len(wanted)), np.inf)
    with teller(progress if rank_of(group) == 0 else False) as tell:
        for column, size in enumerate(wanted):
            tell(column / len(wanted), f"measuring batches of {size}")
            try:
                rows[:, column] = _measured(partial(step, size), repetitions, energy)
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and not NO_MEMORY.search(str(error)):
                    raise
                break
    times, memory, joules = zip(*gathered(rows.tolist(), group), strict=True)
    return Calibration(
        sizes=tuple(map(int, wanted)),
        times=tuple(map(tuple, times)),
        memory=tuple(map(tuple, memory)),
        energy=() if np.isnan(joules).any() else tuple(map(tuple, joules)),
        seconds=max(gathered(time.perf_counter() - begin, group)),
    )


def _measured(
    work: Callable[[], object], repetitions: int, energy: Callable[[], float] | None
) -> tuple[float, float, float]:
    """Return seconds, the most bytes in use, and joules (NaN where nothing tells) of work."""
    cuda = torch().cuda
    work()
    is_on_gpu = cuda.is_available() and cuda.is_initialized()
    wait = cuda.synchronize if is_on_gpu else lambda: None
    wait()
    if is_on_gpu:
        cuda.reset_peak_memory_stats()
    forget_peak()
    times = []
    used = energy() if energy else np.nan
    for _ in range(repetitions):
        begin = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - begin)
    used = (energy() - used if energy else np.nan) / repetitions
    most = cuda.max_memory_allocated() if is_on_gpu else peak() or 0
    return median(times), float(most), used
