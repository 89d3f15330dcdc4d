"""Executors of ``concurrent.futures``, whatever they run on: each of its workers is a slot."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any

from makespan.core.errors import ExecutionError, InputError
from makespan.execute.dealing.rival import LONGEST, PROBES, OwnMap
from makespan.execute.pools.processes import cores


class Executors:
    """The workers of an executor, as long as a run takes; ``owned``: it ends with the run.

    Its workers are processes, threads, loky's, MPI's, or any other that call what is submitted.
    What else is submitted waits meanwhile, as it does behind a ``map`` of the executor's own. A
    process pool of the standard library, or of loky, is broken once a process of it has died: the
    run ends with an error, and the results until then.
    """

    def __init__(self, executor: futures.Executor, *, owned: bool = False) -> None:
        if getattr(executor, "_shutdown", False) or getattr(executor, "_shutdown_thread", False):
            raise InputError("on: the executor was shut down")
        self.executor, self.owned = executor, owned
        apart = getattr(futures, "InterpreterPoolExecutor", ())
        threads = isinstance(executor, futures.ThreadPoolExecutor)
        self.inside = threads and not isinstance(executor, apart)
        self.mpi = type(executor).__module__.startswith("mpi4py.")
        self.own_map: OwnMap | None = OwnMap(name=f"{type(executor).__name__}.map")
        self.host = _address() if self.mpi else None

    def count(self) -> int:
        """Return how many workers the executor has."""
        found = getattr(self.executor, "_max_workers", None)
        if self.mpi:
            found = self.executor.num_workers  # type: ignore[attr-defined]
        return int(found) if isinstance(found, int) and found > 0 else cores()

    def overhead(self, slots: int) -> float | None:
        """Return what a task loses, by some that do nothing."""
        tasks, begun = PROBES * slots, time.perf_counter()
        try:
            list(self.executor.map(abs, range(tasks), timeout=LONGEST))
        except Exception:  # it is busy with something else, or broken
            return None
        return (time.perf_counter() - begun) / PROBES

    def start(self, serve: Callable[..., None], where: Any, name: str) -> futures.Future[Any]:
        """Submit a slot."""
        try:
            return self.executor.submit(serve, where, name)
        except Exception as error:  # broken, or shut down
            raise ExecutionError(f"{type(error).__name__}: {error}") from error

    def why(self, ended: futures.Future[Any]) -> str:
        """Nobody knows."""
        return "died"

    def end(self, name: str, address: str) -> None:
        """It ends after the item that it has begun."""

    def close(self) -> None:
        """Shut the executor down, if that is for us to do."""
        if self.owned:
            self.executor.shutdown(wait=False)


def _address() -> str:
    """Return where other machines reach this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # of nobody; nothing is sent
            return str(asked.getsockname()[0])
        except OSError:
            return "127.0.0.1"
