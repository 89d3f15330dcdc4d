"""Carry out a plan on the ranks of MPI, and compare with its own collective operation."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.errors import ExecutionError, InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Schedule
from makespan.execute.collectives.ends import Ends
from makespan.execute.collectives.tables import Work
from makespan.execute.collectives.together import ROOT, on_root, timed
from makespan.execute.mpi.arrays import APART, cut, lengths_of, shares_of
from makespan.execute.mpi.collective import Collective, shared
from makespan.execute.mpi.execution import CALLS, Execution
from makespan.execute.mpi.operations import UFUNCS
from makespan.execute.mpi.world import all_or_none, clocks_ahead, mpi, private
from makespan.execute.progress import Progress, Tell, teller
from makespan.flow.result import Result
from makespan.reduction.model import AT_ROOT, COMBINING, ENDS
from makespan.reduction.problem import Reduction

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

OPERATIONS = {name: UFUNCS[name] for name in ("sum", "prod", "min", "max")}
TYPES = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float32", "float64"),
)
WARM_UPS = 1


@suggesting
def run(
    plan: Result | None,
    array: ArrayLike,
    comm: Comm | None = None,
    *,
    operation: Any = "sum",
    repetitions: int = 5,
    progress: Progress = True,
) -> Execution:
    """Carry out a plan several times beside MPI's own operation; every rank calls this.

    It measures, draws and compares; :func:`makespan.execute.mpi.prepare` is for using a plan. The
    array is cut into the segments of the plan, in proportion to their sizes; segments may be
    empty. Rank r is machine r + 1, rank 0 the root, as there.

    Parameters
    ----------
    plan
        A result of kind ``reduction`` with a schedule. Only that of rank 0 counts.
    array
        What this rank contributes: integers or floats of 8 to 64 bits, of one type and shape on
        all ranks. It is not changed. In a broadcast and a scatter the values of the root count.
        In a gather and an all-gather it is the rank's own block, and lengths may differ; arrays
        of several blocks are cut into them in proportion to the sizes of the segments.
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

    >>> import makespan, numpy as np
    >>> from makespan.execute import mpi
    >>> times = {"latency": 1e-6, "transfer": 1e-4, "reduce": 1e-5}
    >>> plan = makespan.solve(makespan.Reduction(machines=3, segments=4, **times))
    >>> execution = mpi.run(plan, np.arange(3.0))  # doctest: +SKIP
    """
    package = mpi()
    world = package.COMM_WORLD if comm is None else comm
    with all_or_none(world):
        own = np.ascontiguousarray(array)
        operation = _name_of(operation)
        given = world.allgather((str(own.dtype), own.shape, operation, repetitions))
        lengths = [math.prod(shape) for _, shape, *_ in given]
        known = shared(plan, world, partial(_counts, lengths))
        _check_arguments(given, known.collective in APART)
        with teller(progress if world.rank == ROOT else False) as tell:
            return _run(private(world), known, plan, own, operation, repetitions, tell)


def _name_of(operation: Any) -> str:
    """Return the name of an operation of MPI; what is none is shown as it was given."""
    if isinstance(operation, str):
        return operation
    named = (name for name in OPERATIONS if operation == getattr(mpi(), name.upper()))
    return next(named, quoted(operation))


def _counts(lengths: list[int], problem: Reduction, ends: Ends) -> Any:
    """Return the counts of the blocks, or refuse what MPI has no operation for."""
    if problem.collective not in CALLS:
        raise InputError(
            f"plan: MPI has no operation {problem.collective!r} to compare with; mpi.prepare"
            " carries it out"
        )
    return shares_of(problem, ends, lengths)


def _check_arguments(given: list[Any], apart: bool) -> None:
    """Raise on all ranks alike where arguments are wrong on one of them, or differ.

    ``apart`` says that shapes may differ.
    """
    for rank, (type_, shape, name, times) in enumerate(given):
        if type_ not in TYPES:
            raise InputError(f"array: is of {type_} on rank {rank}; allowed is {', '.join(TYPES)}")
        if name not in OPERATIONS:
            raise InputError(
                f"operation: {name!r} is not an operation{did_you_mean(name, OPERATIONS)}"
            )
        if not isinstance(times, int) or times < 1:
            raise InputError(f"repetitions: {times!r} is not a whole number from 1")
        if type_ != given[0][0] or (shape != given[0][1] and not apart):
            raise InputError(
                f"array: rank {rank} has {type_} of shape {shape}, rank 0 {given[0][0]} of shape "
                f"{given[0][1]}; all ranks need the same"
            )
        if (name, times) != given[0][2:]:
            raise InputError(
                f"operation, repetitions: those of rank {rank} differ from those of rank 0"
            )


def _run(
    comm: Any,
    known: Work,
    plan: Result | None,
    own: NDArray[Any],
    operation: str,
    repetitions: int,
    tell: Tell,
) -> Execution:
    flat = own.reshape(-1)
    collective = Collective(comm, known, OPERATIONS[operation])
    counts = [len(flat)] if known.counts is None else known.counts
    lengths = lengths_of(known.sizes, known.ends.blocks, counts)
    wanted = known.ends.result
    given, taken, expected = flat, None, None
    if known.collective == "broadcast":
        given, expected = flat.copy(), flat.copy()
    elif wanted is not None:
        size = sum(lengths[segment] for segment in wanted)
        taken, expected = np.zeros(size, own.dtype), np.ones(size, own.dtype)
    result = given if known.collective == "broadcast" else taken
    classical = _classical(comm, known, operation, flat, expected)
    scale = _scale(comm, known, flat, operation, lengths)

    def carry_out() -> Any:
        return collective.carry_out(given, taken, watch=True)

    ahead = clocks_ahead(comm)
    planned_times, classical_times, windows = [], [], []
    for turn in range(WARM_UPS + repetitions):
        tell(turn / (WARM_UPS + repetitions), "the plan, and MPI's own")
        took, window = timed(comm, carry_out)
        other, _ = timed(comm, classical)
        if turn >= WARM_UPS:
            planned_times.append(took)
            classical_times.append(other)
            windows.append(window)
    exact, difference = _compared(comm, result, expected, scale, known.collective)
    middle = sorted(range(repetitions), key=lambda turn: planned_times[turn])[
        (repetitions - 1) // 2
    ]
    watch = windows[middle]
    measured = watch.rows, watch.start - ahead[comm.rank], watch.end - ahead[comm.rank]
    gathered = comm.gather(measured, root=ROOT)
    schedule = on_root(comm, lambda: _measured(plan, gathered))
    return Execution(
        values=result if result is None or known.counts is not None else result.reshape(own.shape),
        schedule=schedule,
        collective=known.collective,
        operation=operation,
        type=str(own.dtype),
        length=comm.allreduce(max(len(flat), 0 if result is None else len(result)), op=mpi().MAX),
        ranks=comm.size,
        predicted=known.makespan,
        planned=tuple(planned_times),
        classical=tuple(classical_times),
        exact=exact,
        difference=difference,
        **dict(zip(("crowd", "cores"), _crowd(comm), strict=True)),
    )


def _crowd(comm: Any) -> tuple[int, int]:
    """Return the most ranks on a computer with fewer cores, and its cores; else zeros."""
    shared = comm.Split_type(mpi().COMM_TYPE_SHARED)
    here = shared.size, os.cpu_count() or shared.size
    shared.Free()
    crowded = [each for each in comm.allgather(here) if each[0] > each[1]]
    return max(crowded, default=(0, 0))


def _classical(
    comm: Any, known: Work, operation: str, own: NDArray[Any], out: NDArray[Any] | None
) -> Callable[[], object]:
    """Return MPI's own operation, from ``own`` to ``out``, as a function without arguments.

    It is that for blocks of unequal lengths where they are.
    """
    name, method = known.collective, CALLS[known.collective].removeprefix("MPI.")
    to: dict[str, Any] = {"root": known.root} if AT_ROOT in ENDS[name] else {}
    if name in COMBINING:
        to["op"] = getattr(mpi(), operation.upper())
    counts = [] if known.counts is None else list(known.counts)
    given = None if known.ends.own is None else own
    if name == "broadcast":
        return partial(comm.Bcast, out, **to)
    if len(set(counts)) <= 1:
        call = getattr(comm, f"{method}_block" if name == "reduce-scatter" else method)
        return partial(call, given, out, **to)
    if name == "reduce-scatter":
        return partial(comm.Reduce_scatter, own, out, counts, **to)
    if name == "all-to-all":
        table = np.reshape(counts, (comm.size, comm.size))
        return partial(comm.Alltoallv, [own, table[comm.rank]], [out, table[:, comm.rank]])
    call = getattr(comm, f"{method}v")
    if name == "scatter":
        return partial(call, None if given is None else [given, counts], out, **to)
    return partial(call, own, None if out is None else [out, counts], **to)


def _scale(
    comm: Any, known: Work, own: NDArray[Any], operation: str, lengths: list[int]
) -> NDArray[Any] | None:
    """Return what differences are relative to where results are rounded, else None.

    Sums and products of floats may differ by the order of the operations: by n roundings each,
    relative to the same operation on absolute values.
    """
    rounds = operation in ("sum", "prod") and known.collective in COMBINING
    if own.dtype.kind != "f" or not rounds:
        return None
    whole = np.zeros_like(own)
    comm.Allreduce(np.abs(own), whole, op=getattr(mpi(), operation.upper()))
    place = cut(whole, known.ends.own, lengths)
    return np.concatenate([whole[:0], *(place[segment] for segment in known.ends.result or ())])


def _compared(
    comm: Any,
    result: NDArray[Any] | None,
    expected: NDArray[Any] | None,
    scale: NDArray[Any] | None,
    collective: str,
) -> tuple[bool, float]:
    """Return whether both results have the same bits, and their largest relative difference.

    Without a ``scale`` they must agree.
    """
    package = mpi()
    same, difference = True, 0.0
    if result is not None and expected is not None:
        same = result.tobytes() == expected.tobytes()
        difference = 0.0 if same else _difference(result, expected, scale)
    same = comm.allreduce(same, op=package.LAND)
    difference = comm.allreduce(difference, op=package.MAX)
    allowed = 0.0 if scale is None else 2 * comm.size * float(np.finfo(scale.dtype).eps)
    if difference > allowed:
        raise ExecutionError(
            f"the plan's result differs from that of {CALLS[collective]} by {difference:.3g}, "
            "relative; that is more than rounding"
        )
    return same, difference


def _difference(one: NDArray[Any], other: NDArray[Any], scale: NDArray[Any] | None) -> float:
    """Return the largest difference relative to ``scale``; equal values, or both NaN, differ by 0.

    The least and the largest of values of which some are NaN are not defined by MPI.
    """
    odd, odder = np.isnan(one), np.isnan(other)
    alike = (one == other) | ((odd | odder) if scale is None else (odd & odder))
    if alike.all():
        return 0.0
    if scale is None:
        return float("inf")
    gap = np.abs(one[~alike] - other[~alike]) / scale[~alike]
    return float(np.max(gap, where=~np.isnan(gap), initial=np.inf if np.isnan(gap).any() else 0.0))


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
    return planned.timed(start - zero, end - zero, earliest=False)
