"""What Dask's own scheduling did: its task stream, and what each worker has sent."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.errors import MakespanError
from makespan.core.schedule import Activity, Schedule
from makespan.execute.dask.cluster.workers import WorkerPool
from makespan.execute.dask.graphs.batch import Batch, moved
from makespan.execute.dask.graphs.remote import Seen
from makespan.execute.dask.graphs.work import Structure, structure_of
from makespan.execute.dealing.engine import WorkerInfo
from makespan.execute.execution import Execution
from makespan.taskgraph.model.dag import Dag

Row = tuple[str, int, int, int, float, float, float]

SLACK = 0.5  # seconds around a run of which the stream is asked for
LONGEST = 30.0  # seconds that an answer is waited for


class Sightings:
    """What was seen, by worker.

    ``number`` is that of each task, by the key that was sent, ``names`` the name of each worker by
    its address, also of those that are gone.
    """

    def __init__(self, number: Mapping[str, int], names: Mapping[str, str]) -> None:
        self.number, self.names = number, names
        self.found: dict[str, Seen] = {}

    def schedule(
        self, dag: Dag, machines: Sequence[str] = (), plan: Schedule | None = None
    ) -> Schedule:
        """Return what was measured; time 0 is the start of the first task.

        Machines come in that order, others behind; transfers pass the hops that were planned.
        """
        machines = [*machines, *(name for name in self.found if name not in machines)]
        place = {name: index for index, name in enumerate(machines)}
        rows = self._computed(dag, place)
        hops = {} if plan is None else _hops(plan)
        rows += self._sent(dag, hops, place, {row[3]: row[1] for row in rows})
        zero = min((row[5] for row in rows), default=0.0)
        shifted = [(*row[:5], row[5] - zero, row[6] - zero) for row in rows]
        shifted.sort(key=lambda row: (row[5], row[6]))
        return Schedule.of_rows(tuple(machines), shifted)

    def _computed(self, dag: Dag, place: Mapping[str, int]) -> list[Row]:
        """Return the last computation of each task."""
        last: dict[int, Row] = {}
        for worker, seen in self.found.items():
            for key, (start, end) in seen.computed.items():
                task = self.number[key]
                row = ("compute", place[worker], -1, task, float(dag.work[task]))
                if task not in last or last[task][6] < end:
                    last[task] = (*row, start, end)
        return list(last.values())

    def _sent(
        self,
        dag: Dag,
        hops: Mapping[tuple[int, int, int], list[tuple[int, int, float]]],
        place: Mapping[str, int],
        machine_of: Mapping[int, int],
    ) -> list[Row]:
        """Return the transfers, hop by hop as planned where they were planned."""
        edge_of = _edges(dag, machine_of, {edge for edge, *_ in hops})
        rows: list[Row] = []
        for worker, seen in self.found.items():
            for key, address, start, end in seen.sent:
                receiver = self.names.get(address, "")
                if receiver not in place:
                    continue
                sender, goal = place[worker], place[receiver]
                edge = edge_of.get((self.number[key], goal))
                if edge is None:
                    continue
                size = float(dag.size[edge])
                way = hops.get((edge, sender, goal), [(sender, goal, 1.0)])
                total = sum(share for *_, share in way) or 1.0
                passed = 0.0
                for tail, head, share in way:
                    times = [start + (end - start) * p / total for p in (passed, passed + share)]
                    rows.append(("transfer", tail, head, edge, size, times[0], times[1]))
                    passed += share
        return rows


def _hops(plan: Schedule) -> dict[tuple[int, int, int], list[tuple[int, int, float]]]:
    """Return the planned hops (tail, head, seconds) by edge and by the ends of its route."""
    by_edge: dict[int, list[tuple[int, int, float]]] = {}
    rows = np.flatnonzero(plan.kind == Activity.TRANSFER)
    for row in rows[np.lexsort((plan.end[rows], plan.start[rows]))].tolist():
        seconds = float(plan.end[row] - plan.start[row])
        hop = (int(plan.machine[row]), int(plan.peer[row]), seconds)
        by_edge.setdefault(int(plan.item[row]), []).append(hop)
    return {(edge, hops[0][0], hops[-1][1]): hops for edge, hops in by_edge.items()}


def _edges(
    dag: Dag, machine_of: Mapping[int, int], planned: set[int]
) -> dict[tuple[int, int], int]:
    """Return the edge that stands for a result's way to a machine; planned ones first."""
    found: dict[tuple[int, int], int] = {}
    count = len(dag.source)
    for edge in sorted(range(count), key=lambda each: (each not in planned, each)):
        source, target = int(dag.source[edge]), int(dag.target[edge])
        if target in machine_of:
            found.setdefault((source, machine_of[target]), edge)
    return found


