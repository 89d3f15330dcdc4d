"""What is called on scheduler and workers outside of tasks, and what that needs of distributed."""

from __future__ import annotations

from importlib import import_module

from makespan.execute.dask.cluster.travel import travels
from makespan.execute.dask.graphs import remote
from makespan.execute.remote import Sent

travels(remote)
begin, end, loosen = Sent(remote.begin), Sent(remote.end), Sent(remote.loosen)
moved, progress_of, unpinned = Sent(remote.moved), Sent(remote.progress_of), Sent(remote.unpinned)


TRIED = ("2026.8.0",)
"""The versions of distributed that plans were carried out with."""

NEEDED = (
    "distributed.worker_state_machine:AcquireReplicasEvent",
    "distributed.worker_state_machine:TaskState.get_nbytes",
    "distributed.worker:Worker.get_data",
    "distributed.worker:Worker.handle_stimulus",
    "distributed.worker:Worker.plugin_add",
    "distributed.scheduler:Scheduler.set_restrictions",
    "distributed.scheduler:Scheduler.transitions",
    "distributed.scheduler:Scheduler.get_task_status",
)


def missing() -> list[str]:
    """Return what of :data:`NEEDED` this version does not have."""
    return [name for name in NEEDED if not _is_there(name)]


def _is_there(name: str) -> bool:
    module, _, path = name.partition(":")
    try:
        value = import_module(module)
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):
        return False
    return True
