"""Kernels in files: Numba's cache, which may be read alone, be full, or be cut short."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from makespan.core.numeric import first_use

PATIENCE = 30.0  # seconds that a process waits for another one that compiles the same file
LOWEST = 19  # the priority of what fills the cache beside a solve
_held: set[str] = set()  # files of kernels that this process compiles now


def keep(made: Any, name: str) -> None:
    """Compile where the cache can't be read, go on where it can't be written, and list it.

    An image's installation has kernels that its users may read, where they may not write.
    """
    cache = made._cache
    index, load, save = cache._cache_file, cache.load_overload, cache.save_overload
    installed = os.path.join(os.path.dirname(made.py_func.__code__.co_filename), "__pycache__")
    if not os.environ.get("NUMBA_CACHE_DIR") and not os.access(installed, os.W_OK):
        path = os.path.join(installed, index._index_name)
        if os.path.exists(path):
            index._cache_path, index._index_path = installed, path

    def loaded(*arguments: Any) -> Any:
        try:
            if (found := load(*arguments)) is not None:
                first_use.enter(name)
        except Exception:  # whatever a file that is cut short makes of it
            with suppress(OSError):
                os.unlink(index._index_path)
            return None
        return found

    def saved(*arguments: Any) -> None:
        try:
            save(*arguments)
        except Exception as error:
            first_use.tell_unwritable(error)
        else:
            first_use.enter(name)

    cache.load_overload, cache.save_overload = loaded, saved


def wait_for(made: Any, may_compile: Callable[[], bool]) -> None:
    """Run the plain form of a kernel for types that it is neither compiled nor to be compiled for.

    Called by Numba for types that it has not met.
    """
    from numba.core.compiler_lock import global_compiler_lock

    compile_for, cache = made._compile_for_args, made._cache
    file = made.py_func.__code__.co_filename
    missing: dict[Any, float] = {}  # when it was last looked for

    def chosen(*arguments: Any) -> Any:
        types = tuple(made.typeof_pyval(each) for each in arguments)
        made._types_active_call.clear()
        now, compiles = time.monotonic(), may_compile()
        if compiles or now - missing.get(types, -1.0) >= 1.0:
            if hasattr(cache, "_cache_file"):
                with suppress(Exception):  # as above
                    key = cache._index_key(types, made.targetctx.codegen())
                    if key in cache._cache_file._load_index():
                        return compile_for(*arguments)
            if compiles:
                with global_compiler_lock, _alone(file):
                    return compile_for(*arguments)
            missing[types] = now
            first_use.miss()
        return made.py_func

    made._compile_for_args = chosen


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Compile what a file has in one process at a time: the others find it on disk.

    Nobody waits for low priority. No two wait for each other, as imports have no circle.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError):  # not on every system, nor for every kind of file
            import fcntl

            if path not in _held and os.nice(0) < LOWEST:
                file = stack.enter_context(open(path, "rb"))
                until = time.monotonic() + PATIENCE
                while time.monotonic() < until:
                    with suppress(BlockingIOError):
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    time.sleep(first_use.LOOK)
                stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # in forked processes, too
                _held.add(path)
                stack.callback(_held.remove, path)
        yield


def stamp(functions: list[FunctionType], constants: list[tuple[str, Any]]) -> str:
    """Return what changes with the files of these functions, or with a constant that is read."""
    digest = sha256(repr(sorted(constants, key=repr)).encode())
    for path in sorted({each.__code__.co_filename for each in functions}):
        digest.update(_text(path))
    return digest.hexdigest()


@cache
def _text(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # in an archive, whose stamp Numba looks at
        return b""
