"""Processes of this machine that are nobody else's: started for a run, started again, ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from threading import Lock
from typing import Any

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.execute.dealing.rival import OwnMap
from makespan.execute.pools.nursery import Nursery

TELLING = 0.5  # seconds in which the end of a process is told

_NURSERY: list[Nursery] = []
_LOCK = Lock()


def cores() -> int:
    """Return on how many cores this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """So many processes on this machine, one for each core by default, that load what they are to
    do.

    They lack what this process has set or opened; functions and classes of its ``__main__`` go to
    them as they are. One that dies is followed by another.
    """

    host: str | None = None
    inside = False
    own_map: OwnMap | None = None

    def __init__(self, number: int | None = None) -> None:
        if number is not None and (isinstance(number, bool) or number < 1):
            raise InputError(f"on: {quoted(number)} is not a number of processes, 1 or more")
        self.number = cores() if number is None else int(number)
        self._processes: dict[str, tuple[Nursery, int, futures.Future[Any]]] = {}

    def overhead(self, slots: int) -> float | None:
        """There is nothing to compare with."""
        return None

    def count(self) -> int:
        """Return how many processes there are to be."""
        return self.number

    def start(self, serve: Callable[..., None], where: Any, name: str) -> futures.Future[Any]:
        """Start a process that calls where it is told to."""
        with _LOCK:
            if not _NURSERY or _NURSERY[0].gone or _NURSERY[0].owner != os.getpid():
                _NURSERY[:] = [Nursery()]
            nursery = _NURSERY[0]
        number, ended = nursery.start(where, name)
        self._processes[name] = nursery, number, ended
        return ended

    def why(self, ended: futures.Future[Any]) -> str:
        """Say what became of a process, as a predicate."""
        with suppress(futures.TimeoutError):
            code = ended.result(TELLING)
            if code is not None and code < 0:
                return f"was killed by {signal.Signals(-code).name}"
            return f"ended with code {code}"
        return "hung up"

    def end(self, name: str, address: str = "") -> None:
        """Kill a process."""
        nursery, number, ended = self._processes[name]
        nursery.kill(number)
        with suppress(futures.TimeoutError):
            ended.result(TELLING)

    def close(self) -> None:
        """Kill whatever is left."""
        for name, (_, _, ended) in self._processes.items():
            if not ended.done():
                self.end(name)
