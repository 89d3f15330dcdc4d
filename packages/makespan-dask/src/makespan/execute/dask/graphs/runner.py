"""A run of a graph: handed to Dask, as planned or as it is, and what becomes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster.client import LONGEST_TIDYING
from makespan.execute.dask.cluster.workers import LOOK_EVERY, WorkerPool
from makespan.execute.dask.graphs.batch import (
    Batch,
    TaskFailure,
    begin,
    end,
    failures_of,
    loosen,
    progress_of,
    unpinned,
)
from makespan.execute.dask.graphs.placement import Pins, rest_planned
from makespan.execute.dask.graphs.remote import Leaving
from makespan.execute.dask.graphs.watch import Sightings
from makespan.execute.dealing.engine import WorkerInfo, WorkerLost
from makespan.execute.progress import Tell

SOON = 0.25  # seconds: what Dask has done by then needs no look at who is there
REST = "Dask places its tasks elsewhere"

log = logging.getLogger("makespan")


class CantConduct(ExecutionError):
    """A worker can't be told in which order results leave; nothing was computed yet."""


class GraphRun:
    """One run of a batch.

    ``keys`` are the tasks' keys by their numbers in the plan. Without ``pins``, the plan, what Dask
    has been handed is waited for. ``tell`` is called with the share done and what is done now.
    """

    def __init__(
        self,
        pool: WorkerPool,
        batch: Batch,
        tell: Tell,
        keys: Sequence[Any] = (),
        pins: Pins | None = None,
    ) -> None:
        self.pool, self.batch, self.pins, self.tell = pool, batch, pins, tell
        self.client = pool.client
        self.events: list[str] = []
        self.failures: tuple[TaskFailure, ...] = ()
        self._members = dict(pool.members)
        self._key = keys
        self.record = Sightings({}, {})
        self.results: list[Any] = []
        self.undisturbed = True
        self._gone: list[WorkerInfo] = []
        self._changed = asyncio.Event()

    async def go(self) -> None:
        """Run to the end; the results, None those of failed tasks, are in ``results``."""
        self.pool.changed = self._left
        if self.pins is not None:
            for name in self.pins.machines:
                if name not in self._members:
                    self.events.append(f"worker {name} is not there; {REST}")
            number = {self.batch.sent[key]: task for task, key in enumerate(self._key)}
            names = {m.address: m.name for m in self._members.values()}
            self.record = Sightings(number, names)
            await self._begin(self.pins)
            self._submit(self.pins)
        bringing = asyncio.ensure_future(self._bring_results())
        try:
            if self.pins is None:
                await asyncio.wait({bringing}, timeout=SOON)
        except BaseException:
            bringing.cancel()
            raise
        await self._watched(bringing)

    def _submit(self, pins: Pins) -> None:
        key, members = self._key, self._members
        anywhere = [member.address for member in members.values()]
        place = {name: [member.address] for name, member in members.items()}
        self.batch.submit(
            after={key[t]: [key[each] for each in before] for t, before in pins.after.items()},
            workers={key[t]: place.get(name, anywhere) for t, name in enumerate(pins.machine_of)},
            priority={key[t]: -rank for rank, t in enumerate(pins.order)},
        )

    async def _begin(self, pins: Pins) -> None:
        """Tell the workers in which order results leave."""
        members = {n: member for n, member in self._members.items() if n in pins.machines}
        leaving: dict[str, list[Leaving]] = {name: [] for name in members}
        for one in pins.carried:
            if one.sender in members and one.receiver in members:
                sent = self.batch.sent[self._key[one.task]]
                address = members[one.receiver].address
                leaving[one.sender].append(Leaving(sent, address, one.seconds))
        wanted = self.batch.sent[self.batch.work.keys[0]]
        keys = frozenset(self.batch.sent.values())
        begun = (
            self.pool.call(member, begin, self.batch.run, wanted, keys, leaving[name], pins.in_turn)
            for name, member in members.items()
        )
        answers = await asyncio.gather(*begun, return_exceptions=True)
        for name, answer in zip(members, answers, strict=True):
            if isinstance(answer, BaseException) and not isinstance(answer, WorkerLost):
                raise CantConduct(f"worker {name} can't conduct: {answer}") from answer

    async def _bring_results(self) -> None:
        """Wait for the wanted results and bring them, without those of failed tasks."""
        from distributed import wait

        futures = self.batch.futures
        with suppress(CancelledError), self.client.as_current():
            await wait(futures)
        while True:
            self.failures = await failures_of(self.batch)
            fine = [place for place, each in enumerate(futures) if each.status == "finished"]
            try:
                values = await self.client.gather(
                    [futures[place] for place in fine], asynchronous=True
                )
            except Exception:  # what was lost on the way, and failed when it was computed again?
                if all(futures[place].status == "finished" for place in fine):
                    raise
                continue
            self.results = [None] * len(futures)
            for place, value in zip(fine, values, strict=True):
                self.results[place] = value
            break
        cancelled = sum(each.status == "cancelled" for each in futures)
        if cancelled:
            raise CancelledError(f"{cancelled} of {len(futures)} results")

    async def _watched(self, bringing: asyncio.Future[Any]) -> None:
        """Wait for the end; give what is pinned to dead workers to others."""
        try:
            while True:
                self._changed.clear()
                if self._gone:
                    bringing.cancel()  # it may wait for an answer of one that has gone
                    gone, self._gone = self._gone, []
                    await self._give_to_others(gone)
                    bringing = asyncio.ensure_future(self._bring_results())
                change: asyncio.Future[Any] = asyncio.ensure_future(self._changed.wait())
                try:
                    await asyncio.wait({bringing, change}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    change.cancel()
                if bringing.done():
                    if bringing.exception() is None:
                        return
                    await self.pool.look()
                    if not self._gone:
                        await bringing
        finally:
            bringing.cancel()

    def _left(self, member: WorkerInfo) -> None:
        if member.gone.is_set():
            self._gone.append(member)
            self._changed.set()

    async def _give_to_others(self, gone: list[WorkerInfo]) -> None:
        """Plan again what workers that died have left undone."""
        self.undisturbed = False
        then = "Dask computes again what is lost"
        if self.pins is not None:
            await self.pool.call_all(self._members.values(), loosen, self.batch.run)
            planned = await self._unpin(self.pins, [member.address for member in gone])
            then = f"{planned} tasks are planned again" if planned else REST
        self.events += [f"worker {member.name} {member.why}; {then}" for member in gone]
        if not self.pool.members:
            self.tell(0.0, "no worker is left; waiting for one")
            await self.pool.wait_for_one()

    async def _unpin(self, pins: Pins, gone: list[str]) -> int:
        """Free what is pinned to the dead, and pin what is left by a new plan; return how much."""
        sent, futures = self.batch.sent, self.batch.futures
        keys, wanted = [sent[key] for key in self._key], sent[self.batch.work.keys[0]]
        while (states := await self.client.run_on_scheduler(progress_of, keys, wanted)) is None:
            if any(future.status != "pending" for future in futures):
                return 0
            await asyncio.sleep(LOOK_EVERY)
        members = {n: m for n, m in self.pool.members.items() if n in pins.problem.network.names}
        name_of = {member.address: name for name, member in members.items()}
        named = {task: (state, name_of.get(where, "")) for task, (state, where) in states.items()}
        placed: dict[int, str] = {}
        if len(members) > 1:
            placed = await asyncio.to_thread(rest_planned, pins, named, list(members))
        goal = {keys[task]: members[name].address for task, name in placed.items()}
        await self.client.run_on_scheduler(unpinned, keys, gone, goal)
        return len(goal)

    async def close(self) -> None:
        """Leave nothing behind; of a plan, stop conducting and note what the workers saw."""
        self.pool.changed = lambda worker: None
        try:
            if self.pins is None:
                return
            async with asyncio.timeout(LONGEST_TIDYING):
                ended = await self.pool.call_all(self._members.values(), end, self.batch.run)
            self.record.found.update((name, seen) for name, seen in ended.items() if seen)
        except (OSError, TimeoutError) as error:
            log.info("not all workers said what they saw: %s", error)
        finally:
            await self.batch.close()
