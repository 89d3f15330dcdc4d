"""A part of the campaign: one promise, and how a single try of it is made from a seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

MODULES = {
    "structure": "campaign.structure",
    "shrinking": "campaign.shrinking",
    "bytes": "campaign.byte_level",
    "traces": "campaign.traces",
    "differential": "campaign.differential",
    "claims": "campaign.claims",
    "fronts": "campaign.fronts",
    "customs": "campaign.customs",
    "rounds": "campaign.rounds",
    "rates": "campaign.rates",
    "metamorphic": "campaign.metamorphic",
    "pairs": "campaign.pairs",
    "limits": "campaign.limits",
    "names": "campaign.names",
    "pages": "campaign.pages",
    "files": "campaign.saving",
    "signals": "campaign.signals",
    "faults": "campaign.faults",
}


class Defect(Exception):
    """A promise that was not kept; the message says which, in a line."""


class Skipped(Exception):
    """Why a try could not be made here: something it needs is not installed."""


@dataclass(slots=True)
class Trial:
    """One try: its seed, what it counted, and the input it was about.

    ``given`` is the input of a kept case; where it is None the part makes one from the seed.
    ``open`` names what the campaign has not counted often enough yet.
    """

    seed: str
    folder: Path
    given: tuple[str, bytes] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    input: tuple[str, bytes] | None = None
    open: tuple[str, ...] = ()

    def random(self, use: str) -> random.Random:
        """Return the generator of one use, so that a kept input changes nothing that follows."""
        return random.Random(f"{self.seed}/{use}")

    def count(self, what: str, times: int = 1) -> None:
        self.counts[what] += times

    def holds(self, name: str, content: bytes) -> Path:
        """Write the input that is tried to the trial's folder, and remember it."""
        self.input = (name, content)
        path = self.folder / name
        path.write_bytes(content)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the campaign.

    Parameters
    ----------
    name
        As in ``--only``.
    promise
        What must hold, in a sentence of the table.
    attempt
        Makes one try; raises :class:`Defect`, or any exception that should not have been.
    goals
        What is counted, and how often it must have happened in a whole campaign.
    share
        Its share of the time, against the other parts'.
    patience
        Seconds after which a try hangs.
    memory
        Bytes that a try may take beyond what the worker has; None for no limit.
    prepare
        What is done once in each worker, before the clock runs.
    """

    name: str
    promise: str
    attempt: Callable[[Trial], None]
    goals: Mapping[str, int]
    share: float
    patience: float = 20.0
    memory: int | None = 2 * 2**30
    prepare: Callable[[], object] = lambda: None


def part_named(name: str) -> Part:
    """Return a part, importing it now."""
    part: Part = import_module(MODULES[name]).PART
    return part
