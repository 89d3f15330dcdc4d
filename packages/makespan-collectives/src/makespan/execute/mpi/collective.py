"""A plan made ready once, and carried out as often as wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.core.report import InvalidSchedule
from makespan.core.schedule import Schedule
from makespan.execute.collectives.tables import Table, Work
from makespan.execute.collectives.together import on_root
from makespan.execute.mpi.execution import CALLS
from makespan.execute.mpi.operations import combiner, commutes, operation_of
from makespan.execute.mpi.ranks import Rank, Watch, ranks_of, tables_of
from makespan.execute.mpi.world import all_or_none, calls_of, mpi, private
from makespan.flow.result import Result
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.sends import segment_count

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

LEAST_TAG = 32_767  # that MPI promises


@suggesting
def prepare(plan: Result | None, comm: Comm | None = None, *, op: Any = "sum") -> Collective:
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
        ranks; ufuncs and functions are taken to commute. A broadcast does without.

    Returns
    -------
    Collective
        What is called with arrays.

    Raises
    ------
    InputError
        On all ranks alike: if the plan is of another kind or has no schedule, if the number of
        ranks is not that of its machines, if there is no such operation, or if it does not commute
        and the plan combines ranks that are not neighbours.
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
        return Collective(private(world), shared(plan, world), operation_of(op))


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
        self._given: tuple[Any, ...] = ()
        self._kept: NDArray[Any] | None = None  # what is contributed in place

    @property
    def _is_root(self) -> bool:
        return bool(self._comm.rank == self.root)

    @property
    def has_result(self) -> bool:
        """Whether this rank gets the result: the root, and all but in a reduction."""
        return self.collective != "reduce" or self._is_root

    def __call__(self, sendbuf: Any, recvbuf: Any = None) -> None:
        """Carry out the plan; every rank calls this, and returns when its part is done.

        ``sendbuf`` is what this rank contributes: a contiguous array, of one type and size on all
        ranks. With ``MPI.IN_PLACE`` it is taken from ``recvbuf``. In a broadcast, it is the one
        array: given on the root, filled elsewhere. ``recvbuf`` takes the result, where
        :attr:`has_result`; elsewhere it may be None. Raises InputError if arrays are not of that
        form. It ends all ranks where it is not caught on all of them.
        """
        self.carry_out(sendbuf, recvbuf)

    def carry_out(self, sendbuf: Any, recvbuf: Any, watch: bool = False) -> Watch | None:
        """Do what a call does; with ``watch``, return when every step began and ended."""
        if not self._given or sendbuf is not self._given[0] or recvbuf is not self._given[1]:
            self._take(sendbuf, recvbuf)
        if self._kept is not None:
            self._kept[...] = np.asarray(recvbuf).reshape(-1)
        watching = Watch(self._rank) if watch else None
        with self._calls:
            self._rank.carry_out(watching)
        return watching

    def _take(self, sendbuf: Any, recvbuf: Any) -> None:
        """Bind the messages to other arrays, or say what is wrong with these."""
        self._given, self._kept = (), None
        own, result = arrays_of(self.collective, self._is_root, sendbuf, recvbuf)
        spread, in_place = self.collective == "broadcast", sendbuf is mpi().IN_PLACE
        combine = np.add if spread else combiner(self._operation, own.dtype)
        if in_place:
            own = self._kept = np.empty_like(own)
        self._rank.bind(own, result, cuts_of(self.sizes, own.size), combine)
        if in_place or isinstance(sendbuf, np.ndarray):  # all else is looked at again next time
            self._given = sendbuf, recvbuf


def arrays_of(
    collective: str, is_root: bool, sendbuf: Any, recvbuf: Any
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return what a rank contributes, and what takes the result, as they lie in memory.

    In place, and in a broadcast, that is one array.
    Raises InputError if the arrays are not of the form that the collective takes.
    """
    in_place = sendbuf is mpi().IN_PLACE
    if collective == "broadcast":
        if recvbuf is not None or in_place:
            raise InputError("recvbuf: a broadcast has one array, which it fills elsewhere")
        array = _array("sendbuf", sendbuf, not is_root)
        return array, array
    has_result = collective != "reduce" or is_root
    result = _array("recvbuf", recvbuf, True) if has_result else None
    if in_place:
        if result is None:
            raise InputError("sendbuf: MPI.IN_PLACE is for ranks that get the result")
        return result, result
    own = _array("sendbuf", sendbuf, False)
    if result is not None:
        _check_pair(own, result)
    return own, result


def _check_pair(own: NDArray[Any], result: NDArray[Any]) -> None:
    if (own.dtype, own.size) != (result.dtype, result.size):
        raise InputError(
            f"recvbuf: has {result.size:,} {result.dtype}, sendbuf {own.size:,} {own.dtype}"
        )
    if np.may_share_memory(own, result):
        raise InputError("recvbuf: overlaps with sendbuf; MPI.IN_PLACE stands for that")


def _array(name: str, given: Any, written: bool) -> NDArray[Any]:
    """Return an array as it lies in memory, one-dimensional."""
    array = np.asarray(given)
    if array.dtype.hasobject or given is None:
        raise InputError(f"{name}: {quoted(given)} is not an array of numbers")
    if not array.flags.c_contiguous:
        raise InputError(f"{name}: is not contiguous")
    is_copy = array.size > 0 and not np.may_share_memory(array, given)
    if written and (is_copy or not array.flags.writeable):
        raise InputError(f"{name}: can't be written")
    return array.reshape(-1)


def shared(plan: Result | None, comm: Any) -> Work:
    """Return what this rank needs of the plan that rank 0 has."""
    tables: list[Table] = []

    def checked() -> tuple[str, float, Floats, int]:
        problem, schedule = _checked(plan, comm.size)
        tables.extend(tables_of(problem, schedule))
        sizes = problem.with_segments(segment_count(problem, schedule)).sizes
        return problem.collective, schedule.makespan, sizes, ranks_of(problem.machines)[ROOT]

    known = on_root(comm, checked)
    table = comm.scatter(tables if comm.rank == ROOT else None, root=ROOT)
    return Work(*known, table)


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
    if problem.collective not in CALLS:
        raise InputError(
            f"plan: is of the collective {problem.collective!r}; MPI carries out {', '.join(CALLS)}"
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


def cuts_of(sizes: Floats, length: int) -> list[int]:
    """Return where segments begin and end in an array, in proportion to their sizes.

    >>> cuts_of(np.ones(4), 10), cuts_of(np.ones(4), 2)
    ([0, 2, 5, 8, 10], [0, 0, 1, 2, 2])
    """
    total = float(sizes.sum())
    share = np.cumsum(sizes) / total if total > 0 else np.arange(1, len(sizes) + 1) / len(sizes)
    cuts: list[int] = np.rint(share * length).astype(np.int64).tolist()
    return [0, *cuts[:-1], length]
