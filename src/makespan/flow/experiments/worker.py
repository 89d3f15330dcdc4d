"""A process that solves cells for another: it is sent lists of cells, and tells lists of rows.

It notes what it is about in a file that both have mapped, so that whoever finds it dead knows which
solve killed it.
"""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from makespan.flow.experiments.experiment import Cell
from makespan.flow.experiments.record import Record
from makespan.flow.experiments.solving import Solver

BEAT = struct.Struct("<qd")
"""How many cells were begun, and when the last one was, by the monotonic clock."""
PATIENCE = 0.1  # seconds for which rows may wait to be sent with others


class Worker:
    """Solves cells, and keeps the time in the file ``beat``, as a subprocess worker does."""

    def __init__(self, beat: str) -> None:
        self.beat = beat
        self._batches: SimpleQueue[list[Cell]] = SimpleQueue()
        self.hear = self._batches.put

    def run(self, tell: Callable[[Any], None]) -> None:
        """Solve what comes."""
        with open(self.beat, "r+b") as file, mmap.mmap(file.fileno(), BEAT.size) as beat:
            self._solve(tell, beat)

    def _solve(self, tell: Callable[[Any], None], beat: mmap.mmap) -> None:
        solver, begun, sent = Solver(), 0, time.monotonic()
        rows: list[Record] = []
        while True:
            for cell in self._batches.get():
                now = time.monotonic()
                if rows and now > sent + PATIENCE:
                    tell(rows)
                    rows, sent = [], now
                begun += 1
                BEAT.pack_into(beat, 0, begun, now)
                rows.append(solver.solve(cell))
            tell(rows)
            rows, sent = [], time.monotonic()


def begun(path: Path) -> tuple[int, float]:
    """Return what a worker wrote into its file."""
    count, since = BEAT.unpack(path.read_bytes())
    return int(count), float(since)
