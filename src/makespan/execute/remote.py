"""What happens on a worker: a function meets a chunk.

The text of this file travels (:mod:`makespan.execute.dask.cluster.travel`): it imports nothing of
makespan, and of Dask only inside functions. What it gives back are values of Python's own.
"""

from __future__ import annotations

import asyncio
import pickle
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

STILL_ARRIVING = 2.0  # seconds that what a client wrote before it closed may take to come
LOOK_EVERY = 0.1  # seconds

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


@Sent
def work(
    function: bytes, chunk: Any, first: int, batched: bool, part: int = 0, parts: int = 1
) -> tuple[Any, tuple[Told, ...], float, float]:
    """Apply a pickled function to one of ``parts`` parts of a chunk, which starts at ``first``.

    The function gets one item at a time, or the whole part where ``batched``. Returns the results,
    what failed, and when the worker's clock showed the start and the end; the items beside one that
    fails are computed all the same.
    """
    call = _function(function)
    start = time.time()
    if isinstance(chunk, list):
        mine = pickle.loads(chunk[part])
    else:
        mine = chunk[part * len(chunk) // parts : (part + 1) * len(chunk) // parts]
    if isinstance(mine, FileChunk):
        with mine.unpacked() as paths:
            values, failures = _applied(call, paths, first, batched)
    else:
        values, failures = _applied(call, mine, first, batched)
    return values, failures, start, time.time()


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


def _applied(
    call: Callable[[Any], Any], items: Sequence[Any], first: int, batched: bool
) -> tuple[Any, tuple[Told, ...]]:
    if not len(items):
        return [], ()
    if batched:
        try:
            return _whole(call(items), len(items)), ()
        except Exception as error:
            last = first + len(items) - 1
            return [None] * len(items), (_failure(first, last, error),)
    values: list[Any] = []
    failures = []
    for index, item in enumerate(items, start=first):
        try:
            values.append(call(item))
        except Exception as error:
            values.append(None)
            failures.append(_failure(index, index, error))
    return values, tuple(failures)


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


def _failure(first: int, last: int, error: Exception) -> Told:
    text = "".join(traceback.format_exception(error))
    error = error.with_traceback(None)
    error.__cause__ = error.__context__ = None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return first, last, error, text
