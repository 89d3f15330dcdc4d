"""``makespan.execute.dask.map`` beside ``client.map``: first calls, later ones, changing workers.

``python -m benchmarks.dask_map [CASE]... [--repeats N] [--write]`` runs some of the cases of
:data:`CASES`, all without names, and prints what each took beside what it should take at most.
Real scheduler and worker processes on this machine, behind relays where links are slow; computing
is calibrated sleeping, so that few cores do for all. Wall-clock seconds until all results are at
the client; every strategy is run in turn, repeat after repeat, and compared within a repeat.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.execute import dask
from tests.execute import functions
from tests.execute.stars import Cluster, Link, star_of

FAST = [Link(), Link(), Link()]
SLOW = [Link(rate=50), Link(rate=100), Link(rate=200)]
ROWS = 90_000  # of a job of six seconds
SPEEDS = functions.SECONDS_PER_ITEM
CHUNKS = (16, 64, 256)
FIRST_CALLS = (
    (2, 0.002, 4000), (2, 0.02, 400), (2, 0.2, 40),
    (3, 0.002, 6000), (3, 0.02, 600), (3, 0.2, 60),
    (8, 0.02, 1600), (8, 0.2, 160),
    (16, 0.02, 3200), (16, 0.2, 320),
    (32, 0.05, 2560), (32, 0.2, 640),
)  # workers, seconds of an item, items: jobs of four seconds  # fmt: skip
CHANGE_AT = 0.4  # of a job, as it would be without the change

Case = Callable[[Table, int], None]


class Nap:
    """Sleep for each item; return its square."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, item: int) -> int:
        time.sleep(self.seconds)
        return item * item


class Changing:
    """Sleep as long as the rows take on this worker, from a moment on ``slower`` times as long."""

    def __init__(self, moment: float = float("inf"), **slower: float) -> None:
        self.moment, self.slower = moment, slower

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        from distributed import get_worker

        name = str(get_worker().name)
        left = len(rows) * SPEEDS.get(name, 500e-6)
        before = min(left, max(0.0, self.moment - time.time()))
        time.sleep(before + (left - before) * self.slower.get(name, 1.0))
        return np.array(rows[:, 0])


