"""A plan made ready once, and carried out as often as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.core.report import InvalidSchedule
from makespan.core.schedule import Schedule
from makespan.execute.collectives.ends import Ends, ends_of
from makespan.execute.collectives.tables import Table, Work
from makespan.execute.collectives.together import on_root
from makespan.execute.mpi.arrays import arrays_of, counts_of, parts_of
from makespan.execute.mpi.operations import combiner, commutes, operation_of
from makespan.execute.mpi.ranks import Rank, Watch, ranks_of, tables_of
from makespan.execute.mpi.world import all_or_none, calls_of, mpi, private
from makespan.flow.result import Result
from makespan.reduction.model import COMBINING
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.sends import segment_count

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

LEAST_TAG = 32_767  # that MPI promises


@suggesting
def prepare(
    plan: Result | None, comm: Comm | None = None, *, op: Any = "sum", counts: Any = None
) -> Collective:
    """Make a plan ready to be carried out; every rank calls this.

    What can be done once is done here: the referee looks at the plan, and every rank learns what it
    sends and takes. Calls exchange messages, nothing else. Rank r is machine r + 1, and rank 0 the
    root, unless the machines are called ``rank 0``, ``rank 1`` and so on: then they are those, in
    whatever order, and the first of them is the root.

    Parameters
    ----------
    plan
        A result of kind ``reduction`` with a schedule. Only that of rank 0 counts.
    comm
        The communicator; None: that of all ranks. Messages go over a duplicate of it, which is
        made once.
    op
        What combines two arrays: an operation of MPI, ``MPI.SUM`` or one's own
        (``MPI.Op.Create``), its name (``"sum"``), a ufunc of NumPy, or a function of two arrays
        that returns a third. One of MPI's that does not commute combines in the order of the
        ranks; ufuncs and functions are taken to commute. What only copies does without.
    counts
        For blocks of unequal lengths, as in the calls of MPI that end in v: how many elements the
        block of each rank has. In an all-to-all a table, from each rank (row) to each. Only those
        of rank 0 count. None: all blocks have one length, as in the calls without v.

    Returns
    -------
    Collective
        What is called with arrays.

    Raises
    ------
    InputError
        On all ranks alike: if the plan is of another kind or has no schedule, if the number of
        ranks is not that of its machines, if there is no such operation, or if it does not commute
        and the plan combines ranks that are not neighbours; if counts are not of that form, or a
        block has no segment.
    InvalidSchedule
        If the referee refuses the plan.
    MissingExtra
        If mpi4py or an MPI library is not installed.

    Examples
    --------
    On every rank, here on one:

    On three ranks:

    >>> import numpy as np, makespan
    >>> from makespan.execute import mpi
    >>> plan = makespan.solve(makespan.Reduction(
    ...     machines=3, segments=2, transfer=1, collective="all-reduce"))
    >>> total, result = mpi.prepare(plan), np.empty(3)  # doctest: +SKIP
    >>> total(np.arange(3.0), result); result  # doctest: +SKIP
    array([0., 3., 6.])
    """
    world = mpi().COMM_WORLD if comm is None else comm
    with all_or_none(world):
        return Collective(private(world), shared(plan, world, lambda *_: counts), operation_of(op))


class Collective:
    """A plan on these ranks; :func:`prepare` makes it. Call it on every rank, in the same order.

    The elements of a segment are combined in the order of the plan: on every machine its own, and
    then what came, as its reductions are planned. So floats give the same bits in every call, on
    any network, whatever comes first; integers those of NumPy.

    Memory: a rank keeps an array for every message that it combines, in all one array for each
    machine that sends to it. Messages are bound to the arrays of the last call; calls with the
    same arrays are the fastest.

    >>> import numpy as np
    >>> from makespan.execute import mpi
    >>> total, result = mpi.prepare(plan), np.empty(3)  # doctest: +SKIP
    >>> total(np.arange(3.0), result)  # doctest: +SKIP
    """

    def __init__(self, comm: Comm, work: Work, operation: Any) -> None:
        self.collective: str = work.collective
        self.sizes: Floats = work.sizes
        self.root: int = work.root
        self._comm, self._operation = comm, operation
        if 2 * len(self.sizes) > (comm.Get_attr(mpi().TAG_UB) or LEAST_TAG):
            raise InputError(f"plan: has {len(self.sizes):,} segments, more than MPI has tags for")
        unordered = any(not m.final and m.before is None for m in work.table.receives)
        if comm.allreduce(unordered and not commutes(operation), op=mpi().LOR):
            raise InputError(
                "op: does not commute, and the plan combines ranks that are not neighbours; a chain"
                " (method='chain') keeps their order"
            )
        self._calls = calls_of(comm)
        self._rank = Rank(comm, work.table, len(self.sizes), self._calls.rest)
        self._ends, self._counts, own = work.ends, work.counts, work.ends.own
        parts = any(not step.final for step in work.table.steps)
        self._combines = parts or self.collective in COMBINING
        self._overwrites = self._combines or not set(own or ()) <= set(work.ends.result or ())
        self._given: tuple[Any, ...] = ()
        self._kept: tuple[NDArray[Any], NDArray[Any]] | None = None  # in place: copy, original

    @property
    def has_result(self) -> bool:
        """Whether this rank gets a result; in a reduction and a gather, it is the root alone."""
        return self._ends.result is not None

    def __call__(self, sendbuf: Any, recvbuf: Any = None) -> None:
        """Carry out the plan; every rank calls this, and returns when its part is done.

        Both are contiguous arrays of one type on all ranks, in the form of mpi4py's call.
        ``sendbuf`` is what this rank contributes, ``recvbuf`` takes the result. Where a rank has
        none, as all but the root in a reduction, it may be None. In a broadcast, ``sendbuf`` is the
        one array: given on the root, filled elsewhere. Where segments are dealt, the larger array
        has a block for each rank, in their order, and the smaller one is the rank's own block. In a
        custom collective both have all segments; those that the rank lacks are left as they are.

        With ``MPI.IN_PLACE`` as ``sendbuf``, what is contributed is taken from ``recvbuf``, where
        MPI expects it; the root of a scatter gives ``MPI.IN_PLACE`` as ``recvbuf``. Raises
        InputError if arrays are not of that form. It ends all ranks where it is not caught on all
        of them.
        """
        self.carry_out(sendbuf, recvbuf)

    def carry_out(self, sendbuf: Any, recvbuf: Any, watch: bool = False) -> Watch | None:
        """Do what a call does; with ``watch``, return when every step began and ended."""
        if not self._given or sendbuf is not self._given[0] or recvbuf is not self._given[1]:
            self._take(sendbuf, recvbuf)
        if self._kept is not None:
            self._kept[0][...] = self._kept[1]
        watching = Watch(self._rank) if watch else None
        with self._calls:
            self._rank.carry_out(watching)
        return watching

    def _take(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bind the messages to other arrays, or say what is wrong with these."""
        self._given, self._kept = (), None
        has_own = self._ends.own is not None
        own, result = arrays_of(self.collective, has_own, self.has_result, sendbuf, recvbuf)
        array = result if own is None else own
        assert array is not None
        if own is result:
            own = np.empty_like(array) if self._overwrites else None
            self._kept = None if own is None else (own, array)
        combine = combiner(self._operation, array.dtype) if self._combines else np.add
        parts = parts_of(self._ends, self.sizes, self._counts, own, result, self._kept is not None)
        self._rank.bind(parts, array.dtype, combine)
        if sendbuf is None or sendbuf is mpi().IN_PLACE or isinstance(sendbuf, np.ndarray):
            self._given = sendbuf, recvbuf  # all else is looked at again next time


def shared(plan: Result | None, comm: Any, counts: Callable[[Reduction, Ends], Any]) -> Work:
    """Return what this rank needs of the plan that rank 0 has, and of the counts for it."""
    parts: list[tuple[Table, Ends]] = []

    def checked() -> Any:
        problem, schedule = _checked(plan, comm.size)
        ranks = ranks_of(problem.machines)
        whole = problem.with_segments(segment_count(problem, schedule))
        ends = ends_of(problem.collective, whole.statement, ranks)
        parts.extend(zip(tables_of(problem, schedule), ends, strict=True))
        blocks = counts_of(problem.collective, comm.size, ends[0], counts(whole, ends[0]))
        return problem.collective, schedule.makespan, whole.sizes, ranks[ROOT], blocks

    collective, makespan, sizes, root, blocks = on_root(comm, checked)
    table, ends = comm.scatter(parts if comm.rank == ROOT else None, root=ROOT)
    return Work(collective, makespan, sizes, root, table, ends, blocks)


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
