"""The interface of ``concurrent.futures``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor as Interface, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from makespan.execute.dask.cluster.client import checked_client
from makespan.execute.dask.maps.carry_out import Background
from makespan.execute.dask.maps.map import begin

if TYPE_CHECKING:
    from distributed import Client

Returned = TypeVar("Returned")


class Executor(Interface):
    """An executor of ``concurrent.futures`` on a Dask cluster.

    ``map`` deals out as :func:`makespan.execute.dask.map` does, and learns as that does; ``submit``
    is that of ``client.get_executor()``, with every call a call (``pure=False``).

    Parameters
    ----------
    client
        A ``distributed.Client``.
    workers, resources, retries
        As for :func:`makespan.execute.dask.map`.

    Raises
    ------
    InputError
        If the client can't be used.

    >>> from makespan.execute import dask
    >>> with dask.Executor(client) as executor:      # doctest: +SKIP
    ...     print(list(executor.map(pow, [2, 3], [5, 2])))
    [32, 9]
    """

    def __init__(
        self,
        client: Client,
        *,
        workers: str | Iterable[str] | None = None,
        resources: Mapping[str, float] | None = None,
        retries: int | None = None,
    ) -> None:
        self._client = checked_client(client)
        self._only: dict[str, Any] = {
            "workers": workers,
            "resources": resources,
            "retries": retries,
        }
        self._single = client.get_executor(pure=False, **self._only)
        self._calls: WeakSet[Future[Any]] = WeakSet()
        self._running: WeakSet[Background] = WeakSet()
        self._shutdown = False

    def submit(self, fn: Callable[..., Returned], /, *args: Any, **kwargs: Any) -> Future[Returned]:
        """Begin a call, and return its future."""
        self._refuse_if_shut_down()
        future: Future[Returned] = self._single.submit(fn, *args, **kwargs)
        self._calls.add(future)
        return future

    def map(
        self,
        fn: Callable[..., Returned],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[Returned]:
        """Begin all calls; return an iterator of the results in order.

        Parameters
        ----------
        fn, iterables
            As for the built-in ``map``; what the iterables hold is collected at once.
        timeout
            Seconds from now, after which ``TimeoutError`` is raised where a result is not there.
        chunksize
            Means nothing: chunks are as large as pays.

        Raises
        ------
        Exception
            What a call raised, in its place; what is left is withdrawn then. ``CancelledError``
            once the executor was shut down without waiting.
        """
        self._refuse_if_shut_down()
        data, *more = (list(items) for items in iterables or [()])
        found, running = begin(
            fn,
            data,
            more,
            self._client,
            keep_going=True,
            raising=True,
            seconds=timeout,
            **self._only,
        )
        self._running.add(running)
        return _until_shut_down(found)

    def _refuse_if_shut_down(self) -> None:
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing any more.

        Parameters
        ----------
        wait
            Whether to wait for what has begun. If not, it is withdrawn, as ``client.get_executor``
            does.
        cancel_futures
            Whether to withdraw it in any case.
        """
        self._shutdown = True
        if wait and not cancel_futures:
            for call in list(self._calls):
                with suppress(CancelledError):
                    call.exception()
        self._single.shutdown(wait=False)  # to wait, Dask brings every result once more
        for running in list(self._running):
            if wait and not cancel_futures:
                running.wait()
            else:
                running.stop()


def _until_shut_down(found: Iterator[Any]) -> Iterator[Any]:
    """Return what calls returned, or raise what they raised."""
    try:
        yield from found
    except asyncio.CancelledError:
        raise CancelledError("the executor was shut down") from None