@contextmanager
def connected(links: Sequence[Link]) -> Iterator[tuple[Cluster, Any]]:
    """Give a new star and a client of it."""
    from distributed import Client

    with (
        star_of(links) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(len(links))
        yield cluster, client


def timed(expected: Any, work: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    """Return the seconds of a call whose result is checked."""
    start = time.perf_counter()
    found = work(*arguments, **options)
    seconds = time.perf_counter() - start
    assert np.array_equal(found, expected), "something is lost"
    return seconds


def mapped(client: Any, function: Any, data: Any, **options: Any) -> Any:
    return dask.map(function, data, client, progress=False, **options).results


def singly(client: Any, function: Any, data: Any, **options: Any) -> Any:
    return client.gather(client.map(function, data, pure=False, **options))


def chunked(client: Any, function: Any, data: Any, count: int, **options: Any) -> Any:
    futures = client.map(function, np.array_split(data, count), pure=False, **options)
    return np.concatenate(client.gather(futures))


def add(
    table: Table, case: str, ours: list[float], other: list[float], rival: str, at_most: str
) -> None:
    ratios = [one / two for one, two in zip(ours, other, strict=True)]
    table.add(
        case,
        f"{statistics.median(ours):.2f}",
        f"{statistics.median(other):.2f}",
        rival,
        f"{statistics.median(ratios):.2f}× ({min(ratios):.2f} to {max(ratios):.2f})",
        at_most,
    )


def first(table: Table, repeats: int) -> None:
    """The first call on a new cluster, and ``client.map`` item by item on another."""
    for count, seconds, items in FIRST_CALLS:
        data, function = list(range(items)), Nap(seconds)
        right = [item * item for item in data]
        ours, other = [], []
        for _ in range(repeats):
            with connected([Link()] * count) as (_, client):
                ours.append(timed(right, mapped, client, function, data))
            with connected([Link()] * count) as (_, client):
                other.append(timed(right, singly, client, function, data))
        name = f"first call, {count} workers, {items} items of {seconds * 1e3:g} ms"
        add(table, name, ours, other, "client.map", "1.05")


def second(table: Table, repeats: int) -> None:
    """Calls on a known cluster, and the best of ``client.map`` over 16, 64 and 256 chunks."""
    data = functions.rows(ROWS // 2)
    right, function = data[:, 0], Changing()
    for about, links in (("fast links", FAST), ("50, 100, 200 Mbit/s", SLOW)):
        with connected(links) as (_, client):
            mapped(client, function, data, batched=True)
            ours, other = [], []
            for _ in range(repeats):
                ours.append(timed(right, mapped, client, function, data, batched=True))
                rivals = [timed(right, chunked, client, function, data, n) for n in CHUNKS]
                other.append(min(rivals))
            bytes_a_second = [link.rate * 1e6 / 8 for link in links]
            rates = zip(bytes_a_second, SPEEDS.values(), strict=True)
            bound = len(data) / sum(min(rate / 1000, 1 / speed) for rate, speed in rates)
        add(table, f"second call, {about}", ours, other, "best of client.map", "1.05")
        add(table, f"second call, {about}", ours, [bound] * repeats, "bound", "1.12")


def _ideal(moment: float, before: float, after: float) -> float:
    """Return when all rows are done, at so many a second until the moment, and then others."""
    return moment + max(0.0, ROWS - moment * before) / after


def change(table: Table, repeats: int) -> None:
    """A worker three times as slow from 40 % on, one that stops, one that dies, one that joins."""
    data = functions.rows(ROWS)
    right, rates = data[:, 0], {name: 1 / seconds for name, seconds in SPEEDS.items()}
    whole = sum(rates.values())
    moment = CHANGE_AT * ROWS / whole
    for about, links in (("fast links", FAST), ("50, 100, 200 Mbit/s", SLOW)):
        ours, ideal, rival = [], [], []
        with connected(links) as (_, client):
            mapped(client, Changing(), data[:5000], batched=True)
            steady = [
                timed(right, mapped, client, Changing(), data, batched=True) for _ in range(repeats)
            ]
            for _ in range(repeats):
                function = Changing(time.time() + moment, w3=3.0)
                ours.append(timed(right, mapped, client, function, data, batched=True))
                ideal.append(_ideal(moment, whole, whole - rates["w3"] * 2 / 3))
                function = Changing(time.time() + moment, w3=3.0)
                rival.append(timed(right, chunked, client, function, data, 64))
        add(table, f"steady, {about}", steady, [ROWS / whole] * repeats, "bound", "")
        add(table, f"w3 three times as slow, {about}", ours, ideal, "ideal", "1.15")
        add(table, f"w3 three times as slow, {about}", rival, ideal, "client.map by ideal", "")
    for what in ("stops", "dies", "joins"):
        ours, ideal = [], []
        for _ in range(repeats):
            with connected(FAST) as (cluster, client):
                mapped(client, Changing(), data[:5000], batched=True)
                seconds, end = _struck(cluster, client, what, data, moment, whole, rates)
                ours.append(seconds)
                ideal.append(end)
        add(table, f"a worker {what}", ours, ideal, "ideal", "1.15")


def _struck(
    cluster: Cluster,
    client: Any,
    what: str,
    data: np.ndarray,
    moment: float,
    whole: float,
    rates: dict[str, float],
) -> tuple[float, float]:
    """Return the seconds of a job that a worker is stopped, killed or started in, and the ideal."""
    process, joined = cluster.workers["w3"], []
    began = time.time()

    def strike() -> None:
        if what == "stops":
            process.send_signal(signal.SIGSTOP)
        elif what == "dies":
            cluster.kill("w3")
        else:
            while len(client.scheduler_info(n_workers=-1)["workers"]) < len(FAST) + 1:
                time.sleep(0.02)
            joined.append(time.time() - began)

    timer = threading.Timer(0.0 if what == "joins" else moment, strike)
    if what == "joins":
        cluster.add("w4")
    timer.start()
    seconds = timed(data[:, 0], mapped, client, Changing(), data, batched=True)
    timer.join()
    if what == "stops":
        process.send_signal(signal.SIGCONT)
    if what == "joins":
        return seconds, _ideal(joined[0], whole, whole + 1 / 500e-6)
    return seconds, _ideal(moment, whole, whole - rates["w3"])


def ints(table: Table, repeats: int) -> None:
    """A million of them, on a new cluster and again."""
    data = list(range(10**6))
    right = np.array(data) ** 2
    ours, again = [], []
    for _ in range(repeats):
        with connected(FAST) as (_, client):
            ours.append(timed(right, mapped, client, functions.squared, data))
            again.append(timed(right, mapped, client, functions.squared, data))
    add(table, "10^6 ints, first call", ours, [2.0] * repeats, "2 s", "1.0")
    add(table, "10^6 ints, second call", again, [2.0] * repeats, "2 s", "1.0")


def resources(table: Table, repeats: int) -> None:
    """Restricted by resources, which keeps Dask from queuing."""
    items, function = list(range(6000)), Nap(0.002)
    right = [item * item for item in items]
    ours, other = [], []
    for _ in range(repeats):
        with connected(FAST) as (_, client):
            client.run(_give)
            time.sleep(0.5)
            needs: dict[str, Any] = {"resources": {"GPU": 1}}
            ours.append(timed(right, mapped, client, function, items, **needs))
            other.append(timed(right, singly, client, function, items, **needs))
    add(table, "restricted by resources", ours, other, "client.map", "0.71")


async def _give(dask_worker: Any) -> None:
    await dask_worker.set_resources(GPU=1)


CASES: dict[str, Case] = {
    "first": first,
    "second": second,
    "change": change,
    "ints": ints,
    "resources": resources,
}


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", choices=[[], *CASES])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table(
        "dask_map",
        "dask.map beside client.map: first calls, second calls, workers that change",
        "Processes on this machine, computing by sleeping; where nothing else is said, three "
        "workers whose items of 1000 bytes take 330, 220 and 140 µs. Medians of "
        f"{asked.repeats} repeats, strategies in turn; `ratio`: median (range) of ratios within a "
        "repeat; `at most`: what is aimed at. `bound`: what links and processors can take; "
        "`ideal`: all workers busy to the end at the speeds that they have.",
        ("case", "map, s", "other, s", "other", "ratio", "at most"),
        clock="wall-clock time",
    )
    for name in asked.cases or CASES:
        CASES[name](table, asked.repeats)
    if asked.write:
        table.write()


if __name__ == "__main__":
    main()
