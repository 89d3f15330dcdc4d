"""Compiled loops: those that always are, and those that are where it pays.

A loop that a small problem needs, too, is a :class:`Loop`: one text, run as it is on small inputs
and compiled on large ones. What only large inputs need is a :func:`kernel`.

Kernels that call one another share a file: the cache of a kernel is renewed when its own file
changes, not when a file it calls does. Kernels never use fastmath: sums keep their order.

What keeps compiling short: inputs by :func:`~makespan.core.numeric.arrays.readonly`, as a loop is
compiled once more for every layout of memory; and ``np.positive(source, target)`` for
``target[:] = source``, which compiles all that makes the text of its error, for seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pickle import UnpicklingError
from typing import Any, TypeVar

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.numeric.arrays import readonly
from makespan.core.system import startup

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Column = Callable[[Any], Any]

forced: bool | None = None
"""Whether every loop is compiled, or none; None leaves it to their sizes."""

_kernels: dict[Any, float] = {}
"""Each kernel, and the CPU time of compiling it here, without that of the kernels it calls."""
_rented = 0.0
"""Work of plain forms so far, by what a compiler is loaded for: from 1 on, one is bought."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel, for how many signatures it is compiled, and what that took here.

    ``seconds`` are those of the processor, without what the kernels that it calls took; 0.0 where
    all was found on disk.
    """

    name: str
    signatures: int
    seconds: float


def compiled() -> tuple[Compiled, ...]:
    """Return the kernels that this process has met."""
    return tuple(
        Compiled(f"{each.py_func.__module__}.{each.__name__}", len(each.signatures), seconds)
        for each, seconds in _kernels.items()
    )


@contextmanager
def always(value: bool = True) -> Iterator[None]:
    """Run every loop compiled inside the block, however small its work, or none."""
    global forced  # noqa: PLW0603
    before, forced = forced, value
    try:
        yield
    finally:
        forced = before


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
        _kernels[made] = 0.0
    return made  # type: ignore[no-any-return]


def pays(size: float, pays_from: float, loaded_from: float | None = None) -> bool:
    """Whether work of this size is worth a compiler, or a compiled loop from disk.

    For what is written twice, in NumPy for small inputs and as a kernel; else see :class:`Loop`.
    Where much small work comes along, a compiler is loaded when plain forms have taken as long as
    that takes: at most twice the time of who knows what will come (Karlin, Manasse, Rudolph and
    Sleator 1988).
    """
    global _rented  # noqa: PLW0603  (of the process, as the compiler is)
    if forced is not None:
        return forced
    if not compiles():
        return False
    if loaded_from is None:
        return size >= pays_from
    if "numba" in sys.modules or _rented >= 1.0:
        return size >= loaded_from
    _rented += size / pays_from
    return size >= pays_from


@dataclass(frozen=True)
class Loop:
    """A loop in the part of Python that Numba compiles, and the size from which compiling pays.

    Parameters
    ----------
    plain
        The function as it stands.
    pays_from
        The size of the work (rows, steps: the loop says what is counted) from which loading a
        compiler, or the compiled loop from disk, takes less time than it saves.
    loaded_from
        The same where the compiler is there already; ``pays_from`` where it is left out.

    Both forms give the same results to the bit.

    >>> @loop(pays_from=1_000)
    ... def total(numbers):
    ...     value = 0.0
    ...     for number in numbers:
    ...         value += number
    ...     return value
    >>> total.pays(3), total.at(3)([1.0, 2.0, 3.0])
    (False, 6.0)
    """

    plain: Callable[..., Any]
    pays_from: float
    loaded_from: float | None = None

    def pays(self, size: float) -> bool:
        """Whether work of this size is worth the compiled form."""
        return pays(size, self.pays_from, self.loaded_from)

    def at(self, size: float) -> Callable[..., Any]:
        """Return the form for work of this size."""
        return self.compiled if self.pays(size) else self.plain

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The compiled form."""
        return kernel(self.plain)

    def run(
        self,
        size: float,
        inputs: tuple[np.ndarray, ...],
        outputs: tuple[np.ndarray, ...] = (),
        numbers: tuple[float, ...] = (),
    ) -> Any:
        """Run the loop on ``(*inputs, *outputs, *numbers)``; it writes into ``outputs``.

        The plain form runs on lists, which is several times faster than on arrays.
        """
        return self.prepared(size, inputs)(outputs, numbers)

    def prepared(
        self, size: float, inputs: tuple[np.ndarray, ...]
    ) -> Callable[[tuple[np.ndarray, ...], tuple[float, ...]], Any]:
        """Return what runs the loop on the same inputs again and again, ``size`` in all."""
        if self.pays(size):
            columns = readonly(*inputs)
            return lambda outputs, numbers: self.compiled(*columns, *outputs, *numbers)
        read = [column.tolist() for column in inputs]

        def run(outputs: tuple[np.ndarray, ...], numbers: tuple[float, ...]) -> Any:
            lists = [column.tolist() for column in outputs]
            value = self.plain(*read, *lists, *numbers)
            for column, values in zip(outputs, lists, strict=True):
                column[:] = values
            return value

        return run

    def chosen(self, size: float) -> tuple[Callable[..., Any], Column]:
        """Return the form for many calls that are ``size`` together, and what makes its columns."""
        if self.pays(size):
            return self.compiled, np.array
        return self.plain, lambda values: np.asarray(values).tolist()


def loop(
    *, pays_from: float, loaded_from: float | None = None
) -> Callable[[Callable[..., Any]], Loop]:
    """Make a :class:`Loop` of the decorated function."""

    def decorate(function: Callable[..., Any]) -> Loop:
        return Loop(function, pays_from, loaded_from)

    return decorate


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
        """One kernel compiles at a time, and inside it those that it calls."""

        def __init__(self) -> None:
            self.open: list[tuple[float, float]] = []  # when each began, what is inside took

        def on_start(self, event: Any) -> None:
            startup.tell("compiling, at the first use only")
            self.open.append((time.thread_time(), 0.0))

        def on_end(self, event: Any) -> None:
            begun, inside = self.open.pop()
            kernel = event.data["dispatcher"]
            if kernel in _kernels:  # not a function of Numba's own, which counts for its caller
                took = time.thread_time() - begun
                _kernels[kernel] += took - inside
                inside = took
            if self.open:
                self.open[-1] = self.open[-1][0], self.open[-1][1] + inside
            startup.tell(None)

    event.register("numba:compiler_lock", Loading())
    event.register("numba:compile", Compiling())
