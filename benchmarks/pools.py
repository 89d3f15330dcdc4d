"""``makespan.execute.map`` beside the map that each pool offers itself.

``python -m benchmarks.pools POOL... [--repeats N] [--write]`` runs pools of :data:`POOLS`, all
without names, and keeps what it measured in ``build/pools.json``; ``--write`` makes the page of all
that is kept. Four workers on this machine; computing is sleeping, so that two cores do for all.
A repeat has the pool's own map by default and in 1, 4, 16 and 64 chunks a worker, and a first and a
second call of ours, in turn from either end; ratios are within a repeat. MPI is started by
``mpiexec -n 5 python -m mpi4py.futures benchmarks/pools.py mpi``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table, keep, kept_in
from makespan import execute
from makespan.execute import dask
from tests.sources import python_path

WORKERS = 4
WORK = 4.0  # seconds of all items together
CHUNKS = 1, 4, 16, 64  # a worker
SLOW = 3.0  # times as long a slow worker takes
KEPT = Path("build") / "pools.json"
ISSUE = [1, 2, 1, 10, 3, 1, 4, 10, 1, 3, 2, 10]  # the list of Ray's issue 29453


class Naps:
    """Sleep for the seconds of an item, longer on the worker that gets hold of a token first."""

    def __init__(self, token: str = "", threads: bool = False) -> None:
        self.token, self.threads = token, threads

    def __call__(self, seconds: float) -> float:
        time.sleep(seconds * (SLOW if self.token and self._slow() else 1.0))
        return seconds

    def _slow(self) -> bool:
        worker = str(threading.get_ident() if self.threads else os.getpid())
        try:
            with open(self.token, "x") as token:
                token.write(worker)
        except FileExistsError:
            return Path(self.token).read_text() == worker
        return True


class Batch:
    """Apply a function to a list of items."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function = function

    def __call__(self, items: Sequence[float]) -> list[float]:
        return [self.function(item) for item in items]


def _shared(parts: np.ndarray) -> list[float]:
    return [float(part) for part in parts / parts.sum() * WORK]


SHAPES: dict[str, Callable[[], list[float]]] = {
    "alike": lambda: _shared(np.ones(400)),
    "lognormal (1.5)": lambda: _shared(np.random.default_rng(0).lognormal(0.0, 1.5, 400)),
    "growing": lambda: _shared(np.linspace(0.0, 1.0, 400) ** 2),
    "alike, one slow worker": lambda: _shared(np.ones(400)),
}

Own = Callable[[Callable[[float], float], Sequence[float], int], list[float]]
"""A pool's own map: the function, the items, and chunks a worker, 0 for its default."""


