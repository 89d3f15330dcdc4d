"""Cells → rows, in processes of this machine that may die."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Self

from makespan.core.errors import ExecutionError, InputError
from makespan.core.system import memory
from makespan.flow.experiments.experiment import Cell
from makespan.flow.experiments.record import Record
from makespan.flow.experiments.solving import row
from makespan.flow.experiments.worker import BEAT, Setup, begun

WATCH = 0.2  # seconds between two looks at the processes
GRACE = 60.0  # seconds beyond twice the limit until a solve is overdue: a first use compiles
BATCH = 0.25  # seconds that a batch should take
LARGEST_BATCH = 200
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
SHARE = 0.9  # of the memory that is free, for all processes together


@dataclass(slots=True, eq=False)
class _Process:
    """A worker as the others see it; ``dealt`` holds the cells whose rows are not here yet."""

    slot: int
    popen: subprocess.Popen[bytes]
    beat: Path
    errors: Path
    dealt: deque[Cell] = field(default_factory=deque)
    received: int = 0
    fault: tuple[str, str] | None = None  # why it was ended: a status and a note

    def deal(self, cells: list[Cell]) -> None:
        self.dealt.extend(cells)
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):  # it is dead, as its reader will find
            self.popen.stdin.write(pickle.dumps(cells))
            self.popen.stdin.flush()

    def current(self) -> tuple[int, float]:
        """Return the place in ``dealt`` of the cell it is at, -1 for none, and since when."""
        count, since = begun(self.beat)
        return count - self.received - 1, since

    def end(self, status: str, note: str) -> None:
        if self.fault is None:
            self.fault = (status, note)
            self.popen.kill()


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

    Parameters
    ----------
    jobs
        How many.
    most
        Bytes that one may hold; None for an equal share of what is free now.
    imports
        Modules that they import first, which register methods.

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
        self._folder = tempfile.TemporaryDirectory(prefix="makespan-")
        self._arrived: SimpleQueue[tuple[_Process, list[Record] | None]] = SimpleQueue()
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
            _reaped(process)
        self._processes.clear()
        self._folder.cleanup()

    def solved(self, cells: Iterator[Cell]) -> Iterator[list[Record]]:
        """Yield the rows as they come."""
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
                    _reaped(process)
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
        folder = Path(self._folder.name)
        beat, errors = folder / f"beat{slot}", folder / f"errors{slot}"
        beat.write_bytes(BEAT.pack(0, 0.0))
        code = f"import sys; sys.path[:] = {sys.path!r}\n"
        code += f"from {__package__}.worker import main; main()"
        with errors.open("wb") as file:
            popen = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, **ONE_THREAD},
            )
        process = _Process(slot, popen, beat, errors)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        first = slot % len(cores) if cores else 0
        setup = Setup(str(beat), cores[first:] + cores[:first], self.imports)
        assert popen.stdin is not None
        with contextlib.suppress(OSError):
            popen.stdin.write(pickle.dumps(setup))
        threading.Thread(target=_listen, args=(process, self._arrived), daemon=True).start()
        return process

    def _deal(self, process: _Process, cells: Iterator[Cell]) -> None:
        """Give a process enough to do until its next rows have come and were answered.

        Of solves that take longer than that, none waits for one process while another is free.
        """
        size = self._pace.batch
        if len(process.dealt) > size:
            return
        size = max(1, size)
        batch: list[Cell] = []
        while len(batch) < size:
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
        held = memory.held_by(process.popen.pid)
        if held > self.most:
            process.end(
                "out of memory",
                f"it held {held / 1e9:.2f} GB; a solve may have {self.most / 1e9:.2f} GB here",
            )
        at, since = process.current()
        if not 0 <= at < len(process.dealt) or process.dealt[at].time_limit is None:
            return
        limit, seconds = process.dealt[at].time_limit or 0.0, time.monotonic() - since
        if seconds > 2 * limit + GRACE:
            process.end("overdue", f"ended after {seconds:.0f} s; its limit was {limit:g} s")

    def _buried(self, process: _Process) -> list[Record]:
        """Return the row of the solve at which a process died; all others begin again."""
        code = process.popen.wait()
        at, _ = process.current()
        cells, process.dealt = list(process.dealt), deque()
        if begun(process.beat)[0] == 0 and process.fault is None:
            raise ExecutionError(f"a process could not start: {_last_words(process)}")
        if not 0 <= at < len(cells):
            self._again.extend(cells)
            return []
        self._again.extend(cells[:at] + cells[at + 1 :])
        status, note = process.fault or _death(code, _last_words(process))
        return [row(cells[at], status, note)]


def _listen(process: _Process, arrived: SimpleQueue[tuple[_Process, list[Record] | None]]) -> None:
    assert process.popen.stdout is not None
    try:
        while True:
            arrived.put((process, pickle.load(process.popen.stdout)))
    except Exception:  # the end, or rows that a kill tore
        arrived.put((process, None))


def _death(code: int, words: str) -> tuple[str, str]:
    if code == -9:
        return "killed", "ended from outside; systems do that where memory runs out"
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return "crashed", f"its process ended with {how}{': ' * bool(words)}{words}"


def _last_words(process: _Process) -> str:
    """Return what says most in what a process printed: what it died of."""
    text = process.errors.read_bytes()[-10_000:].decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith("Fatal Python error")]
    return (fatal or lines or [""])[-1]


def _reaped(process: _Process) -> None:
    process.popen.wait()
    for pipe in (process.popen.stdin, process.popen.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            pipe.close()


def checked_jobs(jobs: int) -> int:
    """Return how many processes: a whole number, 1 or more."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"jobs: {jobs!r} is not a number of processes, 1 or more")
    return jobs
