"""Interfaces of others on a Dask cluster: ``concurrent.futures``, and joblib's ``Parallel``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor as Interface, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from makespan.core.system.startup import optional
from makespan.execute.calls import Calls
from makespan.execute.carry_out import Background
from makespan.execute.dask.cluster.client import Client, checked_client, client_or_local
from makespan.execute.dask.maps.cluster import Cluster
from makespan.execute.dask.maps.map import begin, prepared
from makespan.execute.dealing.items import Inbox
from makespan.execute.remote import called

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


def register_joblib() -> None:
    """Let joblib know the backend ``"makespan"``.

    It is chosen by ``joblib.parallel_config(backend="makespan", client=client)``, with ``workers``,
    ``resources`` and ``retries`` as for :func:`makespan.execute.dask.map`; without a client there
    is a cluster on this machine. joblib makes batches of calls that take 0.2 to 2 s, and hands out
    two for each thread at first, and one for each that is done: these are dealt out as ``map`` does
    items. The workers need joblib, too. Calls of ``Parallel`` within calls use threads.

    Raises
    ------
    MissingExtra
        Without joblib.

    >>> import joblib                                   # doctest: +SKIP
    >>> from makespan.execute import dask
    >>> dask.register_joblib()                          # doctest: +SKIP
    >>> with joblib.parallel_config(backend="makespan", client=client):      # doctest: +SKIP
    ...     print(joblib.Parallel()(joblib.delayed(pow)(base, 2) for base in [2, 3]))
    [4, 9]
    """
    parallel = optional("joblib.parallel")

    class Backend(parallel.AutoBatchingMixin, parallel.ParallelBackendBase):  # type: ignore[misc, name-defined]
        supports_retrieve_callback = True
        default_n_jobs = -1

        def __init__(self, client: Any = None, nesting_level: int = 0, **options: Any) -> None:
            super().__init__(nesting_level=nesting_level)
            self._given, self._options = client, options
            self._batches: Calls | None = None
            self._held = ExitStack()
            self._client: Any = None

        def effective_n_jobs(self, n_jobs: int) -> int:
            if n_jobs == 0:
                raise ValueError("n_jobs == 0 in Parallel has no meaning")
            if self._client is None:
                self._client = self._held.enter_context(client_or_local(self._given))
            if not self._client.ncores():
                self._client.submit(int, pure=False).result()  # once there is a worker
            return sum(self._client.ncores().values())

        def submit(self, func: Callable[[], Any], callback: Any = None) -> Future[Any]:
            if self._batches is None:
                self._batches = Calls(partial(_begun, self._client, self._options))
            made: Any = func.__reduce__()  # so that futures in it are found
            return self._batches.submit(made, callback)

        def retrieve_result_callback(self, out: Future[Any]) -> Any:
            return out.result()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            batches, self._batches = self._batches, None
            if batches is not None:
                batches.stop()

        def terminate(self) -> None:
            self.abort_everything()
            self._client = None
            self._held.close()

    parallel.register_parallel_backend("makespan", Backend)


@contextmanager
def _begun(client: Any, options: Any, inbox: Inbox) -> Iterator[tuple[Cluster, Any]]:
    with prepared(called, inbox, (), client, False, {}, **options) as found:
        yield found
