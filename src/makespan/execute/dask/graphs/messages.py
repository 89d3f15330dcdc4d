"""What client and workers tell each other of a run. Imports nothing of Dask."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaving:
    """A transfer of the plan: what leaves for where (an address), and how long it takes."""

    key: Any
    receiver: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a worker in a run: (start, stop) by computed key, and what it sent.

    ``sent`` holds (key, address of the receiver, start, stop), ``sizes`` the bytes of results where
    they were seen.
    """

    computed: dict[Any, tuple[float, float]]
    sent: tuple[tuple[Any, str, float, float], ...]
    sizes: dict[Any, int] = field(default_factory=dict)


def name_of(run: str) -> str:
    """Return the name of the plugin of a run."""
    return f"makespan-{run}"
