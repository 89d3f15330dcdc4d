"""What happens on a worker: a function meets a chunk.

The text of this file travels (:mod:`makespan.execute.travel`): it imports nothing of
makespan, and of Dask only inside functions. What it gives back are values of Python's own.
"""

from __future__ import annotations

import asyncio
import logging
import operator
import pickle
import sys
import tempfile
import threading
import time
import traceback
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

STILL_ARRIVING = 2.0  # seconds that what a client wrote before it closed may take to come
LOOK_EVERY = 0.1  # seconds
MOST_SHARES = 4096  # chunks that a worker remembers, done or not
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})

Taken = ParamSpec("Taken")
Given = TypeVar("Given")

FailureText = tuple[int, int, bytes, str]
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


class Here(NamedTuple):
    """Items of the process that works on them, as they are."""

    items: Any


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
        return partial(_call_with_retries, call, self.retries) if self.retries else call


class Share:
    """What the threads of a worker share of a chunk: the items that none of them has begun.

    Those are the items from ``next`` up to ``end``; ``since`` is when a thread last took some.
    """

    __slots__ = ("_items", "_loading", "_low", "_users", "end", "lock", "next", "since")

    def __init__(self, low: int, high: int) -> None:
        self._low, self.next, self.end = low, low, high
        self._items: Any = None
        self._users = 0
        self.since = 0.0
        self.lock, self._loading = threading.Lock(), threading.Lock()

    def take(self, count: int = 1) -> range:
        """Take the next items; none, once there are none left."""
        with self.lock:
            first, self.next = self.next, min(self.end, self.next + count)
            self.since = time.time()
            return range(first, self.next)

    def _all_items(self, chunk: Any) -> Any:
        """Return the items of the chunk, which is unpickled once."""
        if isinstance(chunk, Here):
            return chunk.items
        with self._loading:
            if self._items is None:
                self._items = _unpacked(chunk)
            return self._items

    def _forget(self, users: int = 0) -> None:
        """Let go of the items where nobody needs them any more; so many more work on them."""
        with self.lock:
            self._users += users
            if not self._users and self.next >= self.end:
                self._items = None

    def items(self, chunk: Any, low: int, high: int) -> Any:
        """Return some items of the chunk."""
        found, first, last = self._all_items(chunk), low - self._low, high - self._low
        self._forget()
        if isinstance(found, FileChunk):
            return FileChunk(found.names[first:last], found.contents[first:last])
        return found[first:last]

    def each(self, chunk: Any) -> Iterator[tuple[int, Any]]:
        """Take item after item of the chunk, with its number, while there are any."""
        items, low = None, self._low
        self._forget(1)
        try:
            while True:
                with self.lock:
                    place = self.next
                    if place >= self.end:
                        return
                    self.next = place + 1
                    self.since = time.time()
                if items is None:
                    items = self._all_items(chunk)
                if isinstance(items, FileChunk):
                    with _given(self.items(items, place, place + 1)) as (path,):
                        yield place, path
                else:
                    yield place, items[place - low]
        finally:
            self._forget(-1)


def _unpacked(chunk: Any) -> Any:
    """Return what was sent: a pickle of items and its buffers, or the items."""
    return pickle.loads(chunk[0], buffers=chunk[1:]) if isinstance(chunk, list) else chunk


_shares: dict[str, Share] = {}
_lock = threading.Lock()


def _share(key: str, low: int, high: int) -> Share:
    """Return what is shared of the chunk of this key, which holds the items from low to high."""
    with _lock:
        if key not in _shares:
            while len(_shares) >= MOST_SHARES:
                del _shares[next(iter(_shares))]
            _shares[key] = Share(low, high)
        return _shares[key]


