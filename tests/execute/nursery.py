"""Dask processes that are forked, which takes milliseconds: for tests that kill many of them.

``Nursery()`` starts a process that has imported what schedulers and workers need, and forks them
when asked. They all end with it, however it ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

from tests.execute.stars import HOST, QUIET
from tests.sources import ROOT, SOURCES

MEMORY = 300_000_000  # bytes of a worker under a nanny


class Nursery:
    """Forks schedulers and workers with one thread; use it as a context."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.execute.nursery"],
            cwd=ROOT,
            env={**os.environ, **QUIET, "PYTHONPATH": SOURCES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the tests is not theirs
            text=True,
        )

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def scheduler(self, port: int) -> int:
        """Fork a scheduler; return its process id."""
        return self._asked("scheduler", str(port))

    def worker(self, name: str, port: int) -> int:
        """Fork a worker of the scheduler at this port; return its process id."""
        return self._asked("worker", name, str(port))

    def nanny(self, name: str, port: int) -> int:
        """Fork a nanny with a worker that has :data:`MEMORY`; return the nanny's process id."""
        return self._asked("nanny", name, str(port))

    def _asked(self, *words: str) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


async def _scheduler(port: str) -> None:
    from distributed import Scheduler

    quiet: dict[str, Any] = {"dashboard": False, "dashboard_address": f"{HOST}:0"}
    async with Scheduler(host=HOST, port=int(port), **quiet) as scheduler:
        await scheduler.finished()


async def _worker(name: str, port: str) -> None:
    from distributed import Worker

    quiet: dict[str, Any] = {"dashboard": False, "memory_limit": 0}
    address = f"tcp://{HOST}:{port}"
    async with Worker(address, name=name, nthreads=1, host=HOST, **quiet) as worker:
        await worker.finished()


async def _nanny(name: str, port: str) -> None:
    import dask
    from distributed import Nanny

    worker = "distributed.worker"
    dask.config.set({f"{worker}.multiprocessing-method": "fork"})
    dask.config.set({f"{worker}.memory.terminate": 0.95})
    dask.config.set({f"{worker}.memory.monitor-interval": "20ms"})
    address = f"tcp://{HOST}:{port}"
    quiet: dict[str, Any] = {"dashboard": False, "memory_limit": MEMORY}
    async with Nanny(address, name=name, nthreads=1, host=HOST, **quiet) as nanny:
        await nanny.finished()


def _main() -> None:
    """Fork what standard input asks for, and end it all when that closes."""
    import distributed  # noqa: F401

    from makespan.execute.dask.graphs import remote

    remote.LONGEST_UNKNOWN = 2.0  # seconds; nobody waits for longer here
    children = []  # not waited for before the end, so that none of these numbers is used again
    for line in sys.stdin:
        kind, *words = line.split()
        child = os.fork()
        if not child:
            os.close(0)
            with suppress(BaseException):
                asyncio.run(KINDS[kind](*words))
            os._exit(0)
        children.append(child)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


KINDS = {"scheduler": _scheduler, "worker": _worker, "nanny": _nanny}


if __name__ == "__main__":
    _main()
