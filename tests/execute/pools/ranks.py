"""A map on the ranks of MPI, started by ``mpiexec -n 3 python -m mpi4py.futures``."""

from __future__ import annotations

import sys

from makespan import execute
from tests.execute.pools import pools


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
    main()
