"""Seconds, memory and energy of a training step by its batch, measured on every rank."""

from __future__ import annotations

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
ROWS = ("times", "memory", "energy")


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
        wrong = [name for name in ROWS if getattr(self, name) or name != "energy"]
        shape = len(self.times), len(self.sizes)
        for name in wrong:
            if not self.sizes or np.shape(getattr(self, name)) != shape:
                raise InputError(f"{name}: is not {shape[0]} × {shape[1]} numbers")
        if any(size < 1 for size in self.sizes) or list(self.sizes) != sorted({*self.sizes}):
            raise InputError("sizes: each is a whole number of samples, above the one before")

    @property
    def ranks(self) -> int:
        """How many ranks were measured."""
        return len(self.times)

    def table(self, name: str, most: int) -> Floats:
        """Return the values of ``times``, ``memory`` or ``energy`` of 0 to ``most`` samples.

        They lie on lines between the measured ones, and beyond them on the last line. Below the
        smallest measured size they are those of the first line, or in proportion if that is more.
        A row per rank.
        """
        return np.array([_row(self.sizes, row, most) for row in getattr(self, name)])

    def largest(self, memory: Sequence[float | None]) -> list[int | None]:
        """Return the most samples of each rank at once, by memory in bytes; None for any number."""
        found: list[int | None] = []
        for times, used, limit in zip(self.times, self.memory, memory, strict=True):
            fitted = [size for size, seconds in zip(self.sizes, times, strict=True)
                      if seconds < np.inf]  # fmt: skip
            most = None if len(fitted) == len(self.sizes) else max(fitted, default=0)
            if limit is not None and np.isfinite(limit):
                top = self.sizes[-1] if most is None else most
                while most is None and _row(self.sizes, used, top)[-1] <= limit and top < 1 << 20:
                    top *= 2
                fits = _row(self.sizes, used, top) <= limit
                most = int(np.argmin(fits)) - 1 if not fits.all() else top
            found.append(most)
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
    known = np.isfinite(given)
    x, y = np.array(sizes)[known], np.array(given)[known]
    count = np.arange(most + 1)
    if not len(x):
        return np.where(count > 0, np.inf, 0.0)
    row: Floats = np.interp(count, x, y)
    first, last = (
        ((y[1] - y[0]) / (x[1] - x[0]), max(0.0, (y[-1] - y[-2]) / (x[-1] - x[-2])))
        if len(x) > 1
        else (y[0] / x[0], y[0] / x[0])
    )
    below, above = count < x[0], count > x[-1]
    row[below] = np.maximum(y[0] - first * (x[0] - count[below]), y[0] * count[below] / x[0])
    row[above] = y[-1] + last * (count[above] - x[-1])
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
            work = partial(step, size)
            if not _fits(work):
                break
            rows[:, column] = _measured(work, repetitions, energy)
    times, memory, joules = zip(*gathered(rows.tolist(), group), strict=True)
    return Calibration(
        sizes=tuple(map(int, wanted)),
        times=tuple(map(tuple, times)),
        memory=tuple(map(tuple, memory)),
        energy=() if np.isnan(joules).any() else tuple(map(tuple, joules)),
        seconds=max(gathered(time.perf_counter() - begin, group)),
    )


def _fits(work: Callable[[], object]) -> bool:
    """Return whether work runs within memory."""
    try:
        work()
    except MemoryError:
        return False
    except RuntimeError as error:  # of CUDA, and of the allocator of the processor
        if "out of memory" not in str(error) and "not enough memory" not in str(error):
            raise
        return False
    finally:
        _wait()
    return True


def _measured(
    work: Callable[[], object], repetitions: int, energy: Callable[[], float] | None
) -> tuple[float, float, float]:
    """Return seconds, the most bytes in use, and joules (NaN where nothing tells) of work."""
    cuda = torch().cuda
    is_on_gpu = cuda.is_available() and cuda.is_initialized()
    if is_on_gpu:
        cuda.reset_peak_memory_stats()
    forget_peak()
    times = []
    used = energy() if energy else np.nan
    for _ in range(repetitions):
        begin = time.perf_counter()
        work()
        _wait()
        times.append(time.perf_counter() - begin)
    used = (energy() - used if energy else np.nan) / repetitions
    most = cuda.max_memory_allocated() if is_on_gpu else peak() or 0
    return median(times), float(most), used


def _wait() -> None:
    """Wait for the device, where there is one."""
    cuda = torch().cuda
    if cuda.is_available() and cuda.is_initialized():
        cuda.synchronize()
