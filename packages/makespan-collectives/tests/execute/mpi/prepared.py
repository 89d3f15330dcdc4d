"""Run on all ranks: prepared plans, called again and again, against NumPy; prints what was wrong.

The argument is the length of the arrays that are summed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from makespan import Reduction, solve
from makespan.core.errors import InputError
from makespan.execute import mpi
from tests.execute.mpi.launch import made_first, random_plan

comm = MPI.COMM_WORLD
wrong: list[str] = []


def expect(what: str, *truths: Any) -> None:
    if not all(truths):
        wrong.append(f"rank {comm.rank}: {what}")


def everyone(own: Any) -> list[Any]:
    return comm.allgather(own)


def plan_of(collective: str, machines: Any = None) -> Any:
    """Return the plan of rank 0; what others find within the time may differ."""
    problem = Reduction(
        machines=comm.size if machines is None else machines,
        segments=5,
        latency=1,
        transfer=1,
        reduce=1,
        collective=collective,
    )
    return comm.bcast(made_first(comm, solve, problem, time_limit=0.2))


def in_order_of(plan: Any, contributions: list[Any]) -> Any:
    """Combine as documented: on each machine its own, then what came, as reductions are planned.

    The first reductions of a segment, one less than there are machines, combine it; the last of
    them stands where it is complete.
    """
    schedule, count = plan.schedule, plan.problem.segments
    left, last = [comm.size - 1] * count, [0] * count
    held = [np.array_split(own, count) for own in contributions]
    for row in np.argsort(schedule.start, kind="stable").tolist():
        machine, peer, item = (
            int(column[row]) for column in (schedule.machine, schedule.peer, schedule.item)
        )
        if schedule.words()[row] == "reduce" and left[item]:
            left[item] -= 1
            last[item] = machine
            held[machine][item] = held[machine][item] + held[peer][item]
    return np.concatenate([held[machine][item] for item, machine in enumerate(last)])


def types() -> None:
    """Every type with an operation of NumPy, and the operations of MPI and of others."""
    plan = plan_of("all-reduce")
    rng = np.random.default_rng(comm.rank)
    cases = [
        (MPI.SUM, rng.integers(0, 100, 7).astype("int8"), np.add),
        ("prod", rng.integers(1, 3, 3).astype("uint16"), np.multiply),
        (MPI.SUM, rng.integers(0, 9, 50) + 1j * rng.integers(0, 9, 50), np.add),
        (MPI.SUM, rng.integers(0, 9, 50).astype("float16"), np.add),
        (MPI.MAX, rng.random(11).astype(np.longdouble), np.maximum),
        (MPI.LAND, rng.random(40) < 0.9, np.logical_and),
        (MPI.BXOR, rng.integers(0, 99, 40), np.bitwise_xor),
        (np.gcd, rng.integers(1, 99, 40) * 6, np.gcd),
        (np.maximum, rng.integers(0, 99, 9).astype("datetime64[s]"), np.maximum),
        (lambda one, other: one + other, rng.integers(0, 9, (3, 4)), np.add),
    ]
    for op, own, ufunc in cases:
        combined, result = mpi.prepare(plan, comm, op=op), np.empty_like(own)
        for _ in range(2):
            combined(own, result)
        parts = everyone(own)
        want = parts[0]
        for part in parts[1:]:
            want = ufunc(want, part).astype(own.dtype)
        both = own.copy()
        combined(MPI.IN_PLACE, both)
        name = ufunc.__name__
        expect(f"{name} of {own.dtype}", np.array_equal(result, want))
        expect(f"{name} of {own.dtype} in place", np.array_equal(both, want))


def own_operations() -> None:
    """One's own operation of MPI, which does not commute, keeps the order of the ranks."""

    def compose(one: Any, other: Any, _: Any) -> None:
        first, second = (np.frombuffer(part, "i8").reshape(-1, 2) for part in (one, other))
        scale, add = second.T.copy()
        second[:, 0], second[:, 1] = first[:, 0] * scale, first[:, 0] * add + first[:, 1]

    op = MPI.Op.Create(compose, commute=False)
    own = np.array([comm.rank + 2, 1], dtype="i8")
    parts = everyone(own)
    want = parts[0]
    for part in parts[1:]:
        want = np.array([want[0] * part[0], want[0] * part[1] + want[1]])
    for collective in ("reduce", "all-reduce"):
        problem = Reduction(machines=comm.size, segments=1, transfer=1, collective=collective)
        method = "chain" if collective == "reduce" else "auto"
        plan = comm.bcast(made_first(comm, solve, problem, method=method))
        try:
            combined = mpi.prepare(plan, comm, op=op)
        except InputError as refused:
            expect("refused alone", collective == "all-reduce", "commute" in str(refused))
            continue
        result = np.zeros(2, dtype="i8")
        combined(own, result)
        expect("order of ranks", comm.rank > 0 or result.tolist() == want.tolist())
    op.Free()


