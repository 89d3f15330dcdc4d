"""How far plans of collectives are from their bounds.

``python -m benchmarks.collectives ROWS.csv [COLLECTIVE ...] [--within 280] [--sample 4] [--page]``

A row is written as soon as it is known, and what has a row is passed over: a run that was stopped
goes on. ``--sample 4`` takes every fourth problem. The page of each collective is written from all
rows that there are; with ``--page`` nothing is solved.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.table import Table
from makespan import Reduction, solve

TIMES = ((0, 1, 0), (1, 1, 1), (0.1, 1, 0.3), (1.1, 1, 1.3), (10, 1, 0.5), (100, 1, 0.5))
MACHINES = (12, 16, 24, 32, 64)
SEGMENTS = (1, 3, 8, 24, 64)
SECONDS = 2.0
COLLECTIVES = ("reduce", "broadcast", "all-reduce", "all-gather", "reduce-scatter")
PROBLEM = ("collective", "latency", "transfer", "reduce", "machines", "segments")
FIELDS = (*PROBLEM, "makespan", "bound", "status", "method", "seconds")
Row = dict[str, str]


def problems(names: Sequence[str]) -> Iterator[Row]:
    """Yield what is to be planned, as in the rows."""
    for name, times, machines, segments in product(names, TIMES, MACHINES, SEGMENTS):
        yield dict(zip(PROBLEM, map(str, (name, *times, machines, segments)), strict=True))


def solved(row: Row) -> Row:
    """Return a row with what was found for its problem."""
    latency, transfer, reduce = (float(row[name]) for name in PROBLEM[1:4])
    collective: Any = row["collective"]
    problem = Reduction(
        machines=int(row["machines"]), segments=int(row["segments"]), collective=collective,
        latency=latency, transfer=transfer, reduce=reduce,
    )  # fmt: skip
    started = time.perf_counter()
    found = solve(problem, time_limit=SECONDS)
    spent = f"{time.perf_counter() - started:.2f}"
    values = found.makespan, found.lower_bound, found.status, found.method, spent
    return row | dict(zip(FIELDS[len(PROBLEM) :], map(str, values), strict=True))


def known(path: Path) -> list[Row]:
    """Return the rows of a file."""
    return list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []


def run(path: Path, wanted: Sequence[Row], within: float) -> None:
    """Solve what has no row yet, for as long as there is time; append rows."""
    until = time.monotonic() + within - SECONDS
    done = [{name: row[name] for name in PROBLEM} for row in known(path)]
    solve(Reduction(machines=20, segments=20, latency=1, transfer=1, reduce=1), time_limit=1.0)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not file.tell():
            writer.writeheader()
        for problem in wanted:
            if problem in done:
                continue
            if time.monotonic() > until:
                print("the time is up; the next run goes on from here")
                return
            row = solved(problem)
            writer.writerow(row)
            file.flush()
            print(*row.values(), f"{_excess(row):.1%}", flush=True)


def _excess(row: Row) -> float:
    return float(row["makespan"]) / float(row["bound"]) - 1


def page(collective: str, rows: Sequence[Row]) -> None:
    """Write the table of one collective."""
    table = Table(
        f"collectives_{collective.replace('-', '_')}",
        f"Gaps to the bound: {collective}",
        f"Excess of the makespan over the lower bound, {SECONDS:g} s each, for "
        f"{', '.join(map(str, MACHINES))} machines by {', '.join(map(str, SEGMENTS))} segments. "
        "The last row is over all.",
        ("latency, transfer, reduce", "median", "worst", "machines, segments", "proved optimal"),
        clock="by the wall clock",
    )
    for times in TIMES:
        alike = [row for row in rows if tuple(float(row[name]) for name in PROBLEM[1:4]) == times]
        if alike:
            table.add(", ".join(f"{each:g}" for each in times), *_summary(alike))
    table.add("all", *_summary(rows))
    table.write()


def _summary(rows: Sequence[Row]) -> tuple[str, ...]:
    worst = max(rows, key=_excess)
    median = statistics.median(map(_excess, rows))
    proved = sum(row["status"] == "optimal" for row in rows)
    where = f"{worst['machines']}, {worst['segments']}"
    return f"{median:.2%}", f"{_excess(worst):.1%}", where, f"{proved} of {len(rows)}"


def main() -> None:
    """Read the arguments, solve what is open, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("collectives", nargs="*", default=COLLECTIVES, metavar="COLLECTIVE")
    parser.add_argument("--within", type=float, default=280.0)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    wanted = list(problems(given.collectives))[:: given.sample]
    if not given.page:
        run(given.rows, wanted, given.within)
    for collective in given.collectives:
        rows = [row for row in known(given.rows) if row["collective"] == collective]
        if rows:
            page(collective, rows)


if __name__ == "__main__":
    main()
