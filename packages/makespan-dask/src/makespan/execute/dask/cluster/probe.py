"""Measuring a cluster: chunks of several sizes to every worker, again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from makespan.core.errors import ExecutionError
from makespan.execute.dask.cluster.calibration import Calibration, Measured
from makespan.execute.dask.cluster.engine import DaskEngine
from makespan.execute.dask.cluster.fit import Fit, Sharing, fit, median, scaled, sharing
from makespan.execute.dask.cluster.workers import WorkerPool
from makespan.execute.dealing.engine import Held, Outcome, WorkerInfo, WorkerLost
from makespan.execute.dealing.items import Items
from makespan.execute.progress import Tell

SIZES = (1.0, 0.5, 0.125)  # the sizes of the chunks, relative to the largest
GROWTH = 8  # how much larger the next chunk is at most, while a good size is sought
WAITING_TASKS = 4
OVERLAP_REPEATS = 3
MIN_OVERLAP = 0.15  # seconds that each of the concurrent sends takes
AHEAD = 2  # chunks that wait on the worker while one is computed
IN_A_ROW = 5  # chunks at least that a worker computes without a pause
MAX_IN_A_ROW = 32


@dataclass(slots=True)
class Samples:
    """The measurements of one worker: (units, seconds) of each kind, and latencies.

    ``sustained`` are computations without a pause, while the next chunks arrive.
    """

    send: list[tuple[float, float]] = field(default_factory=list)
    compute: list[tuple[float, float]] = field(default_factory=list)
    sustained: list[tuple[float, float]] = field(default_factory=list)
    back: list[tuple[float, float]] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)
    whole: dict[int, list[float]] = field(default_factory=dict)


class Probe:
    """One calibration under way: each size of the sample ``items`` is measured ``repetitions``
    times.

    The transfers, and the computations, of one worker should take ``budget`` seconds in all.
    ``tell`` is called with the share done and what is measured now.
    """

    def __init__(
        self,
        pool: WorkerPool,
        engine: DaskEngine,
        items: Items,
        repetitions: int,
        budget: float,
        tell: Tell,
    ) -> None:
        self.pool = pool
        self.engine = engine
        self.items = items
        self.repetitions = repetitions
        self.budget = budget
        self.tell = tell
        self.port = asyncio.Lock()
        self.steps = 0
        self.found: dict[str, Samples] = {}

    async def run(self) -> Calibration:
        """Measure every worker, then all together; those that are lost meanwhile are left out."""
        started = time.time()
        members = list(self.pool.members.values())
        self.steps, self.found = 0, {member.name: Samples() for member in members}
        members = await self._each(members, self._warm_up)
        members = await self._each(members, self._measure)
        members, shared = await self._overlap(members)
        self.tell(1.0, "how fast without a pause?")
        members = await self._each(members, lambda member: self._in_a_row(member, shared))
        workers = tuple(self._measured(member) for member in members)
        return Calibration(
            workers=workers,
            sharing=shared,
            load=self.items.load,
            seconds=time.time() - started,
            in_items=self.items.in_items,
        )

    async def _each(
        self, members: list[WorkerInfo], measure: Callable[[WorkerInfo], Awaitable[None]]
    ) -> list[WorkerInfo]:
        """Measure members side by side; return those that are still there, at least one."""

        async def stayed(member: WorkerInfo) -> bool:
            try:
                await measure(member)
            except WorkerLost:
                return False
            return True

        there = await _all(stayed(member) for member in members)
        members = [member for member, here in zip(members, there, strict=True) if here]
        if not members:
            raise WorkerLost("every worker")
        return members

    def _measured(self, member: WorkerInfo) -> Measured:
        samples = self.found[member.name]
        found = _fit(samples.back)  # often but a latency
        return Measured(
            name=member.name,
            threads=member.threads,
            send=_fit(samples.send),
            compute=_sustained(_fit(samples.compute), samples.sustained),
            return_=found if found.per_unit_interval[0] > 0 else _fit(samples.back, constant=True),
            submit=median(samples.submit),
            between=median(samples.between),
            whole=tuple((count, median(samples.whole[count])) for count in sorted(samples.whole)),
        )

    async def _warm_up(self, member: WorkerInfo) -> None:
        """Open connections, load the function, and see what passes between tasks."""
        await self._chunk(member, 0, 1, Samples())
        await self._queue(member, self.found[member.name])

    async def _measure(self, member: WorkerInfo) -> None:
        samples = self.found[member.name]
        largest = await self._largest(member, samples)
        lengths = sorted({max(1, round(largest * size)) for size in SIZES}, reverse=True)
        if largest == 1 and samples.compute[-1][1] > self.budget / 2:
            return  # one item takes as long as may be spent
        for length in _doubled(largest, max(samples.whole)):
            await self._chunk(member, 0, length, samples)
        turn = 0
        for _ in range(self.repetitions):
            for length in lengths:
                low = (turn * 7919) % (len(self.items) - length + 1)
                turn += 1
                await self._chunk(member, low, low + length, samples)
                self._progress(member, self.repetitions * len(lengths))

    async def _largest(self, member: WorkerInfo, samples: Samples) -> int:
        """Return how many items the largest chunk holds, within the budget."""
        count = len(self.items)
        wanted = self.budget / (self.repetitions * sum(SIZES))
        length = max(1, count // 256)
        while True:
            await self._chunk(member, 0, length, samples)
            spent = max(samples.send[-1][1], samples.compute[-1][1], 1e-4)
            if length >= count or spent > wanted / 2:
                return max(1, min(count, int(length * min(1.5, wanted / spent))))
            length = min(count, int(length * min(GROWTH, max(2.0, wanted / spent))))

    async def _chunk(self, member: WorkerInfo, low: int, high: int, samples: Samples) -> None:
        """Send, compute and bring back one chunk; sends and returns one at a time."""
        engine = self.engine
        units = self.items.load_of(low, high)
        async with self.port:
            held = await self._sent(member, low, high)
        submitted = time.time()
        tasks = engine.start(held, 0)
        done = await engine.finished(member, tasks)
        async with self.port:
            outcomes, window = await engine.fetch(member, tasks)
        engine.release(held.future, *tasks)
        for outcome in outcomes:
            for failure in outcome.failures:
                raise ExecutionError(
                    f"the function raised on the sample, {failure}\n{failure.traceback}"
                ) from failure.error
        seconds = _seconds(outcomes)
        samples.send.append((units, held.window.seconds))
        samples.compute.append((units, seconds))
        samples.back.append((units, window.seconds))
        samples.submit.append(max(0.0, done - submitted - seconds))
        waited = held.window.seconds + (done - submitted) + window.seconds
        samples.whole.setdefault(high - low, []).append(waited)

    async def _sent(self, member: WorkerInfo, low: int, high: int) -> Held:
        packed = await self.engine.pack(member, self.items, low, high)
        return await self.engine.send(member, packed)

    async def _queue(self, member: WorkerInfo, samples: Samples) -> None:
        """Measure what passes between tasks that wait for one another."""
        engine = self.engine
        async with self.port:
            held = await self._sent(member, 0, 1)
        batches = [engine.start(held, -rank) for rank in range(WAITING_TASKS)]
        tasks = [task for batch in batches for task in batch]
        await engine.finished(member, tasks)
        outcomes, _ = await engine.fetch(member, tasks)
        engine.release(held.future, *tasks)
        if member.threads == 1:
            ends = sorted((outcome.start, outcome.end) for outcome in outcomes)
            pairs = pairwise(ends[1:])
            samples.between += [max(0.0, later[0] - sooner[1]) for sooner, later in pairs]

    async def _overlap(self, members: list[WorkerInfo]) -> tuple[list[WorkerInfo], Sharing]:
        """Find out how the sends to those that stay get into one another's way."""
        while True:
            try:
                return members, await self._shared(members)
            except WorkerLost as lost:
                members = [member for member in members if member.name != lost.name]

    async def _shared(self, members: list[WorkerInfo]) -> Sharing:
        """Send to each worker alone and to all at once what takes each as long."""
        if len(members) < 2:
            return Sharing(kind="own-links")
        sends = {member.name: _fit(self.found[member.name].send) for member in members}
        lengths = self._equal_lengths(members, sends)
        units = [self.items.load_of(0, length) for length in lengths]
        together = []
        alone: list[list[float]] = [[] for _ in members]
        for repeat in range(OVERLAP_REPEATS):
            self.tell(1.0, f"do sends overlap? {repeat + 1} of {OVERLAP_REPEATS}")
            for member, length, taken in zip(members, lengths, alone, strict=True):
                taken.append(await self._sends([member], [length]))
            together.append(await self._sends(members, lengths))
        for member, amount, taken in zip(members, units, alone, strict=True):
            self.found[member.name].send += [(amount, seconds) for seconds in taken]
        fixed = [sends[member.name].cost.fixed for member in members]
        return sharing(units, [median(taken) for taken in alone], fixed, median(together))

    async def _sends(self, members: list[WorkerInfo], lengths: list[int]) -> float:
        """Send to all these workers at once; return the seconds until the last has it."""
        held = await _all(
            self._sent(member, 0, length) for member, length in zip(members, lengths, strict=True)
        )
        self.engine.release(*(one.future for one in held))
        starts, ends = [one.window.start for one in held], [one.window.end for one in held]
        return float(max(ends) - min(starts))

    async def _in_a_row(self, member: WorkerInfo, shared: Sharing) -> None:
        """Keep a worker computing while chunks arrive: receiving, or throttled, it is slower."""
        samples, engine = self.found[member.name], self.engine
        length = max(1, self._most(samples) // 2)
        units = self.items.load_of(0, length)
        each = max(1e-4, *(_fit(of).cost.of(units) for of in (samples.compute, samples.send)))
        if each > self.budget / 2:
            return
        count = max(IN_A_ROW, min(MAX_IN_A_ROW, round(self.budget / each)))
        batches = []
        for rank in range(count):
            async with self.port if shared.kind == "one-port" else nullcontext():
                held = await self._sent(member, 0, length)
            batches.append((held, engine.start(held, -rank)))
            if rank >= AHEAD:
                await engine.finished(member, batches[rank - AHEAD][1])
        await engine.finished(member, [task for _, tasks in batches for task in tasks])
        for rank, (held, tasks) in enumerate(batches):
            outcomes, _ = await engine.fetch(member, tasks)
            engine.release(held.future, *tasks)
            if rank:
                samples.sustained.append((units, _seconds(outcomes)))

    def _most(self, samples: Samples) -> int:
        """Return the items of the largest chunk that was measured."""
        return max(samples.whole)

    def _equal_lengths(self, members: list[WorkerInfo], sends: dict[str, Fit]) -> list[int]:
        whole = self.items.load
        costs = [sends[member.name].cost for member in members]
        enough = max(MIN_OVERLAP, self.budget / 6)
        seconds = min([enough, *(cost.fixed + cost.per_unit * whole for cost in costs)])
        lengths = []
        for cost in costs:
            amount = max(0.0, seconds - cost.fixed) / cost.per_unit if cost.per_unit else whole
            lengths.append(max(1, self.items.item_at(min(amount, whole))))
        return lengths

    def _progress(self, member: WorkerInfo, each: int) -> None:
        self.steps += 1
        share = self.steps / (each * max(1, len(self.found)))
        self.tell(min(1.0, share), f"measuring {member.name}")


def _doubled(low: int, high: int) -> list[int]:
    """Return the doubles of ``low`` well below ``high``: where costs grow faster than chunks.

    >>> _doubled(100, 1000), _doubled(100, 250)
    ([200, 400], [])
    """
    found = []
    while 3 * low <= high:
        low *= 2
        found.append(low)
    return found


def _fit(measurements: list[tuple[float, float]], *, constant: bool = False) -> Fit:
    units, seconds = zip(*measurements, strict=True)
    return fit(units, seconds, constant=constant)


def _seconds(outcomes: list[Outcome]) -> float:
    """Return how long the parts of a chunk were computed, from the first start to the last end."""
    return max(o.end for o in outcomes) - min(o.start for o in outcomes)


def _sustained(found: Fit, measurements: list[tuple[float, float]]) -> Fit:
    """Return a fit slowed down to what was measured without a pause."""
    expected = sum(found.cost.of(units) for units, _ in measurements)
    if not expected:
        return found
    return scaled(found, max(1.0, sum(seconds for _, seconds in measurements) / expected))


async def _all(work: Any) -> list[Any]:
    """Await all; when one fails, cancel the others first."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
