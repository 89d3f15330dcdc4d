"""The figures that a reader wants to see first, each reckoned from a table in docs/benchmarks."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.table import FOLDER

Row = dict[str, str]
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?")
SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


class Headline(NamedTuple):
    """What was asked, what was found, and the table that says so."""

    what: str
    found: str
    page: str


def rows_of(page: str) -> list[Row]:
    """Return the rows of the first table of a page, by the names of its columns."""
    lines = (FOLDER / f"{page}.md").read_text("utf-8").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("|"))
    names, _, *rows = (
        [cell.strip(" *") for cell in line.strip("|").split("|")] for line in _table(lines[first:])
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _table(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("|"):
            return
        yield line


def number(cell: str) -> float:
    """Return the first number of a cell.

    >>> number("1.67e+03×"), number("120 of 120"), number("1,000")
    (1670.0, 120.0, 1000.0)
    """
    found = NUMBER.search(cell)
    assert found is not None, cell
    return float(found[0].replace(",", ""))


def seconds(cell: str) -> float:
    """Return a time of a cell in seconds.

    >>> seconds("410 ms")
    0.41
    """
    return number(cell) * SECONDS[cell.rsplit(maxsplit=1)[-1]]


def _shares(rows: list[Row], column: str = "proved") -> str:
    """Return how many of how many, over all rows: ``1,434 of 1,440``."""
    pairs = [row[column].split(" of ") for row in rows]
    done, total = (sum(int(number(pair[side])) for pair in pairs) for side in (0, 1))
    return f"{done:,} of {total:,}"


def _stg() -> str:
    rows = rows_of("stg")
    closed, longer = (sum(int(row[name]) for row in rows) for name in ("closed", "longer"))
    return (
        f"{_shares(rows)} proved in 5 s, {closed} of them open in the published table; "
        f"{longer} plans longer than published"
    )


def _auckland() -> str:
    rows = rows_of("auckland")
    longer = sum(int(row["longer"]) for row in rows)
    return f"{_shares(rows)} proved in 5 s, {longer} plans longer than published"


def _identical() -> str:
    rows = [row for row in rows_of("frangioni") if row["family"] != "floats"]
    widest = max((row["largest gap"] for row in rows), key=number)
    return f"{_shares(rows)} proved in 10 s, no gap above {widest}"


def _saga() -> str:
    *_, total = rows_of("saga")
    cases = f"{total['never worse']} of {total['problems']}"
    return (
        f"never worse than the best of 20 schedulers on {cases}, "
        f"{total['mean ratio']} of its makespan in the mean"
    )


def _collectives(page: str) -> str:
    *_, total = rows_of(page)
    return f"median gap {total['median']}, largest {total['worst']}, in 2 s"


def _rounds() -> str:
    gaps = [number(row["gap"]) for row in rows_of("multi_round")]
    return f"median gap {statistics.median(gaps):.2f} %, largest {max(gaps):.2f} %"


def _milp() -> str:
    times = [number(row["times"]) for row in rows_of("affine_star_milp")]
    return f"{statistics.median(times):,.0f} times as fast as HiGHS (median), equal optima"


def _heft() -> str:
    row = next(r for r in rows_of("heft") if (r["tasks"], r["machines"]) == ("1,000,000", "8"))
    peer = rows_of("heft_peer")[-1]
    times, tasks = number(peer["factor"]), number(peer["tasks"])
    return (
        f"a million tasks on 8 machines in {row['planning']}; {times:,.0f} times as fast as "
        f"anrg-saga at {tasks:,.0f} tasks, equal makespans"
    )


def _stars() -> str:
    row = rows_of("closed_forms")[-1]
    return f"{row['workers']} workers solved, timed and refereed in {row['solve']}"


def _partition() -> str:
    row = max(rows_of("partition"), key=lambda each: (number(each["n"]), number(each["T"])))
    peer = [number(each["times"]) for each in rows_of("partition_peer") if "–" not in each["times"]]
    return (
        f"{row['T']} tasks over {row['n']} tables checked in {row['validate']} and planned in "
        f"{row['threshold']}, where reading them takes {row['read']}; "
        f"{statistics.median(peer):.0f} times as fast as HPOPTA (median)"
    )


def _map() -> str:
    ratios = [number(r["ratio"]) for r in rows_of("dask_map") if r["case"].startswith("first call")]
    return (
        f"first calls {min(ratios):.2f} to {max(ratios):.2f} of the time of client.map, "
        f"median {statistics.median(ratios):.2f}"
    )


def _graphs() -> str:
    later = [number(r["later"]) for r in rows_of("dask_graphs") if r["links"] != "fast"]
    return f"behind slow links {statistics.median(later):.2f} of the time of Dask's own (median)"


def _tuned() -> str:
    found = [row for row in rows_of("mpi_tuned") if "best of the others" in row[""]]
    slow = [
        number(row[size])
        for row in found
        if row["network"] != "one computer"
        for size in ("0.8 MB", "8 MB")
    ]
    return f"{min(slow):.2f} to {max(slow):.2f} times as fast as the best of MPICH and Open MPI"


HEADLINES: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("Task graphs, no communication: the standard task graph set", "stg", _stg),
    ("Task graphs with communication: Auckland's set", "auckland", _auckland),
    ("Independent tasks on identical machines", "frangioni", _identical),
    ("Task graphs beside anrg-saga", "saga", _saga),
    ("Reductions", "collectives_reduce", lambda: _collectives("collectives_reduce")),
    ("Broadcasts", "collectives_broadcast", lambda: _collectives("collectives_broadcast")),
    ("Divisible loads, many rounds", "multi_round", _rounds),
    ("Divisible loads with latencies, exact", "affine_star_milp", _milp),
    ("HEFT", "heft", _heft),
    ("Stars", "closed_forms", _stars),
    ("Partition over any costs", "partition", _partition),
    ("A map on Dask", "dask_map", _map),
    ("Graphs on Dask, later calls", "dask_graphs", _graphs),
    ("All-reduces of four MPI ranks behind slow links", "mpi_tuned", _tuned),
)


def headlines() -> Iterator[Headline]:
    """Yield what the tables say that are there."""
    for what, page, found in HEADLINES:
        if (FOLDER / f"{page}.md").exists():
            yield Headline(what, found(), page)
