"""Signs of life: how long nothing was heard of each worker."""

from __future__ import annotations

import time

SILENCE = 60.0  # seconds without a heartbeat after which a worker counts as gone
LISTEN_EVERY = 5.0  # seconds at most between looks at the heartbeats


def silence() -> float:
    """Return after how many seconds without a sign of life nobody is waited for any more.

    :data:`SILENCE`, or what ``makespan.silence`` says in Dask's configuration.
    """
    import dask

    return float(dask.config.get("makespan.silence", default=SILENCE))


class Heard:
    """How long nothing was heard of each worker, by this machine's clock.

    Time in which nobody listened, as while the client itself was stopped, does not count.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._quiet: dict[str, float] = {}
        self._listened = time.monotonic()

    @property
    def age(self) -> float:
        """The seconds since somebody listened."""
        return time.monotonic() - self._listened

    def note(self, heartbeats: dict[str, float]) -> None:
        """Note the time of each worker's last heartbeat, on whatever clock."""
        passed = min(self.age, 2 * LISTEN_EVERY)
        self._quiet = {
            address: self._quiet.get(address, 0.0) + passed
            if self._last.get(address) == moment
            else 0.0
            for address, moment in heartbeats.items()
        }
        self._last = heartbeats
        self._listened = time.monotonic()

    def silent(self, address: str, longest: float) -> bool:
        """Whether nothing was heard of a worker for longer than that."""
        return self._quiet.get(address, 0.0) > longest
