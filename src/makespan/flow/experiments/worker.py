"""A process that solves cells for another: they come on standard input, rows go to its output.

It tells what it is about in a file that both have mapped, so that whoever finds it dead knows which
solve killed it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import pickle
import queue
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple

from makespan.flow.experiments.experiment import Cell
from makespan.flow.experiments.record import Record
from makespan.flow.experiments.solving import Solver

BEAT = struct.Struct("<qd")
"""How many cells were begun, and when the last one was, by the monotonic clock."""
PATIENCE = 0.1  # seconds for which rows may wait to be sent with others


class Setup(NamedTuple):
    """What a worker is told first."""

    beat: str
    cores: Sequence[int]
    imports: Sequence[str]


def main() -> None:
    """Solve until standard input ends, which is also when the other process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    faulthandler.enable()
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print is no row
    setup: Setup = pickle.load(sys.stdin.buffer)
    claim = _pinned(setup.cores)
    for name in setup.imports:
        import_module(name)
    with open(setup.beat, "r+b") as file, mmap.mmap(file.fileno(), BEAT.size) as beat, claim:
        _serve(out, beat)


def _pinned(cores: Sequence[int]) -> socket.socket | contextlib.nullcontext[None]:
    """Keep to the first of these cores that no process like this has; to the first if none is left.

    Who has one shows in a name that the system gives to one process, until that ends.
    """
    for core in cores:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0makespan-core-{core}")
        except OSError:
            claim.close()
        else:
            os.sched_setaffinity(0, {core})
            return claim
    if cores:
        os.sched_setaffinity(0, {cores[0]})
    return contextlib.nullcontext()


def _serve(out: BinaryIO, beat: mmap.mmap) -> None:
    batches: queue.SimpleQueue[list[Cell]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(batches,), daemon=True).start()
    solver, begun, sent = Solver(), 0, time.monotonic()
    rows: list[Record] = []
    while True:
        batch = batches.get()
        for cell in batch:
            now = time.monotonic()
            if rows and now > sent + PATIENCE:
                out.write(pickle.dumps(rows))
                rows, sent = [], now
            begun += 1
            BEAT.pack_into(beat, 0, begun, now)
            rows.append(solver.solve(cell))
        out.write(pickle.dumps(rows))
        rows, sent = [], time.monotonic()


def _listen(batches: queue.SimpleQueue[list[Cell]]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            batches.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


def begun(path: Path) -> tuple[int, float]:
    """Return what a worker wrote into its file."""
    count, since = BEAT.unpack(path.read_bytes())
    return int(count), float(since)
