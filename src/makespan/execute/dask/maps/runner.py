"""A run: chunks to workers in the order of a plan, and what becomes of those that get lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from makespan.core.errors import ExecutionError
from makespan.core.schedule import Activity
from makespan.execute.dask.cluster.crew import Crew, Member, WorkerLost
from makespan.execute.dask.cluster.items import Items
from makespan.execute.dask.cluster.remote import Failure, Outcome
from makespan.execute.dask.cluster.transfers import Traffic, Window
from makespan.execute.dask.maps.backlog import Backlog, next_piece
from makespan.execute.dask.maps.estimates import Estimates
from makespan.execute.dask.maps.order import FewSends, Order
from makespan.execute.dask.maps.pool import MAX_LOSSES, Pool, Range
from makespan.execute.dask.maps.record import Computed, Record
from makespan.execute.progress import Tell

WORTH_PLANNING = 0.5  # of the load: what is left when less is not sent is dealt out

log = logging.getLogger("makespan")


class Turns(Protocol):
    """What decides when a transfer may start."""

    async def turn(self, activity: Activity, item: int) -> None:
        """Wait for a transfer's turn."""

    def done(self, activity: Activity, item: int) -> None:
        """Say that it is over, or will never be."""


class Replan(Protocol):
    """What plans a load anew for the workers that are there, with what is known of them now.

    Returns the (worker, amount) of each chunk in the order of the sends, numbered from
    ``first``, and their order; None where there is nothing better than to deal the load out.
    """

    def __call__(
        self, load: float, names: Sequence[str], first: int
    ) -> tuple[Sequence[tuple[str, float]], Turns] | None:
        """Plan."""


@dataclass(slots=True)
class Chunk:
    """Items for a worker.

    ``sent`` once its transfer has begun, ``came`` once it has ended; ``revoked`` if it never shall
    begin; ``over`` in the end.
    """

    item: int
    worker: str
    range: Range
    sent: bool = False
    came: bool = False
    revoked: bool = False
    over: bool = False


@dataclass(frozen=True, slots=True)
class Leg:
    """Chunks, and what decides when they are sent and returned."""

    chunks: tuple[Chunk, ...]
    turns: Turns


