"""Leaving nothing behind on a scheduler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from typing import Any

from makespan.execute.dask.remote import dropped

LONGEST_TIDYING = 10.0  # seconds until the scheduler has to have forgotten everything
LONGEST_CONNECTING = 5.0  # seconds
LOOK_AGAIN = 0.02  # seconds between questions whether it has
WANT_AGAIN = 25  # questions after which what it still knows is released anew

log = logging.getLogger("makespan")


async def forgotten(client: Any, keys: Collection[str]) -> None:
    """Wait until the scheduler knows no such key, after they were released.

    Clients tell it in batches what they release, which takes a moment. The scheduler may also know
    a key that nobody wants any more, whose worker left while it was told of it: that is wanted
    again, and released.
    """
    from distributed import Future

    looks = 0
    while keys and client.status == "running":
        states = await client.scheduler.get_task_status(keys=list(keys))
        known = [key for key, state in states.items() if state is not None]
        if not known:
            return
        looks += 1
        if looks % WANT_AGAIN == 0:
            wanted = {"op": "client-desires-keys", "keys": known, "client": client.id}
            client._send_to_scheduler(wanted)
            for key in known:
                Future(key, client).release()
        await asyncio.sleep(LOOK_AGAIN)


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
            client.run(dropped, list(keys), on_error="ignore")
            client.sync(forgotten, client, keys, callback_timeout=LONGEST_TIDYING)
    except (OSError, TimeoutError) as error:
        log.warning("could not see to it that nothing is left on the cluster: %s", error)
