"""What happens on a worker: a function meets a chunk.

The text of this file travels (:mod:`makespan.execute.dask.cluster.travel`): it imports nothing of
makespan, and of Dask only inside functions. What it gives back are values of Python's own.
"""

from __future__ import annotations

import asyncio
import logging
import operator
import pickle
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

STILL_ARRIVING = 2.0  # seconds that what a client wrote before it closed may take to come
LOOK_EVERY = 0.1  # seconds
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})

Taken = ParamSpec("Taken")
Given = TypeVar("Given")

Told = tuple[int, int, bytes, str]
"""The first and the last item that failed, what was raised, pickled, and the traceback's text."""


log = logging.getLogger("makespan")

ORIGIN: tuple[str, dict[str, Any]] = "", {}
"""An expression that gives what is named in ``what`` of this module, and what else it needs."""


class Sent(Generic[Taken, Given]):
    """A function, pickled with what makes its module, that has an ORIGIN, where there is none."""

    def __init__(self, function: Callable[Taken, Given]) -> None:
        self._function = function

    def __call__(self, *inputs: Taken.args, **named: Taken.kwargs) -> Given:
        return self._function(*inputs, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        expression, names = self._function.__globals__["ORIGIN"]
        return eval, (expression, {**names, "what": self._function.__name__})


class FileChunk(NamedTuple):
    """The contents of some files, to be files again on the worker."""

    names: tuple[str, ...]
    contents: tuple[bytes, ...]

    @contextmanager
    def unpacked(self) -> Iterator[list[Path]]:
        """Write the files into a temporary folder and give their paths."""
        with tempfile.TemporaryDirectory(prefix="makespan-") as folder:
            paths = []
            for index, (name, content) in enumerate(zip(self.names, self.contents, strict=True)):
                path = Path(folder, str(index), name)
                path.parent.mkdir()
                path.write_bytes(content)
                paths.append(path)
            yield paths


class Input(NamedTuple):
    """The place of what a future of Dask's holds, which Dask brings to the worker."""

    key: Any


class Broken(NamedTuple):
    """In place of what a future holds: why there is nothing, an exception, pickled."""

    error: bytes


class Call(NamedTuple):
    """A function, and how it meets an item, or a batch.

    ``several`` says that an item is a row of arguments; a call that raises is made again
    ``retries`` times.
    """

    function: Callable[..., Any]
    keywords: dict[str, Any]
    several: bool = False
    retries: int = 0

    def made(self, inputs: Mapping[Any, Any], batched: bool) -> Callable[[Any], Any]:
        """Return what is called with an item, given what futures hold."""
        call = self.function
        if iscoroutinefunction(call) or getattr(call, "__tornado_coroutine__", False):
            call = partial(_awaited, call)
        if self.keywords:
            try:
                call = partial(call, **_filled(self.keywords, inputs))
            except Exception as error:
                call = partial(_raised, error)
        if self.several:
            call = partial(_on_row, call, batched)
        if inputs:
            call = partial(_on_inputs, call, inputs)
        return partial(_tried, call, self.retries) if self.retries else call


class Pickled:
    """Results, each pickled by itself, so that one that can't be unpickled is known by its place.

    ``data`` has their pickles, ``buffers`` what those leave out, not copied. Where the results of
    the items from ``first`` to ``last`` are one value, and not a list, there is one pickle of it:
    ``whole``.
    """

    def __init__(self, first: int, last: int, whole: bool) -> None:
        self.first, self.last, self.whole = first, last, whole
        self.data: list[bytes] = []
        self.buffers: list[list[pickle.PickleBuffer]] = []

    def add(self, value: Any) -> None:
        """Pickle a value; what can't be is not added."""
        buffers: list[pickle.PickleBuffer] = []
        self.data.append(_dumps(value, buffers))
        self.buffers.append(buffers)

    def __sizeof__(self) -> int:
        left_out = (memoryview(one).nbytes for buffers in self.buffers for one in buffers)
        return sum(map(len, self.data)) + sum(left_out)


@Sent
def work(
    function: bytes,
    chunk: Any,
    first: int,
    batched: bool,
    part: int = 0,
    parts: int = 1,
    inputs: Mapping[Any, Any] | None = None,
    leaves: bool = True,
) -> tuple[Any, tuple[Told, ...], float, float]:
    """Apply a pickled function to one of ``parts`` parts of a chunk, which starts at ``first``.

    The function gets one item at a time, or the whole part where ``batched``; ``inputs`` is what
    the futures in it hold. Returns the results, what failed, and when the worker's clock showed the
    start and the end; the items beside one that fails are computed all the same. Results that
    leave the process are plain or :class:`Pickled`: what can't be pickled never meets a connection
    of Dask's, which would be out of step from then on.
    """
    recipe = _function(function)
    start = time.time()
    if isinstance(chunk, list):
        mine = pickle.loads(chunk[part])
    else:
        mine = chunk[part * len(chunk) // parts : (part + 1) * len(chunk) // parts]
    call = recipe.made(inputs or {}, batched)
    if isinstance(mine, FileChunk):
        with mine.unpacked() as paths:
            values, failures = _applied(call, paths, first, batched)
    else:
        values, failures = _applied(call, mine, first, batched)
    if leaves:
        values = _leaving(values, first, failures)
    return values, tuple(failures), start, time.time()


def _on_row(function: Callable[..., Any], batched: bool, row: Any) -> Any:
    """Call a function of several arguments with a row of them, or, ``batched``, with columns."""
    return function(*map(list, zip(*row, strict=True))) if batched else function(*row)


def _on_inputs(function: Callable[[Any], Any], inputs: Mapping[Any, Any], item: Any) -> Any:
    """Call a function with an item that has what futures hold in their places."""
    return function(_filled(item, inputs))


def _raised(error: Exception, *_: Any) -> Any:
    """Raise what stands for a function that can't be called."""
    raise error


def _filled(value: Any, inputs: Mapping[Any, Any]) -> Any:
    """Return a value with what futures hold in their places."""

    def filled(one: Any) -> Any:
        if not isinstance(one, Input):
            return one
        found = inputs[one.key]
        if isinstance(found, Broken):
            raise pickle.loads(found.error)
        return found

    return replaced(value, filled)


def replaced(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a value with ``other`` of it, or of what is in it, where Dask looks for futures.

    That is in lists, tuples, sets and values of dictionaries; all else is kept as it is.
    """
    found = other(value)
    if found is not value:
        return found
    if isinstance(value, dict):
        named = {name: replaced(one, other) for name, one in value.items()}
        return named if any(named[name] is not value[name] for name in value) else value
    if isinstance(value, (list, set, tuple)):
        parts = [replaced(one, other) for one in value]
        if all(map(operator.is_, parts, value)):
            return value
        if isinstance(value, tuple):
            return value._make(parts) if hasattr(value, "_make") else tuple(parts)
        return parts if isinstance(value, list) else set(parts)
    return value


def _awaited(function: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    """Call an asynchronous function on the worker's event loop, as Dask does."""
    from distributed import get_worker

    async def ended() -> Any:
        return await function(*inputs, **named)

    return asyncio.run_coroutine_threadsafe(ended(), get_worker().loop.asyncio_loop).result()


def _tried(function: Callable[[Any], Any], retries: int, item: Any) -> Any:
    """Call a function, again where it raises, so many times at most."""
    for _ in range(retries):
        with suppress(Exception):
            return function(item)
    return function(item)


def called(batch: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    """Call a batch of joblib's, given as pickle takes it apart."""
    make, arguments = batch
    return make(*arguments)()


async def dropped(keys: Sequence[str], *, dask_worker: Any = None) -> None:
    """Drop data that nobody has told the scheduler of; what is on its way here has a moment."""
    from distributed.worker_state_machine import FreeKeysEvent

    for _ in range(round(STILL_ARRIVING / LOOK_EVERY)):
        await asyncio.sleep(LOOK_EVERY)
        there = [key for key in keys if key in dask_worker.state.tasks]
        stimulus = f"makespan-dropped-{time.time()}"
        dask_worker.handle_stimulus(FreeKeysEvent(keys=there, stimulus_id=stimulus))


@lru_cache(maxsize=8)
def _function(pickled: bytes) -> Call:
    call: Call = pickle.loads(pickled)
    return call


def _applied(
    call: Callable[[Any], Any], items: Sequence[Any], first: int, batched: bool
) -> tuple[Any, list[Told]]:
    if not len(items):
        return [], []
    if batched:
        try:
            return _whole(call(items), len(items)), []
        except Exception as error:
            last = first + len(items) - 1
            return [None] * len(items), [failure(first, last, error)]
    values: list[Any] = []
    failures = []
    for index, item in enumerate(items, start=first):
        try:
            values.append(call(item))
        except Exception as error:
            values.append(None)
            failures.append(failure(index, index, error))
    return values, failures


def _whole(values: Any, count: int) -> Any:
    """Return the results of a batch, one per item."""
    try:
        found = len(values)
    except TypeError:
        raise TypeError(
            f"a batched function returns a sequence, one result an item; "
            f"got {type(values).__name__}"
        ) from None
    if found != count:
        raise ValueError(f"a batched function returned {found} results for {count} items")
    return values


def _leaving(values: Any, first: int, failures: list[Told]) -> Any:
    """Return values as they leave the process; note those that can't."""
    if _plain(values):
        return values
    pickled = Pickled(first, first + len(values) - 1, type(values) is not list)
    for index, value in enumerate([values] if pickled.whole else values, start=first):
        try:
            pickled.add(value)
        except Exception as error:
            pickled.add(None)
            refused = TypeError(f"the result, a {type(value).__name__}, can't be pickled: {error}")
            failures.append(failure(index, pickled.last if pickled.whole else index, refused))
    return pickled


def _plain(values: Any) -> bool:
    """Whether these are numbers, texts or arrays of them, which can always be sent."""
    single = type(values) is not list
    kinds = set(map(type, [values] if single else values)) - PLAIN
    if any(kind.__module__ != "numpy" for kind in kinds):
        return False
    arrays = [values] if single else [one for one in values if kinds and type(one) in kinds]
    return not any(getattr(getattr(one, "dtype", None), "hasobject", True) for one in arrays)


def _dumps(value: Any, buffers: list[pickle.PickleBuffer] | None = None) -> bytes:
    """Return a value as Dask pickles it, fast where pickle can."""
    keep = None if buffers is None else buffers.append
    try:
        data = pickle.dumps(value, protocol=5, buffer_callback=keep)
        if b"__main__" not in data:
            return data
    except Exception as error:
        log.debug("pickle can't hold %s: %s", type(value), error)
    from distributed.protocol.pickle import dumps

    if buffers:
        buffers.clear()
    return bytes(dumps(value, buffer_callback=keep))


def failure(first: int, last: int, error: BaseException) -> Told:
    """Return what is told of items that failed."""
    text = "".join(traceback.format_exception(error))
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        data = _dumps(error)
        pickle.loads(data)
    except Exception:
        words = "".join(traceback.format_exception_only(error)).strip()
        data = pickle.dumps(RuntimeError(words))
    return first, last, data, text
