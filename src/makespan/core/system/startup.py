"""Libraries and compiled kernels: which extra brings a library, what the first use costs once.

That cost does not count against time limits (:class:`makespan.core.control.Control` leaves it out);
a watcher may show it as progress.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import Condition, RLock, get_ident
from typing import Any

from makespan.core.errors import MissingExtra

Watcher = Callable[[str | None], None]  # called with what begins (``"compiling"``), None as it ends

clock: Callable[[], float] = time.monotonic  # what limits and start-up are measured by
LONGEST = 30.0  # seconds that a fork waits for others: what one compiles or imports is locked

_lock = RLock()
_ended = Condition(_lock)
_open: dict[int, int] = {}  # blocks that have begun and not ended, by thread
_since = 0.0
_spent = 0.0
_watchers: list[Watcher] = []


def begin() -> None:
    """Start-up work begins; blocks may be nested."""
    global _since  # noqa: PLW0603
    with _lock:
        if not _open:
            _since = clock()
        _open[get_ident()] = _open.get(get_ident(), 0) + 1


def end() -> None:
    """The block that this thread began last has ended."""
    with _lock:
        _open[get_ident()] -= 1
        if not _open[get_ident()]:
            _without(get_ident())
            _ended.notify_all()


def _without(*threads: int) -> None:
    """Leave out threads whose blocks are over."""
    global _spent  # noqa: PLW0603
    for thread in threads:
        del _open[thread]
    if threads and not _open:
        _spent += clock() - _since


def _others() -> list[int]:
    return [thread for thread in _open if thread != get_ident()]


def _before_fork() -> None:
    """Wait until no other thread compiles or imports: no process that is forked could do so."""
    _lock.acquire()
    _ended.wait_for(lambda: not _others(), LONGEST)


def _in_child() -> None:
    """Go on with the one thread that there is in the process that was forked."""
    global _lock, _ended  # noqa: PLW0603
    _without(*_others())
    _lock = RLock()
    _ended = Condition(_lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _lock.release(),  # noqa: PLW0108 - of that time
        after_in_child=_in_child,
    )


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


EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "joblib": "joblib",
    "matplotlib": "plot",
    "mpi4py": "mpi",
    "torch": "torch",
    "ray": "ray",
    "networkx": "graphs",
    "ortools": "exact",
    "pandas": "frames",
    "polars": "frames",
    "anywidget": "notebook",
    "starlette": "serve",
    "uvicorn": "serve",
}
"""The extra of makespan that installs a library."""
PACKAGES = {"dask": "dask", "joblib": "dask", "mpi": "collectives", "torch": "collectives"}
"""The distribution of ours that an extra needs: ``packages/makespan-dask`` in a clone."""


def brought_by(extra: str) -> str:
    """Return what to say of something that an extra installs.

    >>> brought_by("plot")
    "makespan[plot] brings it: in the clone, pip install '.[plot]'"
    """
    said = f"makespan[{extra}] brings it: in the clone, pip install '.[{extra}]'"
    if extra not in PACKAGES:
        return said
    return f"{said} ./packages/makespan-{PACKAGES[extra]}"


def missing(library: str) -> str | None:
    """Return what to say of a library that is not installed; None where it is."""
    if find_spec(library) is not None:
        return None
    return f"{library} is not installed: {brought_by(EXTRAS[library])}"


def optional(name: str) -> Any:
    """Import a module of a library that an extra installs.

    Raises MissingExtra if it can't be imported; with the extra.

    >>> optional("networkx").__name__
    'networkx'
    """
    try:
        return import_module(name)
    except (ImportError, RuntimeError) as error:  # MPI's library may be missing, too
        library = name.partition(".")[0]
        raise MissingExtra(
            missing(library)
            or f"{library} can't be used ({error}); 'makespan[{EXTRAS[library]}]' needs another"
        ) from error