def _size(items: Sequence[float], chunks: int) -> int:
    return max(1, -(-len(items) // (WORKERS * chunks)))


def _executor_map(executor: Any) -> Own:
    def own(function: Any, items: Sequence[float], chunks: int) -> list[float]:
        size = {"chunksize": _size(items, chunks)} if chunks else {}
        return list(executor.map(function, items, **size))

    return own


def _pool_map(pool: Any) -> Own:
    def own(function: Any, items: Sequence[float], chunks: int) -> list[float]:
        return list(pool.map(function, items, _size(items, chunks) if chunks else None))

    return own


@contextmanager
def _threads() -> Iterator[tuple[Any, Own]]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(WORKERS) as executor:
        yield executor, _executor_map(executor)


@contextmanager
def _processes() -> Iterator[tuple[Any, Own]]:
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(WORKERS) as executor:
        yield executor, _executor_map(executor)


@contextmanager
def _local() -> Iterator[tuple[Any, Own]]:
    import multiprocessing

    with multiprocessing.Pool(WORKERS) as pool:
        yield WORKERS, _pool_map(pool)


@contextmanager
def _loky() -> Iterator[tuple[Any, Own]]:
    import loky

    executor = loky.ProcessPoolExecutor(WORKERS)
    try:
        yield executor, _executor_map(executor)
    finally:
        executor.shutdown(kill_workers=True)


@contextmanager
def _mpi() -> Iterator[tuple[Any, Own]]:
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        yield executor, _executor_map(executor)


@contextmanager
def _ray() -> Iterator[tuple[Any, Own]]:
    import ray
    from ray.util.multiprocessing import Pool

    ray.init(
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": python_path()}},
    )
    with Pool(WORKERS) as pool:
        yield "ray", _pool_map(pool)
    ray.shutdown()


@contextmanager
def _dask() -> Iterator[tuple[Any, Own]]:
    from distributed import Client, LocalCluster

    def own(function: Any, items: Sequence[float], chunks: int) -> list[float]:
        if not chunks:
            return list(client.gather(client.map(function, items, pure=False)))
        size = _size(items, chunks)
        parts = [items[low : low + size] for low in range(0, len(items), size)]
        found = client.gather(client.map(Batch(function), parts, pure=False))
        return [one for part in found for one in part]

    options: Any = {"dashboard_address": None, "memory_limit": 0, "silence_logs": 50}
    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client, own


POOLS: dict[str, tuple[str, Callable[[], Any]]] = {
    "threads": ("ThreadPoolExecutor.map", _threads),
    "processes": ("ProcessPoolExecutor.map", _processes),
    "local": ("multiprocessing.Pool.map", _local),
    "loky": ("loky's map", _loky),
    "mpi": ("MPIPoolExecutor.map", _mpi),
    "ray": ("ray.util.multiprocessing.Pool.map", _ray),
    "dask": ("client.map", _dask),
}


def measured(name: str, repeats: int) -> dict[str, list[dict[str, float]]]:
    """Return the seconds of each way, by shape, a mapping a repeat."""
    found: dict[str, list[dict[str, float]]] = {shape: [] for shape in SHAPES}
    with ExitStack() as held:
        folder = held.enter_context(tempfile.TemporaryDirectory())
        on, own = held.enter_context(POOLS[name][1]())
        own(Naps(), [0.01] * 4 * WORKERS, 0)  # imports
        execute.map(Naps(), [0.01] * 4 * WORKERS, on=on, progress=False)

        def ours(function: Any, items: Sequence[float]) -> list[float]:
            return list(execute.map(function, items, on=on, progress=False).results)

        for repeat in range(repeats):
            for shape, make in SHAPES.items():
                items, seconds = make(), {}
                ways = ["default", *map(str, CHUNKS[: None if name != "threads" else 0])]
                order = [*ways, "first", "second"]
                if repeat % 2:
                    order = ["first", "second", *ways[::-1]]
                for way in order:
                    slow = "slow" in shape
                    side = "own" if way not in ("first", "second") else "ours"
                    if name in ("local", "ray"):  # other processes in each call
                        side = way
                    token = str(Path(folder, f"{repeat}-{side}")) if slow else ""
                    if way == "first":
                        execute.forget()
                        if name == "dask":
                            dask.forget(on)
                    begun = time.perf_counter()
                    if way in ("first", "second"):
                        results = ours(Naps(token, name == "threads"), items)
                    else:
                        results = own(
                            Naps(token, name == "threads"),
                            items,
                            0 if way == "default" else int(way),
                        )
                    seconds[way] = time.perf_counter() - begun
                    assert results == items, f"{way}: other results"
                found[shape].append(seconds)
        if name == "ray":
            begun = time.perf_counter()
            execute.map(Naps(), ISSUE, on=on, expected=ISSUE, progress=False)
            took = {"second": time.perf_counter() - begun}
            begun = time.perf_counter()
            own(Naps(), ISSUE, len(ISSUE))
            found["the list of Ray's issue 29453, expected"] = [
                {"default": time.perf_counter() - begun, "first": took["second"], **took}
            ]
    return found


def _ratio(seconds: Sequence[dict[str, float]], way: str, others: Sequence[str]) -> str:
    ratios = [one[way] / min(one[other] for other in others if other in one) for one in seconds]
    return f"{statistics.median(ratios):.2f}× ({min(ratios):.2f} to {max(ratios):.2f})"


def page(kept: dict[str, dict[str, list[dict[str, float]]]]) -> Table:
    """Return the table of all that is kept."""
    table = Table(
        "pools",
        "execute.map beside the map that each pool offers",
        f"Four workers on this machine, 400 items that sleep {WORK:g} s together. Medians; a "
        "repeat has the pool's own map by default and in 1, 4, 16 and 64 chunks a worker, of which "
        "the best of the repeat counts (threads have no chunks), a `first` call of `execute.map` "
        "that knows nothing, and a `second`. Ratios: median (range) within a repeat; below 1 "
        "`execute.map` is faster. A slow worker takes three times as long. Pools are warm; `local` "
        "starts its processes in each call. The list of the issue are 12 items of 1 to 10 s, whose "
        "bound is 12 s, with `expected=`. All results are equal.",
        (
            *("pool", "its own map", "items", "repeats", "default, s", "best, s", "first, s"),
            *("second, s", "first / default", "second / default", "second / best"),
        ),
        clock="wall-clock time",
    )
    for name, (own, _) in POOLS.items():
        for shape, seconds in kept.get(name, {}).items():
            ways = [way for way in seconds[0] if way not in ("first", "second")]
            median = {way: statistics.median(one[way] for one in seconds) for way in seconds[0]}
            best = statistics.median(min(one[way] for way in ways) for one in seconds)
            table.add(
                *(name, own, shape, len(seconds), f"{median['default']:.2f}", f"{best:.2f}"),
                *(f"{median['first']:.2f}", f"{median['second']:.2f}"),
                *(_ratio(seconds, way, ["default"]) for way in ("first", "second")),
                _ratio(seconds, "second", ways),
            )
    return table


def main() -> None:
    """Run the pools that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pools", nargs="*", metavar="POOL", help=", ".join(POOLS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if unknown := {*asked.pools} - {*POOLS}:
        parser.error(f"POOL: {', '.join(unknown)} is none of {', '.join(POOLS)}")
    kept = kept_in(KEPT)
    for name in asked.pools or ([] if asked.write else POOLS):
        kept[name] = measured(name, asked.repeats)
        keep(KEPT, kept)
    table = page(kept)
    if asked.write:
        table.write()


if __name__ == "__main__":
    main()
