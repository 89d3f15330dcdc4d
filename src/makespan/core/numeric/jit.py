"""The one decorator for compiled loops.

Kernels that call one another share a file: the cache of a kernel is renewed when its own file
changes, not when a file it calls does. Kernels never use fastmath: sums keep their order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pickle import UnpicklingError
from typing import Any, TypeVar

from makespan.core.system import startup

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


_kernels: list[Any] = []


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel, and for how many signatures it is compiled."""

    name: str
    signatures: int


def compiled() -> tuple[Compiled, ...]:
    """Return the kernels that this process has met."""
    return tuple(
        Compiled(f"{each.py_func.__module__}.{each.__name__}", len(each.signatures))
        for each in _kernels
    )


def compiles() -> bool:
    """Whether kernels are compiled: not with ``NUMBA_DISABLE_JIT=1``."""
    return os.environ.get("NUMBA_DISABLE_JIT") != "1"


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` with Numba (cached on disk where possible, without the GIL).

    Compiling and loading from the cache count as start-up, not against time limits. With
    ``NUMBA_DISABLE_JIT=1`` the function is returned as it is.
    """
    if not compiles():
        return function
    with startup.startup():
        import numba

        _listen()
        try:
            made = numba.njit(cache=True, nogil=True)(function)
            _forgive(made._cache)
        except RuntimeError:  # no folder that a cache could be written to
            made = numba.njit(nogil=True)(function)
        _kernels.append(made)
    return made  # type: ignore[no-any-return]


def _forgive(cache: Any) -> None:
    """Compile where the cache can't be read, and go on where it can't be written: a full disk."""

    def forgiving(act: Callable[..., Any]) -> Callable[..., Any]:
        def attempt(*arguments: Any) -> Any:
            try:
                return act(*arguments)
            except (OSError, EOFError, UnpicklingError):
                return None

        return attempt

    cache.load_overload = forgiving(cache.load_overload)
    cache.save_overload = forgiving(cache.save_overload)


@cache
def _listen() -> None:
    """Count what Numba does before a kernel runs as start-up, and tell of compiling."""
    from numba.core import event

    class Loading(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            startup.begin()

        def on_end(self, event: Any) -> None:
            startup.end()

    class Compiling(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            startup.tell("compiling, at the first use only")

        def on_end(self, event: Any) -> None:
            startup.tell(None)

    event.register("numba:compiler_lock", Loading())
    event.register("numba:compile", Compiling())
