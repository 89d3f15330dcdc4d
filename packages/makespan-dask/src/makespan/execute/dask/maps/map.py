"""A function over data, dealt out: each chunk teaches what the next may hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import keywords_of
from makespan.core.system.startup import optional
from makespan.execute.arguments import for_function, items_of, number, parameters
from makespan.execute.carry_out import Background, carried_out, in_order
from makespan.execute.dask.cluster.calibration import Calibration
from makespan.execute.dask.cluster.client import Client, client_or_local
from makespan.execute.dask.cluster.workers import Only
from makespan.execute.dask.graphs.history import history_of
from makespan.execute.dask.maps.cluster import Cluster, DaskJob
from makespan.execute.dealing.costs import Costs
from makespan.execute.execution import Execution
from makespan.execute.pickles import function_as_sent, unit_bytes
from makespan.execute.progress import Progress, teller
from makespan.execute.remote import Call

REFUSED: dict[str, tuple[Any, str]] = {
    "key": (None, "tasks hold chunks of items, so that no item has a key"),
    "pure": (False, "every item is a call of its own, as with pure=False"),
    "actor": (False, "results come back as values; client.map makes actors"),
    "actors": (False, "results come back as values; client.map makes actors"),
    "allow_other_workers": (False, "the named workers are kept to; leave workers out to allow all"),
    "fifo_timeout": (None, "chunks have their order by priority"),
}
"""Parameters of ``client.map``: the value that changes nothing, and why there is no other."""


def map(  # noqa: A001
    function: Callable[..., Any],
    data: Any,
    *more: Any,
    client: Client | None = None,
    batched: bool = False,
    batch_size: int | None = None,
    workers: str | int | Iterable[str | int] | None = None,
    resources: Mapping[str, float] | None = None,
    retries: int | None = None,
    priority: float | None = None,
    calibration: Calibration | str | os.PathLike[str] | None = None,
    expected: Any = None,
    keep_going: bool = False,
    progress: Progress = True,
    **keywords: Any,
) -> Execution:
    """Apply a function to all items of the data on a Dask cluster.

    Work begins at once, with small chunks, two on the way to each worker. From each that comes back
    is learnt what sending, computing and returning costs there; the next are as large as pays, and
    grow smaller towards the end, so that all workers end together. At most 5 % of the work is ahead
    of a worker, or what is worth a message, and what it has not begun is taken back where others
    have nothing to do: one that becomes slower, stops, joins or dies costs little, and so does an
    item that takes long. What was learnt is kept for later calls, until :func:`forget`. Without a
    worker one is waited for, as by ``client.map``.

    What ``dask.annotate`` says of ``workers``, ``resources``, ``retries`` and ``priority`` holds
    where the argument is not given; not ``allow_other_workers``: named ones are kept to.

    Futures among the items, in lists, tuples, sets and values of dictionaries, and among the
    ``keywords`` are replaced by what they hold; an asynchronous function is awaited on the worker.
    The page "What `dask.map` takes" has it all, beside ``client.map``.

    Parameters
    ----------
    function, data, batched, keep_going, progress
        As everywhere in :mod:`makespan.execute.dask`.
    client
        The same; it may be given by name, too.
    more
        More sequences, before the client: the function gets an item (``batched``: a list) of each.
        The shortest ends them all.
    batch_size, resources, retries, expected
        As for :func:`makespan.execute.map`.
    workers
        The names, addresses or hosts of the workers that may be used; None: all.
    priority
        Among what else the cluster has to do; higher is sooner. None: 0.
    calibration
        What :func:`calibrate` measured, or a file of it, to begin with in place of what was learnt
        before.
    keywords
        Passed to the function. ``key``, ``pure``, ``actor``, ``actors``, ``allow_other_workers``
        and ``fifo_timeout`` of ``client.map`` are refused with the reason, unless the function has
        a parameter of that name.

    Returns
    -------
    Execution
        ``results`` in the order of the data, what was measured, and the ``platform`` as learnt.

    Raises
    ------
    ItemsFailed, ExecutionError, InputError
        As for :func:`run`.

    Source: Flynn Hummel, Schmidt, Uma and Wein 1996, for the sizes; with speeds that are measured
    as it goes on, as in Banicescu and Velusamy 2002.

    >>> from makespan.execute import dask
    >>> dask.map(pow, [2, 3], [5, 2], client).results     # doctest: +SKIP
    [32, 9]
    """
    with prepared(
        function, data, more, client, progress, keywords, batched=batched, batch_size=batch_size,
        workers=workers, resources=resources, retries=retries, priority=priority,
        calibration=calibration, expected=expected, by_size=True,
    ) as found:  # fmt: skip
        return carried_out(*found, keep_going=keep_going)


def imap(
    function: Callable[..., Any],
    data: Any,
    *more: Any,
    client: Client | None = None,
    keep_going: bool = False,
    progress: Progress = True,
    **options: Any,
) -> Iterator[Any]:
    """Give the results of a function over data as they come, in the order of the data.

    Parameters
    ----------
    function, more, client, keep_going, progress, options
        As for :func:`map`.
    data
        The same; an iterator is read only some seconds of work ahead of what is taken.

    Raises
    ------
    ItemsFailed
        After the last result, if the function raised on any item; its result is None.
    ExecutionError, InputError
        As for :func:`run`.

    >>> from makespan.execute import dask
    >>> for square in dask.imap(pow, range(3), client=client, exp=2):      # doctest: +SKIP
    ...     print(square)
    0
    1
    4
    """
    keywords = {name: options.pop(name) for name in {*options} - {*keywords_of(map)}}
    return begin(function, data, more, client, keywords, keep_going, progress, **options)[0]


def begin(
    function: Callable[..., Any],
    data: Any,
    more: Sequence[Any],
    client: Any,
    keywords: Mapping[str, Any] = MappingProxyType({}),
    keep_going: bool = False,
    progress: Progress = False,
    raising: bool = False,
    seconds: float | None = None,
    **options: Any,
) -> tuple[Iterator[Any], Background]:
    """Begin a job, as :func:`map` has it, whose results :func:`in_order` gives."""
    with ExitStack() as held:
        entered = prepared(function, data, more, client, progress, keywords, **options)
        place, job = held.enter_context(entered)
        return in_order(
            place, job, held.pop_all(), keep_going=keep_going, raising=raising, seconds=seconds
        )


@contextmanager
def prepared(
    function: Callable[..., Any],
    data: Any,
    more: Sequence[Any],
    client: Any,
    progress: Progress,
    keywords: Mapping[str, Any],
    *,
    batched: bool = False,
    batch_size: int | None = None,
    workers: str | int | Iterable[str | int] | None = None,
    resources: Mapping[str, float] | None = None,
    retries: int | None = None,
    priority: float | None = None,
    calibration: Calibration | str | os.PathLike[str] | None = None,
    expected: Any = None,
    by_size: bool = False,
) -> Iterator[tuple[Cluster, DaskJob]]:
    """Give the cluster, and the job that these arguments ask for."""
    if _is_client(data) or any(_is_client(each) for each in more[:-1]):
        raise InputError("client: comes last; the order is function, data, client")
    if more and (more[-1] is None or _is_client(more[-1])):
        *more, client = more
    measured = None if calibration is None else Calibration.given(calibration)
    own = parameters(function)
    if priority is not None and own is not None and "priority" in own:  # as any other keyword
        keywords, priority = {**keywords, "priority": priority}, None
    keywords = for_function(own, keywords, [*keywords_of(map)], REFUSED)
    wanted = annotated(workers=workers, resources=resources, retries=retries, priority=priority)
    items = items_of(data, more)
    sent = function_as_sent(Call(function, keywords, bool(more), wanted.retries))
    with client_or_local(client) as used, teller(progress) as tell:
        learning = history_of(used).functions.learning(
            partial(function, **keywords), items, expected, unit_bytes, batched=batched,
            by_size=by_size,
        )  # fmt: skip
        if measured is not None:
            machines = measured.star(waits=0.0).workers
            learning["recall"] = lambda _members: Costs.of(machines, measured.load)
        yield Cluster(used), DaskJob(
            function=sent, tell=tell, only=wanted.only, priority=wanted.priority,
            batch_size=batch_size, **learning,
        )  # fmt: skip


def _is_client(value: Any) -> bool:
    return hasattr(value, "scheduler") and hasattr(value, "submit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which workers may be used, how often a call is made again, and how much it hurries."""

    only: Only
    retries: int
    priority: float


def annotated(
    *,
    workers: str | int | Iterable[str | int] | None,
    resources: Mapping[str, float] | None,
    retries: int | None,
    priority: float | None = None,
) -> Wanted:
    """Return what is wanted; an argument that is given wins.

    Raises InputError if an annotation is a function of keys: chunks have none that anybody knows,
    or if a priority or retries are not numbers.
    """
    found = optional("dask").get_annotations()
    for name in ("workers", "resources", "retries", "priority"):
        if callable(found.get(name)):
            raise InputError(
                f"dask.annotate: {name} is a function of keys, but here work has none; a value is"
                " needed"
            )
    workers = found.get("workers") if workers is None else workers
    named = [workers] if isinstance(workers, (str, int)) else workers or ()
    resources = found.get("resources") if resources is None else resources
    return Wanted(
        only=Only(frozenset(str(one) for one in named), resources or {}),
        retries=int(number("retries", retries, found)),
        priority=number("priority", priority, found),
    )
