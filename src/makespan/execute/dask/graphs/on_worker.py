"""Called on workers from outside of tasks: begin to conduct a run, let go, end.

Imports nothing of Dask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from typing import Any

from makespan.execute.dask.graphs.messages import Leaving, Seen, name_of

LONGEST_UNKNOWN = 60.0  # seconds until the tasks of a run are handed to the scheduler

_WATCHES: set[asyncio.Task[None]] = set()


async def begin(
    run: str,
    wanted: Any,
    keys: Collection[Any],
    leaving: Collection[Leaving],
    in_turn: bool,
    *,
    dask_worker: Any = None,
) -> None:
    """Conduct a run on this worker, as long as anybody wants the result ``wanted``."""
    from makespan.execute.dask.graphs.conductor import Conductor

    conductor = Conductor(run, keys, leaving, in_turn=in_turn)
    await dask_worker.plugin_add(conductor, name_of(run), catch_errors=False)
    watch = asyncio.create_task(end_when_orphaned(run, wanted, dask_worker))
    _WATCHES.add(watch)
    watch.add_done_callback(_WATCHES.discard)


async def end_when_orphaned(run: str, wanted: Any, dask_worker: Any) -> None:
    """Stop conducting a run when its client is gone and can't: nobody wants its results then.

    The scheduler is asked as often as it gets a heartbeat.
    """
    begun, known_before = time.monotonic(), False
    while name_of(run) in dask_worker.plugins:
        await asyncio.sleep(dask_worker.periodic_callbacks["heartbeat"].callback_time / 1e3)
        try:
            states = await dask_worker.scheduler.get_task_status(keys=[wanted])
        except OSError:
            continue
        known = states[wanted] is not None
        if not known and (known_before or time.monotonic() - begun > LONGEST_UNKNOWN):
            await end(run, dask_worker=dask_worker)
        known_before = known_before or known


def loosen(run: str, *, dask_worker: Any = None) -> None:
    """Order nothing any more in a run on this worker."""
    conductor = dask_worker.plugins.get(name_of(run))
    if conductor is not None:
        conductor.loosen()


async def end(run: str, *, dask_worker: Any = None) -> Seen | None:
    """Stop conducting a run on this worker; return what was seen of it."""
    conductor = dask_worker.plugins.get(name_of(run))
    if conductor is None:
        return None
    await dask_worker.plugin_remove(name_of(run))
    return Seen(conductor.computed, tuple(conductor.sent))


def moved(
    seconds: float, *, dask_worker: Any = None
) -> list[tuple[tuple[Any, ...], str, float, float]]:
    """Return what this worker sent in the last seconds: keys, receiver, start, stop."""
    since = time.time() + dask_worker.scheduler_delay - seconds
    return [
        (tuple(entry["keys"]), str(entry["who"]), entry["start"], entry["stop"])
        for entry in dask_worker.transfer_outgoing_log
        if entry["start"] >= since
    ]
