"""Called on the scheduler: tasks of workers that died, or paused, go elsewhere."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any


def unpinned(
    keys: Collection[str],
    gone: Collection[str],
    goal: Mapping[str, str],
    *,
    dask_scheduler: Any = None,
) -> None:
    """Pin the tasks that nobody has begun to their new workers, free others of those that are gone.

    A worker that is paused still has what was handed to it, and begins none of it: that is handed
    out again. What it is computing it goes on with.
    """
    lost, mine, pinned = set(gone), set(), {}
    for key in keys:
        task = dask_scheduler.tasks.get(key)
        if task is None:
            continue
        address = goal.get(key)
        new = [address] if address in dask_scheduler.workers else None
        if task.worker_restrictions and task.worker_restrictions <= lost:
            mine.add(key)
            pinned[key] = new
        elif new and task.state == "waiting":
            pinned[key] = new
    dask_scheduler.set_restrictions(pinned)
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


def progress_of(
    keys: Sequence[str], wanted: str, *, dask_scheduler: Any = None
) -> dict[int, tuple[str, str]] | None:
    """Return the state of tasks by place, and the worker that has it, or computes it.

    None where the graph is not there: it comes on another way than this call, and may be late.
    ``wanted`` is a key of it that is there until the end.
    """
    there = dask_scheduler.tasks.get(wanted)
    if there is None or there.run_spec is None:
        return None
    found = {}
    for place, key in enumerate(keys):
        task = dask_scheduler.tasks.get(key)
        if task is None:
            continue
        holder = next(iter(task.who_has or ()), None) or task.processing_on
        found[place] = task.state, "" if holder is None else holder.address
    return found
