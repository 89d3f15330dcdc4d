"""Public sets of task graphs: what is proved, against the published optima.

``python -m benchmarks.sets stg FOLDER ROWS.csv [--within 240] [--again] [--plans TO] [--page]``

The sets are not part of this repository; docs/taskgraph.md says where they come from.

* ``stg``: the standard task graph set (Tobita and Kasahara 2002), ``FOLDER/50/rand0000.stg`` and so
  on, on identical machines. The published bounds stand in tables ``FOLDER/**/*.csv`` with rows
  ``50/rand0000.stg,machines,lower`` and, where these differ, ``,upper``.
* ``stg-large``: graphs of that set of which no optima are at hand, ``FOLDER/300/rand0000.stg`` and
  so on, each on 2, 4, 8 and 16 machines; ``benchmarks.stg_generated`` draws larger ones.
* ``auckland``: optimal schedules in GXL (Sinnen), ``FOLDER/**/*.gxl``, each with its number of
  processors and its total schedule length.

A row is written as soon as it is known, and what has a row is passed over: a run that was stopped
goes on. ``--again`` repeats what is not proved, and keeps the better row. ``--plans`` writes the
plan of each graph that the published table leaves open, as JSON. ``--page`` writes the tables from
the rows, and solves nothing.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import Table, shown_seconds
from makespan import Network, save, solve
from makespan.taskgraph import formats

FIELDS = (
    "graph", "machines", "published bound", "published", "makespan", "bound", "status", "method",
    "seconds",
)  # fmt: skip
TITLES = {
    "stg": "The standard task graph set, on identical machines",
    "stg-large": "The standard task graph set, on identical machines: large graphs",
    "auckland": "Optimal schedules with communication: Auckland's set",
}
Key = tuple[str, int]
Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Instance:
    """A graph, how many machines there are, and between what its optimum is said to be."""

    graph: str
    path: Path
    machines: int
    lower: float
    upper: float

    @property
    def key(self) -> Key:
        return self.graph, self.machines


def stg(folder: Path) -> Iterator[Instance]:
    """Yield the rows of the tables whose graphs are there."""
    for table in sorted(folder.rglob("*.csv")):
        for line in csv.reader(table.read_text().splitlines()):
            graph, machines, lower = line[:3]
            if (path := folder / graph).exists():
                yield Instance(graph, path, int(machines), float(lower), float(line[-1]))


def auckland(folder: Path) -> Iterator[Instance]:
    """Yield the graphs of the schedules."""
    for path in sorted(folder.rglob("*.gxl")):
        text = path.read_text()
        end = float(_stated("Total schedule length", text))
        yield Instance(path.stem, path, int(_stated("Number of processors", text)), end, end)


def _stated(name: str, text: str) -> str:
    found = re.search(rf'name="{name}">\s*<\w+>\s*(\d+)', text)
    assert found is not None, f"no {name} is stated"
    return found[1]


def unpublished(folder: Path) -> Iterator[Instance]:
    """Yield all graphs, with nothing said of their optima."""
    for path in sorted(folder.rglob("*.stg")):
        for machines in (2, 4, 8, 16):
            yield Instance(f"{path.parent.name}/{path.name}", path, machines, math.nan, math.nan)


SETS = {"stg": stg, "stg-large": unpublished, "auckland": auckland}


def known(path: Path) -> dict[Key, Row]:
    """Return the rows of a file, of those of one graph the best."""
    rows: dict[Key, Row] = {}
    if path.exists():
        for row in csv.DictReader(path.read_text().splitlines()):
            key = row["graph"], int(row["machines"])
            rows[key] = min(rows.get(key, row), row, key=_quality)
    return rows


def _quality(row: Row) -> tuple[bool, float, float]:
    return row["status"] != "optimal", float(row["makespan"]), -float(row["bound"])


def solved(instance: Instance, seconds: float, plans: Path | None) -> Row:
    """Return the row of one graph, solved by ``auto``."""
    problem = formats.read(instance.path, Network([1.0] * instance.machines))
    started = time.perf_counter()
    result = solve(problem, time_limit=seconds)
    spent = time.perf_counter() - started
    values = (
        *instance.key, instance.lower, instance.upper, result.makespan, result.lower_bound,
        result.status, result.method, f"{spent:.3f}",
    )  # fmt: skip
    if plans is not None and instance.lower < instance.upper:
        name = f"{instance.graph.replace('/', '-')}-{instance.machines}.json"
        save(result, plans / name)
    return dict(zip(FIELDS, map(str, values), strict=True))


def run(
    instances: Iterable[Instance],
    path: Path,
    *,
    seconds: float,
    within: float,
    again: bool,
    plans: Path | None,
) -> None:
    """Solve what has no row yet (or is not proved), for as long as there is time; append rows."""
    rows, until = known(path), time.monotonic() + within - seconds
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not file.tell():
            writer.writeheader()
        for instance in instances:
            row = rows.get(instance.key)
            if row is not None and (not again or row["status"] == "optimal"):
                continue
            if time.monotonic() > until:
                print("the time is up; the next run goes on from here")
                return
            row = solved(instance, seconds, plans)
            writer.writerow(row)
            file.flush()
            if row["status"] != "optimal":
                print(*row.values(), flush=True)


def page(name: str, path: Path, seconds: float) -> None:
    """Write the tables of a set from its rows."""
    rows = known(path)
    if name == "stg-large":
        _gaps(rows, seconds)
        return
    table = Table(
        name.replace("-", "_"),
        TITLES[name],
        f"`python -m benchmarks.sets {name}`, `auto`, {seconds:g} s each. Closed: proved where the "
        "published table has two bounds. Longer: plans longer than what is published. Two cores, "
        "beside other work, which makes times longer, even than the limit; part of what was left "
        "unproved was repeated on the quiet machine.",
        (
            "graphs",
            "machines",
            "proved",
            "closed",
            "longer",
            "mean gap",
            "worst gap",
            "median proof",
            "longest proof",
        ),
        clock="wall-clock time",
    )
    groups: dict[tuple[str, int], list[Row]] = {}
    for (graph, machines), row in sorted(rows.items()):
        groups.setdefault(
            (graph.partition("/")[0] if "/" in graph else "all", machines), []
        ).append(row)
    for (group, machines), every in sorted(
        groups.items(), key=lambda item: (len(item[0][0]), item[0])
    ):
        proved = [row for row in every if row["status"] == "optimal"]
        times = [float(row["seconds"]) for row in proved] or [math.nan]
        gaps = [1.0 - float(row["bound"]) / float(row["makespan"]) for row in every]
        table.add(
            group,
            machines,
            f"{len(proved)} of {len(every)}",
            sum(map(_was_open, proved)),
            sum(float(row["makespan"]) > float(row["published"]) for row in every),
            *(f"{gap:.2%}" for gap in (statistics.mean(gaps), max(gaps))),
            *(statistics.median(times), max(times)),
        )
    table.write()
    _listed(f"{name}_open", "closed", [row for row in rows.values() if _was_open(row)])


def _gaps(rows: dict[Key, Row], seconds: float) -> None:
    """Write how far plans of large graphs are from their bounds."""
    table = Table(
        "stg_large",
        TITLES["stg-large"],
        f"`python -m benchmarks.sets stg-large`, `auto`, {seconds:g} s each: the gap is the part "
        "of the makespan above the bound. Files of the set, but for those called generated: these "
        "were drawn the way that the set's files state (`python -m benchmarks.stg_generated`), "
        "as files of that size were not at hand. Times are those of all graphs, proved or not.",
        ("tasks", "machines", "proved", "median gap", "worst gap", "median time", "longest time"),
        clock="wall-clock time",
    )
    groups: dict[tuple[int, bool, int], list[Row]] = {}
    for (graph, machines), row in rows.items():
        size, _, file = graph.partition("/")
        groups.setdefault((int(size), "generated" in file, machines), []).append(row)
    for (tasks, generated, machines), every in sorted(groups.items()):
        gaps = [1.0 - float(row["bound"]) / float(row["makespan"]) for row in every]
        times = [float(row["seconds"]) for row in every]
        table.add(
            f"{tasks}, generated" if generated else tasks,
            machines,
            f"{sum(row['status'] == 'optimal' for row in every)} of {len(every)}",
            *(f"{gap:.2%}" for gap in (statistics.median(gaps), max(gaps))),
            *(statistics.median(times), max(times)),
        )
    table.write()


def _was_open(row: Row) -> bool:
    return float(row["published bound"]) < float(row["published"])


def _listed(name: str, what: str, rows: list[Row]) -> None:
    """Write the graphs that the published table leaves open."""
    if not rows:
        return
    table = Table(
        name,
        "The standard task graph set: graphs that the published table leaves open",
        "Published: lower and upper bound of the set's table. Where bound and plan agree, the "
        "optimum is new.",
        ("graph", "machines", "published", "plan", "bound", "time"),
        clock="wall-clock time",
    )
    for row in sorted(
        rows, key=lambda row: (len(row["graph"]), row["graph"], int(row["machines"]))
    ):
        values = [
            f"{float(row[key]):g}" for key in ("published bound", "published", "makespan", "bound")
        ]
        table.add(
            row["graph"], row["machines"], f"{values[0]} to {values[1]}", *values[2:],
            shown_seconds(float(row["seconds"])),
        )  # fmt: skip
    table.write()


def main() -> None:
    """Solve the graphs of a set, or write its page."""
    parser = argparse.ArgumentParser(description="Public sets of task graphs.")
    parser.add_argument("set", choices=SETS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--within", type=float, default=float("inf"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--plans", type=Path)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.plans is not None:
        given.plans.mkdir(parents=True, exist_ok=True)
    if given.page:
        page(given.set, given.rows, given.seconds)
        return
    run(
        SETS[given.set](given.folder), given.rows, seconds=given.seconds, within=given.within,
        again=given.again, plans=given.plans,
    )  # fmt: skip


if __name__ == "__main__":
    main()
