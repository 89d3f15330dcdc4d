"""``--dist makespan`` beside the other distributions of pytest-xdist.

``python -m benchmarks.pytest_xdist [--suites N] [--repeats N] [--write]`` makes suites of 260 tests
that sleep, with a heavy tail, and runs each on four workers: ``load``, ``worksteal``, a first run
of ours that knows nothing, and a second. ``--package NAME=TESTS`` runs the tests of an installed
package instead. What is measured is kept in ``build/pytest_xdist.json``; ``--write`` makes the page
of all that is kept. packages/pytest-makespan must be installed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan.balance import balance

WORKERS, TESTS, FILES = 4, 260, 13
WORK = 15.2  # seconds of all tests of a suite together
SHAPES = {
    "lognormal (1.5)": (1.5, False),
    "lognormal (2)": (2.0, False),
    "lognormal (1.5), long ones last": (1.5, True),
}
WAYS = ("load", "worksteal", "first", "second")
KEPT = Path("build") / "pytest_xdist.json"
PLUGINS = "-p", "xdist", "-p", "pytest_makespan"
CONFTEST = """
import json

SPAN, TOOK = [], {}

def pytest_runtest_logreport(report):
    SPAN.extend((report.start, report.stop))
    TOOK[report.nodeid] = TOOK.get(report.nodeid, 0.0) + report.duration

def pytest_sessionfinish(session):
    if SPAN and not hasattr(session.config, "workerinput"):
        with open(OUT, "w") as file:
            json.dump({"span": max(SPAN) - min(SPAN), "took": list(TOOK.values())}, file)
"""


def drawn(shape: str, seed: int) -> list[float]:
    """Return the seconds of a suite: lognormal, none above a worker's share."""
    sigma, last = SHAPES[shape]
    parts = np.random.default_rng(seed).lognormal(0.0, sigma, TESTS)
    for _ in range(100):
        parts *= WORK / parts.sum()
        parts = np.minimum(parts, WORK / WORKERS * 0.9)
    if last:  # the longest in the last module
        order = np.argsort(parts)
        each = TESTS // FILES
        parts = np.concatenate([np.random.default_rng(seed).permutation(parts[order[:-each]]),
                                parts[order[-each:]]])  # fmt: skip
    return [float(part) for part in parts]


def make(folder: Path, seconds: list[float]) -> None:
    """Write a suite: 13 modules of 20 tests."""
    each = TESTS // FILES
    for number in range(FILES):
        lines = ["import time"]
        for index in range(number * each, (number + 1) * each):
            lines += [f"def test_{index}():", f"    time.sleep({seconds[index]:.4f})"]
        (folder / f"test_{number:02}.py").write_text("\n".join(lines) + "\n")


def run(folder: Path, way: str, tests: list[str]) -> dict[str, Any]:
    """Run a suite; return the seconds of the process, those of its tests, and what each took."""
    out = folder / "out.json"
    (folder / "spans.py").write_text(CONFTEST.replace("OUT", repr(str(out))))
    out.unlink(missing_ok=True)
    dist = way if way in ("load", "worksteal") else "makespan"
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", *PLUGINS, "-p", "spans", "-n", str(WORKERS)]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--dist", dist, *tests],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return {"process": seconds, **json.loads(out.read_text())}


def measured(tests: list[str], seconds: list[float] | None, repeats: int) -> list[dict[str, Any]]:
    """Return a mapping of ways for each repeat, in turn from either end; a second run is last."""
    found = []
    for repeat in range(repeats):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "pytest.ini").write_text("[pytest]\n")
            if seconds is not None:
                make(folder, seconds)
            order = WAYS if repeat % 2 == 0 else ("first", "second", "worksteal", "load")
            ways = {way: run(folder, way, tests) for way in order}
        took = seconds or ways["second"]["took"]
        row: dict[str, Any] = {way: [one["process"], one["span"]] for way, one in ways.items()}
        row["bound"] = max(*took, math.fsum(took) / WORKERS)
        groups = balance(took, WORKERS, None)
        row["best"] = max(math.fsum(took[each] for each in group) for group in groups)
        row["tests"] = len(took)
        found.append(row)
        print(json.dumps(row), flush=True)
    return found


def write(kept: dict[str, list[dict[str, Any]]]) -> None:
    """Make the page of what is kept."""
    table = Table(
        "pytest_xdist",
        "pytest-xdist with --dist makespan",
        f"{WORKERS} workers on this machine, wall-clock seconds from the start of the first test "
        "to the end of the last, start-up of pytest and of the workers apart; medians of the runs, "
        "ratios are medians (ranges) within a run of all ways. Lognormal suites have 260 tests in "
        "13 modules that sleep 15.2 s together, drawn anew from seeds, so that two cores do for "
        "four workers. `first` is a run of `--dist makespan` that knows no durations, `second` one "
        "that follows it. The bound is the longest test, or the seconds of all tests by the number "
        "of workers; of an installed package by what its tests took in the second run.",
        ["suite", "tests", "runs", *(f"{way}, s" for way in ("load", "worksteal")),
         "first, s", "second, s", "bound, s", "first / best of both", "second / best of both",
         "second / bound", "whole process: second / best of both"],
        clock="wall-clock time",
    )  # fmt: skip
    for suite, rows in kept.items():
        span = {way: [row[way][1] for row in rows] for way in WAYS}
        cells = [f"{statistics.median(span[way]):.2f}" for way in WAYS]
        bound = statistics.median(row["bound"] for row in rows)
        best = [[min(row[way][part] for way in WAYS[:2]) for row in rows] for part in (0, 1)]
        ratios = [
            _range(row[way][part] / other for row, other in zip(rows, base, strict=True))
            for way, part, base in (
                ("first", 1, best[1]),
                ("second", 1, best[1]),
                ("second", 1, [row["bound"] for row in rows]),
                ("second", 0, best[0]),
            )
        ]
        shown = [*cells, f"{bound:.2f}", *ratios]
        table.add(suite, rows[0]["tests"], len(rows), *shown)
    table.write()


def _range(ratios: Iterable[float]) -> str:
    found = sorted(ratios)
    return f"{statistics.median(found):.2f}× ({found[0]:.2f} to {found[-1]:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, nargs="*", default=[], help="seeds")
    parser.add_argument("--package", action="append", default=[], metavar="NAME=TESTS")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for shape in SHAPES if options.suites else ():
        for seed in options.suites:
            rows = kept.setdefault(shape, [])
            rows += measured([], drawn(shape, seed), options.repeats)
    for package in options.package:
        name, _, tests = package.partition("=")
        rows = kept.setdefault(name, [])
        rows += measured(["--pyargs", *tests.split()], None, options.repeats)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps(kept))
    if options.write:
        write(kept)


if __name__ == "__main__":
    main()