class Pickled:
    """Results, each pickled by itself, so that one that can't be unpickled is known by its place.

    ``data`` has their pickles, ``buffers`` what those leave out, not copied. Where all results are
    one value, and not a list, there is one pickle of it: ``whole``.
    """

    def __init__(self, whole: bool) -> None:
        self.whole = whole
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
    function: bytes | Call,
    chunk: Any,
    key: str,
    low: int,
    high: int,
    batched: bool,
    parts: int = 1,
    inputs: Mapping[Any, Any] | None = None,
    leaves: bool = True,
) -> tuple[tuple[tuple[int, int], ...], Any, tuple[FailureText, ...], float, float, bytes]:
    """Apply a pickled function to items of a chunk, which holds those from ``low`` to ``high``.

    So many ``parts`` of it are called side by side. Each takes the next item until none is left or
    the rest is taken back (:func:`taken_back`); where ``batched``, its share at once. ``inputs`` is
    what the futures in the items hold. Returns the rows of items, the results, what failed, when
    the worker's clock showed the start and the end, and the seconds of each item computed alone, as
    32-bit floats. The items beside one that fails are computed all the same. Results that leave the
    process are plain or :class:`Pickled`: what can't be pickled never meets a connection of Dask's,
    which would be out of step from then on.
    """
    recipe = _function(function) if isinstance(function, bytes) else function
    start, seconds = time.time(), array("f")
    share = _share(key, low, high)
    call = recipe.made(inputs or {}, batched)
    if batched:
        mine = share.take(-(-(high - low) // parts))
        with _given(share.items(chunk, mine.start, mine.stop)) as items:
            places, (values, failures) = [*mine], _batch(call, items, mine.start)
    else:
        places, values, failures, seconds = _each(call, share.each(chunk))
    if leaves:
        values = _leaving(values, places, failures)
    return _rows(places), values, tuple(failures), start, time.time(), seconds.tobytes()


def taken_back(chunks: Sequence[tuple[str, int, int]], kept: float) -> list[tuple[int, int, float]]:
    """Take back what no thread has begun of a worker's chunks, but for a share that is ``kept``.

    Chunks are in the order in which they are computed: the key, the first item and the last but
    one. The first of the items that nobody has begun are kept. Returns of each chunk the item that
    is begun next, the first that is not done any more, and for how many seconds the last that was
    begun has been under way.
    """
    shares = [_share(*chunk) for chunk in chunks]
    left = int(kept * sum(share.end - share.next for share in shares))
    found = []
    for share in shares:
        with share.lock:
            share.end = share.next + min(left, share.end - share.next)
            left -= share.end - share.next
            if share.next >= share.end:
                share._items = None
            seconds = time.time() - share.since if share.since else 0.0
            found.append((share.next, share.end, seconds))
    return found


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
    """Call an asynchronous function on the worker's event loop, as Dask does, or on its own."""
    try:
        loop = sys.modules["distributed"].get_worker().loop.asyncio_loop
    except (KeyError, ValueError):  # not a worker of Dask's
        return asyncio.run(function(*inputs, **named))

    async def ended() -> Any:
        return await function(*inputs, **named)

    return asyncio.run_coroutine_threadsafe(ended(), loop).result()


def _call_with_retries(function: Callable[[Any], Any], retries: int, item: Any) -> Any:
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


@contextmanager
def _given(items: Any) -> Iterator[Any]:
    """Give items as the function gets them: files as paths."""
    if isinstance(items, FileChunk):
        with items.unpacked() as paths:
            yield paths
    else:
        yield items


def _rows(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return where the items in a row begin, and end."""
    if places and places[-1] - places[0] == len(places) - 1:  # taken in their order
        return ((places[0], places[-1] + 1),)
    firsts = [p for n, p in enumerate(places) if not n or places[n - 1] != p - 1]
    lasts = [p + 1 for n, p in enumerate(places) if n + 1 == len(places) or places[n + 1] != p + 1]
    return tuple(zip(firsts, lasts, strict=True))


def _batch(call: Callable[[Any], Any], items: Any, first: int) -> tuple[Any, list[FailureText]]:
    if not len(items):
        return [], []
    try:
        return _whole(call(items), len(items)), []
    except (Exception, SystemExit) as error:
        return [None] * len(items), [failure(first, first + len(items) - 1, error)]


def _each(
    call: Callable[[Any], Any], items: Iterable[tuple[int, Any]]
) -> tuple[list[int], Any, list[FailureText], array[float]]:
    places, values, failures, seconds = [], [], [], array("f")
    for index, item in items:
        begun = time.perf_counter()
        places.append(index)
        try:
            values.append(call(item))
        except (Exception, SystemExit) as error:  # Dask's worker would end, and all that it has
            values.append(None)
            failures.append(failure(index, index, error))
        seconds.append(time.perf_counter() - begun)
    return places, values, failures, seconds


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


def _leaving(values: Any, places: Sequence[int], failures: list[FailureText]) -> Any:
    """Return the values of the items in these places as they leave the process.

    Those that can't are noted.
    """
    if _plain(values):
        return values
    pickled = Pickled(type(values) is not list)
    ends = [(places[0], places[-1])] if pickled.whole else [(place, place) for place in places]
    for (first, last), value in zip(ends, [values] if pickled.whole else values, strict=True):
        try:
            pickled.add(value)
        except Exception as error:
            pickled.add(None)
            refused = TypeError(f"the result, a {type(value).__name__}, can't be pickled: {error}")
            failures.append(failure(first, last, refused))
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
    import cloudpickle

    if buffers:
        buffers.clear()
    return bytes(cloudpickle.dumps(value, protocol=5, buffer_callback=keep))


def failure(first: int, last: int, error: BaseException) -> FailureText:
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
