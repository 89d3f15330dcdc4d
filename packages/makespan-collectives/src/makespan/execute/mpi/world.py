"""The ranks together: mpi4py where it is installed, errors that all see, clocks, and who leaves."""

from __future__ import annotations

import atexit
import math
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from makespan.core.display import counted
from makespan.core.errors import MakespanError
from makespan.core.system.startup import optional
from makespan.execute.collectives.together import ROOT, offer_core, rest_until_all

SECONDS_TO_TELL = 0.3  # for mpiexec to pass on what a rank wrote, before it ends them all
EXCHANGES = 20  # of the times of two ranks
INTERRUPTED = 130  # as shells have it

Value = TypeVar("Value")

LOOK_EVERY = 0.05  # seconds of waiting between two looks at who has ended


def mpi() -> Any:
    """Return the module ``mpi4py.MPI``; its first import starts MPI.

    From then on, what a rank raises and nothing catches ends all ranks.
    """
    package = optional("mpi4py.MPI")
    if not isinstance(sys.excepthook, _Ending):
        sys.excepthook = _Ending(sys.excepthook)
    return package


class _Ending:
    """What Python calls for an exception that nothing caught: the other ranks would wait."""

    def __init__(self, before: Callable[..., object]) -> None:
        self.before = before

    def __call__(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        package = mpi()
        world = package.COMM_WORLD
        if world.size == 1 or package.Is_finalized():
            self.before(kind, error, trace)
            return
        end_failed(world, error, lambda: self.before(kind, error, trace))


def end_failed(comm: Any, error: BaseException, tell: Callable[[], object]) -> None:
    """Say which rank failed, let it tell why, and end all ranks."""
    interrupted = isinstance(error, KeyboardInterrupt)
    late = comm.rank != ROOT and (interrupted or isinstance(error, MakespanError))
    if interrupted:
        end_all(comm, "interrupted", late=late, code=INTERRUPTED)
    else:
        end_all(comm, f"rank {comm.rank} failed", tell, late=late)


def end_all(
    comm: Any,
    text: str,
    tell: Callable[[], object] = lambda: None,
    *,
    late: bool = False,
    code: int = 1,
) -> None:
    """Say why, and end all ranks; ``late`` where another rank says the same."""
    if late:
        time.sleep(2 * SECONDS_TO_TELL)
    stderr = sys.__stderr__ or sys.stderr  # of all ranks but 0, the other may be silent
    stderr.write(f"{text}; all ranks end\n")
    tell()
    stderr.flush()
    time.sleep(SECONDS_TO_TELL)
    comm.Abort(code)


def attached(
    make: Callable[[Any], Value], free: Callable[[Value], object]
) -> Callable[[Any], Value]:
    """Return a function of communicators: what the first call for one makes, and all others find.

    It is freed with the communicator. All ranks call the function, as ``make`` is collective.
    """
    keys: list[int] = []

    def of(comm: Any) -> Value:
        if not keys:
            keys.append(mpi().Comm.Create_keyval(delete_fn=lambda _, __, own: free(own[0])))
        own = comm.Get_attr(keys[0])
        if own is None:
            own = (make(comm),)
            comm.Set_attr(keys[0], own)
        return own[0]  # type: ignore[no-any-return]

    return of


private = attached(lambda comm: comm.Dup(), lambda own: own.Free())  # a duplicate of a communicator


@contextmanager
def all_or_none(comm: Any) -> Iterator[None]:
    """End all ranks where one fails on its own: the others would wait for it for ever.

    Errors of makespan pass: every rank raises the same.
    """
    try:
        yield
    except BaseException as error:
        end_with(comm, error)
        raise


def end_with(comm: Any, error: BaseException) -> None:
    """End all ranks where one fails with this, unless every rank raises it."""
    if comm.size > 1 and not isinstance(error, MakespanError):
        end_failed(comm, error, lambda: traceback.print_exception(error, file=sys.__stderr__))


def clocks_ahead(comm: Any) -> list[float]:
    """Return, on every rank, the seconds by which each rank's clock is ahead of rank 0's.

    Rank 0 asks each rank for its time; the answer lies between question and reply. The offsets
    that all exchanges allow form an interval, of which the middle is taken; clocks whose interval
    holds 0 count as one clock (as the clocks of one computer are).
    """
    clock = mpi().Wtime
    ahead = [0.0] * comm.size
    for rank in range(1, comm.size):
        if comm.rank == ROOT:
            low, high = -math.inf, math.inf
            for _ in range(EXCHANGES):
                asked = clock()
                comm.send(None, dest=rank)
                told = comm.recv(source=rank)
                low, high = max(low, told - clock()), min(high, told - asked)
            ahead[rank] = 0.0 if low <= 0.0 <= high else (low + high) / 2
        elif comm.rank == rank:
            for _ in range(EXCHANGES):
                comm.recv(source=ROOT)
                comm.send(clock(), dest=ROOT)
        rest_until_all(comm)
    shared: list[float] = comm.bcast(ahead, root=ROOT)
    return shared


class Calls:
    """The calls on a communicator for nothing else, which all ranks make in one order.

    A program's last call may end on one rank long before it does on others, and a rank may end in
    peace then. But no rank that has ended makes another call: where one is waited for that made
    fewer, by ``sys.exit`` or because it left a call out, all would wait for ever.

    A context manager of each call: what fails in it on one rank ends all.
    """

    def __init__(self, comm: Any) -> None:
        self.comm, self.made = comm, 0
        self._ended: dict[int, int] = {}  # the calls of ranks that have ended
        self._look_at = 0.0
        if not _all:
            atexit.register(_ending, os.getpid())
        _all.append(self)

    def __enter__(self) -> None:
        self._look_at = time.monotonic() + LOOK_EVERY

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None:
            end_with(self.comm, error)
        self.made += 1

    def rest(self) -> None:
        """Offer the core to others, as :func:`offer_core`; look now and then who has ended."""
        offer_core()
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + LOOK_EVERY
            self.look()

    def look(self) -> None:
        """End all ranks where one has ended without this call."""
        package = mpi()
        status = package.Status()
        while self.comm.Iprobe(package.ANY_SOURCE, package.ANY_TAG, status):
            made = np.zeros(1, np.int64)
            self.comm.Recv(made, status.Get_source())
            self._ended[status.Get_source()] = int(made[0])
        for rank, calls in self._ended.items():
            if calls <= self.made:
                after = f"has ended after {counted(calls, 'call')}"
                text = f"rank {rank} {after}; rank {self.comm.rank} waits in call {self.made + 1}"
                end_all(self.comm, text, late=self.comm.rank != min({0, 1} - {rank}))

    def tell(self) -> list[Any]:
        """Tell all others that this rank has ended; return what has to be kept until MPI ends."""
        made = np.array([self.made], np.int64)
        others = (rank for rank in range(self.comm.size) if rank != self.comm.rank)
        return [made, *(self.comm.Isend(made, rank) for rank in others)]

    def free(self) -> None:
        """The communicator is freed; all ranks do this."""
        _all.remove(self)
        self.comm.Free()


_all: list[Calls] = []
_kept: list[Any] = []

calls_of = attached(lambda comm: Calls(comm.Dup()), Calls.free)
"""Return the calls on a communicator; all ranks call this."""


def _ending(process: int) -> None:
    """Called when Python ends, before MPI does; also in processes that were forked."""
    if os.getpid() == process and not _kept and not mpi().Is_finalized():
        _kept.extend(calls.tell() for calls in _all)
