"""The ranks together: mpi4py where it is installed, and errors that all of them see."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from makespan.core.errors import MakespanError
from makespan.core.system.extras import optional

ROOT = 0
SECONDS_TO_TELL = 0.3  # for mpiexec to pass on what a rank wrote, before it ends them all
POLL = 2e-4

Value = TypeVar("Value")

offer_core: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
"""Let others run, as a rank that waits should: where ranks outnumber cores, it would otherwise keep
the core from the one that it waits for."""


def mpi() -> Any:
    """Return the module ``mpi4py.MPI``; its first import starts MPI.

    Raises
    ------
    MissingExtra
        If mpi4py, or an MPI library for it, is not installed.
    """
    return optional("mpi4py.MPI")


def on_root(comm: Any, task: Callable[[], Value]) -> Value:
    """Return on every rank what ``task`` returns on rank 0, or raise there what it raises."""
    value: Any = None
    error: MakespanError | None = None
    if comm.rank == ROOT:
        try:
            value = task()
        except MakespanError as raised:
            error = raised
    value, error = comm.bcast((value, error), root=ROOT)
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


@contextmanager
def all_or_none(comm: Any) -> Iterator[None]:
    """End all ranks where one fails on its own: the others would wait for it for ever.

    Errors of makespan pass: every rank raises the same.
    """
    try:
        yield
    except MakespanError:
        raise
    except BaseException:
        if comm.size == 1:
            raise
        stderr = sys.__stderr__ or sys.stderr  # of all ranks but 0, the other is silent
        stderr.write(f"rank {comm.rank} failed; all ranks end\n{traceback.format_exc()}")
        stderr.flush()
        time.sleep(SECONDS_TO_TELL)
        comm.Abort(1)
        raise


def rest_until_all(comm: Any) -> None:
    """Wait for all ranks as a barrier does, but asleep, so that working ranks have the cores."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(POLL)


def yield_until_all(comm: Any) -> None:
    """Wait for all ranks as a barrier does, but offer the core to others meanwhile."""
    request = comm.Ibarrier()
    while not request.Test():
        offer_core()
