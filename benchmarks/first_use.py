"""The first calls after installation: what a limit of 2 s is worth while nothing is compiled.

python -m benchmarks.first_use
python -m benchmarks.first_use --keep rows.json --part 1/3     # some problems; rows are kept
python -m benchmarks.first_use --busy                          # limits count CPU time; no table
python -m benchmarks.first_use --service                       # small solves beside a compiler

Each call is a process of its own. Cold calls begin with an empty folder for kernels, and what they
start to fill it is stopped after the fifth; warm ones have a folder that `makespan compile` filled.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.table import Table, keep, kept_in
from makespan import read_problem, save, solve
from makespan.core.errors import MakespanError
from makespan.core.system import startup
from makespan.core.system.startup import by_processor
from makespan.flow.kinds import generate, kind_named

LIMIT, CALLS = 2.0, 5
SOLVES, FIRST = 1_000, 10  # of a service, and those that are left out
SMALL = (
    ("divisible", {"workers": 5, "latency": 0.1}),
    ("independent", {"tasks": 8, "machines": 3}),
    ("partition", {"resources": 4, "tasks": 60}),
    ("pipeline", {"stages": 10, "machines": 3}),
    ("reduction", {"machines": 5, "segments": 3}),
    ("taskgraph", {"size": 8}),
)
EXAMPLES = Path("examples")
COLLECTIVES = (
    *("broadcast", "scatter", "gather", "reduce"),
    *("all-gather", "all-to-all", "reduce-scatter", "all-reduce"),
)


class Call(NamedTuple):
    """What one call took, and what it found."""

    wall: float
    makespan: float | None


def problems() -> Iterator[tuple[str, Any]]:
    """Yield what is solved: all examples, and problems that need what takes long to compile."""
    for path in sorted((*EXAMPLES.rglob("*.toml"), *EXAMPLES.rglob("*.json"))):
        with suppress(MakespanError):
            yield str(path.relative_to(EXAMPLES)), read_problem(path)
    for size in (25, 50, 500):
        for contention in ("none", "ports"):
            graph = {"size": size, "contention": contention}
            said = "" if contention == "none" else ", ports"
            yield f"graph of {size} tasks{said}", generate("taskgraph", options=graph)
    star = generate("divisible", options={"workers": 10, "latency": 0.2})
    yield "star of 10 workers, rounds", _changed(star, "divisible", rounds="auto")
    for spread, said in ((0.0, "equal"), (0.3, "unlike")):
        options: dict[str, Any] = {"machines": 12, "segments": 8, "spread": spread}
        options["collective"] = "all-reduce"
        yield f"all-reduce, 12 × 8, {said}", generate("reduction", options=options)
    nodes = tomllib.loads((EXAMPLES / "networks" / "nodes.toml").read_text("utf-8"))
    for collective in COLLECTIVES:
        with suppress(MakespanError):
            problem = kind_named("reduction").read({**nodes, "collective": collective})
            yield f"{collective} on networks/nodes.toml", problem


def _changed(problem: Any, kind: str, **changes: Any) -> Any:
    rooms = kind_named(kind)
    return rooms.read({**rooms.file.write(problem), **changes})


def called(file: Path, cache: Path, **environment: str) -> Call:
    """Solve a file in a process of its own, with kernels in ``cache``."""
    command = [
        sys.executable,
        "-m",
        "makespan",
        "solve",
        file,
        "--time-limit",
        f"{LIMIT:g}",
        "--json",
    ]
    began = time.perf_counter()
    done = subprocess.run(
        [str(each) for each in command],
        env={
            **{**os.environ, "MAKESPAN_COMPILE": "beside"},
            **{"NUMBA_CACHE_DIR": str(cache), **environment},
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    wall = time.perf_counter() - began
    found = json.loads(done.stdout)
    return Call(wall, found.get("makespan"))


def measured(problem: Any, warm_cache: Path) -> dict[str, Any]:
    """Return what cold calls and a warm one took and found."""
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder) / "problem.toml", Path(folder) / "kernels"
        save(problem, file)
        cold = [called(file, cache) for _ in range(CALLS)]
        _stop(cache)
        called(file, warm_cache, MAKESPAN_COMPILE="now")
        warm = called(file, warm_cache)
    return {"cold": cold, "warm": warm}


def _stop(cache: Path) -> None:
    """End the process that fills a cache."""
    with suppress(OSError, ValueError):
        process = int((cache / "makespan.lock").read_text())
        os.kill(process, signal.SIGKILL)
        time.sleep(0.2)


def solve_all(only: str) -> None:
    """Solve all problems in this process by CPU time, and print what each took and found."""
    with by_processor():
        for name, problem in problems():
            if only in name:
                began, before = time.process_time(), startup.spent()
                result = solve(problem, time_limit=LIMIT)
                seconds = time.process_time() - began - (startup.spent() - before)
                print(json.dumps([name, seconds, result.makespan]), flush=True)


def _inside(mode: str, cache: Path, *arguments: str) -> list[Any]:
    """Return what a process of its own prints, a row a line."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_use", "--inside", *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "MAKESPAN_COMPILE": mode},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def print_busy(warm: Path, only: str) -> None:
    """Print what solves without any kernel take and find in CPU time, and those with all."""
    found = []
    with tempfile.TemporaryDirectory() as empty:
        for mode, folder in (("never", Path(empty)), ("now", warm)):
            found.append(_inside(mode, folder, "--only", only))
    for (name, *cold), (_, *ready) in zip(*found, strict=True):
        ratio = _ratio(Call(*cold), Call(*ready))
        print(f"{name:40} {cold[0]:6.2f} s {ready[0]:6.2f} s  makespan {ratio}", flush=True)


