"""The first use of kernels: which are on disk, who may compile, and a process that does so beside.

A solve with a limit never waits for a compiler that could make it late. It runs plain forms, and
one process of low priority fills the cache meanwhile, for later calls and for this one's next loop.
:data:`VARIABLE` says otherwise.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from makespan._version import __version__
from makespan.core.errors import MakespanError
from makespan.core.system import startup

VARIABLE = "MAKESPAN_COMPILE"
MODES = ("now", "beside", "never")
"""Compile what is needed at once, whatever the limit; beside a solve with a limit; not at all."""

SHARE = 0.15  # what part of its limit a solve may spend on compiling, which is kept to a fifth
SLOWEST = 8.0  # seconds that a kernel takes at most
PAUSE = 60.0  # seconds between starts of the process that fills a cache, which takes as long
LOOK = 0.05  # seconds between two looks at the list on disk
LARGEST = 2_000_000
"""Bytes of a problem that is handed to that process: a larger one is not solved once more there."""
LEAST_FREE = 100_000_000
"""Bytes that the cache takes, about; a fuller disk isn't begun to be filled."""

INSTALLED = Path(__file__).parent / "__pycache__"

log = logging.getLogger("makespan")


@dataclass(slots=True, eq=False)
class Solve:
    """What goes on now: its limit in seconds, what it solves, and whether it missed kernels."""

    limit: float
    job: Callable[[], Any]
    since: float = field(default_factory=startup.spent)
    missed: bool = False


_solve: ContextVar[Solve | None] = ContextVar("solve", default=None)
_patient: ContextVar[bool] = ContextVar("patient", default=False)
_listed: set[str] = set()  # kernels, and kinds whose samples are compiled, that are on disk
_read = (-1.0, (0, 0.0))  # when the list was looked at, and its size and time then
_tag: str | None = None  # of this processor and version of Numba, once that is loaded
_process: subprocess.Popen[bytes] | None = None
_asked = -PAUSE  # when this process last tried to start one
_told: set[str] = set()


def mode() -> str:
    """Return the mode that the environment asks for.

    Raises MakespanError if it is none of :data:`MODES`.
    """
    found = os.environ.get(VARIABLE) or ("beside" if os.name == "posix" else "now")
    if found not in MODES:
        raise MakespanError(f"{VARIABLE}: {found!r} is not one of {', '.join(MODES)}")
    return found


@contextmanager
def limited(limit: float | None, job: Callable[[], Any]) -> Iterator[Solve]:
    """Let compiling count inside the block, which has ``limit`` seconds; None for no limit.

    ``job`` gives what the process that compiles is to do first: it is pickled.
    """
    mode()  # refused before anything is done
    solve = Solve(float("inf") if limit is None else limit, job)
    before = _solve.set(solve)
    try:
        yield solve
    finally:
        _solve.reset(before)


@contextmanager
def patiently() -> Iterator[None]:
    """Compile whatever is needed inside the block: for plans that are compared with others."""
    before = _patient.set(True)
    try:
        yield
    finally:
        _patient.reset(before)


def may_compile() -> bool:
    """Whether a kernel may be compiled here and now."""
    if (asked := mode()) != "beside":
        return asked == "now"
    if _patient.get():
        return True
    solve = _solve.get()
    return solve is None or startup.spent() - solve.since + SLOWEST <= SHARE * solve.limit


def usable(*names: str) -> bool:
    """Whether a kernel may be used: one of its names is on the list, or it may be compiled."""
    if not _listed.isdisjoint(names) or may_compile():
        return True
    _look()
    if not _listed.isdisjoint(names):
        return True
    miss()
    return False


def miss() -> None:
    """Go on without a kernel, and have it compiled beside."""
    solve = _solve.get()
    if solve is not None:
        solve.missed = True
        if mode() == "beside":
            _start(solve.job)


