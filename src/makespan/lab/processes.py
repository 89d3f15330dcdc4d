"""Cells → rows, in processes of this machine that may die."""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from makespan.core.errors import ExecutionError, InputError
from makespan.core.system import memory
from makespan.core.system.subprocesses import Child, own_folder
from makespan.lab.experiment import Cell
from makespan.lab.record import Record
from makespan.lab.solving import Solver, row

BEAT = struct.Struct("<qd")  # how many cells were begun, and when the last was (monotonic clock)
PATIENCE = 0.1  # seconds for which rows may wait to be sent with others


class Worker:
    """Solves cells, and keeps the time in the file ``beat``, as a subprocess worker does."""

    def __init__(self, beat: str) -> None:
        self.beat = beat
        self._batches: SimpleQueue[list[Cell]] = SimpleQueue()
        self.hear = self._batches.put

    def run(self, tell: Callable[[Any], None]) -> None:
        """Solve what comes."""
        solver, begun, sent = Solver(), 0, time.monotonic()
        rows: list[Record] = []
        with open(self.beat, "r+b") as file, mmap.mmap(file.fileno(), BEAT.size) as beat:
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
    count, since = BEAT.unpack(path.read_bytes())
    return int(count), float(since)


WATCH = 0.2  # seconds between two looks at the processes
GRACE = 60.0  # seconds beyond twice the limit until a solve is overdue: a first use compiles
BATCH = 0.25  # seconds that a batch should take
LARGEST_BATCH = 200
SHARE = 0.9  # of the memory that is free, for all processes together


class _Process(Child):
    """A worker as the others see it; ``dealt`` holds the cells whose rows are not here yet."""

    def __init__(
        self, slot: int, folder: Path, arrived: Arrived, cores: list[int], imports: Sequence[str]
    ) -> None:
        self.slot, self.beat = slot, folder / f"beat{slot}"
        self.beat.write_bytes(BEAT.pack(0, 0.0))
        self.dealt: deque[Cell] = deque()
        self.received = 0
        super().__init__(
            partial(Worker, str(self.beat)),
            lambda process, rows: arrived.put((process, rows)),
            folder / f"errors{slot}",
            cores=cores,
            imports=imports,
        )

    def deal(self, cells: list[Cell]) -> None:
        self.dealt.extend(cells)
        self.send(cells)

    def current(self) -> tuple[int, float]:
        """Return the place in ``dealt`` of the cell it is at, -1 for none, and since when."""
        count, since = begun(self.beat)
        return count - self.received - 1, since


Arrived = SimpleQueue[tuple[_Process, list[Record] | None]]


class Pace:
    """How many solves to hand over at a time, by what the last ones took."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self.most = seconds, most
        self._each = seconds

    def note(self, rows: list[Record]) -> None:
        for each in rows:
            self._each += 0.1 * ((each.wall_time or 0.0) + 1e-4 - self._each)

    @property
    def batch(self) -> int:
        """Solves that take about ``seconds``; 0 where a single one takes longer."""
        return min(self.most, int(self.seconds / self._each))


class Processes:
    """Solves in ``jobs`` processes, each on one core where the system can pin it.

    A process that dies leaves a row of the solve that it was at, and is replaced.

    ``jobs``: how many. ``most``: bytes that one may hold; None for an equal share of what is free
    now. ``imports``: modules that they import first, which register methods.

    As a context manager it keeps the processes for several calls of :meth:`solved`.
    """

    def __init__(
        self, jobs: int, *, most: float | None = None, imports: Sequence[str] = ()
    ) -> None:
        self.jobs, self.imports = jobs, imports
        self.most = SHARE * memory.available() / jobs if most is None else most
        self._again: deque[Cell] = deque()
        self._pace = Pace(BATCH, LARGEST_BATCH)
        self._processes: list[_Process] = []

    def __call__(self, cells: Iterator[Cell]) -> Iterator[list[Record]]:
        """Yield the rows as they come; ending the iteration ends the processes."""
        with self:
            yield from self.solved(cells)

    def __enter__(self) -> Self:
        self._folder = own_folder()
        self._arrived: Arrived = SimpleQueue()
        try:
            for slot in range(self.jobs):
                self._processes.append(self._started(slot))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.popen.kill()
        for process in self._processes:
            process.reap()
        self._processes.clear()
        self._folder.cleanup()

    def solved(self, cells: Iterator[Cell]) -> Iterator[list[Record]]:
        for process in self._processes:
            self._deal(process, cells)
        looked = time.monotonic()
        while any(process.dealt for process in self._processes):
            try:
                process, rows = self._arrived.get(timeout=WATCH)
            except Empty:
                pass
            else:
                if rows is None:
                    found = self._buried(process)
                    process.reap()
                    at = self._processes.index(process)
                    process = self._processes[at] = self._started(process.slot)
                    yield found
                else:
                    self._noted(process, rows)
                    yield rows
                self._deal(process, cells)
                for other in self._processes if self._again else ():
                    self._deal(other, cells)
            if time.monotonic() > looked + WATCH:
                looked = time.monotonic()
                for process in self._processes:
                    self._watch(process)

    def _started(self, slot: int) -> _Process:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        first = slot % len(cores) if cores else 0
        cores = cores[first:] + cores[:first]
        return _Process(slot, Path(self._folder.name), self._arrived, cores, self.imports)

    def _deal(self, process: _Process, cells: Iterator[Cell]) -> None:
        """Give a process enough to do until its next rows have come and were answered.

        Of solves that take longer than that, none waits for one process while another is free.
        """
        size = self._pace.batch
        if len(process.dealt) > size:
            return
        batch: list[Cell] = []
        for _ in range(max(1, size)):
            cell = self._again.popleft() if self._again else next(cells, None)
            if cell is None:
                break
            batch.append(cell)
        if batch:
            process.deal(batch)

    def _noted(self, process: _Process, rows: list[Record]) -> None:
        for _ in rows:
            process.dealt.popleft()
        process.received += len(rows)
        self._pace.note(rows)

    def _watch(self, process: _Process) -> None:
        """End a process whose solve takes more time or memory than it may."""
        process.watch_memory(self.most)
        at, since = process.current()
        if not 0 <= at < len(process.dealt) or process.dealt[at].time_limit is None:
            return
        limit, seconds = process.dealt[at].time_limit or 0.0, time.monotonic() - since
        if seconds > 2 * limit + GRACE:
            process.end("overdue", f"ended after {seconds:.0f} s; its limit was {limit:g} s")

    def _buried(self, process: _Process) -> list[Record]:
        """Return the row of the solve at which a process died; all others begin again."""
        status, note = process.death()
        at, _ = process.current()
        cells, process.dealt = list(process.dealt), deque()
        if begun(process.beat)[0] == 0 and process.fault is None:
            raise ExecutionError(f"a process could not start: {process.last_words()}")
        if not 0 <= at < len(cells):
            self._again.extend(cells)
            return []
        self._again.extend(cells[:at] + cells[at + 1 :])
        return [row(cells[at], status, note)]


def checked_jobs(jobs: int) -> int:
    """Return how many processes: a whole number, 1 or more."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs: {jobs!r} is not a number of processes, 1 or more")
    return jobs
