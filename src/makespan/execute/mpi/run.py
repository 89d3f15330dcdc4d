"""Carry out a plan on the ranks of MPI, and compare with its own collective operation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.errors import ExecutionError, InputError, InvalidSchedule
from makespan.core.inputs.mistakes import shown
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule
from makespan.execute.mpi.clocks import clocks_ahead
from makespan.execute.mpi.execution import CALLS, Execution
from makespan.execute.mpi.ranks import Rank
from makespan.execute.mpi.tables import Table, tables_of
from makespan.execute.mpi.world import ROOT, all_or_none, mpi, on_root, yield_until_all
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import segment_count

OPERATIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
TYPES = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float32", "float64"),
)
WARM_UPS = 1


class _Plan(NamedTuple):
    """What all ranks know of the plan."""

    collective: str
    makespan: float
    sizes: Floats
    table: Table


@suggesting
def run(
    plan: Result | None,
    array: ArrayLike,
    comm: Any = None,
    *,
    operation: Any = "sum",
    repetitions: int = 5,
    progress: Progress = True,
) -> Execution:
    """Carry out the plan of a reduction, broadcast or all-reduce; every rank calls this.

    Every rank posts all its receives, then combines and sends in the order of the planned starts,
    without waiting for its sends to end. The array is cut into the segments of the plan, in
    proportion to their sizes; segments may be empty. Rank r is machine r + 1; rank 0 is the root.

    Parameters
    ----------
    plan
        A result of kind ``reduction`` with a schedule. Only that of rank 0 counts.
    array
        What this rank contributes: integers or floats of 8 to 64 bits, of one type and shape on
        all ranks. It is not changed. In a broadcast the values of rank 0 count.
    comm
        The communicator; None: that of all ranks.
    operation
        ``"sum"``, ``"prod"``, ``"min"`` or ``"max"``; ``MPI.SUM`` and so on, too.
    repetitions
        How often plan and MPI's own operation are run, in turn, after one run to warm up.
    progress
        See :mod:`makespan.execute.progress`.

    Returns
    -------
    Execution
        The same on all ranks, but for ``values``.

    Raises
    ------
    InputError
        On all ranks alike: if the plan is of another kind or has no schedule, if the number of
        ranks is not that of its machines, or if types and shapes differ.
    InvalidSchedule
        If the referee refuses the plan.
    ExecutionError
        If the result is not that of MPI's own operation.
    MissingExtra
        If mpi4py or an MPI library is not installed.
    """
    package = mpi()
    world = package.COMM_WORLD if comm is None else comm
    with all_or_none(world):
        known = _shared(plan, world)
        own = np.ascontiguousarray(array)
        operation = _name_of(operation)
        _check_arguments(world, own, operation, repetitions)
        private = world.Dup()
        try:
            with teller(progress if world.rank == ROOT else False) as tell:
                return _run(private, known, plan, own, operation, repetitions, tell)
        finally:
            private.Free()


def _shared(plan: Result | None, comm: Any) -> _Plan:
    """Return what this rank needs of the plan that rank 0 has."""
    tables: list[Table] = []

    def checked() -> tuple[str, float, Floats]:
        problem, schedule = _checked(plan, comm.size)
        tables.extend(tables_of(problem, schedule))
        sizes = problem.with_segments(segment_count(problem, schedule)).sizes
        return problem.collective, schedule.makespan, sizes

    collective, makespan, sizes = on_root(comm, checked)
    table = comm.scatter(tables if comm.rank == ROOT else None, root=ROOT)
    return _Plan(collective, makespan, sizes, table)


def _checked(plan: Result | None, ranks: int) -> tuple[Reduction, Schedule]:
    """Return the problem and the schedule of a plan for so many ranks, or say what is wrong."""
    from makespan.flow.check import check

    if not isinstance(plan, Result):
        raise InputError(f"plan: {plan!r} is not a result; solve a reduction to get one")
    problem = plan.problem
    if not isinstance(problem, Reduction):
        raise InputError(
            f"plan: is of kind {problem.kind!r}; MPI carries out plans of kind 'reduction'"
        )
    if plan.schedule is None:
        raise InputError(f"plan: has no schedule, its status is {plan.status.value!r}")
    machines = len(problem.machines)
    if ranks != machines:
        raise InputError(
            f"plan: is for {machines} machines, but there {'is' if ranks == 1 else 'are'} {ranks} "
            f"rank{'' if ranks == 1 else 's'}; start it with 'mpiexec -n {machines}'"
        )
    report = check(plan)
    if not report.ok:
        raise InvalidSchedule(f"plan: the referee refuses it: {report.violations[0]}", report)
    return problem, plan.schedule


def _name_of(operation: Any) -> str:
    """Return the name of an operation of MPI; what is none is shown as it was given."""
    if isinstance(operation, str):
        return operation
    named = (name for name in OPERATIONS if operation == getattr(mpi(), name.upper()))
    return next(named, shown(operation))


def _check_arguments(comm: Any, own: NDArray[Any], operation: str, repetitions: int) -> None:
    """Raise on all ranks alike where arguments are wrong on one of them, or differ."""
    given = comm.allgather((str(own.dtype), own.shape, operation, repetitions))
    for rank, (type_, shape, name, times) in enumerate(given):
        if type_ not in TYPES:
            raise InputError(f"array: is of {type_} on rank {rank}; allowed is {', '.join(TYPES)}")
        if name not in OPERATIONS:
            raise InputError(
                f"operation: {name!r} is not an operation{did_you_mean(name, OPERATIONS)}"
            )
        if not isinstance(times, int) or times < 1:
            raise InputError(f"repetitions: {times!r} is not a whole number from 1")
        if (type_, shape) != given[0][:2]:
            raise InputError(
                f"array: rank {rank} has {type_} of shape {shape}, rank 0 {given[0][0]} of shape "
                f"{given[0][1]}; all ranks need the same"
            )
        if (name, times) != given[0][2:]:
            raise InputError(
                f"operation, repetitions: those of rank {rank} differ from those of rank 0"
            )


def cuts_of(sizes: Floats, length: int) -> list[int]:
    """Return where segments begin and end in an array, in proportion to their sizes.

    >>> cuts_of(np.ones(4), 10), cuts_of(np.ones(4), 2)
    ([0, 2, 5, 8, 10], [0, 0, 1, 2, 2])
    """
    total = float(sizes.sum())
    share = np.cumsum(sizes) / total if total > 0 else np.arange(1, len(sizes) + 1) / len(sizes)
    cuts: list[int] = np.rint(share * length).astype(np.int64).tolist()
    return [0, *cuts[:-1], length]


def _run(
    comm: Any,
    known: _Plan,
    plan: Result | None,
    own: NDArray[Any],
    operation: str,
    repetitions: int,
    tell: Tell,
) -> Execution:
    flat = own.reshape(-1)
    from_root = known.collective != "reduce"
    cuts = cuts_of(known.sizes, len(flat))
    rank = Rank(comm, known.table, flat, cuts, OPERATIONS[operation], from_root)
    expected = flat.copy() if rank.has_result else flat[:0]
    classical = _classical(comm, known.collective, operation, flat, expected)
    ahead = clocks_ahead(comm)
    planned_times, classical_times, windows = [], [], []
    for turn in range(WARM_UPS + repetitions):
        tell(turn / (WARM_UPS + repetitions), "the plan, and MPI's own")
        took, window = _timed(comm, rank.carry_out)
        other, _ = _timed(comm, classical)
        if turn >= WARM_UPS:
            planned_times.append(took)
            classical_times.append(other)
            windows.append(window)
    exact, difference = _compared(comm, rank, flat, expected, operation, known.collective)
    middle = sorted(range(repetitions), key=lambda turn: planned_times[turn])[
        (repetitions - 1) // 2
    ]
    measured = (rank.rows, *(column - ahead[comm.rank] for column in windows[middle]))
    gathered = comm.gather(measured, root=ROOT)
    schedule = on_root(comm, lambda: _measured(plan, gathered))
    return Execution(
        values=rank.result.reshape(own.shape) if rank.has_result else None,
        schedule=schedule,
        collective=known.collective,
        operation=operation,
        type=str(own.dtype),
        length=len(flat),
        ranks=comm.size,
        predicted=known.makespan,
        planned=tuple(planned_times),
        classical=tuple(classical_times),
        exact=exact,
        difference=difference,
    )


def _classical(
    comm: Any, collective: str, operation: str, own: NDArray[Any], out: NDArray[Any]
) -> Any:
    """Return MPI's own operation, from ``own`` to ``out``, as a function without arguments."""
    code = getattr(mpi(), operation.upper())
    if collective == "broadcast":
        return lambda: comm.Bcast(out, root=ROOT)
    if collective == "all-reduce":
        return lambda: comm.Allreduce(own, out, op=code)
    return lambda: comm.Reduce(own, out if comm.rank == ROOT else None, op=code, root=ROOT)


