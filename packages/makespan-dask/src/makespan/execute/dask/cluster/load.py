"""Work that waits here, shown to the scheduler: what adapts a cluster counts tasks there.

``Scheduler.adaptive_target`` divides the seconds that the scheduler expects of its tasks by those
that the work should take, and counts each task that no worker may do yet, of a kind of which it has
seen none, with ``unknown-task-duration`` seconds. So many of these stand for the work that waits.
"""

from __future__ import annotations

import math
import uuid
from typing import Any

from makespan.execute.dask.cluster.client import forgotten

WAITING = "makespan-waiting"  # a resource that no worker has, and what these tasks are called
FEWEST, EACH = 256, 24  # of these tasks that are shown at most, in all, and for each thread
SHOWN_FROM = 1.0  # seconds of work for each thread, from which it is shown
OFF = 1.25  # times too many or too few: they are put right


class Load:
    """Tasks that stand for work; use it on the client's event loop, and close it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._prefix = f"{WAITING}-{uuid.uuid4().hex[:12]}"
        self._shown: list[Any] = []
        self._keys: list[str] = []

    def show(self, seconds: float | None, tasks: int, threads: int = 0) -> None:
        """Show so many seconds of work that is made up of so many tasks, None: as Dask guesses.

        Not less than :data:`SHOWN_FROM` for each of the ``threads`` that are there, and not more
        than makes the scheduler ask for a thread for each task; about twice as many as there are
        more are asked for at a time.
        """
        seconds = tasks * unknown() if seconds is None else seconds
        seconds = seconds if seconds > SHOWN_FROM * threads else 0.0
        each = max(1.0, _seconds("distributed.adaptive.target-duration", "5s") / unknown())
        most = min(math.ceil(tasks * each), max(FEWEST, EACH * threads))
        wanted = math.ceil(min(seconds / unknown(), most))
        count = len(self._shown)
        if wanted > OFF * count:
            keys = [f"{self._prefix}-{len(self._keys) + n}" for n in range(wanted - count)]
            self._keys += keys
            self._shown += self._client.map(
                abs, range(len(keys)), key=keys, resources={WAITING: 1}, pure=False
            )
        elif wanted * OFF < count:
            for future in self._shown[wanted:]:
                future.release()
            del self._shown[wanted:]

    async def close(self) -> None:
        """Show nothing any more; returns when the scheduler has forgotten it all."""
        self.show(0.0, 0)
        keys, self._keys = self._keys, []
        await forgotten(self._client, keys)


def unknown() -> float:
    """Return for how many seconds the scheduler takes a task that it knows nothing of."""
    return max(1e-3, _seconds("distributed.scheduler.unknown-task-duration", "500ms"))


def _seconds(name: str, default: str) -> float:
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get(name, default=default)))