log = logging.getLogger("makespan")


async def begin_watching(client: Any) -> None:
    """Let the scheduler note what tasks take; it does from the first question on."""
    await client.get_task_stream(count=1)


@dataclass(frozen=True, slots=True)
class Noted:
    """What scheduler and workers have noted in the time of a run, not only of its tasks."""

    members: tuple[WorkerInfo, ...]
    stream: tuple[dict[str, Any], ...]
    transfers: dict[str, Any]

    @property
    def mean(self) -> float:
        """The seconds that a task took in the mean, its transfers included."""
        times = [t for each in self.stream for t in each["startstops"] if t["action"] == "compute"]
        busy = sum(each["stop"] - each["start"] for each in times)
        busy += sum(stop - start for sent in self.transfers.values() for *_, start, stop in sent)
        return float(busy) / max(1, len(times))


class Watch:
    """A run as Dask places it: what happened is asked for when it is over, if anybody asks.

    Scheduler and workers note what tasks take and what is sent, and keep it for long enough. So
    watching costs a run nothing.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.begun, self.ended = time.monotonic(), 0.0
        self._asked: Future[Noted] | None = None

    async def noted(self) -> Noted:
        """Return what was noted; asked for once."""
        return await asyncio.wrap_future(self._ask())

    def _ask(self) -> Future[Noted]:
        if self._asked is None:
            loop = self.batch.client.loop.asyncio_loop
            self._asked = asyncio.run_coroutine_threadsafe(self._looked(), loop)
        return self._asked

    async def _looked(self) -> Noted:
        """Ask all. Times are the scheduler's, as Dask reckons them from heartbeats."""
        async with WorkerPool(self.batch.client) as pool:
            members = tuple(pool.members.values())
            now = time.monotonic()
            since, until = now - self.begun + SLACK, max(0.0, now - self.ended - SLACK)
            bounds = {"start": f"{since:.6f} s"} | ({"stop": f"{until:.6f} s"} if until else {})
            stream, transfers = await asyncio.gather(
                self.batch.client.get_task_stream(**bounds),
                pool.call_all(members, moved, since, until),
            )
            return Noted(members, tuple(stream), transfers)

    @cached_property
    def structure(self) -> Structure:
        """The graph, as others of its structure are numbered."""
        return structure_of(self.batch.work)

    def record(self, noted: Noted) -> Sightings:
        """Return what was noted of the run's tasks."""
        number = {self.batch.sent[key]: task for task, key in enumerate(self.structure.keys)}
        record = Sightings(number, {member.address: member.name for member in noted.members})
        record.found = {member.name: Seen({}, (), {}) for member in noted.members}
        for entry in noted.stream:
            name = record.names.get(entry["worker"])
            times = [each for each in entry["startstops"] if each["action"] == "compute"]
            if name is not None and entry["key"] in number and times:
                seen = record.found[name]
                seen.computed[entry["key"]] = times[-1]["start"], times[-1]["stop"]
                seen.sizes[entry["key"]] = int(entry.get("nbytes", 0))  # none where it raised
        for name, seen in record.found.items():
            gone = (
                (key, receiver, start, stop)
                for keys, receiver, start, stop in noted.transfers.get(name, ())
                for key in keys
                if key in number and receiver in record.names
                if stop >= seen.computed.get(key, (0.0, 0.0))[1]  # else of a run before
            )
            record.found[name] = seen._replace(sent=tuple(gone))
        return record

    def schedule(self) -> Schedule:
        """Return what was measured; nothing where the cluster is gone.

        Not to be called on the client's event loop.
        """
        try:
            noted = self._ask().result(LONGEST)
        except (MakespanError, OSError, RuntimeError, TimeoutError) as error:
            log.info("what a run took could not be had: %s", error)
            return Schedule.of_rows((), [])
        record = self.record(noted)
        sizes = np.zeros(len(self.structure.keys))
        for seen in record.found.values():
            for key, size in seen.sizes.items():
                sizes[record.number[key]] = size
        dag = self.structure.dag(sizes=sizes)
        return record.schedule(dag, [member.name for member in noted.members])


class WatchedExecution(Execution):
    """A run as Dask placed it; its schedule is brought when it is looked at."""

    __slots__ = ("_schedule",)
    _schedule: Any

    @property
    def schedule(self) -> Schedule:
        if callable(self._schedule):
            object.__setattr__(self, "_schedule", self._schedule())
        return cast("Schedule", self._schedule)

    @schedule.setter
    def schedule(self, value: Schedule | Callable[[], Schedule]) -> None:
        object.__setattr__(self, "_schedule", value)
