"""A map on the ranks of MPI, started by ``mpiexec -n 3 python -m mpi4py.futures``."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from makespan import execute
from tests.execute.pools import pools


def stops(once: str) -> None:
    """Map on ranks one of which stops, and goes on once all is done."""
    from mpi4py.futures import MPIPoolExecutor

    stopped = Path(once).with_name("stopped")
    with MPIPoolExecutor() as ranks:
        function = partial(pools.stops_on, once=once, tells=str(stopped))
        execution = execute.map(function, range(60), on=ranks, progress=False)
        os.kill(int(stopped.read_text()), signal.SIGCONT)
        assert execution.results == list(range(60))
        assert list(ranks.map(abs, [-1, -2])) == [1, 2]
        sys.stdout.write("late " if any("is late" in one for one in execution.events) else "")
    sys.stdout.write("done")


def dies(told: str) -> None:
    """Map on ranks one of which dies; what processes they are is told before."""
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as ranks:
        there = {os.getpid(), *ranks.map(number, range(20))}
        Path(told).write_text(" ".join(map(str, there)))
        execute.map(pools.dies_on, range(60), on=ranks, progress=False)
    sys.stdout.write("done")


def number(item: int) -> int:
    """Return the number of this process."""
    return os.getpid()


def main() -> None:
    """Map on an executor that is given, and on one that is asked for by name."""
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as ranks:
        execution = execute.map(pools.square, range(100), on=ranks, progress=False)
        assert execution.results == [item**2 for item in range(100)]
        assert {one.name for one in execution.workers} == {"0", "1"}
        failed = execute.map(
            pools.fails_on_seven, range(20), on=ranks, progress=False, keep_going=True
        )
        assert [failure.first for failure in failed.failures] == [7]
        assert list(ranks.map(abs, [-1, -2])) == [1, 2]
    if "by-name" in sys.argv:
        assert execute.map(pools.square, [3], on="mpi", progress=False).results == [9]
    sys.stdout.write("done")


if __name__ == "__main__":
    ways = {"stops": stops, "dies": dies}
    if len(sys.argv) > 2:
        ways[sys.argv[1]](sys.argv[2])
    else:
        main()
