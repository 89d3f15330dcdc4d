"""A function over data on any pool: chunks dealt out by what each worker takes.

:class:`Executor` is the interface of ``concurrent.futures`` over any pool.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Executor as Interface, Future
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import keywords_of
from makespan.core.system.startup import optional
from makespan.execute.arguments import for_function, items_of, number, parameters
from makespan.execute.calls import Calls
from makespan.execute.carry_out import Background, carried_out, in_order
from makespan.execute.dealing.history import History
from makespan.execute.dealing.rival import WORTH_MEASURING, OwnMap
from makespan.execute.execution import Execution
from makespan.execute.loop import own_loop
from makespan.execute.pickles import pickled, unit_bytes, unit_footprint
from makespan.execute.pools.engine import PoolEngine, PoolJob
from makespan.execute.pools.executors import Executors
from makespan.execute.pools.processes import Processes
from makespan.execute.pools.reception import Pool
from makespan.execute.progress import Progress, teller
from makespan.execute.remote import Call, called

DASK_ONLY = "workers", "priority", "calibration"
REFUSED: dict[str, tuple[Any, str]] = {
    "client": (None, "on=client is the way to a Dask cluster"),
    "workers": (None, "all workers of the pool are used; Dask has names for its own"),
    "priority": (None, "the pool has no priorities; Dask has"),
    "calibration": (None, "that is measured on Dask clusters"),
}
"""Parameters of Dask's map: the value that changes nothing, and why there is no other."""

_LEARNT: WeakKeyDictionary[Any, History] = WeakKeyDictionary()
_KINDS: dict[str, History] = {}


def map(  # noqa: A001
    function: Callable[..., Any],
    *iterables: Any,
    on: Any = None,
    expected: Any = None,
    batched: bool = False,
    batch_size: int | None = None,
    resources: Mapping[str, float] | None = None,
    retries: int | None = None,
    keep_going: bool = False,
    progress: Progress = True,
    **keywords: Any,
) -> Execution:
    """Apply a function to all items on the workers of any pool.

    Work begins at once, with small chunks. From each that comes back is learnt what a worker takes;
    the next are as large as pays, and grow smaller towards the end, so that all workers end
    together. What a worker has not begun is given to those that have nothing to do; what is late is
    done by others, too. What was learnt is kept for later calls, until :func:`forget`.

    Parameters
    ----------
    function
        What is called with an item of each of the iterables; where ``batched``, with a chunk of
        each: a list, or rows of an array.
    iterables
        The items: a sequence or another collection, a NumPy array (its rows),
        :class:`makespan.execute.Files`, or an iterator, which is read while the work goes on. The
        shortest ends them all.
    on
        Where: None for a process on each core of this machine, or how many processes; any executor
        of ``concurrent.futures`` (of processes, threads, loky, ``mpi4py.futures``); ``"ray"`` or
        the address of a Ray cluster; a ``distributed.Client``, as :func:`makespan.execute.dask.map`
        takes it, with all that it takes.
        By name, too: ``"local"``, ``"mpi"`` (the ranks of ``mpiexec``), ``"dask"`` (a cluster on
        this machine), or the address of a scheduler, ``"tcp://HOST:PORT"``.
    expected
        What items are expected to take, so that the longest are begun first: seconds, or what grows
        with them, one number an item; a function of an item; the name of a column or field of the
        items; a mapping by item; or an :class:`Execution` of as many items. None: in their order,
        or by a size of items (a number, bytes, their length) that explained what earlier ones took.
    batched
        Whether the function takes a chunk, and returns one result an item.
    batch_size
        The most items of a chunk.
    resources
        What each call needs of its worker: ``{"GPU": 1}`` on Dask, ``{"num_gpus": 1}`` on Ray.
    retries
        How often a call that raises is made again, on the same worker; None: never.
    keep_going, progress
        Whether what failed is only noted in ``failures``; :mod:`makespan.execute.progress`.
    keywords
        Passed to the function.

    Returns
    -------
    Execution
        ``results`` in the order of the items, what was measured, and the ``platform`` as learnt.

    Raises
    ------
    ItemsFailed
        If the function raised on any item; the results of the others are in its ``execution``.
    ExecutionError
        If no worker is left and none can come; the results until then are in its ``execution``.
    InputError
        If ``on`` is nothing of these, or something can't be pickled.

    Source: Flynn Hummel, Schmidt, Uma and Wein 1996, for the sizes of chunks.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from makespan import execute
    >>> with ThreadPoolExecutor(2) as pool:
    ...     execute.map(pow, [2, 3], [5, 2], on=pool).results
    [32, 9]
    """
    with prepared(
        function, iterables, on, progress, keywords, resources, batched=batched,
        batch_size=batch_size, retries=retries, expected=expected, by_size=True,
    ) as found:  # fmt: skip
        return carried_out(*found, keep_going=keep_going)


