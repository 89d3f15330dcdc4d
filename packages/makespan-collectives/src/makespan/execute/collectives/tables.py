"""A collective as what each rank does: the messages that it expects, and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from makespan.core.numeric.arrays import Floats
from makespan.execute.collectives.ends import Ends

NO_MESSAGE = -1


class Receive(NamedTuple):
    """A message to expect: from which rank, which segment, and whether it is complete.

    ``before`` says where the ranks that it combines stand: directly before those that the receiver
    has combined by then, directly after, or neither (None).
    """

    source: int
    segment: int
    final: bool
    before: bool | None = None


class Step(NamedTuple):
    """What a rank does next.

    A send has ``message`` -1; any other step takes message ``message`` of the rank's receives and
    combines it, unless it is complete. ``row`` is the row of the plan's schedule.
    """

    peer: int
    segment: int
    final: bool
    message: int
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What one rank does: the messages that it expects, and its steps, as planned."""

    receives: tuple[Receive, ...]
    steps: tuple[Step, ...]


class Work(NamedTuple):
    """What one rank knows of a plan: ``sizes`` of the segments, the rank of the ``root``.

    ``counts`` are the elements of every block; None where all have as many.
    """

    collective: str
    makespan: float
    sizes: Floats
    root: int
    table: Table
    ends: Ends
    counts: tuple[int, ...] | None = None
