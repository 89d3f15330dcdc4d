"""A client of a Dask cluster: what is done with it from outside its event loop, and tidying up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from makespan.core.errors import ExecutionError, InputError
from makespan.core.system.startup import optional
from makespan.execute import loop
from makespan.execute.travel import dropped

if TYPE_CHECKING:
    from distributed import Client as Client  # noqa: PLC0414 - others take it from here
else:
    Client = Any  # importing Dask waits until it is used

Value = TypeVar("Value")
log = logging.getLogger("makespan")

LONGEST_TIDYING = 10.0  # seconds until the scheduler has to have forgotten everything
LONGEST_CONNECTING = 5.0  # seconds
LOOK_AGAIN = 0.02  # seconds between questions whether it has
WANT_AGAIN = 25  # questions after which what it still knows is released anew


def checked_client(client: Any) -> Any:
    """Return the client if it can be used."""
    package = optional("distributed")
    if not isinstance(client, package.Client):
        raise InputError(f"client: {client!r} is not a distributed.Client")
    if client.asynchronous:
        raise InputError("client: is asynchronous; a Client made outside an event loop is needed")
    if client.status != "running":
        raise InputError(f"client: is {client.status}, not running")
    return client


def trouble_of(client: Any) -> str:
    """Say why a client can't be used any more; nothing where it can."""
    if client.status == "running":
        return ""
    if client.status in ("connecting", "newly-created"):
        return f"the scheduler at {client.scheduler.address} is gone"
    return "the client was closed"


def on_loop(client: Any, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
    """Run a coroutine on the client's event loop; see :func:`makespan.execute.loop.on_loop`."""
    return loop.on_loop(client.loop.asyncio_loop, lambda: trouble_of(client), work)


@contextmanager
def client_or_local(client: Any | None) -> Iterator[Any]:
    """Give the client, or one of a cluster on this machine that ends with the block."""
    if client is not None:
        yield checked_client(client)
        return
    import os

    package = optional("distributed")
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with (
        package.LocalCluster(
            n_workers=count or 1,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        package.Client(cluster) as own,
    ):
        yield own


@contextmanager
def client_at(address: str, place: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address, or of a cluster on this machine for ``dask``.

    Raises ExecutionError, with the place where the address was given, if nothing answers there.
    """
    if address == "dask":
        with client_or_local(None) as own:
            yield own
        return
    try:
        client = optional("distributed").Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ExecutionError(f"{place}: {address} does not answer: {error}") from error
    with client:
        yield client


_LATER: set[asyncio.Future[None]] = set()


async def forgotten(client: Any, keys: Collection[str], *, looks_in_a_row: int = 1) -> None:
    """Wait until the scheduler knows no such key, after they were released.

    Clients tell it in batches what they release, which takes a moment. The scheduler may also know
    a key that nobody wants any more, whose worker left while it was told of it: that is wanted
    again, and released. One that the scheduler is yet to be told of takes several looks.
    """
    from distributed import Future

    looks = unknown = 0
    while keys and client.status == "running":
        states = await client.scheduler.get_task_status(keys=list(keys))
        known = [key for key, state in states.items() if state is not None]
        unknown = 0 if known else unknown + 1
        if unknown >= looks_in_a_row:
            return
        looks += 1
        if known and looks % WANT_AGAIN == 0:
            wanted = {"op": "client-desires-keys", "keys": known, "client": client.id}
            client._send_to_scheduler(wanted)
            for key in known:
                Future(key, client).release()
        await asyncio.sleep(LOOK_AGAIN)


def sweep_later(client: Any, keys: Collection[str]) -> None:
    """Leave nothing behind on a scheduler that does not answer now, once it does."""
    sweep = asyncio.ensure_future(_swept(client, keys))
    _LATER.add(sweep)
    sweep.add_done_callback(_LATER.discard)


async def _swept(client: Any, keys: Collection[str]) -> None:
    while client.status == "connecting":
        await asyncio.sleep(LOOK_AGAIN)
    with suppress(OSError):  # it is gone, and everything with it
        await asyncio.gather(
            client.run(dropped, list(keys), on_error="ignore"),
            forgotten(client, keys, looks_in_a_row=WANT_AGAIN),
        )


def swept(address: str, security: Any, keys: Collection[str]) -> None:
    """Remove what a client that was closed meanwhile has left, by a client of its own."""
    from distributed import Client

    try:
        with Client(
            address, security=security, set_as_default=False, timeout=LONGEST_CONNECTING
        ) as client:
            client.sync(_swept, client, keys, callback_timeout=LONGEST_TIDYING)
    except (OSError, TimeoutError) as error:
        log.warning("could not see to it that nothing is left on the cluster: %s", error)
