"""All-gathers on meshes of unlike links beside TACOS, which synthesises them by random matching.

``python -m benchmarks.tacos FOLDER``: the folder holds TACOS (https://github.com/astra-sim/tacos,
Won et al. 2024). A program that calls it is compiled there with ``g++``.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.table import Table, shown_seconds
from makespan import Interconnect, Reduction, Result, solve

WIDTH, HEIGHT = 16, 8
MEBIBYTE = 2**20
LATENCY = 0.5  # microseconds
CASES = ((50, 25, 1), (50, 25, 2), (50, 25, 4), (50, 10, 1), (50, 10, 4), (100, 10, 2))
RUNS = 3
SHARE = 0.9  # of the time that TACOS takes, which `auto` has
ONE_RUN: dict[str, Any] = {"method": "rarest-first", "restarts": 1, "rebuilds": 0}
PROGRAM = """
#include <cstdlib>
#include <iostream>
#include <tacos/collective/all_gather.h>
#include <tacos/event_queue/timer.h>
#include <tacos/synthesizer/synthesizer.h>
#include <tacos/topology/mesh_2d_hetero.h>
using namespace tacos;

int main(int, char** given) {
    const int width = atoi(given[1]), height = atoi(given[2]), chunks = atoi(given[3]);
    const double across = atof(given[4]), down = atof(given[5]), latency = atof(given[6]);
    const auto mesh = Mesh2D_Hetero(width, height, across, latency, down, latency);
    const auto gather = AllGather(mesh.npusCount(), chunks);
    auto timer = Timer();
    timer.start();
    auto synthesizer = Synthesizer();
    const auto end = synthesizer.solve(mesh, gather, atoi(given[7]));
    timer.stop();
    std::cout << end << " " << timer.time() / 1e6 << std::endl;
}
"""


def compiled(folder: Path) -> Path:
    """Compile the program that calls TACOS, and return it."""
    source, program = folder / "all_gather.cpp", folder / "all_gather"
    source.write_text(PROGRAM)
    parts = sorted(folder.glob("src/*/*.cpp"))
    headers = [f"-I{folder / each}" for each in ("include", "include/tacos")]
    command = ["g++", "-O3", "-DNDEBUG", "-std=c++17", *headers, *map(str, [source, *parts])]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def synthesised(program: Path, across: float, down: float, chunks: int) -> tuple[float, float]:
    """Return when TACOS' plan ends, microseconds, and the seconds of its search; medians."""
    size = MEBIBYTE // chunks
    given = [str(each) for each in (WIDTH, HEIGHT, chunks, across, down, LATENCY, size)]
    found = []
    for _ in range(RUNS):
        done = subprocess.run([program, *given], check=True, capture_output=True, text=True)
        found.append([float(each) for each in done.stdout.split()])
    ends, seconds = zip(*found, strict=True)
    return median(ends), median(seconds)


def problem(across: float, down: float, chunks: int) -> Reduction:
    """Return the same all-gather: a link takes a chunk at a time, latency and all, each way."""
    size = MEBIBYTE // chunks
    took = {way: LATENCY + size / way / 2**30 * 1e6 for way in (across, down)}
    machines = [[f"M{row * WIDTH + place + 1}" for place in range(WIDTH)] for row in range(HEIGHT)]
    links = [(one, other, 1 / took[across]) for row in machines for one, other in pairwise(row)]
    links += [
        (one, other, 1 / took[down])
        for upper, lower in pairwise(machines)
        for one, other in zip(upper, lower, strict=True)
    ]
    network = Interconnect(WIDTH * HEIGHT, topology="links", links=links, ports="links")
    return Reduction(network=network, segments=WIDTH * HEIGHT * chunks, collective="all-gather")


def planned(given: Reduction, **how: Any) -> tuple[Result, float]:
    """Return a plan, and the median seconds that planning took."""
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        plan = solve(given, **how)
        taken.append(time.perf_counter() - began)
    return plan, median(taken)


def main() -> None:
    """Measure all cases, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    program = compiled(parser.parse_args().folder)
    planned(problem(*CASES[0]), **ONE_RUN)  # load the kernels
    table = Table(
        "tacos",
        "All-gathers on a mesh of unlike links beside TACOS",
        f"A mesh of {WIDTH} × {HEIGHT} machines, all links at once, a chunk at a time, "
        f"{LATENCY} µs and its size by the rate of a link; 1 MiB from each machine. Ends in "
        f"microseconds; medians of {RUNS} searches. TACOS is written in C++, and reads no clock: "
        f"its search ends with its plan. One run: `rarest-first` with `restarts=1, rebuilds=0`; "
        f"`auto` has {SHARE:g} of the time that TACOS took. Gap: of its plan to the bound.",
        (
            *("GiB/s across, down", "chunks each", "TACOS ends", "`auto` ends", "gap"),
            *("one run ends", "TACOS took", "one run took", "ratio"),
        ),
        clock="wall time",
    )
    for across, down, chunks in CASES:
        theirs, spent = synthesised(program, across, down, chunks)
        given = problem(across, down, chunks)
        plan, taken = planned(given, **ONE_RUN)
        auto = solve(given, time_limit=SHARE * spent)
        assert plan.makespan is not None
        assert auto.gap is not None
        assert auto.makespan is not None
        table.add(
            f"{across}, {down}", chunks, f"{theirs:.2f}", f"{auto.makespan:.2f}",
            f"{auto.gap:.2%}", f"{plan.makespan:.2f}", shown_seconds(spent), shown_seconds(taken),
            f"{spent / taken:.1f}",
        )  # fmt: skip
    table.write()


if __name__ == "__main__":
    main()