def sums(length: int) -> None:
    """Sums of floats have the documented order, in every call, and integers are those of NumPy."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        plan = comm.bcast(made_first(comm, random_plan, rng, comm.size, "all-reduce"))
        combined = mpi.prepare(plan, comm, op=MPI.SUM)
        whole = np.random.default_rng([seed, comm.rank]).integers(-(2**60), 2**60, length)
        result = np.empty_like(whole)
        combined(whole, result)
        total = np.zeros_like(whole)
        comm.Allreduce(whole, total)
        expect("integers", np.array_equal(result, total))
    plan = plan_of("all-reduce")
    combined = mpi.prepare(plan, comm)
    own = np.random.default_rng(comm.rank).random(length // 5 * 5)
    results = np.empty((2, len(own)))
    for result in results:
        combined(own, result)
    expect("the same bits again", results[0].tobytes() == results[1].tobytes())
    if length <= 10**5:
        expect("order", results[0].tobytes() == in_order_of(plan, everyone(own)).tobytes())


def roots() -> None:
    """Machines called by ranks have another root; a broadcast starts there."""
    order = [*range(1, comm.size), 0]
    machines = [f"rank {rank}" for rank in order]
    own = np.arange(20) * (comm.rank + 1)
    result = np.zeros(20, dtype=own.dtype)
    combined = mpi.prepare(plan_of("reduce", machines), comm)
    combined(own, result if combined.has_result else None)
    expect("who has it", combined.has_result == (comm.rank == order[0]))
    if combined.has_result:
        expect("at the root", np.array_equal(result, sum(everyone_of(own))))
    spread = mpi.prepare(plan_of("broadcast", machines), comm)
    spread(own)
    expect("spread", np.array_equal(own, np.arange(20) * (order[0] + 1)))


def everyone_of(own: Any) -> list[Any]:
    return [own // (comm.rank + 1) * (rank + 1) for rank in range(comm.size)]


def refusals() -> None:
    """What is wrong with arrays is said on each rank, before anything is sent."""
    combined = mpi.prepare(plan_of("all-reduce"), comm, op=MPI.BAND)
    numbers = np.ones(4, dtype="i8")
    overlapping = numbers[1:]
    frozen = np.ones(4, dtype="i8")
    frozen.flags.writeable = False
    for place, arrays in (
        ("op: bitwise_and", (np.ones(4), np.ones(4))),
        ("recvbuf: has 3", (numbers, np.ones(3, dtype="i8"))),
        ("recvbuf: overlaps", (overlapping, numbers[:3])),
        ("recvbuf: can't be written", (numbers, frozen)),
        ("sendbuf: is not contiguous", (np.ones(8, dtype="i8")[::2], numbers)),
        ("recvbuf: None", (numbers, None)),
    ):
        try:
            combined(*arrays)
            expect(f"{place} was taken", False)
        except InputError as refused:
            expect(str(refused), str(refused).startswith(place))
    plan = plan_of("all-reduce")
    for place, op in (
        ("op: 'sun' is not an operation; did you mean 'sum'", "sun"),
        ("op: 3 is not an operation of two arrays", 3),
        ("op: <ufunc 'sqrt'> is not an operation of two arrays", np.sqrt),
        ("op: divide of two int64 gives no int64", np.divide),
    ):
        try:
            mpi.prepare(plan, comm, op=op)(numbers, numbers.copy())
            expect(f"{op} was taken", False)
        except InputError as refused:
            expect(str(refused), str(refused).startswith(place))
    result, listed = np.zeros(4, dtype="i8"), [1, 1, 1, 1]
    combined(numbers, result)
    expect("after refusals", result.tolist() == listed)
    combined(listed, result)
    listed[2] = 2
    combined(listed, result)
    expect("a list that was changed", result.tolist() == listed)


if __name__ == "__main__":
    size = int(sys.argv[1])
    if size <= 10**5:
        types()
        own_operations()
        roots()
        refusals()
    sums(size)
    found = comm.gather(wrong)
    if comm.rank == 0:
        print(json.dumps(sum(found or [], [])))  # noqa: T201, RUF017 - read by the test
