"""``makespan.execute.dask.map`` beside what a Dask user would write, on stars of slow links.

``python -m benchmarks.dask_star [A] [B] [L] [S] [P]`` runs some platforms, all without names. Real
scheduler and worker processes on this machine, behind relays that imitate links; computing is
calibrated sleeping, so that two cores do for all. All strategies run in turn, repeat after repeat,
and are compared within a repeat. Wall-clock seconds until all results are at the client.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.execute import dask
from tests.execute import functions
from tests.execute.stars import Link, star_of

REPEATS = 5
PREFETCH = 2
SELF_SCHEDULED = 64
MAPPED = (16, 64, 256)
SPEEDS = {"fast": {"w1": 330e-6, "w2": 220e-6, "w3": 140e-6}}
SPEEDS["slow"] = {"w1": 140e-6, "w2": 220e-6, "w3": 330e-6}
SPEEDS["quick"] = {"w1": 60e-6, "w2": 40e-6, "w3": 30e-6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A star like one of the measured ones: links, speeds behind them, and rows of 1000 bytes."""

    about: str
    rows: int
    speeds: str = "fast"
    delays: tuple[float, float, float] = (0.0, 0.0, 0.0)
    uplink: float | None = None


PLATFORMS = {
    "A": Platform(about="fast link, fast processor", rows=32_000),
    "B": Platform(about="fast link, slow processor", rows=32_000, speeds="slow"),
    "L": Platform(about="links the bottleneck, fast processors", rows=32_000, speeds="quick"),
    "S": Platform(about="as A, behind one link of 100 Mbit/s", rows=32_000, uplink=100.0),
    "P": Platform(about="as A, delays of 40, 20, 10 ms", rows=16_000, delays=(40.0, 20.0, 10.0)),
}


class Slept:
    """Sleep as long as the rows take on this worker; return their first column."""

    def __init__(self, speeds: dict[str, float]) -> None:
        self.speeds = speeds

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        from distributed import get_worker

        time.sleep(len(rows) * self.speeds[str(get_worker().name)])
        return np.array(rows[:, 0])


def split(data: np.ndarray, count: int) -> list[np.ndarray]:
    """Cut the rows into pieces of equal size."""
    return np.array_split(data, count)


def fresh_map(client: Any, function: Slept, data: np.ndarray) -> np.ndarray:
    """``map`` that measures the cluster first."""
    dask.forget(client)
    return known_map(client, function, data)


def known_map(client: Any, function: Slept, data: np.ndarray) -> np.ndarray:
    """``map`` on a cluster that was measured before."""
    result: np.ndarray = dask.map(function, data, client, batched=True, progress=False).results
    return result


def client_map(count: int) -> Callable[..., np.ndarray]:
    """``client.map`` over so many chunks, which Dask places itself."""

    def run(client: Any, function: Slept, data: np.ndarray) -> np.ndarray:
        futures = client.map(function, split(data, count), pure=False)
        return np.concatenate(client.gather(futures))

    return run


def equal_split(client: Any, function: Slept, data: np.ndarray) -> np.ndarray:
    """One chunk of the same size for every worker, scattered one after another."""
    workers = sorted(client.nthreads())
    futures = []
    for worker, piece in zip(workers, split(data, len(workers)), strict=True):
        held = client.scatter(piece, workers=[worker], direct=True, hash=False)
        futures.append(client.submit(function, held, workers=[worker], pure=False))
    return np.concatenate(client.gather(futures))


def self_scheduled(client: Any, function: Slept, data: np.ndarray) -> np.ndarray:
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
    "map, calibrated before": known_map,
    "map, with calibration": fresh_map,
    "equal split": equal_split,
    "self-scheduling, 64 chunks": self_scheduled,
    **{f"client.map, {count} chunks": client_map(count) for count in MAPPED},
}
OURS = tuple(STRATEGIES)[:2]


def measured(platform: Platform) -> dict[str, list[float]]:
    """Return the seconds of every strategy, repeat by repeat."""
    from distributed import Client

    links = [
        Link(rate=rate, delay=delay)
        for rate, delay in zip((50.0, 100.0, 200.0), platform.delays, strict=True)
    ]
    data = functions.rows(platform.rows)
    function = Slept(SPEEDS[platform.speeds])
    seconds: dict[str, list[float]] = {name: [] for name in STRATEGIES}
    with (
        star_of(links, uplink=platform.uplink) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(len(links))
        known_map(client, function, data)  # opens connections, and calibrates
        for _ in range(REPEATS):
            for name, strategy in STRATEGIES.items():
                start = time.perf_counter()
                found = strategy(client, function, data)
                seconds[name].append(time.perf_counter() - start)
                if not np.array_equal(found, data[:, 0]):
                    raise AssertionError(f"{name} lost something")
    return seconds


def compare(names: list[str]) -> None:
    """Measure platforms, and print a table: medians, and ratios paired by repeat."""
    table = Table(
        "dask_star",
        "Dask on stars: a planned map and what one would write without a plan",
        "Three workers behind links of 50, 100 and 200 Mbit/s (relays), computing by sleeping "
        "(330, 220 and 140 ns per byte; B the other way round; L 60, 40 and 30). "
        f"{REPEATS} repeats, strategies in "
        "turn. `seconds`: median until all results are at the client. `against map`: median over "
        "the repeats of its seconds divided by those of `map`, calibrated before, in the same "
        "repeat; above 1, `map` is faster. `map, with calibration` measures the cluster anew.",
        ("platform", "strategy", "seconds", "range", "against map"),
    )
    for name in names:
        platform = PLATFORMS[name]
        seconds = measured(platform)
        base = seconds[OURS[0]]
        for strategy, taken in seconds.items():
            paired = statistics.median(a / b for a, b in zip(taken, base, strict=True))
            table.add(
                f"{name}: {platform.about}",
                strategy,
                f"{statistics.median(taken):.2f}",
                f"{min(taken):.2f} to {max(taken):.2f}",
                f"{paired:.2f}×",
            )
    if names == list(PLATFORMS):
        table.write()


if __name__ == "__main__":
    compare([name for name in PLATFORMS if name in sys.argv[1:]] or list(PLATFORMS))
