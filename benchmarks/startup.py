"""Start-up: what a person waits for before anything is computed."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from benchmarks.table import Table

EXAMPLE = "examples/measured_stars/fast_links_fast_processors.toml"
COMMANDS = (
    ("python -c pass", ("-c", "pass")),
    ("import numpy", ("-c", "import numpy")),
    ("import makespan", ("-c", "import makespan")),
    ("makespan --help", ("-m", "makespan", "--help")),
    ("makespan methods divisible", ("-m", "makespan", "methods", "divisible")),
    ("makespan solve FILE", ("-m", "makespan", "solve", EXAMPLE)),
    ("makespan check RESULT", ("-m", "makespan", "check", "-")),
)


def cpu_of(arguments: tuple[str, ...], stdin: bytes) -> float:
    """Return the median CPU seconds of running Python with ``arguments``, of nine runs."""
    times = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments], input=stdin, stdout=subprocess.DEVNULL, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def main() -> None:
    """Print and write the table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        measure()


def measure() -> None:
    """Do what :func:`main` says, with a place for bytecode."""
    table = Table(
        "startup",
        "Start-up",
        "CPU time of whole processes, median of nine, with modules compiled to bytecode before.",
        ("command", "CPU time"),
    )
    result = subprocess.run(
        [sys.executable, "-m", "makespan", "solve", EXAMPLE, "--json"],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    for name, arguments in COMMANDS:
        table.add(name, cpu_of(arguments, result))
    table.write()


if __name__ == "__main__":
    main()
