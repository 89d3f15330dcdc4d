"""Starting programs on several ranks, and random plans for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import Reduction, Result, solve
from tests.sources import python_path

METHODS = ("chain", "binary", "binomial", "two-tree", "rarest-first")


def mpiexec() -> str:
    """Return where mpiexec is, or skip: beside this Python, or on the path."""
    pytest.importorskip("mpi4py")
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which("mpiexec", path=places)
    if found is None:
        pytest.skip("mpiexec is missing; makespan[mpi] brings one")
    return found


def started(ranks: int, *arguments: Any) -> subprocess.Popen[str]:
    """Start Python with arguments on so many ranks."""
    return subprocess.Popen(
        [mpiexec(), "-n", str(ranks), sys.executable, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path()},
    )


def launch(ranks: int, *arguments: Any, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments on so many ranks."""
    with started(ranks, *arguments) as running:
        try:
            stdout, stderr = running.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            running.terminate()  # mpiexec ends its ranks, then
            raise
    return subprocess.CompletedProcess(running.args, running.returncode, stdout, stderr)


def command(ranks: int, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of makespan with ``--mpi`` on so many ranks."""
    return launch(ranks, "-m", "makespan", *arguments, "--mpi")


def made_first(comm: Any, make: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Return to rank 0 what it makes, and None to the others, which sleep meanwhile.

    A rank that waits in a collective takes a whole core.
    """
    made = make(*given, **options) if comm.rank == 0 else None
    ready = comm.Ibarrier()
    while not ready.Test():
        time.sleep(0.002)
    return made


def random_trees(rng: np.random.Generator, machines: int, segments: int) -> list[list[int]]:
    """Return destinations, counted from 1: for every segment a random tree into machine 1."""
    table = np.ones((machines, segments), dtype=int)
    for segment in range(segments):
        order = [0, *(rng.permutation(machines - 1) + 1).tolist()]
        for place in range(1, machines):
            table[order[place], segment] = order[rng.integers(place)] + 1
    return table.tolist()


def random_plan(rng: np.random.Generator, machines: int, collective: str = "reduce") -> Result:
    """Return a plan over random trees, or that of a method, with times of which some are 0."""
    segments = int(rng.integers(1, 7))
    times = rng.integers(0, 3, 3)
    if not times[1] + times[2]:
        times[1] = 1
    facts: dict[str, Any] = {
        "machines": machines,
        "segments": segments,
        "latency": float(times[0]),
        "transfer": float(times[1]),
        "reduce": float(times[2]),
        "segment_sizes": rng.integers(1, 4, segments).astype(float).tolist(),
    }
    if collective == "reduce" and rng.random() < 0.7:
        trees = random_trees(rng, machines, segments)
        order = ("greedy", "backfilling")[int(rng.integers(2))]
        return solve(Reduction(**facts, destinations=trees, order=order))
    method, options = METHODS[int(rng.integers(len(METHODS)))], {}
    if collective == "all-reduce":
        method, options = "reduce-then-broadcast", {"restarts": 3, "time_limit": 0.1}
    problem = Reduction(**facts, collective=collective)
    return solve(problem, method=method, rng=int(rng.integers(99)), **options)
