"""What a Dask user may do with a function, rows of data and unequal workers: the rivals of a plan.

Each strategy takes a client, a batched function and the rows, and returns the results in order.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.execute import dask

PREFETCH = 2
SELF_SCHEDULED = 64
MAPPED = (16, 64, 256)

Function = Callable[[np.ndarray], np.ndarray]


def split(data: np.ndarray, count: int) -> list[np.ndarray]:
    """Cut the rows into pieces of equal size."""
    return np.array_split(data, count)


def fresh_map(client: Any, function: Function, data: np.ndarray) -> np.ndarray:
    """``map`` on a cluster of which nothing is known."""
    dask.forget(client)
    return known_map(client, function, data)


def known_map(client: Any, function: Function, data: np.ndarray) -> np.ndarray:
    """``map`` on a cluster that it has worked on before."""
    result: np.ndarray = dask.map(function, data, client, batched=True, progress=False).results
    return result


def client_map(count: int) -> Callable[..., np.ndarray]:
    """``client.map`` over so many chunks, which Dask places itself."""

    def run(client: Any, function: Function, data: np.ndarray) -> np.ndarray:
        futures = client.map(function, split(data, count), pure=False)
        return np.concatenate(client.gather(futures))

    return run


def equal_split(client: Any, function: Function, data: np.ndarray) -> np.ndarray:
    """One chunk of the same size for every worker, scattered one after another."""
    workers = sorted(client.nthreads())
    futures = []
    for worker, piece in zip(workers, split(data, len(workers)), strict=True):
        held = client.scatter(piece, workers=[worker], direct=True, hash=False)
        futures.append(client.submit(function, held, workers=[worker], pure=False))
    return np.concatenate(client.gather(futures))


def self_scheduled(client: Any, function: Function, data: np.ndarray) -> np.ndarray:
    """64 chunks; a worker gets the next when it holds fewer than two."""
    pieces = split(data, SELF_SCHEDULED)
    results: list[Any] = [None] * len(pieces)

    async def serve(worker: str, todo: list[int]) -> None:
        while todo:
            index = todo.pop(0)
            held = await client.scatter(
                {f"piece-{time.time_ns()}-{index}": pieces[index]},
                workers=[worker],
                direct=True,
                hash=False,
                asynchronous=True,
            )
            task = client.submit(
                function, next(iter(held.values())), workers=[worker], priority=-index, pure=False
            )
            results[index] = await client.gather(task, asynchronous=True, direct=True)

    async def run() -> None:
        todo = list(range(len(pieces)))
        await asyncio.gather(*(serve(worker, todo) for worker in workers for _ in range(PREFETCH)))

    workers = sorted(client.nthreads())
    asyncio.run_coroutine_threadsafe(run(), client.loop.asyncio_loop).result()
    return np.concatenate(results)


STRATEGIES: dict[str, Callable[..., np.ndarray]] = {
    "map, known cluster": known_map,
    "map, nothing known": fresh_map,
    "equal split": equal_split,
    "self-scheduling, 64 chunks": self_scheduled,
    **{f"client.map, {count} chunks": client_map(count) for count in MAPPED},
}
OURS = tuple(STRATEGIES)[:2]


def in_turn(
    client: Any, function: Function, data: np.ndarray, expected: np.ndarray, repeats: int
) -> dict[str, list[float]]:
    """Return the seconds of every strategy, repeat by repeat, all in turn.

    Raises
    ------
    AssertionError
        If a strategy brings other results than ``expected``.
    """
    seconds: dict[str, list[float]] = {name: [] for name in STRATEGIES}
    for _ in range(repeats):
        for name, strategy in STRATEGIES.items():
            start = time.perf_counter()
            found = strategy(client, function, data)
            seconds[name].append(time.perf_counter() - start)
            if not np.array_equal(found, expected):
                raise AssertionError(f"{name} lost something")
    return seconds


def fill(table: Table, platform: str, seconds: dict[str, list[float]]) -> None:
    """Add a row for each strategy: medians, and ratios to ``map`` paired by repeat."""
    base = seconds[OURS[0]]
    for strategy, taken in seconds.items():
        paired = statistics.median(a / b for a, b in zip(taken, base, strict=True))
        table.add(
            platform,
            strategy,
            f"{statistics.median(taken):.2f}",
            f"{min(taken):.2f} to {max(taken):.2f}",
            f"{paired:.2f}×",
        )
