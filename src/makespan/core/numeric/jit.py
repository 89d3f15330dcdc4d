"""Compiled loops: those that always are, and those that are where it pays.

A loop that a small problem needs, too, is a :class:`Loop`: one text, run as it is on small inputs
and compiled on large ones. Use :func:`kernel` for a loop that only large inputs run.

Both may call functions that are decorated with :func:`part`: a loop of many phases has a part for
each. The cache of a kernel is renewed when the file of a part, or of a kernel that it calls,
changes. Kernels never use fastmath: sums keep their order.

A loop of more than :data:`MOST` arguments takes them by name, by :meth:`Loop.bind`.
A part gets its arrays one by one: state in tuples of arrays makes a loop 2.5 to 5.7 times slower.

Random numbers are drawn by parts, so that both forms of a loop draw the same.

What keeps compiling short: inputs by :func:`~makespan.core.numeric.arrays.readonly`, as a loop is
compiled once more for every layout of memory; and ``np.positive(source, target)`` for
``target[:] = source``, which compiles all that makes the text of its error, for seconds.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from numbers import Number
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.numeric import first_use
from makespan.core.numeric.arrays import readonly
from makespan.core.numeric.binding import bind, parameters
from makespan.core.numeric.files import keep, stamp, wait_for
from makespan.core.system import startup

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Column = Callable[[Any], Any]

LOOKING = frozenset({"range", "len", "max", "min", "int", "float", "shape"})
"""What a part may use that makes no arrays or lists, besides other parts and numbers."""

MOST = 16  # arguments up to which a loop may be called by position

forced: bool | None = None  # whether every loop is compiled, or none; None leaves it to their sizes

_kernels: dict[Any, float] = {}
"""Each kernel, and the CPU time of compiling it here, without that of the kernels it calls."""
_parts: set[Callable[..., Any]] = set()
_rented = 0.0  # work of plain forms so far, by what a compiler is loaded for: at 1, one is bought


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
        Compiled(_name(each), len(each.signatures), seconds) for each, seconds in _kernels.items()
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


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let loops and kernels call ``function``, which is plain Python for all others.

    A part is compiled together with the loop that calls it, and copied to where it is called: a
    call would hand over each array in ten words, and takes up to twice the time of a short loop. It
    stands above the kernels that call it, in their file or in another one.

    >>> @part
    ... def later(one, other):
    ...     return one if one > other else other
    >>> later(2, 3)
    3
    """
    _parts.add(function)
    return function


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` and its parts with Numba (cached on disk where possible, without GIL).

    Loading from the cache counts as start-up. A solve whose limit leaves no time to compile runs
    the plain form (:mod:`~makespan.core.numeric.first_use`). With ``NUMBA_DISABLE_JIT=1`` the
    function is returned as it is.
    """
    if not compiles():
        return function
    with startup.startup():
        import numba

        _listen()
        called, constants = _reached(function)
        for each in called:
            if each in _parts:
                _register(each)
        try:
            made = numba.njit(cache=True, nogil=True)(function)
            index = made._cache._cache_file
            index._source_stamp = index._source_stamp, stamp(called, constants)
            keep(made, _name(made))
        except RuntimeError as error:  # no folder that a cache could be written to
            made = numba.njit(nogil=True)(function)
            first_use.tell_unwritable(error)
        wait_for(made, lambda: forced is not None or first_use.may_compile())
        _kernels[made] = 0.0
    return made  # type: ignore[no-any-return]


def pays(
    size: float, pays_from: float, loaded_from: float | None = None, *, of: Sequence[str]
) -> bool:
    """Whether work of this size is worth a compiler, or a compiled loop from disk.

    For what is written twice, in NumPy for small inputs and as a kernel; else see :class:`Loop`.
    ``of`` are the names of a kernel, or the kind that has it: one must be on disk where a limit
    leaves no time to compile. Where much small work comes along, a compiler is loaded when plain
    forms have taken as long as that takes: at most twice the time of who knows what will come
    (Karlin, Manasse, Rudolph and Sleator 1988).
    """
    global _rented
    if forced is not None:
        return forced
    if not compiles():
        return False
    if loaded_from is None:
        least = pays_from
    elif "numba" in sys.modules or _rented >= 1.0:
        least = loaded_from
    else:
        _rented, least = _rented + size / pays_from, pays_from
    return size >= least and first_use.usable(*of)


@dataclass(frozen=True)
class Loop:
    """A loop in the part of Python that Numba compiles, and the size from which compiling pays.

    ``pays_from`` is the size of the work (rows, steps: the loop says what is counted) from which
    loading a compiler, or the compiled loop from disk, takes less time than it saves;
    ``loaded_from`` the same where the compiler is there already. Both forms of the function
    ``plain`` give the same results to the bit.

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
    loaded_from: float | None = None  # ``pays_from`` where it is left out

    def pays(self, size: float) -> bool:
        """Whether work of this size is worth the compiled form."""
        return pays(size, self.pays_from, self.loaded_from, of=self._names)

    def lacks(self, size: float) -> bool:
        """Whether work of this size is worth the compiled form, which is not there yet."""
        missing = forced is None and compiles() and size >= self.pays_from
        return missing and not first_use.usable(*self._names)

    @cached_property
    def _names(self) -> tuple[str, str]:
        """Its name, and its kind."""
        module = self.plain.__module__ or ""
        return f"{module}.{self.plain.__name__}", module.removeprefix("makespan.").partition(".")[0]

    def at(self, size: float) -> Callable[..., Any]:
        """Return the form for work of this size, of a loop of at most :data:`MOST` arguments."""
        if len(parameters(self.plain)) > MOST:
            name = self.plain.__name__
            raise TypeError(f"{name} takes more than {MOST} arguments: bind them by name")
        return self.form(size)

    def form(self, size: float) -> Callable[..., Any]:
        """Return the form for work of this size, whose arguments are then bound."""
        return self.compiled if self.pays(size) else self.plain

    def bind(self, size: float, /, *groups: Any, **columns: Any) -> Callable[..., Any]:
        """Bind arguments by their names, as :func:`~makespan.core.numeric.binding.bind` does."""
        return bind(self.form(size), *groups, **columns)

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

    def run_by_name(
        self,
        size: float,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        **numbers: float,
    ) -> Any:
        """Run a loop of any number of arguments as :meth:`run` does, each by its name."""
        return self.prepared_by_name(size, inputs)(outputs, numbers)

    def prepared_by_name(
        self, size: float, inputs: Mapping[str, np.ndarray]
    ) -> Callable[[Mapping[str, np.ndarray], Mapping[str, float]], Any]:
        """Return what runs the loop again and again, as :meth:`prepared` does."""
        compiles, names = self.pays(size), parameters(self.plain)
        form = self.compiled if compiles else self.plain
        columns = readonly(*inputs.values()) if compiles else [c.tolist() for c in inputs.values()]
        read = dict(zip(inputs, columns, strict=True))

        def run(outputs: Mapping[str, np.ndarray], numbers: Mapping[str, float]) -> Any:
            written = outputs if compiles else {n: each.tolist() for n, each in outputs.items()}
            values = {**read, **written, **numbers}
            if not len(values) == len(names) == len(read) + len(written) + len(numbers):
                return bind(form, **read)(**written, **numbers)  # which says what is wrong
            value = form(*[values[name] for name in names])
            if not compiles:
                for name, column in outputs.items():
                    column[:] = written[name]
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


def _name(made: Any) -> str:
    return f"{made.py_func.__module__}.{made.__name__}"


def _reached(function: Callable[..., Any]) -> tuple[list[FunctionType], list[tuple[str, Any]]]:
    """Return the parts and kernels that a kernel calls, and the constants that all of them read."""
    functions: list[Any] = [function]
    constants = []
    for each in functions:  # which grows
        for name in _names(each.__code__):
            value = each.__globals__.get(name)
            value = getattr(value, "py_func", value)  # of a kernel
            if isinstance(value, FunctionType):
                known = value in _parts or any(value is made.py_func for made in _kernels)
                if known and value not in functions:
                    functions.append(value)
            elif isinstance(value, (bool, int, float, str)):
                constants.append((name, value))
    return functions[1:], constants


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _register(function: Callable[..., Any]) -> None:
    """Let Numba compile a part where a kernel calls it.

    Arrays that it is handed stay alive in the kernel: it counts no references to them, which takes
    as long as its work, unless it calls what makes arrays or lists. It is copied to where it is
    called by LLVM; Numba's own ``inline="always"`` gave wrong results.
    """
    from numba.extending import register_jitable

    values = ((name, function.__globals__.get(name)) for name in _names(function.__code__))
    counts = any(
        not (name in LOOKING or isinstance(value, Number))
        and not (isinstance(value, FunctionType) and value in _parts)
        for name, value in values
    )
    register_jitable(forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=counts)(
        function
    )


@cache
def _listen() -> None:
    """Count what Numba does before a kernel runs as start-up, and tell of compiling."""
    import numba
    from numba.core import event
    from numba.core.registry import cpu_target

    first_use.trust(numba.__version__, cpu_target.target_context.codegen().magic_tuple())

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
            if not self.open:
                self.collects = gc.isenabled()
                gc.disable()  # there is little garbage; looking for it takes a sixth of the time
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
            elif self.collects:
                gc.enable()
            startup.tell(None)

    event.register("numba:compiler_lock", Loading())
    event.register("numba:compile", Compiling())


@part
def next_seed(seed):  # type: ignore[no-untyped-def]
    """Return the next state of the generator of ANSI C: 31 bits, of which the high ones are good.

    Draw from ``seed >> 8``: a number below ``n`` is ``(seed >> 8) % n``.

    >>> next_seed(1)
    1103527590
    """
    return (seed * 1103515245 + 12345) & 0x7FFFFFFF


@part
def uniform(seed):  # type: ignore[no-untyped-def]
    """Return a number from 0 to below 1 for a state of :func:`next_seed`.

    >>> uniform(1 << 30)
    0.5
    """
    return (seed >> 8) / 8388608.0


@part
def next_minimal(state):  # type: ignore[no-untyped-def]
    """Return the next state of the generator of Park and Miller 1988, from 1 to 2^31 - 2.

    >>> next_minimal(1)
    48271
    """
    return state * 48271 % 2147483647