class Run:
    """One run.

    Parameters
    ----------
    crew, traffic, items
        The workers, what goes to them, and the data.
    record
        Where activities are noted.
    estimates
        What is known of the workers' costs.
    sends
        How many chunks may be sent at a time when the pool is dealt out; None: any.
    replan
        Plans again what is not sent when costs are in doubt or a worker joins; None to keep to
        the plan. Called in a thread.
    tell
        Called with the share of the load that is done, and what it does.
    """

    def __init__(
        self,
        crew: Crew,
        traffic: Traffic,
        items: Items,
        record: Record,
        estimates: Estimates,
        *,
        sends: int | None = None,
        replan: Replan | None = None,
        tell: Tell = lambda share, what: None,
    ) -> None:
        self.crew = crew
        self.traffic = traffic
        self.items = items
        self.record = record
        self.estimates = estimates
        self.replan = replan
        self.tell = tell
        self.pool = Pool(items)
        self.pieces: dict[int, Any] = {}
        self.failures: list[Failure] = []
        self.events: list[str] = []
        self._dealing: Turns = FewSends(sends) if sends else Order((), None)
        self._leg = Leg((), self._dealing)
        self._next_item = 0
        self._done = 0.0
        self._under_way = 0
        self._backlog = Backlog()
        self._changed = asyncio.Event()
        self._in_doubt = False
        self._someone_came = False
        self._group = asyncio.TaskGroup()

    async def go(self, leg: Leg) -> None:
        """Run a leg, and whatever has to be planned again, to the end."""
        self.crew.joined, self.crew.left = self._joined, self._left
        try:
            async with self._group:
                self._begin(leg)
                self._tell_missing(leg)
                self._tell_new(leg)
                while self._under_way or self.pool:
                    self._changed.clear()
                    if not await self._act():
                        await self._changed.wait()
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            self.crew.joined = self.crew.left = None

    def idle_leg(self) -> Leg:
        """Return a leg without chunks: everything is dealt out of the pool."""
        return Leg((), self._dealing)

    def _begin(self, leg: Leg) -> None:
        self._leg = leg
        self._next_item = max([self._next_item, *(chunk.item + 1 for chunk in leg.chunks)])
        for chunk in leg.chunks:
            self._start(chunk, leg.turns)

    def _tell_missing(self, leg: Leg) -> None:
        for name in dict.fromkeys(chunk.worker for chunk in leg.chunks):
            if name not in self.crew.members:
                self._say_gone(name, "is not there")

    def _tell_new(self, leg: Leg) -> None:
        """Plan again for those who came since the plan was made, where that is allowed."""
        if leg.chunks and self.replan is not None:
            for name in self.crew.members:
                if name not in self.estimates.known:
                    self.events.append(f"worker {name} joined")
                    self._in_doubt = True

    def _start(self, chunk: Chunk, turns: Turns) -> None:
        self._under_way += 1
        self._backlog.add(chunk.worker, self._load(chunk))
        self._group.create_task(self._deliver(chunk, turns))

    def _load(self, chunk: Chunk) -> float:
        return self.items.load_of(chunk.range.low, chunk.range.high)

    async def _act(self) -> bool:
        """Do one thing that can be done now; return whether there was any."""
        if not self.crew.members:
            await self._wait_for_a_worker()
            return True
        if self._someone_came:
            self._someone_came = self._in_doubt = False
            return self._deal_out("a worker joined")
        if self._in_doubt:
            self._in_doubt = False
            if self._unsent_load() > WORTH_PLANNING * self.items.load:
                return await self._plan_again()
            if self._unsent():
                return self._deal_out("costs are in doubt")
        return bool(self.pool) and not self._unsent() and self._deal()

    def _unsent(self) -> list[Chunk]:
        """Return the chunks of the leg whose transfer has not begun."""
        return [
            chunk for chunk in self._leg.chunks if not (chunk.sent or chunk.revoked or chunk.over)
        ]

    def _unsent_load(self) -> float:
        ranges = [chunk.range for chunk in self._unsent()]
        return self.pool.load + sum(self.items.load_of(one.low, one.high) for one in ranges)

    def _revoke(self) -> None:
        """Take back what is not sent yet."""
        for chunk in self._unsent():
            chunk.revoked = True
            self._backlog.remove(chunk.worker, self._load(chunk), came=False)
            self.pool.put(chunk.range)

    async def _plan_again(self) -> bool:
        """Plan anew what is not sent; sends go on meanwhile, and amounts are scaled to the rest."""
        assert self.replan is not None
        before, first = self._unsent_load(), self._next_item
        found = await asyncio.to_thread(self.replan, before, self.crew.names, first)
        if found is None or self._unsent_load() == 0.0:
            return self._deal_out("costs are in doubt")
        self._revoke()
        load = self.pool.load
        amounts = [(worker, amount * load / before) for worker, amount in found[0]]
        turns = found[1]
        chunks: list[Chunk] = []
        for number, (worker, amount) in enumerate(amounts, start=first):
            if self.pool:
                chunks.append(Chunk(number, worker, self.pool.take(amount)))
            else:
                turns.done(Activity.SEND, number)
                turns.done(Activity.RETURN, number)
        self._next_item = first + len(amounts)
        self.events.append(f"{load:g} units were planned again, in {len(chunks)} chunks")
        self._begin(Leg(tuple(chunks), turns))
        return True

    def _deal_out(self, why: str) -> bool:
        """Put what is not sent into the pool.

        Dealing sees what each worker still has to do, which a new plan does not.
        """
        self._revoke()
        if self.pool:
            self.events.append(f"{self.pool.load:g} units were dealt out, as {why}")
        return True

    def _deal(self) -> bool:
        """Give a piece of the pool to the worker that will be idle first, if any has room."""
        names = self.crew.names
        free = [name for name in names if self._backlog.has_room(name)]
        speeds = {name: self.estimates.speed(name) for name in names}
        left = {name: self._backlog.left(name, speeds[name]) for name in names}
        least = {name: self.estimates.least_piece(name) for name in names}
        found = next_piece(self.pool.load, free, left, speeds, least)
        if found is None:
            return False
        name, amount = found
        chunk = Chunk(self._next_item, name, self.pool.take(amount))
        self._next_item += 1
        self._start(chunk, self._dealing)
        return True

    async def _wait_for_a_worker(self) -> None:
        self.tell(self._share, "no worker is left; waiting for one")
        await self.crew.wait_for_one()

    async def _deliver(self, chunk: Chunk, turns: Turns) -> None:
        """Carry a chunk through: send, compute, return."""
        try:
            await turns.turn(Activity.SEND, chunk.item)
            if not chunk.revoked:
                member = self.crew.member(chunk.worker)
                chunk.sent = True
                self._changed.set()  # with the last one of the plan the pool may be dealt out
                await self._carry_out(chunk, member, turns)
        except WorkerLost:
            self._lost(chunk)
        finally:
            turns.done(Activity.SEND, chunk.item)
            turns.done(Activity.RETURN, chunk.item)
            chunk.over = True
            if not chunk.revoked:
                self._backlog.remove(chunk.worker, self._load(chunk), came=chunk.came)
            self._under_way -= 1
            self._changed.set()

    async def _carry_out(self, chunk: Chunk, member: Member, turns: Turns) -> None:
        traffic, record = self.traffic, self.record
        low, high = chunk.range.low, chunk.range.high
        units = self.items.load_of(low, high)
        held = await traffic.send(member, self.items, low, high)
        turns.done(Activity.SEND, chunk.item)
        record.transfer("send", chunk.worker, chunk.item, units, held.window)
        self._observe(chunk.worker, Activity.SEND, units, held.window.seconds)
        tasks = traffic.start(held, low, -chunk.item)
        chunk.came = True
        self._backlog.arrived(chunk.worker)
        self._changed.set()
        try:
            known = await traffic.finished(member, tasks)
        finally:
            self._backlog.computed(chunk.worker)
        await turns.turn(Activity.RETURN, chunk.item)
        outcomes, window = await traffic.fetch(member, tasks)
        traffic.release(held.future, *tasks)
        record.transfer("return", chunk.worker, chunk.item, units, window)
        start, end = min(o.start for o in outcomes), max(o.end for o in outcomes)
        within = Window(held.window.end, known)
        record.computed(Computed(chunk.worker, chunk.item, units, start, end, within))
        self._observe(chunk.worker, Activity.COMPUTE, units, end - start)
        self._keep(chunk, outcomes)

    def _keep(self, chunk: Chunk, outcomes: Sequence[Outcome]) -> None:
        """Put results where they belong."""
        low, count = chunk.range.low, len(chunk.range)
        for part, outcome in enumerate(outcomes):
            start = low + part * count // len(outcomes)
            if len(outcome.values):
                self.pieces[start] = outcome.values
            self.failures += outcome.failures
        self._done += self.items.load_of(low, chunk.range.high)
        self.tell(self._share, f"chunk {chunk.item} of {chunk.worker}")

    @property
    def _share(self) -> float:
        return self._done / self.items.load if self.items.load else 1.0

    def _observe(self, worker: str, activity: Activity, units: float, seconds: float) -> None:
        if self.estimates.observe(worker, activity, units, seconds) and self.replan is not None:
            self._in_doubt = True

    def _lost(self, chunk: Chunk) -> None:
        """Give a lost chunk back, or give it up."""
        one = chunk.range
        losses = one.losses + chunk.sent
        log.info("chunk %d is lost with worker %s", chunk.item, chunk.worker)
        if losses < MAX_LOSSES:
            self.pool.put(Range(one.low, one.high, losses))
            return
        error = ExecutionError(f"{losses} workers died while they had it")
        self.failures.append(Failure(one.low, one.high - 1, error, str(error)))
        self.pieces[one.low] = [None] * len(one)

    def _joined(self, member: Member) -> None:
        self.events.append(f"worker {member.name} joined")
        self._someone_came = self.replan is not None
        self._changed.set()

    def _left(self, member: Member) -> None:
        self._say_gone(member.name, member.why)
        self._in_doubt = self.replan is not None
        self._changed.set()

    def _say_gone(self, name: str, how: str) -> None:
        units = self._backlog.load(name)
        self.events.append(f"worker {name} {how}; its {units:g} units go to others")


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group of groups."""
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
