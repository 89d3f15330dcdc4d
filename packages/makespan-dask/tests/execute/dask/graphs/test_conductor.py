"""The order in which results leave a worker, without a worker."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from makespan.execute.dask.graphs.remote import Conductor, Leaving

FIRST, SECOND = "tcp://first", "tcp://second"


class Worker:
    """What a conductor needs of a worker; whoever is told to take something asks for it."""

    address = "tcp://sender"

    def __init__(self) -> None:
        self.left: list[tuple[Any, str | None]] = []
        self.under_way = 0
        self.most = 0
        self.handlers: dict[str, Any] = {"get_data": self._get_data}
        tasks = {
            key: SimpleNamespace(startstops=[], get_nbytes=lambda: 10, state="memory")
            for key in "abc"
        }
        self.state = SimpleNamespace(tasks=tasks)

    def rpc(self, receiver: str) -> Any:
        return SimpleNamespace(makespan_take=lambda key, **_: self.asked(receiver, key))

    async def asked(self, receiver: str, *keys: Any) -> bool:
        await self.handlers["get_data"](None, keys=list(keys), who=receiver)
        return True

    async def _get_data(
        self, comm: Any, keys: Any, who: str | None, serializers: Any = None
    ) -> None:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        self.left += [(key, who) for key in keys]


def conducted(leaving: list[Leaving], act: Any, *, in_turn: bool = True) -> Worker:
    """Conduct while ``act`` happens, until nothing is under way."""

    async def run() -> Worker:
        worker = Worker()
        conductor = Conductor("run", "abc", leaving, in_turn=in_turn)
        conductor.setup(worker)
        await asyncio.wait_for(act(worker, conductor), 5)
        await asyncio.sleep(0.1)
        conductor.teardown(worker)
        return worker

    return asyncio.run(run())


def there(conductor: Conductor, *keys: str) -> None:
    for key in keys:
        conductor.transition(key, "executing", "memory")


def test_results_leave_one_after_another_in_the_order_of_the_plan() -> None:
    """Also where all are there at once, for different receivers."""
    plan = [Leaving("b", SECOND, 1.0), Leaving("a", FIRST, 1.0), Leaving("a", SECOND, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        there(conductor, "a", "b")

    worker = conducted(plan, act)
    assert worker.left == [("b", SECOND), ("a", FIRST), ("a", SECOND)]
    assert worker.most == 1


def test_a_request_waits_for_its_turn() -> None:
    """What Dask asks for too early is answered when it would have left anyway."""
    plan = [Leaving("a", FIRST, 1.0), Leaving("b", SECOND, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        early = asyncio.create_task(worker.asked(SECOND, "b"))
        there(conductor, "b")
        await asyncio.sleep(0.05)
        assert worker.left == []
        there(conductor, "a")
        await early

    assert conducted(plan, act).left == [("a", FIRST), ("b", SECOND)]


def test_what_is_late_is_waited_for_a_while_only() -> None:
    """Half of the length of the transfer that could leave."""
    plan = [Leaving("a", FIRST, 0.1), Leaving("b", SECOND, 0.1)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        there(conductor, "b")
        await asyncio.sleep(0.2)
        there(conductor, "a")

    assert conducted(plan, act).left == [("b", SECOND), ("a", FIRST)]


def test_a_receiver_that_waits_for_another_result_gets_that_first() -> None:
    """It asks for one thing at a time: it would never ask for what is planned before it."""
    plan = [Leaving("a", FIRST, 1.0), Leaving("b", FIRST, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        early = asyncio.create_task(worker.asked(FIRST, "b"))
        await asyncio.sleep(0.02)
        there(conductor, "b", "a")
        await early

    assert conducted(plan, act).left == [("b", FIRST), ("a", FIRST)]


def test_unplanned_requests_are_answered_at_once() -> None:
    """Of the client, or of other runs."""
    plan = [Leaving("a", FIRST, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        await worker.asked("client", "c")

    assert conducted(plan, act).left == [("c", "client")]


def test_without_contention_results_leave_at_once() -> None:
    """All together."""
    plan = [Leaving("a", FIRST, 1.0), Leaving("a", SECOND, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        there(conductor, "a")

    worker = conducted(plan, act, in_turn=False)
    assert sorted(worker.left) == [("a", FIRST), ("a", SECOND)]
    assert worker.most == 2


def test_the_end_lets_everything_go() -> None:
    """A request that was held is answered when the run ends."""
    plan = [Leaving("a", FIRST, 1.0), Leaving("b", SECOND, 1.0)]

    async def act(worker: Worker, conductor: Conductor) -> None:
        held = asyncio.create_task(worker.asked(SECOND, "b"))
        await asyncio.sleep(0.02)
        conductor.teardown(worker)
        await held
        assert worker.handlers["get_data"] == worker._get_data

    assert conducted(plan, act).left == [("b", SECOND)]


def test_runs_at_the_same_time_give_requests_back_in_any_order() -> None:
    """Of three conductors on a worker none stays behind."""

    async def run() -> None:
        for order in ((0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)):
            worker = Worker()
            conductors = [Conductor(str(n), "abc", [], in_turn=True) for n in range(3)]
            for conductor in conductors:
                conductor.setup(worker)
            for number in order:
                conductors[number].teardown(worker)
                await worker.asked(FIRST, "a")
            assert worker.handlers["get_data"] == worker._get_data
            assert worker.left == [("a", FIRST)] * 3

    asyncio.run(run())
