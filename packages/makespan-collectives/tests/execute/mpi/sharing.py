"""Run on all ranks: collectives by shared memory, one after another; prints what was wrong as JSON.

The arguments are how many, and the bytes of memory; longer arrays pass it in pieces.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan.execute.mpi import shared_memory
from makespan.execute.mpi.shared_memory import SharedMemory, memory_of
from makespan.execute.mpi.world import private

comm = MPI.COMM_WORLD.Dup()
LENGTHS = (0, 1, 2, 3, 7, 100, 5000, 60_000)
TYPES = ("int8", "float64", "complex128", "uint16")


def subtracted(one: Any, other: Any, _: Any) -> None:
    """Give the first less the second, which neither commutes nor takes any order."""
    first, second = np.frombuffer(one, "f8"), np.frombuffer(other, "f8")
    second[:] = first - second


def wrong(memory: Any, seed: int, less: MPI.Op) -> str | None:
    """Return a random collective where it gave this rank something else than rank by rank."""
    rng = np.random.default_rng(seed)
    collective = str(rng.choice(["reduce", "broadcast", "all-reduce"]))
    length, type_ = int(rng.choice(LENGTHS)), str(rng.choice(TYPES))
    in_place, root = bool(rng.integers(2)), int(rng.integers(comm.size))
    everyone = [
        (100 * np.random.default_rng([seed, rank]).random(length)).astype(type_)
        for rank in range(comm.size)
    ]
    own = everyone[comm.rank].copy()
    ordered = type_ == "float64" and rng.random() < 0.5
    call = SharedMemory(
        memory,
        collective,
        None if collective == "all-reduce" else root,
        less if ordered else np.add,
    )
    if collective == "broadcast":
        call(own)
        right = np.array_equal(own, everyone[root])
    else:
        want = everyone[0]
        for each in everyone[1:]:
            want = want - each if ordered else want + each
        has_result = collective == "all-reduce" or comm.rank == root
        result = own.copy() if has_result else None
        call(MPI.IN_PLACE if in_place and has_result else own, result)
        right = not has_result or np.array_equal(result, want)
        right = right and np.array_equal(own, everyone[comm.rank])
    return None if right else f"{comm.rank}: {seed} {collective} {length} {type_}"


if __name__ == "__main__":
    shared_memory.ROOM = shared_memory.LEAST = int(sys.argv[2])
    shared_memory.BLOCK = 4096
    own, less = private(comm), MPI.Op.Create(subtracted, commute=False)
    memory = memory_of(own)
    verdicts = [wrong(memory, seed, less) for seed in range(int(sys.argv[1]))]
    kept = memory is memory_of(own)
    less.Free()
    comm.Free()
    found = MPI.COMM_WORLD.gather([verdict for verdict in verdicts if verdict])
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps([kept, sum(found or [], [])]))  # noqa: T201, RUF017 - read by the test