def imap(
    function: Callable[..., Any],
    *iterables: Any,
    on: Any = None,
    keep_going: bool = False,
    progress: Progress = True,
    **options: Any,
) -> Iterator[Any]:
    """Give the results of a function over items as they come, in the order of the items.

    Parameters
    ----------
    function, on, keep_going, progress, options
        As for :func:`map`.
    iterables
        The same; an iterator is read only some seconds of work ahead of what is taken.

    Raises
    ------
    ItemsFailed
        After the last result, if the function raised on any item; its result is None.
    ExecutionError, InputError
        As for :func:`map`.

    >>> from makespan import execute
    >>> for square in execute.imap(pow, range(10**9), on=4, exp=2):      # doctest: +SKIP
    ...     print(square)
    """
    keywords = {name: options.pop(name) for name in {*options} - {*keywords_of(map)}}
    return begin(function, iterables, on, progress, keywords, keep_going, **options)[0]


def begin(
    function: Callable[..., Any],
    iterables: Sequence[Any],
    on: Any,
    progress: Progress = False,
    keywords: Mapping[str, Any] | None = None,
    keep_going: bool = False,
    raising: bool = False,
    seconds: float | None = None,
    **options: Any,
) -> tuple[Iterator[Any], Background]:
    """Begin a job whose results :func:`makespan.execute.carry_out.in_order` gives."""
    with ExitStack() as held:
        entered = prepared(function, iterables, on, progress, keywords or {}, **options)
        place, job = held.enter_context(entered)
        return in_order(
            place, job, held.pop_all(), keep_going=keep_going, raising=raising, seconds=seconds
        )


@contextmanager
def prepared(
    function: Callable[..., Any],
    iterables: Sequence[Any],
    on: Any,
    progress: Progress,
    keywords: Mapping[str, Any],
    resources: Mapping[str, float] | None = None,
    *,
    batched: bool = False,
    batch_size: int | None = None,
    retries: int | None = None,
    expected: Any = None,
    by_size: bool = False,
) -> Iterator[tuple[Any, Any]]:
    """Give the place, and the job that these arguments ask for."""
    if not iterables:
        raise InputError("iterables: there are none; map(function, items) takes one or more")
    data, *more = iterables
    options: Any = {"batched": batched, "batch_size": batch_size, "retries": retries}
    with dask_client(on) as client:
        if client is not None:
            options |= {name: keywords[name] for name in DASK_ONLY if name in keywords}
            options |= {"resources": resources, "expected": expected, "by_size": by_size}
            keywords = {name: one for name, one in keywords.items() if name not in DASK_ONLY}
            dask = import_module("makespan.execute.dask.maps.map")
            given = (function, data, more, client, progress, keywords)
            with dask.prepared(*given, **options) as found:
                yield found
            return
    keywords = for_function(parameters(function), keywords, keywords_of(map), REFUSED)
    if not callable(function):
        raise InputError(f"function: {function!r} can't be called")
    items = items_of(data, more)
    pool, history = pool_of(on, resources)
    call = Call(function, dict(keywords), bool(more), int(number("retries", retries)))
    sent = None if pool.inside else pickled(call, "function")
    learning = history.learning(
        partial(function, **keywords), items, expected,
        unit_footprint if pool.inside else unit_bytes, batched=batched, by_size=by_size,
    )  # fmt: skip
    with teller(progress) as tell:
        job = PoolJob(call=call, sent=sent, tell=tell, batch_size=batch_size, **learning)
        yield PoolPlace(pool, history), job