def folder() -> Path:
    """Return the folder of the list: that of the cache, or else one of the user."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if os.access(INSTALLED if INSTALLED.exists() else INSTALLED.parent, os.W_OK):
        return INSTALLED
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "makespan"


def _paths() -> tuple[Path, ...]:
    """Return the lists: of the folder that is written, and of the installation."""
    name = f"makespan-{__version__}.{sys.implementation.cache_tag}.kernels"
    if os.environ.get("NUMBA_CACHE_DIR"):
        return (folder() / name,)
    return tuple(dict.fromkeys(each / name for each in (folder(), INSTALLED)))


def _look() -> None:
    """Read the lists, if they have changed."""
    global _read
    if time.monotonic() - _read[0] < LOOK:
        return
    paths, size, latest = _paths(), 0, 0.0
    for path in paths:
        with suppress(OSError):
            found = path.stat()
            size, latest = size + found.st_size, max(latest, found.st_mtime)
    changed, _read = (size, latest) != _read[1], (time.monotonic(), (size, latest))
    if not changed:
        return
    _listed.clear()
    for path in paths:
        with suppress(OSError, ValueError):
            for line in path.read_text("utf-8").splitlines():
                tag, _, name = line.partition(" ")
                if _tag in (None, tag):
                    _listed.add(name)


def enter(name: str) -> None:
    """Put a kernel on the list that is on disk, or a kind whose samples are compiled."""
    if name in _listed or _tag is None:
        return
    _listed.add(name)
    with suppress(OSError):
        path = _paths()[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(f"{_tag} {name}\n".encode())


def listed(name: str) -> bool:
    """Whether a name is on the list."""
    _look()
    return name in _listed


def trust(*what: Any) -> None:
    """Trust only what was compiled by this version of Numba for this processor."""
    global _tag, _read  # noqa: PLW0603
    _tag = sha256(repr(what).encode()).hexdigest()[:12]
    _read = (-1.0, (-1, 0.0))
    _look()


def tell_unwritable(error: BaseException | str) -> None:
    """Say once that the cache can't be written."""
    _tell(
        f"the cache of kernels can't be written ({error}), so each process compiles its own: "
        "NUMBA_CACHE_DIR may name a folder"
    )


def _tell(text: str) -> None:
    if text not in _told:
        _told.add(text)
        log.warning("%s", text)


@contextmanager
def lock(wait: bool = True) -> Iterator[BinaryIO | None]:
    """Hold the lock of the cache: None where another process has it and ``wait`` is false."""
    path = folder() / "makespan.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        except (ImportError, OSError):  # a system, or a file system, without locks
            pass
        yield file


def _start(job: Callable[[], Any]) -> None:
    """Start the process that fills the cache, unless one is at it, or was a moment ago."""
    global _asked, _process  # noqa: PLW0603
    if time.monotonic() - _asked < PAUSE or not sys.executable:
        return
    _asked = time.monotonic()
    try:
        with lock(wait=False) as held:
            if held is None:
                return
            state = os.fstat(held.fileno())
            if state.st_size and 0 <= time.time() - state.st_mtime < PAUSE:
                return
            room = os.statvfs(folder())
            if room.f_bavail * room.f_frsize < LEAST_FREE:
                raise OSError("the disk is full")
            _process = _spawn(held, job)
            held.truncate(0)
            held.write(b"%d\n" % _process.pid)
    except OSError as error:
        tell_unwritable(error)
        return
    _tell(
        "kernels are compiled beside this, for about a minute: later calls find better plans in "
        f"their time ({VARIABLE}: now, beside or never; 'makespan compile' does it ahead)"
    )


def _spawn(held: BinaryIO, job: Callable[[], Any]) -> subprocess.Popen[bytes]:
    """Start it; it inherits the lock, which the system lets go of when it ends."""
    path = [os.path.abspath(each) for each in sys.path]
    code = f"import sys; sys.path[:] = {path!r}\nfrom makespan.flow.compile import fill; fill()"
    with tempfile.TemporaryFile() as written:
        with suppress(Exception):  # what can't be pickled, or is too large, is not done first
            written.write(_pickled(job()))
        written.seek(0)
        return subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=written,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(held.fileno(),),
            start_new_session=True,
            env={**os.environ, VARIABLE: "now"},
        )


class _Bounded(io.BytesIO):
    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > LARGEST:
            raise ValueError("too large")
        return super().write(data)


def _pickled(value: Any) -> bytes:
    file = _Bounded()
    pickle.dump(value, file)
    return file.getvalue()
