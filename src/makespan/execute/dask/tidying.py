"""Leaving nothing behind on a scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

LONGEST_TIDYING = 10.0  # seconds until the scheduler has to have forgotten everything
LOOK_AGAIN = 0.02  # seconds between questions whether it has
WANT_AGAIN = 25  # questions after which what it still knows is released anew


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
