"""What ranks do together: wait for all, and time what all do.

A communicator is mpi4py's here, or what has these methods of one: ``rank``, ``size``, ``Barrier``,
``Ibarrier``, ``bcast``, ``allgather``; to measure, also ``send`` and ``recv`` of objects, ``Send``,
``Recv``, ``Isend``, ``Irecv`` and ``Send_init`` of arrays.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from makespan.core.errors import MakespanError

ROOT = 0
POLL = 2e-4

Value = TypeVar("Value")

offer_core: Callable[[], object] = getattr(os, "sched_yield", lambda: time.sleep(0))
"""Let others run, as a rank that waits should: where ranks outnumber cores, it would otherwise keep
the core from the one that it waits for."""


def rest_until_all(comm: Any) -> None:
    """Wait for all ranks as a barrier does, but asleep, so that working ranks have the cores."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(POLL)


def yield_until_all(comm: Any, rest: Callable[[], object] = offer_core) -> None:
    """Wait for all ranks as a barrier does, but offer the core to others meanwhile."""
    request = comm.Ibarrier()
    while not request.Test():
        rest()


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


def timed(comm: Any, work: Callable[..., Any], *arrays: Any) -> tuple[float, Any]:
    """Return the longest time of any rank, from the end of a barrier, and what ``work`` gave."""
    comm.Barrier()
    begin = time.perf_counter()
    value = work(*arrays)
    took = time.perf_counter() - begin
    yield_until_all(comm)
    return max(comm.allgather(took)), value
