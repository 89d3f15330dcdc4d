"""``makespan.execute.dask.map`` beside ``client.map`` on items of many shapes.

``python -m benchmarks.dask_shapes [SHAPE]... [--repeats N] [--write]`` runs some of the shapes of
:data:`SHAPES`, all without names. Scheduler and workers are processes of ``LocalCluster`` on this
machine; computing is sleeping, so that two cores do for all. Wall-clock seconds until all results
are at the client. A repeat has one call of ``client.map``, a first call of ``dask.map`` (all that
it learnt is forgotten), and a later one, in turn from either end; ratios are within a repeat.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.execute import dask

WORK = 8.0  # seconds of all items together, where they differ at random
SETTLED = 0.2  # seconds between calls, in which a cluster forgets results


class Naps:
    """Sleep for the seconds of an item; return its place."""

    def __call__(self, item: tuple[int, float]) -> int:
        time.sleep(item[1])
        return item[0]


class Spins:
    """Compute for some microseconds; return the item."""

    def __call__(self, item: int) -> int:
        until = time.perf_counter() + 20e-6
        while time.perf_counter() < until:
            pass
        return item


class Makes:
    """Sleep, and return an array of 5 MB."""

    def __call__(self, item: int) -> np.ndarray:
        time.sleep(0.05)
        return np.full(5_000_000 // 8, float(item))


class Takes:
    """Sleep, and return the first number of an array of 2 MB."""

    def __call__(self, item: np.ndarray) -> float:
        time.sleep(0.05)
        return float(item[0])


@dataclass(frozen=True)
class Shape:
    """Items, the function, and the cluster that they are mapped on.

    Parameters
    ----------
    items
        What makes the items; ``shuffled`` orders them anew in each repeat.
    function
        What each is given to.
    workers, threads
        Of the cluster.
    adapt
        The fewest and most workers of an adaptive cluster, instead of ``workers``.
    """

    items: Callable[[], Sequence[Any]]
    function: Callable[[Any], Any] = field(default_factory=Naps)
    workers: int = 4
    threads: int = 1
    adapt: tuple[int, int] | None = None
    shuffled: bool = False

    def items_of(self, repeat: int) -> Sequence[Any]:
        """Return the items of a repeat."""
        items = self.items()
        if not self.shuffled:
            return items
        order = np.random.default_rng(repeat).permutation(len(items))
        return _naps([items[place][1] for place in order])


def _naps(*seconds: Any) -> Sequence[tuple[int, float]]:
    """Return items with the seconds that they sleep."""
    return list(enumerate(map(float, np.concatenate([np.atleast_1d(s) for s in seconds]))))


def _shared(parts: np.ndarray, most: float = np.inf) -> Sequence[tuple[int, float]]:
    """Return items that sleep for :data:`WORK` seconds in these shares, each for ``most``."""
    return _naps(np.minimum(parts / parts.sum() * WORK, most))


def _lognormal(sigma: float, items: int, most: float = np.inf) -> Sequence[tuple[int, float]]:
    return _shared(np.random.default_rng(0).lognormal(0.0, sigma, items), most)


GROWING = np.linspace(0.0, 1.0, 400) ** 2
SHAPES: dict[str, Shape] = {
    "lognormal (1.5), 400 items": Shape(lambda: _lognormal(1.5, 400)),
    "lognormal (2.5), 300 items of at most 1.2 s": Shape(lambda: _lognormal(2.5, 300, 1.2)),
    "growing, 400 items": Shape(lambda: _shared(GROWING)),
    "shrinking, 400 items": Shape(lambda: _shared(GROWING[::-1])),
    "400 of 5 ms, then 12 of 0.5 s": Shape(lambda: _naps([0.005] * 400, [0.5] * 12)),
    "400 of 5 ms and 12 of 0.5 s, shuffled": Shape(
        lambda: _naps([0.005] * 400, [0.5] * 12), shuffled=True
    ),
    "2000 of 1 ms, then 8 of 0.5 s": Shape(lambda: _naps([0.001] * 2000, [0.5] * 8)),
    "1000 of 2 ms, one of 2 s in the middle": Shape(
        lambda: _naps([0.002] * 500, 2.0, [0.002] * 499)
    ),
    "200 of 20 ms, the last of 1 s": Shape(lambda: _naps([0.02] * 199, 1.0)),
    "8 of 10 ms": Shape(lambda: _naps([0.01] * 8)),
    "20 of 10 ms": Shape(lambda: _naps([0.01] * 20)),
    "1 of 0.2 s": Shape(lambda: _naps(0.2)),
    "5 of 1 s": Shape(lambda: _naps([1.0] * 5)),
    "5000 of 20 µs, computing": Shape(lambda: range(5000), Spins()),
    "60 results of 5 MB": Shape(lambda: range(60), Makes()),
    "60 arrays of 2 MB": Shape(lambda: list(np.ones((60, 250_000))), Takes()),
    "2 workers of 4 threads, 400 of 50 ms": Shape(
        lambda: _naps([0.05] * 400), workers=2, threads=4
    ),
    "2 workers of 4 threads, lognormal (1.5), 400 items": Shape(
        lambda: _shared(np.random.default_rng(0).lognormal(0.0, 1.5, 400) * 2.5),
        workers=2,
        threads=4,
    ),
    "adapt(1, 4), 400 of 50 ms": Shape(lambda: _naps([0.05] * 400), adapt=(1, 4)),
    "adapt(0, 4), 300 of 50 ms": Shape(lambda: _naps([0.05] * 300), adapt=(0, 4)),
}


def _cluster(shape: Shape) -> AbstractContextManager[Any]:
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=shape.workers if shape.adapt is None else shape.adapt[0],
        threads_per_worker=shape.threads,
        dashboard_address=None,
        memory_limit=0,
        silence_logs=50,
    )
    if shape.adapt is not None:
        cluster.adapt(minimum=shape.adapt[0], maximum=shape.adapt[1])
    return cluster  # type: ignore[no-any-return]


def _mapped(client: Any, shape: Shape, items: Sequence[Any]) -> list[Any]:
    return list(dask.map(shape.function, items, client, progress=False).results)


def _first(client: Any, shape: Shape, items: Sequence[Any]) -> list[Any]:
    dask.forget(client)
    return _mapped(client, shape, items)


def _dask(client: Any, shape: Shape, items: Sequence[Any]) -> list[Any]:
    return client.gather(client.map(shape.function, items, pure=False))  # type: ignore[no-any-return]


WAYS: dict[str, Callable[[Any, Shape, Sequence[Any]], list[Any]]] = {
    "dask": _dask,
    "first": _first,
    "later": _mapped,
}


def measured(shape: Shape, repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each way, a number a repeat."""
    from distributed import Client

    seconds: dict[str, list[float]] = {way: [] for way in WAYS}

    def timed(client: Any, way: str, items: Sequence[Any]) -> Any:
        started = time.perf_counter()
        found = WAYS[way](client, shape, items)
        return time.perf_counter() - started, found

    for repeat in range(repeats):
        order = ("dask", "first", "later") if repeat % 2 == 0 else ("first", "later", "dask")
        found, items = {}, shape.items_of(repeat)
        if shape.adapt is None:
            with _cluster(shape) as cluster, Client(cluster, set_as_default=False) as client:
                client.gather(client.map(abs, range(20), pure=False))  # imports
                for way in order:
                    taken, found[way] = timed(client, way, items)
                    seconds[way].append(taken)
                    time.sleep(SETTLED)
        else:  # a cluster that has grown tells nothing of one that has to: each way has its own
            for way in order:
                with _cluster(shape) as cluster, Client(cluster, set_as_default=False) as client:
                    taken, found[way] = timed(client, way, items)
                    seconds[way].append(taken)
        for way in order:
            same = np.array_equal(np.asarray(found[way]), np.asarray(found["dask"]))
            assert same, f"{way}: other results"
    return seconds


