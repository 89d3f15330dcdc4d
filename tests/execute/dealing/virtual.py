"""Runs on the engine inside this process by a clock that jumps: what they would take, exactly."""

from __future__ import annotations

import asyncio
import heapq
import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from unittest import mock

from makespan.execute import carry_out, remote
from makespan.execute.carry_out import execution_of, run_of
from makespan.execute.dealing import backlog, balance, run
from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.items import Items
from makespan.execute.dealing.run import Run
from makespan.execute.dealing.state import Job
from makespan.execute.execution import Execution
from makespan.execute.pickles import function_as_sent
from tests.execute.dealing.engine import MESSAGE, Dies, InProcess


class _Clock(selectors.SelectSelector):
    """Never waits: the time is what somebody waits for."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


def ran(
    engine: InProcess, job: Job, function: bytes, later: tuple[float, Any, Any] | None = None
) -> tuple[Run, float, Execution]:
    """Run a job to the end; return the run, how many seconds it took, and what came of it.

    ``function`` is what is applied, as it is sent; ``later`` is when to call what, and with what,
    meanwhile.
    """
    loop = asyncio.SelectorEventLoop(clock := _Clock())
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    fake = SimpleNamespace(time=loop.time, monotonic=loop.time, perf_counter=loop.time)
    if later is not None:
        loop.call_later(*later)

    async def all_of_it() -> Run:
        engine.begin(function, job.batched)
        found = await run_of(engine, job)
        await found.go()
        return found

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(time, "sleep", engine.sleep))
        for module in (backlog, balance, run, carry_out, remote):
            stack.enter_context(mock.patch.object(module, "time", fake))
        try:
            found = loop.run_until_complete(all_of_it())
            return found, clock.now, execution_of(found, 0.0)
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()


class Sleeps:
    """A function that takes so many seconds, by item; ``dies`` says of which its worker dies."""

    def __init__(
        self, durations: Sequence[float], dies: Callable[[int], bool] = lambda item: False
    ) -> None:
        self.durations, self.dies = durations, dies

    def __call__(self, item: int) -> int:
        time.sleep(self.durations[item])
        if self.dies(item):
            raise Dies
        return item


def dealt(
    engine: InProcess,
    function: Any,
    data: Any,
    costs: Costs | None = None,
    later: Any = None,
    **options: Any,
) -> tuple[Run, float]:
    """Deal data out; return the run, and how many seconds it took."""

    def recall(workers: Mapping[str, Any]) -> Costs:
        return costs or Costs()

    job = Job(
        items=data if isinstance(data, Items) else Items(data),
        batched=options.pop("batched", False),
        tell=lambda share, what: None,
        recall=recall,
        **options,
    )
    return ran(engine, job, function_as_sent(function).sent, later)[:2]


def client_map(durations: Sequence[float], slots: int) -> float:
    """Return what ``client.map`` takes: the next item to the next idle thread."""
    free = [5 * MESSAGE] * slots
    for number, seconds in enumerate(durations):
        begun = max(heapq.heappop(free), 0.0004 * number)
        heapq.heappush(free, begun + seconds + 0.0005)
    return max(free) + 3 * MESSAGE
