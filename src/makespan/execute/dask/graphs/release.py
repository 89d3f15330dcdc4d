"""Called on the scheduler: tasks of workers that died, or paused, may go anywhere."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any


def unpinned(
    keys: Collection[str], gone: Collection[str], wanted: str, *, dask_scheduler: Any = None
) -> bool:
    """Free the tasks that are pinned to workers that are gone.

    Returns whether the graph was there: it comes on another way than this call, and may be late.
    ``wanted`` is a key of it that is there until the end.

    A worker that is paused still has what was handed to it, and begins none of it: that is handed
    out again. What it is computing it goes on with.
    """
    lost, freed = set(gone), []
    for key in keys:
        task = dask_scheduler.tasks.get(key)
        if task is not None and task.worker_restrictions and task.worker_restrictions <= lost:
            freed.append(key)
    dask_scheduler.set_restrictions(dict.fromkeys(freed))
    mine = set(freed)
    waiting = [task.key for task in dask_scheduler.unrunnable if task.key in mine]
    held = [
        task.key
        for address in gone
        if (worker := dask_scheduler.workers.get(address)) is not None
        for task in worker.processing
        if task.key in mine and task not in worker.executing
    ]
    dask_scheduler.transitions(
        dict.fromkeys(waiting, "processing") | dict.fromkeys(held, "released"),
        stimulus_id=f"makespan-unpinned-{time.time()}",
    )
    there = dask_scheduler.tasks.get(wanted)
    return there is not None and there.run_spec is not None
