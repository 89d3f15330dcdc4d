"""Leaving nothing behind on a scheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from makespan.execute.dask.cluster.travel import dropped

LONGEST_TIDYING = 10.0  # seconds until the scheduler has to have forgotten everything
LONGEST_CONNECTING = 5.0  # seconds
LOOK_AGAIN = 0.02  # seconds between questions whether it has
WANT_AGAIN = 25  # questions after which what it still knows is released anew

_LATER: set[asyncio.Future[None]] = set()
log = logging.getLogger("makespan")


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
    """Remove what a client that was closed meanwhile has left, with a client of its own.

    What was being sent then may lie on a worker, with or without the scheduler knowing of it.
    """
    from distributed import Client

    try:
        with Client(
            address,
            security=security,
            set_as_default=False,
            timeout=LONGEST_CONNECTING,
        ) as client:
            client.sync(_swept, client, keys, callback_timeout=LONGEST_TIDYING)
    except (OSError, TimeoutError) as error:
        log.warning("could not see to it that nothing is left on the cluster: %s", error)
