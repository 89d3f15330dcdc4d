"""``makespan.execute.dask.map`` beside what a Dask user would write, on stars of slow links.

``python -m benchmarks.dask_star [A] [B] [L] [R] [S] [P]`` runs some platforms, all without names.
Real scheduler and worker processes on this machine, behind relays that imitate links; computing is
calibrated sleeping, so that two cores do for all. All strategies run in turn, repeat after repeat,
and are compared within a repeat. Wall-clock seconds until all results are at the client.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

from benchmarks.dask_strategies import fill, in_turn, known_map
from benchmarks.table import Table
from tests.execute import functions
from tests.execute.stars import Link, star_of

REPEATS = 5
SPEEDS = {"fast": {"w1": 330e-6, "w2": 220e-6, "w3": 140e-6}}
SPEEDS["slow"] = {"w1": 140e-6, "w2": 220e-6, "w3": 330e-6}
SPEEDS["quick"] = {"w1": 60e-6, "w2": 40e-6, "w3": 30e-6}


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """A star like one of the measured ones: links, speeds behind them, and rows of 1000 bytes.

    ``whole``: the results are as large as the data.
    """

    about: str
    rows: int
    speeds: str = "fast"
    delays: tuple[float, float, float] = (0.0, 0.0, 0.0)
    uplink: float | None = None
    whole: bool = False


PLATFORMS = {
    "A": Platform(about="fast link, fast processor", rows=32_000),
    "B": Platform(about="fast link, slow processor", rows=32_000, speeds="slow"),
    "L": Platform(about="links the bottleneck, fast processors", rows=32_000, speeds="quick"),
    "R": Platform(about="as L, results as large as data", rows=32_000, speeds="quick", whole=True),
    "S": Platform(about="as A, behind one link of 100 Mbit/s", rows=32_000, uplink=100.0),
    "P": Platform(about="as A, delays of 40, 20, 10 ms", rows=16_000, delays=(40.0, 20.0, 10.0)),
}


class Slept:
    """Sleep as long as the rows take on this worker; return them, or their first column."""

    def __init__(self, speeds: dict[str, float], *, whole: bool) -> None:
        self.speeds = speeds
        self.whole = whole

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        from distributed import get_worker

        time.sleep(len(rows) * self.speeds[str(get_worker().name)])
        return self.result(rows)

    def result(self, rows: np.ndarray) -> np.ndarray:
        """Return what comes of the rows."""
        return rows + 1 if self.whole else np.array(rows[:, 0])


def measured(platform: Platform) -> dict[str, list[float]]:
    """Return the seconds of every strategy, repeat by repeat."""
    from distributed import Client

    links = [
        Link(rate=rate, delay=delay)
        for rate, delay in zip((50.0, 100.0, 200.0), platform.delays, strict=True)
    ]
    data = functions.rows(platform.rows)
    function = Slept(SPEEDS[platform.speeds], whole=platform.whole)
    with (
        star_of(links, uplink=platform.uplink) as cluster,
        Client(cluster.address, set_as_default=False) as client,
    ):
        client.wait_for_workers(len(links))
        known_map(client, function, data)  # opens connections, and learns
        return in_turn(client, function, data, function.result(data), REPEATS)


def compare(names: list[str]) -> None:
    """Measure platforms, and print a table: medians, and ratios paired by repeat."""
    table = Table(
        "dask_star",
        "Dask on stars: a planned map and what one would write without a plan",
        "Three workers behind links of 50, 100 and 200 Mbit/s (relays), computing by sleeping "
        "(330, 220 and 140 ns per byte; B the other way round; L 60, 40 and 30). "
        f"{REPEATS} repeats, strategies in "
        "turn. `seconds`: median until all results are at the client. `against map`: median over "
        "the repeats of its seconds divided by those of `map`, on a known cluster, in the same "
        "repeat; above 1, `map` is faster. `nothing known`: all is forgotten before.",
        ("platform", "strategy", "seconds", "range", "against map"),
        clock="wall-clock time",
    )
    for name in names:
        platform = PLATFORMS[name]
        fill(table, f"{name}: {platform.about}", measured(platform))
    if names == list(PLATFORMS):
        table.write()


if __name__ == "__main__":
    compare([name for name in PLATFORMS if name in sys.argv[1:]] or list(PLATFORMS))