def serve() -> None:
    """Solve many small problems in this process; print how long each took, and what it found."""
    # Kernels are missed at first, so that a process begins to compile.
    found = solve(generate("taskgraph", options={"size": 50, "contention": "ports"}), time_limit=1)
    assert found.makespan
    took, values = [], []
    for number in range(SOLVES):
        kind, options = SMALL[number % len(SMALL)]
        problem = generate(kind, seed=number, options=options)
        began = time.perf_counter()
        result = solve(problem, time_limit=10.0)
        took.append(time.perf_counter() - began)
        values.append(result.makespan)
    print(json.dumps([took, values]))


def print_service(warm: Path) -> None:
    """Compare a service whose kernels are compiled beside it with one that has all."""
    rows = {}
    with tempfile.TemporaryDirectory() as empty:
        for name, folder in (("cold", Path(empty)), ("warm", warm)):
            (rows[name],) = _inside("beside", folder, "--service")
            _stop(folder)
    (cold, found), (ready, expected) = rows["cold"], rows["warm"]
    table = Table(
        "first_use_service",
        "A service while kernels are compiled",
        f"{SOLVES:,} small problems of all kinds one after another in one process. Cold: another "
        f"process compiles meanwhile. Without the first {FIRST}.",
        ("kind", "cold, median", "warm, median", "ratio of medians", "equal answers"),
        clock="wall-clock time",
    )
    groups = {"all": range(FIRST, SOLVES)}
    groups |= {
        kind: range(FIRST + (number - FIRST) % len(SMALL), SOLVES, len(SMALL))
        for number, (kind, _) in enumerate(SMALL)
    }
    for name, those in groups.items():
        one, two = (statistics.median(took[each] for each in those) for took in (cold, ready))
        equal = sum(math.isclose(found[each], expected[each], rel_tol=1e-9) for each in those)
        table.add(name, one, two, f"{one / two:.2f}×", f"{equal} of {len(those)}")
    table.write()


def main() -> None:
    """Print and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", default="", help="what names contain")
    parser.add_argument("--keep", type=Path, default=None)
    parser.add_argument("--warm", type=Path, default=None, help="a folder that is filled already")
    parser.add_argument("--busy", action="store_true", help="for a machine that others use, too")
    parser.add_argument("--service", action="store_true", help="small solves in one process")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        serve() if asked.service else solve_all(asked.only)
        return
    part, parts = map(int, asked.part.split("/"))
    kept = kept_in(asked.keep)
    with tempfile.TemporaryDirectory() as folder:
        warm = asked.warm or Path(folder)
        if asked.warm is None:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.run(
                [sys.executable, "-m", "makespan", "compile"], env=environment, check=True
            )
        if asked.busy or asked.service:
            print_service(warm) if asked.service else print_busy(warm, asked.only)
            return
        for number, (name, problem) in enumerate(problems()):
            if number % parts == part - 1 and asked.only in name:
                kept[name] = measured(problem, warm)
                print(name, kept[name], flush=True)
                if asked.keep is not None:
                    keep(asked.keep, kept)
    shown(kept)


def shown(kept: dict[str, Any]) -> None:
    """Print and write the table of all rows that are there."""
    table = Table(
        "first_use",
        "First use",
        f"`makespan solve FILE --time-limit {LIMIT:g}`: whole processes, one after another. Cold: "
        "nothing is compiled before the first call; a process beside compiles meanwhile. Warm: "
        "after `makespan compile`. Makespans of cold calls are divided by those of warm ones.",
        ("problem", "first call", "fifth", "warm", "makespan of the first", "of the fifth"),
        clock="wall-clock time",
    )
    for name, _ in problems():
        if name in kept:
            cold, warm = [Call(*each) for each in kept[name]["cold"]], Call(*kept[name]["warm"])
            ratios = [_ratio(each, warm) for each in (cold[0], cold[-1])]
            table.add(name, cold[0].wall, cold[-1].wall, warm.wall, *ratios)
    table.write()


def _ratio(cold: Call, warm: Call) -> str:
    if cold.makespan is None or warm.makespan is None:
        return "–" if cold.makespan == warm.makespan else "one alone"
    return f"{cold.makespan / warm.makespan if warm.makespan else 1.0:.3f}"


if __name__ == "__main__":
    main()
