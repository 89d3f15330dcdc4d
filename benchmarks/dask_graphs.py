"""``makespan.execute.dask.compute`` beside Dask's own scheduling, on twelve collections.

``python -m benchmarks.dask_graphs fast|slow [COLLECTION]...`` runs some of them, all without names,
and adds their rows to the table. Real scheduler and worker processes on this machine; ``slow``:
behind relays that imitate links. Dask, ours, and Dask again run in turn, repeat after repeat, and
are compared within a repeat. Wall-clock seconds until the results are at the client.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.execute import dask
from tests.execute.stars import Link, star_of

FIRST = LATER = 12  # calls of graphs that nobody has seen, and calls of one that was seen
SLOW = (50.0, 100.0, 200.0)  # Mbit/s
SIDE, CHUNK = 1500, 500
KEPT = Path(tempfile.gettempdir(), "makespan_dask_graphs.json")


def _array(seed: int) -> Any:
    import dask.array as da

    return da.random.default_rng(seed).random((SIDE, SIDE), chunks=CHUNK)


def _svd(seed: int) -> Any:
    import dask.array as da

    tall = da.random.default_rng(seed).random((6 * CHUNK, 100), chunks=(CHUNK, 100))
    return da.linalg.svd(tall)[1]


def _tree(leaves: int, seed: int, seconds: float) -> Any:
    from dask import delayed

    def add(*values: float) -> float:
        time.sleep(seconds)
        return sum(values)

    level = [delayed(add)(seed + leaf) for leaf in range(leaves)]
    while len(level) > 1:
        level = [delayed(add)(*level[i : i + 2]) for i in range(0, len(level), 2)]
    return level[0]


def _foldby(seed: int) -> Any:
    import dask.bag as db

    numbers = db.from_sequence(range(seed, seed + 60_000), npartitions=9)
    return numbers.foldby(lambda x: x % 5, lambda total, x: total + x, 0, lambda a, b: a + b, 0)


def _table_of(seed: int) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    drawn = np.random.default_rng(seed).random(200_000)
    numbers = np.arange(len(drawn))
    return dd.from_pandas(pd.DataFrame({"k": numbers % 97, "v": drawn}), npartitions=12)


def _merged(seed: int) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    small = pd.DataFrame({"k": np.arange(97), "w": np.arange(97) * 2.0})
    merged = _table_of(seed).merge(dd.from_pandas(small, npartitions=2), on="k")
    return merged.groupby("k").w.mean()


def _anomaly(seed: int) -> Any:
    import pandas as pd
    import xarray as xr

    days = pd.date_range("2000-01-01", periods=120)
    drawn = np.random.default_rng(seed).random((len(days), 200))
    weather = xr.DataArray(drawn, {"time": days}, ("time", "x")).chunk({"time": 30})
    by_season = weather.groupby("time.season")
    return (by_season - by_season.mean("time")).mean("x")


COLLECTIONS: dict[str, Callable[[int], Any]] = {
    "(x + x.T).mean()": lambda seed: (_array(seed) + _array(seed).T).mean(),
    "(x + x.T).sum(0)": lambda seed: (_array(seed) + _array(seed).T).sum(0),
    "x @ y": lambda seed: (_array(seed) @ _array(seed + 1000)).sum(),
    "svd": _svd,
    "rechunk": lambda seed: _array(seed).rechunk((SIDE, 100), method="tasks").sum(0),
    "overlap": lambda seed: _array(seed).map_overlap(lambda block: block * 2, depth=50).sum(),
    "tree of 511 tiny tasks": lambda seed: _tree(256, seed, 0.0),
    "tree of 48 tasks of 50 ms": lambda seed: _tree(24, seed, 0.05),
    "foldby": _foldby,
    "dataframe groupby": lambda seed: _table_of(seed).groupby("k").v.sum(),
    "dataframe merge": _merged,
    "xarray anomaly": _anomaly,
}


def _taken(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = call()
    taken = time.perf_counter() - start
    time.sleep(0.1)  # until everything is released
    return taken, answer


def compared(make: Callable[[int], Any], client: Any) -> list[Any]:
    """Return Dask's median seconds, medians of ratios to them, and what the last call did.

    The ratios: ours at first and later, and Dask's own to itself.
    """
    own: list[float] = []
    ratios: dict[str, list[float]] = {"first": [], "later": [], "again": []}
    client.compute(make(0)).result()  # workers have imported what it needs
    orders = list(permutations(range(3)))
    for repeat in range(FIRST + LATER):
        is_first = repeat < FIRST
        if is_first:
            dask.forget(client)
        collection = make(repeat + 1 if is_first else 100)
        calls: list[Callable[[], Any]] = [
            lambda: client.compute(collection).result(),  # noqa: B023
            lambda: dask.compute(collection, client, progress=False),  # noqa: B023
        ]
        answers = {each: _taken(calls[each % 2]) for each in orders[repeat % len(orders)]}
        (plain, expected), (ours, execution), (again, _) = (answers[each] for each in range(3))
        assert _equal(execution.results, expected)
        own.append(plain)
        ratios["first" if is_first else "later"].append(ours / plain)
        ratios["again"].append(again / plain)
    said = execution.events[0].partition(":")[0].partition(" in ")[0]
    return [statistics.median(own), *(statistics.median(each) for each in ratios.values()), said]


def _equal(one: Any, other: Any) -> bool:
    if hasattr(one, "__array__"):  # of pandas and xarray, too
        return bool(np.allclose(np.asarray(one), np.asarray(other), rtol=1e-9))
    return bool(one == other)


def main(links: str, names: list[str]) -> None:
    """Measure collections; write the table once all of both links are there."""
    from distributed import Client

    rates = [Link(rate=rate) for rate in SLOW] if links == "slow" else [Link()] * 3
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with (
        star_of(rates) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(len(rates))
        for name in names or COLLECTIONS:
            found[f"{links} {name}"] = compared(COLLECTIONS[name], client)
            print(links, name, found[f"{links} {name}"], flush=True)
            KEPT.write_text(json.dumps(found))
    if len(found) == 2 * len(COLLECTIONS):
        _table(found).write()


def _table(found: dict[str, list[Any]]) -> Table:
    table = Table(
        "dask_graphs",
        "Task graphs on Dask: as `dask.compute` runs them, and as Dask does",
        "Three workers, on fast links and behind links of 50, 100 and 200 Mbit/s (relays). "
        "`first`: a graph that was not seen before, on a cluster of which all was forgotten, "
        f"{FIRST} times; `later`: one that was, {LATER} calls. What is learnt and planned after "
        "results were handed back counts only as far as the next call waits for it. Medians "
        "over repeats of the seconds of `dask.compute` divided "
        "by those of `client.compute(...).result()` in the same repeat: below 1 `dask.compute` is "
        "faster. `again`: `client.compute(...).result()` divided by itself so, which shows what "
        "the machine's noise makes of equal things. `in the end`: what the last call did. All "
        "results are equal.",
        ("links", "collection", "Dask, s", "first", "later", "again", "in the end"),
        clock="wall-clock time",
    )
    for links in ("fast", "slow"):
        for name in COLLECTIONS:
            seconds, *ratios, said = found[f"{links} {name}"]
            shown = (f"{ratio:.2f}×" for ratio in ratios)
            table.add(links, name, f"{seconds:.2f}", *shown, said)
    return table


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
