"""Run on all ranks: tuned collectives against MPI's own; prints what was wrong as JSON.

The arguments are where the calibration is kept, and, for another test, the length of arrays.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan.core.errors import InputError
from makespan.execute import mpi
from makespan.execute.collectives import choosing
from makespan.execute.mpi.shared_memory import memory_of
from tests.execute.mpi.test_calibration import calibration

comm = MPI.COMM_WORLD
wrong: list[str] = []


def expect(what: str, truth: Any) -> None:
    if not truth:
        wrong.append(f"rank {comm.rank}: {what}")


def greater(one: Any, other: Any, _: Any) -> None:
    """Give the greater of two; what MPI.MAX is, as one's own."""
    first, second = np.frombuffer(one, "i8"), np.frombuffer(other, "i8")
    np.maximum(first, second, out=second)


def compare(best: Any, length: int, type_: str, op: Any) -> None:
    """Compare all collectives, twice, once in place and with another root."""
    root, own = comm.size - 1, np.random.default_rng(comm.rank).integers(0, 9, length)
    own = own.astype(type_)
    want, found, before = np.empty_like(own), np.empty_like(own), own.copy()
    comm.Allreduce(own, want, op=op)
    for _ in range(2):
        best.Allreduce(own, found, op=op)
        expect(f"all-reduce of {length} {type_}", np.array_equal(found, want))
    expect("own is changed", np.array_equal(own, before))
    both = own.copy()
    best.Allreduce(MPI.IN_PLACE, both, op)
    expect(f"all-reduce of {length} {type_} in place", np.array_equal(both, want))
    found[:] = 0
    best.Reduce(own, found if comm.rank == root else None, op=op, root=root)
    expect(f"reduce of {length} {type_}", comm.rank != root or np.array_equal(found, want))
    best.Bcast(own, root=root)
    first = np.random.default_rng(root).integers(0, 9, length).astype(type_)
    expect(f"broadcast of {length} {type_}", np.array_equal(own, first))


def compare_blocks(best: Any, length: int, type_: str, op: Any) -> None:
    """Compare what deals blocks of so many numbers, twice, in place, and with another root."""
    root, ranks = comm.size - 1, comm.size
    whole = np.random.default_rng(comm.rank).integers(0, 9, length * ranks).astype(type_)
    mine, is_root = whole[:length].copy(), comm.rank == root
    want, part = np.empty_like(whole), np.empty_like(mine)
    comm.Allgather(mine, want)
    for place in (None, MPI.IN_PLACE):
        found = np.zeros_like(whole)
        for _ in range(2):
            found[comm.rank * length : (comm.rank + 1) * length] = mine
            best.Allgather(place or mine, found)
        expect(f"all-gather of {length} {type_} {place}", np.array_equal(found, want))
        found = np.zeros_like(whole)
        found[comm.rank * length :][:length] = mine
        best.Gather((is_root and place) or mine, found if is_root else None, root=root)
        expect(f"gather of {length} {type_} {place}", not is_root or np.array_equal(found, want))
        taken = np.zeros_like(mine)
        best.Scatter(whole if is_root else None, (is_root and place) or taken, root=root)
        comm.Scatter(whole if is_root else None, part, root=root)
        right = (is_root and place) or np.array_equal(taken, part)
        expect(f"scatter of {length} {type_} {place}", right)
        both = whole.copy()
        best.Reduce_scatter_block(place or whole, both if place else taken, op=op)
        comm.Reduce_scatter_block(whole, part, op=op)
        right = np.array_equal(both[:length] if place else taken, part)
        expect(f"reduce-scatter of {length} {type_} {place}", right)


if __name__ == "__main__":
    path, larger = sys.argv[1], MPI.Op.Create(greater, commute=True)
    cases = [
        (0, "i8", MPI.SUM),
        (1, "i4", MPI.MAX),
        (5000, "f8", MPI.SUM),
        (5100, "f8", MPI.SUM),
        (30_000, "c16", MPI.SUM),
        (300, "?", MPI.LAND),
        (3000, "i8", larger),
    ]
    if len(sys.argv) > 2:
        cases = [(int(sys.argv[2]), "f8", MPI.SUM)]
    for only in (None, "plan", "shared memory"):
        best = mpi.tuned(comm, calibration=path, seconds=0.5, progress=False)
        if only is not None:  # it is used whatever it takes
            tuned_module: Any = sys.modules["makespan.execute.mpi.tuned"]
            choosing.WORTH, choosing.HOPELESS = np.inf, np.inf
            tuned_module.memory_of = lambda _: None
            if only == "shared memory":
                choosing.HOPELESS, tuned_module.memory_of = 0.0, memory_of
        for length, type_, op in cases:
            compare(best, length, type_, op)
            if only != "shared memory":
                compare_blocks(best, length, type_, op)
        one = [choice for choice in best.choices if choice.collective == "all-reduce"]
        planned = len(cases) - (len(cases) > 1) if comm.size > 1 else 0
        expect("sizes near each other are planned once", len(one) == planned)
        if only is not None:
            used = {choice.used for choice in best.choices}
            expect(f"only {only} is used", used <= {only} and (used or comm.size == 1))
        best.Allreduce([np.ones(3), MPI.DOUBLE], [np.empty(3), MPI.DOUBLE])
    if comm.size > 1:
        expect("it is kept", mpi.Calibration.read(path) == best.calibration)
        try:
            mpi.tuned(comm, calibration=calibration(np.random.default_rng(0), comm.size + 1))
            expect("another number of ranks was taken", False)
        except InputError as refused:
            expect(str(refused), f"is of {comm.size + 1} ranks" in str(refused))
    found = comm.gather(wrong)
    if comm.rank == 0:
        print(json.dumps(sum(found or [], [])))  # noqa: T201, RUF017 - read by the test
