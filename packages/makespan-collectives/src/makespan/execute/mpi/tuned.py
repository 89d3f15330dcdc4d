"""Collectives that use a plan or shared memory where that was seen to be faster than MPI's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.inputs.suggest import suggesting
from makespan.execute.collectives.calibration import Calibration
from makespan.execute.collectives.choosing import Chosen, fastest, known_or_measured
from makespan.execute.collectives.pipelines import Pipeline
from makespan.execute.mpi.collective import Collective
from makespan.execute.mpi.measuring import calibrate
from makespan.execute.mpi.operations import commutes, operation_of
from makespan.execute.mpi.shared_memory import SharedMemory, memory_of
from makespan.execute.mpi.world import all_or_none, mpi, private
from makespan.execute.progress import Progress
from makespan.reduction.model.validation import COUNTED
from makespan.reduction.problem import Collective as Name

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Way = Collective | SharedMemory
MOST_RANKS = 64  # for which trees are looked for that have a path between any two


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
        if world.size == 1:
            return Tuned(world, None)

        def measure() -> Calibration:
            return calibrate(world, seconds=seconds, progress=progress)

        return Tuned(world, known_or_measured(world, calibration, measure))


class Tuned(Chosen):
    """Collectives in the manner of ``mpi4py``'s communicators; :func:`tuned` makes them.

    Arrays are NumPy's, contiguous; all else is passed to MPI's own operation, as are operations
    that do not commute. All ranks make the same calls, with arrays of one type and size. Blocks
    are dealt by a plan or by MPI, not by shared memory.

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
        super().__init__(comm.size, calibration)
        self.comm: Comm = comm
        self._mpi = mpi()
        self._kept: dict[Any, Way | None] = {}
        self._calls: dict[Any, Way | None] = {}  # what was kept, by the size to the byte

    def Allreduce(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:  # noqa: N802 - mpi4py's
        """Combine the arrays of all ranks, everywhere."""
        self._call("all-reduce", (sendbuf, recvbuf), self.comm.Allreduce, op=op)

    def Reduce(self, sendbuf: Any, recvbuf: Any, op: Any = None, root: int = 0) -> None:  # noqa: N802
        """Combine the arrays of all ranks on the root."""
        self._call("reduce", (sendbuf, recvbuf), self.comm.Reduce, op=op, root=root)

    def Bcast(self, buf: Any, root: int = 0) -> None:  # noqa: N802
        """Spread the array of the root."""
        self._call("broadcast", (buf,), self.comm.Bcast, root=root)

    def Allgather(self, sendbuf: Any, recvbuf: Any) -> None:  # noqa: N802
        """Give the blocks of all ranks to all."""
        self._call("all-gather", (sendbuf, recvbuf), self.comm.Allgather)

    def Gather(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:  # noqa: N802
        """Give the blocks of all ranks to the root."""
        self._call("gather", (sendbuf, recvbuf), self.comm.Gather, root=root)

    def Scatter(self, sendbuf: Any, recvbuf: Any, root: int = 0) -> None:  # noqa: N802
        """Give each rank its block of the root's array."""
        self._call("scatter", (sendbuf, recvbuf), self.comm.Scatter, root=root)

    def Reduce_scatter_block(self, sendbuf: Any, recvbuf: Any, op: Any = None) -> None:  # noqa: N802
        """Combine the arrays of all ranks, and give each rank its block."""
        call = self.comm.Reduce_scatter_block
        self._call("reduce-scatter", (sendbuf, recvbuf), call, op=op)

    def _call(self, name: Name, arrays: Any, call: Callable[..., Any], **to: Any) -> None:
        """Carry out a collective in the way that was chosen; ``to`` are an operation and a root."""
        if "op" in to and to["op"] is None:
            to["op"] = self._mpi.SUM
        op, root, library = to.get("op"), to.get("root"), partial(call, **to)
        array, nbytes = self._larger(name, arrays)
        many = name not in COUNTED and self.comm.size > MOST_RANKS
        if self.calibration is None or array is None or many or not self._plain(arrays):
            library(*arrays)
            return
        what = name, array.dtype, None if op is None else self._mpi._handleof(op), root
        if (*what, nbytes) not in self._calls:
            key = *what, round(2 * np.log2(max(1, nbytes)))
            if key not in self._kept:
                with all_or_none(self.comm):
                    self._kept[key] = self._chosen((name, nbytes, root), arrays, op, library)
            self._calls[*what, nbytes] = self._kept[key]
        (self._calls[*what, nbytes] or library)(*arrays)

    def _larger(self, name: Name, arrays: Any) -> tuple[Any, int]:
        """Return an array that was given, and the bytes of the larger one, the same on all ranks.

        One has all blocks; the other, that all ranks have but where it is in place, has one.
        """
        one = arrays[name == "scatter"]
        if isinstance(one, np.ndarray) and name in ("gather", "all-gather", "scatter"):
            return one, one.nbytes * self.comm.size
        array = next((each for each in arrays if isinstance(each, np.ndarray)), None)
        return array, 0 if array is None else array.nbytes

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
        self,
        what: tuple[Name, int, int | None],
        arrays: Any,
        op: Any,
        library: Callable[..., Any],
    ) -> Way | None:
        """Return what is faster than MPI's own operation, on copies of the arrays."""
        name, _, root = what
        operation = np.add if op is None else operation_of(op)
        if op is not None and not commutes(op):
            return None
        assert self.calibration is not None
        copies = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arrays)
        own = private(self.comm)

        def ways_of(pipeline: Pipeline, promising: bool) -> dict[str, Way]:
            ways: dict[str, Way] = {}
            if promising:
                ways["plan"] = Collective(own, pipeline.work(own.rank), operation)
            if name in COUNTED and (memory := memory_of(own)) is not None:
                ways["shared memory"] = SharedMemory(memory, name, root, operation)
            return ways

        choice, way = fastest(self.comm, self.calibration, what, library, copies, ways_of)
        self.choices.append(choice)
        return way