def _timed(comm: Any, work: Any) -> tuple[float, Any]:
    """Return the longest time of any rank, from the end of a barrier, and what ``work`` gave."""
    package = mpi()
    comm.Barrier()
    begin = package.Wtime()
    value = work()
    took = package.Wtime() - begin
    yield_until_all(comm)
    longest = comm.allreduce(took, op=package.MAX)
    return longest, value


def _compared(
    comm: Any,
    rank: Rank,
    own: NDArray[Any],
    expected: NDArray[Any],
    operation: str,
    collective: str,
) -> tuple[bool, float]:
    """Return whether both results have the same bits, and their largest relative difference.

    Sums and products of floats may differ by the order of the operations: by n roundings each,
    relative to the same operation on absolute values. All else must agree.
    """
    package = mpi()
    rounded = own.dtype.kind == "f" and operation in ("sum", "prod") and collective != "broadcast"
    scale = np.ones(0)
    if rounded:
        code = getattr(package, operation.upper())
        scale = np.zeros_like(own)
        comm.Allreduce(np.abs(own), scale, op=code)
    same, difference = True, 0.0
    if rank.has_result and len(own):
        same = rank.result.tobytes() == expected.tobytes()
        difference = 0.0 if same else _difference(rank.result, expected, scale, rounded)
    same = comm.allreduce(same, op=package.LAND)
    difference = comm.allreduce(difference, op=package.MAX)
    allowed = 2 * comm.size * float(np.finfo(own.dtype).eps) if rounded else 0.0
    if difference > allowed:
        raise ExecutionError(
            f"the plan's result differs from that of {CALLS[collective]} by {difference:.3g}, "
            "relative; that is more than rounding"
        )
    return same, difference


def _difference(
    one: NDArray[Any], other: NDArray[Any], scale: NDArray[Any], rounded: bool
) -> float:
    """Return the largest difference relative to ``scale``; NaN and equal values differ by 0."""
    alike = (one == other) | (one != one) | (other != other)  # noqa: PLR0124 - NaN
    if alike.all():
        return 0.0
    if not rounded:
        return float("inf")
    gap = np.abs(one[~alike] - other[~alike])
    return float((gap / scale[~alike]).max())


def _measured(plan: Result | None, parts: list[tuple[Integers, Floats, Floats]] | None) -> Schedule:
    """Return the plan's schedule with measured times, from the start of the first activity."""
    assert plan is not None
    assert plan.schedule is not None
    assert parts is not None
    planned = plan.schedule
    start, end = np.zeros(len(planned)), np.zeros(len(planned))
    for rows, begun, done in parts:
        start[rows], end[rows] = begun, done
    zero = start.min(initial=np.inf) if len(planned) else 0.0
    return Schedule.of_columns(
        planned.machines,
        kind=planned.kind,
        machine=planned.machine,
        peer=planned.peer,
        item=planned.item,
        amount=planned.amount,
        start=start - zero,
        end=end - zero,
    )
