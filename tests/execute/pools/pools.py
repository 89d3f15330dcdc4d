"""Pools of every kind for the tests, and functions that run on them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

POOLS = ("threads", "processes", "loky", "own")


@contextmanager
def pool(kind: str, workers: int = 2) -> Iterator[Any]:
    """Give a pool of this kind."""
    if kind == "own":
        yield workers
    elif kind == "threads":
        with ThreadPoolExecutor(workers) as threads:
            yield threads
    elif kind == "processes":  # forked processes would hold what this one has open
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
            yield processes
    else:
        loky = pytest.importorskip("loky")
        executor = loky.ProcessPoolExecutor(workers)
        try:
            yield executor
        finally:
            executor.shutdown(kill_workers=True)


def square(item: int) -> int:
    return item * item


def nap(item: int) -> int:
    time.sleep(0.01)
    return item


def fails_on_seven(item: int) -> int:
    if item == 7:
        raise ValueError("seven is not allowed")
    return item


def dies_on(item: int, which: int = 13, once: str = "", seconds: float = 0.0) -> int:
    """End this process on an item; where ``once`` is a file, only if that is there.

    Every other item takes some seconds, so that a new process can join in time.
    """
    if item == which and (not once or Path(once).exists()):
        Path(once).unlink() if once else None
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(seconds)
    return item


def stops_on(item: int, which: int = 3, once: str = "", tells: str = "") -> int:
    """Stop this process on an item, once: it is neither dead nor does it anything any more.

    Where ``tells`` is a file, its number is there.
    """
    if item == which and Path(once).exists():
        Path(once).unlink()
        if tells:
            Path(tells).write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(0.01)
    return item


def lock(item: int) -> Any:
    """Return what can't be pickled."""
    return threading.Lock()


def doubled(rows: Any) -> Any:
    return [2 * row for row in rows]


def descendants() -> set[int]:
    """Return the processes that this one's nursery has forked, and that are there."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    return {one for one, parent in parents.items() if parents.get(parent) == os.getpid()}


def gone(process: int) -> bool:
    """Whether a process has ended, after a moment at most."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False
