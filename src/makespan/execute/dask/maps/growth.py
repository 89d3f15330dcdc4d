"""How much there is to do, for a cluster that grows with it."""

from __future__ import annotations

import asyncio

from makespan.execute.dask.cluster.load import unknown
from makespan.execute.dask.maps.state import State

LOOK_EVERY = 0.1  # seconds
SHOWN_FROM = 1.0  # seconds of work for each thread, from which it is shown


async def show_work(run: State) -> None:
    """Show the cluster again and again how much a run has to do, until it is cancelled.

    Where nobody has returned anything yet an item counts as much as a task does that Dask does not
    know.
    """
    while True:
        await asyncio.sleep(LOOK_EVERY)
        members = list(run.crew.members.values())
        threads = sum(member.threads for member in members)
        known = [member for member in members if run.knows(member)]
        each = unknown()
        if known:
            speed = sum(run.costs.speed(member.name) for member in known)
            each = run.item * sum(member.threads for member in known) / speed
        seconds = run.missing_items * each
        shown = seconds if seconds > SHOWN_FROM * threads else 0.0
        run.crew.load.show(shown, run.missing_items, threads)
