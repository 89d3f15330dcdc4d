"""Cells of an experiment → rows, on a Dask cluster."""

from __future__ import annotations

import pickle
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from makespan._version import __version__
from makespan.core.errors import ExecutionError, MakespanError
from makespan.core.problem import Problem
from makespan.core.system import memory
from makespan.core.system.startup import optional
from makespan.execute.dask.cluster.client import Client, checked_client, trouble_of
from makespan.lab.experiment import Cell
from makespan.lab.instances import Given, InFile, Instance
from makespan.lab.processes import SHARE, Pace, Processes
from makespan.lab.record import Record
from makespan.lab.solving import pickled, row

SECONDS = 1.0  # that a batch should take: the scheduler needs a millisecond for one
LARGEST_BATCH = 1000
AHEAD = 2  # batches that a lane has: one at work, one waiting
LOOK = 1.0  # seconds between looks at who is there
LARGE = 100_000  # bytes of an instance that are sent to a worker once


class Workers:
    """Solves on the workers of a Dask cluster, in a process of its own for each thread of theirs.

    Instances in files are read here; workers need makespan, not the files. Batches are as long as
    a second, so that the scheduler has little to do. Workers may come and go: what a lost one was
    at begins again elsewhere. What kills a process, or takes far too much memory or time, is a row.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    imports
        Modules that the workers import first, which register methods.

    Raises
    ------
    ExecutionError
        If there is no worker when it begins, the scheduler is lost, or a worker has no makespan.

    >>> import makespan
    >>> from makespan.execute import dask
    >>> asked = makespan.Experiment(makespan.Grid("independent"), methods=["lpt"])
    >>> makespan.experiment(asked, where=dask.Workers(client))  # doctest: +SKIP
    <Results: 1 solve, 1 method>
    """

    def __init__(self, client: Client, *, imports: Sequence[str] = ()) -> None:
        self.client: Client = checked_client(client)
        self.imports: tuple[str, ...] = tuple(imports)
        self._pace = Pace(SECONDS, LARGEST_BATCH)
        self._dealt: dict[Any, _Batch] = {}
        self._again: deque[list[Cell]] = deque()
        self._last: tuple[str, Instance] | None = None

    def __call__(self, cells: Iterator[Cell]) -> Iterator[list[Record]]:
        """Yield the rows as they come; ending the iteration takes back what has not begun."""
        self._done: SimpleQueue[Any] = SimpleQueue()
        try:
            threads = self._threads()
            if not threads:
                raise ExecutionError("the cluster has no workers")
            looked = time.monotonic()
            self._deal(cells, threads)
            while self._dealt:
                try:
                    yield self._received(self._done.get(timeout=LOOK))
                except Empty:
                    self._refuse_lost()
                if time.monotonic() > looked + LOOK:
                    threads, looked = self._threads(), time.monotonic()
                self._deal(cells, threads)
        finally:
            if self._dealt and not trouble_of(self.client):
                self.client.cancel(list(self._dealt), force=True)
            self._dealt.clear()
            self._last = None

    def _threads(self) -> dict[str, int]:
        """Return how many threads each worker has."""
        self._refuse_lost()
        try:
            return dict(self.client.nthreads())
        except (OSError, TimeoutError) as error:
            raise ExecutionError(trouble_of(self.client) or str(error)) from error

    def _refuse_lost(self) -> None:
        if trouble := trouble_of(self.client):
            raise ExecutionError(trouble)

    def _deal(self, cells: Iterator[Cell], threads: dict[str, int]) -> None:
        """Give every worker a batch for each thread, and one that waits."""
        dealt = Counter(batch.worker for batch in self._dealt.values())
        for place in range(AHEAD):
            for worker, count in threads.items():
                while dealt[worker] < (place + 1) * count:
                    batch = self._again.popleft() if self._again else self._next(cells)
                    if not batch:
                        return
                    self._submit(batch, worker)
                    dealt[worker] += 1

    def _next(self, cells: Iterator[Cell]) -> list[Cell]:
        batch: list[Cell] = []
        for cell in cells:
            batch.append(cell)
            if len(batch) >= self._pace.batch:
                break
        return batch

    def _sent(self, instance: Instance) -> Instance:
        """Return an instance that can be sent: read if it is a file, once if it is a large one."""
        if not isinstance(instance, (InFile, Given)):
            return instance
        if self._last is None or self._last[0] != instance.name or _is_lost(self._last[1]):
            self._last = instance.name, self._packed(instance)
        return self._last[1]

    def _packed(self, instance: Instance) -> Instance:
        data, fault = pickled(instance)
        if fault:
            return Unreadable(instance.name, fault)
        if len(data) < LARGE:
            return Packed(instance.name, data)
        try:
            return Packed(instance.name, self.client.scatter(data, hash=False))
        except (OSError, KeyError):  # the worker where it was to lie was lost meanwhile
            self._refuse_lost()
            return Packed(instance.name, data)

    def _submit(self, cells: list[Cell], worker: str) -> None:
        large: dict[str, Any] = {}
        small: list[Cell] = []
        asked, sent = None, cells[0].instance
        for cell in cells:
            if cell.instance is not asked:
                asked, sent = cell.instance, self._sent(cell.instance)
                if isinstance(sent, Packed) and not isinstance(sent.data, bytes):
                    large[sent.name] = sent.data
                    sent = Packed(sent.name, None)
            small.append(cell._replace(instance=sent))
        future = self.client.submit(
            solve_batch,
            pickle.dumps(small),
            self.imports,
            tuple(large),
            *large.values(),
            pure=False,
            workers=[worker],
            allow_other_workers=True,
        )
        self._dealt[future] = _Batch(cells, worker)
        future.add_done_callback(self._done.put)

    def _received(self, future: Any) -> list[Record]:
        cells = self._dealt.pop(future).cells
        rows = self._brought(future)
        if rows is not None:
            if rows[0].version != __version__:
                raise ExecutionError(
                    f"the workers have makespan {rows[0].version}, this is {__version__}"
                )
            self._pace.note(rows)
            return rows
        self._refuse_lost()
        error = future.exception() if future.status == "error" else None
        lost = isinstance(error, optional("distributed").KilledWorker)
        if error is None or (lost and len(cells) > 1):
            self._again.extend([cell] for cell in cells)
            return []
        if lost:
            count = error.allowed_failures + 1
            return [row(cells[0], "killed", f"each of {count} workers that were at it died")]
        if isinstance(error, ModuleNotFoundError):
            raise ExecutionError(f"a worker can't import what it needs: {error}") from error
        raise error

    def _brought(self, future: Any) -> list[Record] | None:
        """Return what a batch brought; None if it failed, or its rows were lost with a worker."""
        if future.status != "finished":
            return None
        try:
            rows: list[Record] = future.result()
        except optional("distributed").CancelledError:
            return None
        return rows


