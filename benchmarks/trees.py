"""Linear trees: equivalent processors, and the tree solver of DLT-Studio on the same trees.

The environment variable ``DLT_STUDIO`` holds the path of the peer's program ``dls``
(https://github.com/HiPERACT-Scheduling/DLT-Studio); without it the peer's columns stay empty.
"""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio
from makespan import DivisibleLoad, Tree, solve

SEEDS = 5
LOAD = 1000.0


def tree(nodes: int, seed: int) -> Tree:
    """Return a random recursive tree."""
    generator = np.random.default_rng(seed)
    parent = [-1, *(int(generator.integers(0, node)) for node in range(1, nodes))]
    return Tree.from_arrays(
        parent=parent,
        send_per_unit=generator.uniform(0.01, 0.3, nodes),
        compute_per_unit=generator.uniform(0.1, 0.5, nodes),
    )


def planned(platform: Tree) -> float:
    """Return the makespan of the optimal plan."""
    makespan = solve(DivisibleLoad(load=LOAD, platform=platform), method="tree").makespan
    assert makespan is not None
    return makespan


def peer(program: str, platform: Tree) -> tuple[float, float]:
    """Return the peer's makespan and its CPU seconds."""
    columns = (platform.compute_per_unit, platform.send_per_unit, platform.parent)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines = [f"V {LOAD!r}", *(f"node {a!r} {c!r} {p}" for a, c, p in rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [program, "solve", "--class=tree", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = re.search(r"makespan\s*:\s*(\S+)", ended.stdout)
    assert found is not None, ended.stdout
    return float(found.group(1)), seconds


def main() -> None:
    """Print and write the table."""
    program = os.environ.get("DLT_STUDIO")
    table = Table(
        "trees",
        "Linear trees",
        f"Random trees, medians of {SEEDS}. `longer`: by how much the plans of DLT-Studio, which "
        "serves children by index, end later than the optimum; its time is that of its whole "
        "process.",
        ("nodes", "tree", "DLT-Studio", "times", "longer", "longest"),
    )
    for nodes in (5, 30, 100, 300):
        ours, theirs, longer = [], [], []
        for seed in range(SEEDS):
            platform = tree(nodes, seed)
            ours.append(cpu_seconds(partial(planned, platform)))
            if program is not None:
                end, seconds = peer(program, platform)
                theirs.append(seconds)
                longer.append(end / planned(platform) - 1)
        fast = statistics.median(ours)
        if theirs:
            slow = statistics.median(theirs)
            share = (f"{statistics.median(longer):.1%}", f"{max(longer):.1%}")
            table.add(nodes, fast, slow, ratio(slow, fast), *share)
        else:
            table.add(nodes, fast, "-", "-", "-", "-")
    table.write()


if __name__ == "__main__":
    main()
