"""Runs a function in a forked child under hard limits, so that the caller survives it."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

Say = Callable[..., None]
"""Tells the parent something, as keywords; they end up in what ``run_apart`` returns."""


def run_apart(work: Callable[[Say], None], *, seconds: float, address_space: int) -> dict[str, Any]:
    """Run ``work`` in a child; return what it said, and how it ended.

    ``ended`` is "", a signal or an exception; ``highest`` the most bytes of memory in use.
    ``seconds`` of the wall clock end it in any case; :func:`cpu_seconds_left` is the finer knife.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reading)
        _be_the_child(work, writing, address_space)
    os.close(writing)
    text, timely = _read_until(reading, time.monotonic() + seconds)
    if not timely:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status, used = os.wait4(child, 0)
    said: dict[str, Any] = {"ended": "", "highest": used.ru_maxrss * 1024}
    for line in text.splitlines():
        said |= json.loads(line)
    if os.WIFSIGNALED(status):
        said["ended"] = signal.Signals(os.WTERMSIG(status)).name
    return said


def cpu_seconds_left(seconds: float) -> None:
    """Let the kernel end this process when it has used this much more CPU time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def resident() -> int:
    """Return the bytes of memory in use; the highest use is counted from here on."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return highest()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def highest() -> int:
    """Return the highest bytes of memory in use since :func:`resident` was called."""
    try:
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _be_the_child(work: Callable[[Say], None], pipe: int, address_space: int) -> None:
    def say(**what: Any) -> None:
        os.write(pipe, (json.dumps(what) + "\n").encode())

    try:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        work(say)
    except BaseException as error:
        lines = traceback.format_exception_only(error)
        say(ended=lines[-1].strip()[:200])
    finally:
        os._exit(0)


def _read_until(pipe: int, deadline: float) -> tuple[str, bool]:
    """Return all that is written until the pipe is closed, and whether it was in time."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return b"".join(parts).decode(), False
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts).decode(), True
        parts.append(part)
