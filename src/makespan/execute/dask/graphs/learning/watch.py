"""What Dask's own scheduling did: its task stream, and what each worker has sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from makespan.execute.dask.cluster.crew import Crew
from makespan.execute.dask.graphs.messages import Seen
from makespan.execute.dask.graphs.on_worker import moved

SLACK = 0.5  # seconds before a run of which the stream is asked for

log = logging.getLogger("makespan")


async def begin_watching(client: Any) -> None:
    """Let the scheduler note what tasks take; it does from the first question on."""
    await client.get_task_stream(count=1)


async def watched(crew: Crew, sent: Mapping[str, Any], seconds: float) -> dict[str, Seen]:
    """Return, by worker, what was seen of tasks in the last so many seconds.

    Times are the scheduler's, as Dask reckons them from heartbeats.
    """
    since = seconds + SLACK
    members = [member for member in crew.members.values() if not member.gone.is_set()]
    try:
        stream, transfers = await asyncio.gather(
            crew.client.get_task_stream(start=f"{since:.6f} s"),
            crew.call_all(members, _by_value(moved), since),
        )
    except OSError as error:
        log.info("what a run took could not be had: %s", error)
        return {}
    receivers = {member.address for member in members}
    found = {}
    for member in members:
        gone = (
            (key, receiver, start, stop)
            for keys, receiver, start, stop in transfers.get(member.name, ())
            for key in keys
            if key in sent and receiver in receivers
        )
        found[member.address] = Seen({}, tuple(gone))
    for entry in stream:
        times = [each for each in entry["startstops"] if each["action"] == "compute"]
        if entry["worker"] in found and entry["key"] in sent and times:
            seen = found[entry["worker"]]
            seen.computed[entry["key"]] = times[-1]["start"], times[-1]["stop"]
            seen.sizes[entry["key"]] = int(entry.get("nbytes", 0))  # none where it raised
    return {member.name: found[member.address] for member in members}


def _by_value(function: Any) -> Any:
    """Return a function that is sent with its code: workers need not import what is around it."""
    own = FunctionType(function.__code__, function.__globals__, function.__name__)
    own.__kwdefaults__, own.__module__ = function.__kwdefaults__, "__main__"
    return own