class PoolPlace:
    """A pool as a place for jobs, on the event loop of this process."""

    def __init__(self, pool: Pool, history: History) -> None:
        self.pool, self.history = pool, history

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Ours."""
        return own_loop()

    def trouble(self) -> str:
        """Say nothing: the loop ends with the process."""
        return ""

    async def own_map(self, seconds: float, slots: int) -> OwnMap | None:
        """Return the pool's, measured once a run was long enough for that."""
        own = self.pool.own_map
        if own is not None and self.history.overhead is None and seconds >= WORTH_MEASURING:
            self.history.overhead = await asyncio.to_thread(self.pool.overhead, slots)
        return None if own is None else replace(own, overhead=self.history.overhead)

    @asynccontextmanager
    async def engine(self, job: PoolJob) -> AsyncIterator[PoolEngine]:
        """Give the slots of the pool."""
        async with PoolEngine(self.pool, job) as engine:
            yield engine


@contextmanager
def dask_client(on: Any) -> Iterator[Any]:
    """Give the client of Dask's that ``on`` is, or names; None where it is something else."""
    if isinstance(on, str) and (on == "dask" or on.startswith(("tcp://", "tls://"))):
        with import_module("makespan.execute.dask.cluster.client").client_at(on, "on") as client:
            yield client
    else:
        yield on if hasattr(on, "scheduler") and hasattr(on, "submit") else None


def pool_of(on: Any, resources: Mapping[str, float] | None = None) -> tuple[Pool, History]:
    """Return a pool, and what was learnt of it."""
    if isinstance(on, str) and (on in ("ray", "auto") or on.startswith("ray://")):
        from makespan.execute.pools.ray import RayPool

        return RayPool(None if on == "ray" else on, resources), _KINDS.setdefault(on, History())
    if resources:
        raise InputError("resources: only Dask and Ray know what their workers have")
    if isinstance(on, futures.Executor):
        return Executors(on), _LEARNT.setdefault(on, History())
    if on == "mpi":
        executor = optional("mpi4py.futures").MPIPoolExecutor()
        return Executors(executor, owned=True), _KINDS.setdefault(on, History())
    if on is None or isinstance(on, int) or on == "local":
        own = Processes(None if on == "local" else on)
        history = _KINDS.setdefault("processes", History())
        if hasattr(os, "fork"):
            return own, history
        return Executors(futures.ProcessPoolExecutor(own.number), owned=True), history
    raise InputError(
        f"on: {quoted(on)} is not a pool; None, a number of processes, an executor of"
        " concurrent.futures, 'local', 'ray', 'mpi', 'dask', or a distributed.Client is"
    )


def forget() -> None:
    """Forget what was learnt of all pools; :func:`makespan.execute.dask.forget` does of Dask's.

    >>> from makespan import execute
    >>> execute.forget()
    """
    _LEARNT.clear()
    _KINDS.clear()


Returned = TypeVar("Returned")


class Executor(Interface):
    """An executor of ``concurrent.futures`` on any pool, which deals calls out as ``map`` does.

    Calls that take little go to workers many at a time, what a worker has not begun is given to
    others, and a process of ours that dies is replaced. The workers are taken with the first call,
    and kept until :meth:`shutdown`.

    Parameters
    ----------
    on, resources, retries
        As for :func:`makespan.execute.map`.

    Raises
    ------
    InputError
        With the first call, if there is no such pool.

    >>> from makespan import execute
    >>> with execute.Executor(on=2) as executor:      # doctest: +SKIP
    ...     print(list(executor.map(pow, [2, 3], [5, 2])))
    [32, 9]
    """

    def __init__(
        self,
        on: Any = None,
        *,
        resources: Mapping[str, float] | None = None,
        retries: int | None = None,
    ) -> None:
        options: Any = {"resources": resources, "retries": retries}
        self._calls = Calls(lambda inbox: prepared(called, (inbox,), on, False, {}, **options))
        self._shutdown = False

    def submit(self, fn: Callable[..., Returned], /, *args: Any, **kwargs: Any) -> Future[Returned]:
        """Begin a call, and return its future."""
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return self._calls.submit((partial, (partial(fn, **kwargs), *args)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing any more.

        Parameters
        ----------
        wait
            Whether to wait for what was submitted. If not, it is withdrawn.
        cancel_futures
            Whether to withdraw it in any case.
        """
        self._shutdown = True
        if wait and not cancel_futures:
            self._calls.wait()
        else:
            self._calls.stop()
