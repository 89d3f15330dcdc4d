"""All-to-alls over links that differ: plans by straight sends, and around busy ports.

``python -m benchmarks.all_to_all [machines …]``: random tables, two racks, and points in the plane.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.table import Table, shown_seconds
from makespan import Reduction, solve
from makespan.core.numeric.arrays import Floats

MACHINES = (16, 32, 64, 128, 256)
SECONDS = 5.0


def tables(machines: int) -> dict[str, Floats]:
    """Return the transfer times between machines, by what they stand for."""
    rng = np.random.default_rng(machines)
    rack = np.arange(machines) < machines // 2
    found = {
        "table": rng.integers(2, 17, (machines, machines)).astype(float),
        "racks": np.where(rack[:, None] == rack, 1.0, 6.0),
    }
    place = rng.random((machines, 2))
    apart = np.linalg.norm(place[:, None] - place, axis=2)
    return found | {"plane": 1 + np.rint(10 * apart)}


def main() -> None:
    """Plan all problems, print and write the table."""
    table = Table(
        "all_to_all",
        "All-to-alls over links that differ",
        "A segment from each machine to each other one, a port for sending and one for receiving. "
        "Table: a transfer takes 2 to 16, at random. Racks: 1 within each of two, 6 between them. "
        "Plane: 1 and ten times the distance of random points, rounded. Ends of `direct`, "
        f"straight sends in rounds, and of `auto` within {SECONDS:g} s, then timed and checked; "
        "gap: of the latter to the bound.",
        ("machines", "links", "`direct` ends", "`auto` ends", "by", "bound", "gap", "took"),
        clock="wall time",
    )
    solve(Reduction(machines=17, segments=17, transfer=tables(17)["plane"],
                    collective="all-to-all"), time_limit=1.0)  # fmt: skip
    for machines in [int(each) for each in sys.argv[1:]] or MACHINES:
        for links, transfer in tables(machines).items():
            problem = Reduction(
                machines=machines, segments=machines, transfer=transfer, collective="all-to-all"
            )
            straight = solve(problem, method="direct").makespan
            since = time.perf_counter()
            plan = solve(problem, time_limit=SECONDS)
            took = time.perf_counter() - since
            assert plan.gap is not None
            table.add(
                machines, links, f"{straight:g}", f"{plan.makespan:g}", plan.method,
                f"{plan.lower_bound:g}", f"{plan.gap:.1%}", shown_seconds(took),
            )  # fmt: skip
    table.write()


if __name__ == "__main__":
    main()
