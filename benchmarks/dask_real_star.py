"""The strategies of ``benchmarks.dask_star`` over real links, with processors that really compute.

``python -m benchmarks.dask_real_star [A] [B] [S]`` runs some platforms, all without names; as root
only: every worker has a network namespace behind a token bucket, and a control group that gives it
a share of a core. All strategies run in turn, repeat after repeat, and are compared within a
repeat. Wall-clock seconds until all results are at the client.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass

import numpy as np

from benchmarks.dask_strategies import fill, in_turn
from benchmarks.table import Table
from makespan import Star
from makespan.execute import dask
from tests.execute import functions
from tests.execute.namespaces import (
    NETWORK,
    PORT,
    run_inside,
    star_of_namespaces,
    throttling_possible,
)

REPEATS = 3
ROWS = 32_000
RATES = (50.0, 100.0, 200.0)
BYTES_OF_A_ROW = 1000
SELF = "benchmarks.dask_real_star"


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Shares of a core behind the links of 50, 100 and 200 Mbit/s, and the link of the master."""

    about: str
    shares: tuple[float, float, float]
    uplink: float | None = None


PLATFORMS = {
    "A": Platform(about="fast link, fast processor", shares=(0.2, 0.3, 0.5)),
    "B": Platform(about="fast link, slow processor", shares=(0.5, 0.3, 0.2)),
    "S": Platform(about="as A, behind one link of 100 Mbit/s", shares=(0.2, 0.3, 0.5), uplink=100),
}


def packed(rows: np.ndarray) -> np.ndarray:
    """Compress each row as well as can be; return the checksums. About 60 µs a row on one core."""
    return np.array([zlib.crc32(zlib.compress(row.tobytes() * 3, 9)) for row in rows])


def print_inside(uplink: float | None) -> None:
    """Measure all strategies, as a client in the master's namespace, and print what was found."""
    from distributed import Client

    data = functions.rows(ROWS)
    with Client(f"tcp://{NETWORK}.1:{PORT}", set_as_default=False) as client:
        client.wait_for_workers(len(RATES))
        execution = dask.map(packed, data, client, batched=True, progress=False)
        assert execution.platform is not None
        seconds = in_turn(client, packed, data, packed(data), REPEATS)
    found = {"seconds": seconds, "bound": bound(execution.platform, uplink)}
    print(json.dumps(found))


def bound(platform: Star, uplink: float | None) -> float:
    """Return the seconds that no strategy can beat: rows over what links and processors take."""
    links = [_rows_per_second(rate) for rate in RATES]
    speeds = 1.0 / platform.compute_per_unit
    most = sum(min(pair) for pair in zip(links, speeds, strict=True))
    return ROWS / float(most if uplink is None else min(most, _rows_per_second(uplink)))


def _rows_per_second(megabits: float) -> float:
    return megabits * 1e6 / 8 / BYTES_OF_A_ROW


def compare(names: list[str]) -> None:
    """Measure platforms, and print a table: medians, and ratios paired by repeat."""
    table = Table(
        "dask_real_star",
        "Dask over real links: a planned map and what one would write without a plan",
        "Three workers in network namespaces behind token buckets of 50, 100 and 200 Mbit/s, "
        "with 20, 30 and 50 % of a core (B the other way round), that compress "
        f"{ROWS * BYTES_OF_A_ROW // 1_000_000} MB. {REPEATS} repeats, strategies in turn. "
        "`seconds`: median until all results are at the client. `against map`: median over the "
        "repeats of its seconds divided by those of `map`, on a known cluster, in the same "
        "repeat; above 1, `map` is faster. `bound`: the bytes divided by what links and measured "
        "processors can take at most; no strategy can be faster.",
        ("platform", "strategy", "seconds", "range", "against map"),
        clock="wall-clock time",
    )
    for name in names:
        platform = PLATFORMS[name]
        with star_of_namespaces(RATES, uplink=platform.uplink, shares=platform.shares) as master:
            script = f"import {SELF}; {SELF}.print_inside({platform.uplink})"
            found = json.loads(run_inside(master, "-c", script))
        about = f"{name}: {platform.about}"
        fill(table, about, found["seconds"])
        table.add(about, "bound", f"{found['bound']:.2f}", "", "")
    if names == list(PLATFORMS):
        table.write()


if __name__ == "__main__":
    if not throttling_possible():
        sys.exit("needs root, ip, tc, and control groups of version 1")
    else:
        compare([name for name in PLATFORMS if name in sys.argv[1:]] or list(PLATFORMS))
