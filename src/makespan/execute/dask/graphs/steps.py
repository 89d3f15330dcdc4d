"""A task as it is sent: the task itself, inputs that only order it, a clock around it.

It runs on workers.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

MEASURED: dict[tuple[str, str], dict[int, Taken]] = {}
"""What the tasks of measuring runs took, by run and address of the worker, and by task."""
MAX_KEPT = 64


class Taken(NamedTuple):
    """Seconds on the worker's clock, and the bytes of the result as it is sent."""

    start: float
    end: float
    size: int


def step(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node of a graph; values beyond its inputs are only waited for."""
    return node(dict(zip(inputs, values, strict=False)))


async def step_awaited(node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node whose function is a coroutine."""
    return await node(dict(zip(inputs, values, strict=False)))


def step_timed(run: str, task: int, node: Any, inputs: tuple[Any, ...], *values: Any) -> Any:
    """Compute a node, and note how long it took and how large its result is."""
    start = time.time()
    value = step(node, inputs, *values)
    note(run, task, start, value)
    return value


async def step_awaited_timed(
    run: str, task: int, node: Any, inputs: tuple[Any, ...], *values: Any
) -> Any:
    """Compute a node whose function is a coroutine, and note the same."""
    start = time.time()
    value = await step_awaited(node, inputs, *values)
    note(run, task, start, value)
    return value


def note(run: str, task: int, start: float, value: Any) -> None:
    """Note what a task took until now, and the size of its result."""
    from distributed import get_worker

    end = time.time()
    place = run, str(get_worker().address)
    MEASURED.setdefault(place, {})[task] = Taken(start, end, size_of(value))
    while len(MEASURED) > MAX_KEPT:  # runs that ended before they were asked for
        MEASURED.pop(next(iter(MEASURED)), None)


def size_of(value: Any) -> int:
    """Return the bytes of a value as Dask sends it."""
    from distributed.protocol import dumps, to_serialize
    from distributed.utils import nbytes

    return sum(nbytes(frame) for frame in dumps({"value": to_serialize(value)}))


def collected(run: str, *, dask_worker: Any = None) -> dict[int, Taken]:
    """Return, and forget, what the tasks of a run took on this worker."""
    return MEASURED.pop((run, str(dask_worker.address)), {})
