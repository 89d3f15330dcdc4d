"""Called on workers from outside of tasks: begin to conduct a run, let go, end.

Imports nothing of Dask.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaving:
    """A transfer of the plan: what leaves for where (an address), and how long it takes."""

    key: Any
    receiver: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What a worker saw of a run: (start, stop) by computed key, and what it sent.

    ``sent`` holds (key, address of the receiver, start, stop).
    """

    computed: dict[Any, tuple[float, float]]
    sent: tuple[tuple[Any, str, float, float], ...]


def name_of(run: str) -> str:
    """Return the name of the plugin of a run."""
    return f"makespan-{run}"


async def begin(
    run: str,
    keys: Collection[Any],
    leaving: Collection[Leaving],
    in_turn: bool,
    *,
    dask_worker: Any = None,
) -> None:
    """Conduct a run on this worker."""
    from makespan.execute.dask.graphs.conducting import Conductor

    conductor = Conductor(run, keys, leaving, in_turn=in_turn)
    await dask_worker.plugin_add(conductor, name_of(run), catch_errors=False)


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
