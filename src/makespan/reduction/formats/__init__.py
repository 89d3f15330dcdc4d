"""MSCCL: programmes for collectives in XML, as runtimes compatible with NCCL execute them.

Every machine is a ``<gpu>``. It has a thread block, ``<tb>``, for every peer that it sends to, and
for every one that it receives from; a send is a ``<step>`` on both ends. Steps wait for others of
their GPU (``depid``, ``deps``): for what they read or overwrite, and for the send or the reception
before. A step waits for one other; what it waits for besides stands in steps ``nop`` before it.

Source: the runtimes' parsers and interpreters (github.com/microsoft/msccl, github.com/ROCm/rccl),
and Cowan et al. 2023, "MSCCLang: Microsoft collective communication language".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

NAMES = {
    "reduce": "reduce",
    "broadcast": "broadcast",
    "all-reduce": "allreduce",
    "all-gather": "allgather",
    "reduce-scatter": "reducescatter",
    "gather": "gather",
    "scatter": "scatter",
    "all-to-all": "alltoall",
}
DEALT = ("all-gather", "reduce-scatter", "gather", "scatter", "all-to-all")
INPUT, OUTPUT, SCRATCH = "i", "o", "s"
RECEIVING = ("r", "rcs", "rrs", "rrc", "rrcs")
SENDING = ("s", "rcs", "rrs", "rrcs")
COMBINING = ("rrs", "rrc", "rrcs")


class Cell(NamedTuple):
    """A chunk of a buffer: which buffer, and the how manieth chunk of it."""

    buffer: str
    offset: int


class Step(NamedTuple):
    """A step of a file: what it does, with which chunks, and for which step it waits.

    ``waits`` is a thread block and a step of the same GPU; None for none.
    """

    kind: str
    source: Cell
    target: Cell
    chunks: int
    waits: tuple[int, int] | None


class Block(NamedTuple):
    """A thread block of a file: its peers, -1 for none, its channel, its steps."""

    send: int
    receive: int
    channel: int
    steps: list[Step]


Programme = list[dict[int, Block]]
"""The thread blocks of every GPU, by their ids."""


def in_buffers(problem: Reduction) -> Integers:
    """Return the segments in the order in which buffers hold them, those that they hold.

    Buffers hold the chunks of one machine after another: those that come from it, or go to it.
    """
    own = np.arange(problem.items)
    if problem.collective not in DEALT:
        return own
    owner, own = np.divmod(own, int(problem.segments))
    part, machine = np.divmod(own, len(problem.machines))
    return np.lexsort((part, machine, owner))


def held(order: Integers, table: Bools) -> list[Integers]:
    """Return the segments in the buffer of every machine; ``table`` says which it holds."""
    return [order[row[order]] for row in table]
