"""A run of a graph: handed to Dask as planned, and what becomes of it when workers die."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster import Crew, Member
from makespan.execute.dask.graphs.batch import Batch
from makespan.execute.dask.graphs.failures import TaskFailure, failures_of
from makespan.execute.dask.graphs.on_worker import Leaving, begin, end, loosen
from makespan.execute.dask.graphs.pins import Pins
from makespan.execute.dask.graphs.record import Seens
from makespan.execute.dask.graphs.unpinning import unpinned

PATIENCE = 10.0  # seconds to wait for a worker when all are gone

log = logging.getLogger("makespan")


class GraphRun:
    """One run.

    Parameters
    ----------
    crew
        The workers.
    batch
        The tasks.
    pins
        The plan.
    tell
        Called with the share done and what is done now.
    """

    def __init__(
        self, crew: Crew, batch: Batch, pins: Pins, tell: Callable[[float, str], None]
    ) -> None:
        self.crew, self.batch, self.pins, self.tell = crew, batch, pins, tell
        self.client = crew.client
        self.events: list[str] = []
        self.failures: tuple[TaskFailure, ...] = ()
        self._addresses = {name: member.address for name, member in crew.members.items()}
        key_of, names = batch.work.key_of, pins.problem.dag.names
        self._key = [key_of[name] for name in names]
        number = {batch.sent[key]: task for task, key in enumerate(self._key)}
        reverse = {address: name for name, address in self._addresses.items()}
        self.record = Seens(number, reverse)
        self._begun: list[str] = []
        self._gone: list[Member] = []
        self._changed = asyncio.Event()

    async def go(self) -> dict[Any, Any]:
        """Run to the end; return the results by key, without those of failed tasks."""
        self.crew.left = self._left
        await self._begin()
        self._submit()
        done = asyncio.ensure_future(self._results())
        try:
            return await self._watched(done)
        finally:
            done.cancel()

    def _submit(self) -> None:
        pins, key = self.pins, self._key
        self.batch.submit(
            self.batch.work.keys,
            after={key[t]: [key[each] for each in before] for t, before in pins.after.items()},
            workers={key[t]: self._addresses[name] for t, name in enumerate(pins.machine_of)},
            priority={key[t]: -rank for rank, t in enumerate(pins.order)},
        )

    async def _begin(self) -> None:
        """Tell the workers in which order results leave."""
        leaving: dict[str, list[Leaving]] = {name: [] for name in self.pins.machines}
        for one in self.pins.carried:
            sent = self.batch.sent[self._key[one.task]]
            address = self._addresses[one.receiver]
            leaving[one.sender].append(Leaving(sent, address, one.seconds))
        keys = frozenset(self.batch.sent.values())
        self._begun = list(leaving)
        answers = await asyncio.gather(
            *(self._told(name, begin, keys, leaving[name], self.pins.in_turn) for name in leaving),
            return_exceptions=True,
        )
        for name, answer in zip(leaving, answers, strict=True):
            if isinstance(answer, OSError):
                log.info("worker %s could not be reached: %s", name, answer)
            elif isinstance(answer, BaseException):
                raise ExecutionError(f"worker {name} can't conduct: {answer}") from answer

    async def _told(self, name: str, function: Any, *inputs: Any) -> Any:
        """Call a function on a worker, outside of tasks."""
        address = self._addresses[name]
        found = await self.client.run(function, self.batch.run, *inputs, workers=[address])
        return found.get(address)

    async def _results(self) -> dict[Any, Any]:
        """Wait for the wanted results; return them without those of failed tasks."""
        from distributed import wait

        futures = self.batch.futures
        with self.client.as_current():
            waiting = wait(list(futures.values()))
        await waiting
        self.failures = await failures_of(self.batch)
        fine = {key: future for key, future in futures.items() if future.status != "error"}
        values = await self.client.gather(list(fine.values()), asynchronous=True)
        return dict(zip(fine, values, strict=True))

    async def _watched(self, done: asyncio.Future[dict[Any, Any]]) -> dict[Any, Any]:
        """Wait for the end; give what is pinned to dead workers to others."""
        while True:
            self._changed.clear()
            gone, self._gone = self._gone, []
            if gone:
                await self._give_to_others(gone, done)
            change: asyncio.Future[Any] = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait({done, change}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                change.cancel()
            if done.done():
                return await done

    def _left(self, member: Member) -> None:
        self._gone.append(member)
        self._changed.set()

    async def _give_to_others(self, gone: list[Member], done: asyncio.Future[Any]) -> None:
        """Let Dask place again what was pinned to workers that died."""
        for member in gone:
            self.events.append(f"worker {member.name} left; Dask places its tasks elsewhere")
        await self._tell_all(loosen)
        addresses = [member.address for member in gone]
        keys = list(self.batch.sent.values())
        await self.client.run_on_scheduler(unpinned, keys, addresses)
        if not self.crew.members:
            await self._wait_for_a_worker(done)

    async def _wait_for_a_worker(self, done: asyncio.Future[Any]) -> None:
        self.tell(0.0, "no worker is left; waiting for one")
        for _ in range(int(PATIENCE / 0.1)):
            if self.crew.members or done.done():
                return
            await asyncio.sleep(0.1)
        raise ExecutionError(f"no worker is left, and none came in {PATIENCE:g} s")

    async def _tell_all(self, function: Any) -> dict[str, Any]:
        """Call a function on all workers that conduct; return the answers of those that do."""
        begun = [name for name in self._begun if name in self.crew.members]
        found = await asyncio.gather(
            *(self._told(name, function) for name in begun), return_exceptions=True
        )
        answers = dict(zip(begun, found, strict=True))
        for name, answer in answers.items():
            if isinstance(answer, BaseException):
                log.info("worker %s did not answer: %s", name, answer)
        return {n: each for n, each in answers.items() if not isinstance(each, BaseException)}

    async def _end(self) -> None:
        """Stop conducting; note what the workers saw."""
        for name, seen in (await self._tell_all(end)).items():
            if seen is not None:
                self.record.add(name, seen)

    async def close(self) -> None:
        """Leave nothing behind."""
        self.crew.left = None
        try:
            await self._end()
        finally:
            await self.batch.close()
