"""What happens on a worker: a function meets a chunk.

The text of this file travels (:mod:`makespan.execute.dask.cluster.travel`): it imports nothing of
makespan, and of Dask only inside functions. What it gives back are values of Python's own.
"""

from __future__ import annotations

import asyncio
import pickle
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

STILL_ARRIVING = 2.0  # seconds that what a client wrote before it closed may take to come
LOOK_EVERY = 0.1  # seconds
MOST_SHARES = 4096  # chunks that a worker remembers, done or not

Taken = ParamSpec("Taken")
Given = TypeVar("Given")

Told = tuple[int, int, BaseException, str]
"""The first and the last item that failed, what was raised, and the text of the traceback."""


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


class Share:
    """What the threads of a worker share of a chunk: the items that none of them has begun.

    Those are the items from ``next`` up to ``end``; ``since`` is when a thread last took some.
    """

    __slots__ = ("_items", "_loading", "_low", "end", "lock", "next", "since")

    def __init__(self, low: int, high: int) -> None:
        self._low, self.next, self.end = low, low, high
        self._items: Any = None
        self.since = 0.0
        self.lock, self._loading = threading.Lock(), threading.Lock()

    def take(self, count: int = 1) -> range:
        """Take the next items; none, once there are none left."""
        with self.lock:
            first, self.next = self.next, min(self.end, self.next + count)
            self.since = time.time()
            return range(first, self.next)

    def items(self, chunk: Any, low: int, high: int) -> Any:
        """Return items of the chunk, which is unpickled once."""
        with self._loading:
            found = self._items
            if found is None:
                found = pickle.loads(chunk[0]) if isinstance(chunk, list) else chunk
            self._items = found if self.next < self.end else None  # others need them, too
        first, last = low - self._low, high - self._low
        if isinstance(found, FileChunk):
            return FileChunk(found.names[first:last], found.contents[first:last])
        return found[first:last]


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


@Sent
def work(
    function: bytes, chunk: Any, key: str, low: int, high: int, batched: bool, parts: int = 1
) -> tuple[tuple[tuple[int, int], ...], Any, tuple[Told, ...], float, float]:
    """Apply a pickled function to items of a chunk, which holds those from ``low`` to ``high``.

    So many ``parts`` of it are called side by side. Each takes the next item until none is left or
    the rest is taken back (:func:`taken_back`); where ``batched``, its share at once. Returns the
    first and the last but one of the items in each row of them, the results, what failed, and when
    the worker's clock showed the start and the end; the items beside one that fails are computed
    all the same.
    """
    call = _function(function)
    start = time.time()
    share = _share(key, low, high)
    if batched:
        mine = share.take(-(-(high - low) // parts))
        with _given(share.items(chunk, mine.start, mine.stop)) as items:
            places, (values, failures) = [*mine], _batch(call, items, mine.start)
    else:
        places, values, failures = _each(call, _taken(share, chunk))
    return _rows(places), values, failures, start, time.time()


def taken_back(chunks: Sequence[tuple[str, int, int]], kept: float) -> list[tuple[int, int, float]]:
    """Take back what no thread has begun of a worker's chunks, but for a share that is ``kept``.

    Parameters
    ----------
    chunks
        In the order in which they are computed: the key, the first item and the last but one.
    kept
        The share, from 0 to 1, of the items that nobody has begun; the first of them are kept.

    Returns
    -------
    list
        Of each chunk the item that is begun next, the first item that is not done any more, and for
        how many seconds the last that was begun has been under way.
    """
    shares = [_share(*chunk) for chunk in chunks]
    left = int(kept * sum(share.end - share.next for share in shares))
    found = []
    for share in shares:
        with share.lock:
            share.end = share.next + min(left, share.end - share.next)
            left -= share.end - share.next
            seconds = time.time() - share.since if share.since else 0.0
            found.append((share.next, share.end, seconds))
    return found


def on_rows(function: Callable[..., Any], batched: bool, rows: Any) -> Any:
    """Call a function of several arguments with a row of them, or, ``batched``, with columns."""
    return function(*map(list, zip(*rows, strict=True))) if batched else function(*rows)


def called(function: Callable[[], Any]) -> Any:
    """Call a function that is an item itself."""
    return function()


def told(function: Callable[[Any], Any], item: Any) -> tuple[Any, BaseException | None]:
    """Return what a function returns, and what it raises, with the traceback as a note."""
    try:
        return function(item), None
    except Exception as raised:
        _, _, error, text = _failure(0, 0, raised)
        error.add_note(text)
        return None, error


def tried(function: Callable[[Any], Any], retries: int, item: Any) -> Any:
    """Call a function, again where it raises, so many times at most."""
    for _ in range(retries):
        with suppress(Exception):
            return function(item)
    return function(item)


async def dropped(keys: Sequence[str], *, dask_worker: Any = None) -> None:
    """Drop data that nobody has told the scheduler of; what is on its way here has a moment."""
    from distributed.worker_state_machine import FreeKeysEvent

    for _ in range(round(STILL_ARRIVING / LOOK_EVERY)):
        await asyncio.sleep(LOOK_EVERY)
        there = [key for key in keys if key in dask_worker.state.tasks]
        stimulus = f"makespan-dropped-{time.time()}"
        dask_worker.handle_stimulus(FreeKeysEvent(keys=there, stimulus_id=stimulus))


@lru_cache(maxsize=8)
def _function(pickled: bytes) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = pickle.loads(pickled)
    return function


def _taken(share: Share, chunk: Any) -> Iterator[tuple[int, Any]]:
    """Give item after item of a chunk, with its number, while there are any."""
    while taken := share.take():
        with _given(share.items(chunk, taken.start, taken.stop)) as items:
            yield taken.start, items[0]


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
    firsts = [p for n, p in enumerate(places) if not n or places[n - 1] != p - 1]
    lasts = [p + 1 for n, p in enumerate(places) if n + 1 == len(places) or places[n + 1] != p + 1]
    return tuple(zip(firsts, lasts, strict=True))


def _batch(call: Callable[[Any], Any], items: Any, first: int) -> tuple[Any, tuple[Told, ...]]:
    if not len(items):
        return [], ()
    try:
        return _whole(call(items), len(items)), ()
    except (Exception, SystemExit) as error:
        last = first + len(items) - 1
        return [None] * len(items), (_failure(first, last, error),)


def _each(
    call: Callable[[Any], Any], items: Iterable[tuple[int, Any]]
) -> tuple[list[int], Any, tuple[Told, ...]]:
    places, values, failures = [], [], []
    for index, item in items:
        places.append(index)
        try:
            values.append(call(item))
        except (Exception, SystemExit) as error:  # Dask's worker would end, and all that it has
            values.append(None)
            failures.append(_failure(index, index, error))
    return places, values, tuple(failures)


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


def _failure(first: int, last: int, error: BaseException) -> Told:
    text = "".join(traceback.format_exception(error))
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return first, last, error, text