def _ratio(ours: list[float], other: list[float]) -> str:
    ratios = [one / two for one, two in zip(ours, other, strict=True)]
    return f"{statistics.median(ratios):.2f}× ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    """Run the shapes that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="a part of its name")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table(
        "dask_shapes",
        "dask.map beside client.map: items of many shapes",
        "Processes on this machine, four workers of one thread where nothing else is said, items "
        f"that sleep where nothing else is said. Medians of {asked.repeats} repeats; a repeat has "
        "a call of `client.map` with `gather`, the `first` call of `dask.map` after "
        "`dask.forget`, and a `later` one. Ratios: median (range) of ratios within a repeat; below "
        "1 `dask.map` is faster. All results are equal.",
        ("items", "client.map, s", "first, s", "later, s", "first / Dask", "later / Dask"),
        clock="wall-clock time",
    )
    for name, shape in SHAPES.items():
        if asked.shapes and not any(part in name for part in asked.shapes):
            continue
        seconds = measured(shape, asked.repeats)
        table.add(
            name,
            *(f"{statistics.median(seconds[way]):.2f}" for way in WAYS),
            *(_ratio(seconds[way], seconds["dask"]) for way in ("first", "later")),
        )
    if asked.write:
        table.write()


if __name__ == "__main__":
    main()
