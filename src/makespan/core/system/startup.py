"""What the first use costs once: importing libraries and compiling kernels.

It does not count against time limits (:class:`makespan.core.control.Control` leaves it out), and
who shows progress may watch it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Watcher = Callable[[str | None], None]
"""Called with what begins (``"compiling"``), and with None when it ends."""

clock: Callable[[], float] = time.monotonic
"""What limits and start-up are measured by."""

_lock = Lock()
_open = 0  # blocks that have begun and not ended, over all threads
_since = 0.0
_spent = 0.0
_watchers: list[Watcher] = []


def begin() -> None:
    """Start-up work begins; blocks may be nested."""
    global _open, _since  # noqa: PLW0603
    with _lock:
        if _open == 0:
            _since = clock()
        _open += 1


def end() -> None:
    """The block that began last has ended."""
    global _open, _spent  # noqa: PLW0603
    with _lock:
        _open -= 1
        if _open == 0:
            _spent += clock() - _since


@contextmanager
def by_processor() -> Iterator[None]:
    """Measure limits by the CPU time of this process: for a machine that others use, too."""
    global clock  # noqa: PLW0603
    before, clock = clock, time.process_time
    try:
        yield
    finally:
        clock = before


@contextmanager
def startup() -> Iterator[None]:
    """Count the time in the block as start-up.

    >>> before = spent()
    >>> with startup():
    ...     import json
    >>> spent() >= before
    True
    """
    begin()
    try:
        yield
    finally:
        end()


def spent() -> float:
    """Return the seconds that start-up has taken in this process until now."""
    with _lock:
        return _spent + (clock() - _since if _open else 0.0)


def tell(what: str | None) -> None:
    """Tell the watchers what begins, or that it has ended."""
    for watcher in tuple(_watchers):
        watcher(what)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let ``watcher`` know what takes long inside the block."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)
