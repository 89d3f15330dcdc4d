"""Run on all ranks: random plans of a few collectives, types, operations and lengths.

Every rank compares what the plan gave it with NumPy's own combination of all contributions, and
rank 0 with MPI's own operation; rank 0 prints the comparisons as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan.execute.mpi import run
from tests.execute.mpi.launch import made_first, random_plan

COMBINE = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32")


def compared(seed: int, collective: str) -> dict[str, Any]:
    """Run one random plan and compare."""
    comm = MPI.COMM_WORLD
    rng = np.random.default_rng(seed)
    plan = made_first(comm, random_plan, rng, comm.size, collective)
    choices = np.random.default_rng([seed, 1])
    type_, operation = str(choices.choice(TYPES)), str(choices.choice(list(COMBINE)))
    length = int(choices.choice([0, 1, 3, 50, 4000]))
    low, high = (-128, 128) if type_[0] != "u" else (0, 256)
    own = np.random.default_rng([seed, 2, comm.rank]).integers(low, high, length).astype(type_)
    before = own.copy()
    told: list[float] = []
    execution = run(
        plan,
        own,
        comm,
        operation=operation,
        repetitions=1,
        progress=lambda share, _: told.append(share),
    )
    everyone = comm.allgather(own)
    want = everyone[0]
    if collective != "broadcast":
        want = COMBINE[operation].reduce(np.array(everyone), axis=0, dtype=type_)
    theirs = np.empty_like(own)
    comm.Reduce(own, theirs if comm.rank == 0 else None, getattr(MPI, operation.upper()), 0)
    found = execution.values
    here = comm.rank == 0 or collective != "reduce"
    right = (found is None) if not here else _same(found, want)
    if comm.rank == 0 and collective != "broadcast":
        right = right and _same(found, theirs)
    unchanged = own.tobytes() == before.tobytes()
    rows = plan is None or len(execution.schedule) == len(plan.schedule)
    rows = rows and told == ([0.0, 0.5] if comm.rank == 0 else [])
    return {
        "case": [seed, collective, type_, operation, length],
        "right": comm.allreduce(bool(right and unchanged and rows), op=MPI.LAND),
        "exact": execution.exact,
    }


def _same(one: Any, other: Any) -> bool:
    """Compare to the bit, floats to rounding."""
    if one.dtype.kind == "f":
        return bool(np.allclose(one, other, rtol=1e-4, equal_nan=True))
    return bool(one.tobytes() == other.tobytes())


if __name__ == "__main__":
    collectives = ("reduce", "reduce", "broadcast", "all-reduce")
    verdicts = [
        compared(seed, collectives[seed % len(collectives)]) for seed in range(int(sys.argv[1]))
    ]
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(verdicts))  # noqa: T201 - read by the test
