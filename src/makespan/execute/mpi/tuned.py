"""Collectives that use a plan or shared memory where that was seen to be faster than MPI's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from makespan.core.display import Displayable, Table, counted
from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.execute.mpi.calibration import Calibration
from makespan.execute.mpi.collective import Collective
from makespan.execute.mpi.measuring import calibrate
from makespan.execute.mpi.operations import commutes, operation_of
from makespan.execute.mpi.pipelines import best_pipeline
from makespan.execute.mpi.shared_memory import SharedMemory, memory_of
from makespan.execute.mpi.world import ROOT, all_or_none, mpi, on_root, private, timed
from makespan.execute.progress import Progress
from makespan.reduction.problem import Collective as Name

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

TRIAL = 0.15  # seconds for the calls of each that are compared, and one call at least
MOST_CALLS = 9
HOPELESS = 1.2  # times the library's time: what is predicted to take longer is not tried
WORTH = 0.97  # of the library's time: what takes longer is not used


class Choice(NamedTuple):
    """What was seen with arrays of about so many bytes: seconds of each way, and which is used.

    ``planned`` and ``shared`` are infinite where a plan or shared memory was not tried;
    ``segments`` is that of the plan; ``used`` is "library", "plan" or "shared memory".
    """

    collective: str
    bytes: int
    library: float
    planned: float
    shared: float
    segments: int
    used: str


Way = Collective | SharedMemory


@suggesting
def tuned(
    comm: Comm | None = None,
    *,
    calibration: Calibration | str | os.PathLike[str] | None = None,
    seconds: float = 5.0,
    progress: Progress = True,
) -> Tuned:
    """Return the collectives of a communicator, each as fast as is known; every rank calls this.

    The first call with arrays of a size, to within a factor of √2, plans: the best pipelined tree
    by what was measured. The plan, memory that the ranks share where all are on one computer, and
    MPI's own operation are timed on copies of the arrays, and the fastest is used from then on;
    MPI's own where it is about as fast.

    Parameters
    ----------
    comm
        The communicator; None: that of all ranks.
    calibration
        What :func:`calibrate` returned, or a file: read where there is one, and else written with
        what is measured. None: it is measured.
    seconds
        How long measuring may take, about, without the first calls.
    progress
        See :mod:`makespan.execute.progress`.

    Raises
    ------
    InputError
        On all ranks alike: if the calibration is for another number of ranks.
    FileError
        If the file holds no calibration, or can't be written.
    MissingExtra
        If mpi4py or an MPI library is not installed.

    >>> from makespan.execute import mpi
    >>> fast = mpi.tuned(calibration="ranks.json")  # doctest: +SKIP
    """
    world = mpi().COMM_WORLD if comm is None else comm
    with all_or_none(world):
        found = _calibration(world, calibration, seconds, progress) if world.size > 1 else None
        return Tuned(world, found)


def _calibration(comm: Any, given: Any, seconds: float, progress: Progress) -> Calibration:
    """Return the calibration that was given, or that of a file, or measure."""
    is_path = isinstance(given, (str, os.PathLike))

    def known() -> Calibration | None:
        if given is None or (is_path and not Path(given).exists()):
            return None
        found = Calibration.given(given)
        if found.ranks != comm.size:
            raise InputError(
                f"calibration: is of {counted(found.ranks, 'rank')}, but there are {comm.size}"
            )
        return found

    found: Calibration | None = on_root(comm, known)
    if found is not None:
        return found
    found = calibrate(comm, seconds=seconds, progress=progress)
    if is_path:
        on_root(comm, lambda: found.save(given))
    return found


class Tuned(Displayable):
    """Collectives in the manner of ``mpi4py``'s communicators; :func:`tuned` makes them.

    Arrays are NumPy's, contiguous; all else is passed to MPI's own operation, as are operations
    that do not commute. All ranks make the same calls, with arrays of one type and size.

    Parameters
    ----------
    comm
        The communicator.
    calibration
        What was measured of its ranks; None for one rank alone.

    >>> import numpy as np
    >>> from makespan.execute import mpi
    >>> fast, total = mpi.tuned(seconds=0.5), np.empty(3)  # doctest: +SKIP
    >>> fast.Allreduce(np.arange(3.0), total)  # doctest: +SKIP
    """

    def __init__(self, comm: Comm, calibration: Calibration | None) -> None:
        self.comm: Comm = comm
        self.calibration: Calibration | None = calibration
        self.choices: list[Choice] = []
        self._mpi = mpi()
        self._kept: dict[Any, Way | None] = {}
        self._calls: dict[Any, Way | None] = {}  # what was kept, by the size to the byte

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:  # noqa: N802 - mpi4py's
        """Combine the arrays of all ranks, everywhere."""
        op = self._mpi.SUM if op is None else op
        library = self.comm.Allreduce
        self._call("all-reduce", (sendbuf, recvbuf), op, None, lambda a, b: library(a, b, op=op))

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Any = None, root: int = 0) -> None:  # noqa: N802
        """Combine the arrays of all ranks on the root."""
        op = self._mpi.SUM if op is None else op
        library = self.comm.Reduce
        self._call(
            "reduce", (sendbuf, recvbuf), op, root, lambda a, b: library(a, b, op=op, root=root)
        )

    def Bcast(self, buf: Any, root: int = 0) -> None:  # noqa: N802
        """Spread the array of the root."""
        library = self.comm.Bcast
        self._call("broadcast", (buf,), None, root, lambda a: library(a, root=root))

    def _call(
        self, name: Name, arrays: Any, op: Any, root: int | None, library: Callable[..., Any]
    ) -> None:
        array = next((each for each in arrays if isinstance(each, np.ndarray)), None)
        if self.calibration is None or array is None or not self._plain(arrays):
            library(*arrays)
            return
        what = name, array.dtype, None if op is None else self._mpi._handleof(op), root
        if (*what, array.nbytes) not in self._calls:
            key = *what, round(2 * np.log2(max(1, array.nbytes)))
            if key not in self._kept:
                with all_or_none(self.comm):
                    self._kept[key] = self._chosen(name, arrays, op, root, library)
            self._calls[*what, array.nbytes] = self._kept[key]
        (self._calls[*what, array.nbytes] or library)(*arrays)

    def _plain(self, arrays: Any) -> bool:
        """Return whether all are contiguous arrays, None, or what stands for one in place."""
        for each in arrays:
            if isinstance(each, np.ndarray):
                if not each.flags.c_contiguous or each.dtype.hasobject:
                    return False
            elif each is not None and each is not self._mpi.IN_PLACE:
                return False
        return True

    def _chosen(
        self, name: Name, arrays: Any, op: Any, root: int | None, library: Callable[..., Any]
    ) -> Way | None:
        """Return what is faster than MPI's own operation, on copies of the arrays."""
        operation = np.add if op is None else operation_of(op)
        if op is not None and not commutes(op):
            return None
        comm, found = self.comm, self.calibration
        copies = [each.copy() if isinstance(each, np.ndarray) else each for each in arrays]
        nbytes = next(each.nbytes for each in copies if isinstance(each, np.ndarray))
        assert found is not None
        pipeline = on_root(comm, lambda: best_pipeline(found, nbytes, name, root))
        took = [timed(comm, library, *copies)[0]]
        if pipeline.predicted > HOPELESS * took[0] and took[0] < TRIAL:
            took.append(timed(comm, library, *copies)[0])  # the first makes connections
        own = private(comm)
        ways: dict[str, Way] = {}
        if pipeline.predicted <= HOPELESS * min(took):
            ways["plan"] = Collective(own, pipeline.work(comm.rank), operation)
        if (memory := memory_of(own)) is not None:
            ways["shared memory"] = SharedMemory(memory, name, root, operation)
        seen: dict[str, list[float]] = {way: [] for way in ways}
        if ways:
            calls = comm.bcast(int(max(1, min(MOST_CALLS, TRIAL / max(1e-9, took[0])))), root=ROOT)
            for turn in range(calls + (calls > 1)):
                for way, call in ways.items():
                    seen[way].append(timed(comm, call, *copies)[0])
                if turn:
                    took.append(timed(comm, library, *copies)[0])
        least = {way: min(times) for way, times in seen.items()}
        used = min(least, key=least.__getitem__, default="library")
        if used != "library" and least[used] >= WORTH * min(took):
            used = "library"
        planned, shared = (least.get(way, np.inf) for way in ("plan", "shared memory"))
        choice = Choice(name, nbytes, min(took), planned, shared, pipeline.segments, used)
        self.choices.append(choice)
        return ways.get(used)

    def _facts(self) -> list[str]:
        return [counted(self.comm.size, "rank")]

    def _tables(self) -> list[Table]:
        return [
            Table.of(
                {
                    "collective": [each.collective for each in self.choices],
                    "bytes": [each.bytes for each in self.choices],
                    "library (s)": [each.library for each in self.choices],
                    "plan (s)": [each.planned for each in self.choices],
                    "shared memory (s)": [each.shared for each in self.choices],
                    "used": [each.used for each in self.choices],
                }
            )
        ]
