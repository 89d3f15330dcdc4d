"""``makespan.execute.map`` with many items, and with large ones.

``python -m benchmarks.pools_many POOL... [--write]`` runs pools of :mod:`benchmarks.pools`, all but
MPI without names, and keeps what it measured in ``build/pools_many.json``. MPI is started by
``mpiexec -n 5 python -m mpi4py.futures benchmarks/pools_many.py mpi``.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.pools import POOLS
from benchmarks.table import Table, keep, kept_in
from makespan import execute

SMALL, LARGE = 1_000_000, 10_000  # items
BYTES = 1_000_000  # of a large item
KEPT = Path("build") / "pools_many.json"


def resident() -> int:
    """Return the bytes that this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@contextmanager
def most_resident() -> Iterator[list[int]]:
    """Give a list that holds, after the block, the most bytes that came on top meanwhile."""
    ended, before, found = threading.Event(), resident(), [0]

    def look() -> None:
        while not ended.wait(0.02):
            found[0] = max(found[0], resident() - before)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def large() -> Iterator[bytes]:
    """Yield large items one by one, so that nobody but the map holds them."""
    for number in range(LARGE):
        yield number.to_bytes(4, "little") + bytes(BYTES - 4)


def measured(name: str) -> dict[str, float]:
    """Return the seconds of each map, and the bytes that the client held."""
    with POOLS[name][1]() as (on, _):
        execute.map(abs, range(100), on=on, progress=False)
        found = {}
        for call in ("first", "second"):
            begun = time.perf_counter()
            done = execute.map(abs, range(-SMALL, 0), on=on, progress=False)
            found[call] = time.perf_counter() - begun
            assert done.results[:2] == [SMALL, SMALL - 1]
            del done
        begun = time.perf_counter()
        with most_resident() as most:
            sizes = sum(execute.imap(len, large(), on=on, progress=False))
        found["large"] = time.perf_counter() - begun
        assert sizes == LARGE * BYTES
        return {**found, "bytes": float(most[0])}


def main() -> None:
    """Run the pools that are asked for; print and write the table of all that is kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pools", nargs="*", metavar="POOL", help=", ".join(POOLS))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    kept = kept_in(KEPT)
    for name in asked.pools or ([] if asked.write else [each for each in POOLS if each != "mpi"]):
        kept[name] = measured(name)
        print(name, kept[name], flush=True)
        keep(KEPT, kept)
    table = Table(
        "pools_many",
        "execute.map with many items, and with large ones",
        f"Four workers on this machine. `abs` of {SMALL:,} numbers by `execute.map`, in "
        f"all; and `len` of {LARGE:,} items of {BYTES // 1_000_000} MB that an iterator makes, by "
        "`execute.imap`, with the memory that the caller's process had on top at most.",
        (
            *("pool", "many items, first call, s", "second, s"),
            *("large items, s", "memory of the client, MB"),
        ),
        clock="wall-clock time",
    )
    for name in POOLS:
        if name in kept:
            row = kept[name]
            seconds = (f"{row[each]:.2f}" for each in ("first", "second", "large"))
            table.add(name, *seconds, f"{row['bytes'] / 1e6:.0f}")
    if asked.write:
        table.write()


if __name__ == "__main__":
    main()