class _Batch(NamedTuple):
    cells: list[Cell]
    worker: str


@dataclass(frozen=True, slots=True)
class Packed:
    """A problem that was read elsewhere; ``data`` is its pickle, or where that lies there."""

    name: str
    data: Any

    def problem(self) -> Problem:
        found: Problem = pickle.loads(self.data)
        return found


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A problem that could not be read."""

    name: str
    fault: str

    def problem(self) -> Problem:
        raise MakespanError(self.fault)


def _is_lost(instance: Instance) -> bool:
    """Whether the cluster has lost the only copy of a large one, or has never had it."""
    if not isinstance(instance, Packed):
        return False
    if isinstance(instance.data, bytes):
        return len(instance.data) >= LARGE
    return instance.data.status in ("lost", "cancelled")


_free: list[Processes] = []
_lock = threading.Lock()


def solve_batch(
    data: bytes, imports: Sequence[str], names: Sequence[str], *contents: bytes
) -> list[Record]:
    """Solve cells on a worker, in a process that stays for the next ones.

    Of the instances of these names the contents came apart.
    """
    large = dict(zip(names, contents, strict=True))
    cells: list[Cell] = [
        cell._replace(instance=Packed(cell.instance.name, large[cell.instance.name]))
        if cell.instance.name in large
        else cell
        for cell in pickle.loads(data)
    ]
    with _lock:
        process = next((one for one in _free if tuple(one.imports) == tuple(imports)), None)
        if process is not None:
            _free.remove(process)
    if process is None:
        process = Processes(1, most=_share(), imports=imports).__enter__()
    try:
        found = [each for rows in process.solved(iter(cells)) for each in rows]
    except BaseException:
        process.__exit__()
        raise
    with _lock:
        _free.append(process)
    return found


def _share() -> float:
    """Return the bytes that a process of this worker may hold."""
    worker = optional("distributed").get_worker()
    limit = worker.memory_manager.memory_limit or memory.available()
    return SHARE * float(min(limit, memory.available())) / int(worker.state.nthreads)
