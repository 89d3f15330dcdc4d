"""The pool: what dies is replaced, what hangs is ended, the newest of a client counts."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from makespan.studio import pool as pools
from makespan.studio.orders import Answer
from makespan.studio.pool import Pool
from tests.studio.stand_ins import Failing, StandIn


def within(use: Callable[[Pool], Awaitable[Any]], size: int = 1, **options: Any) -> Any:
    """Return what ``use`` returns of a pool that has begun."""

    async def main() -> Any:
        async with Pool(size, make=StandIn, **options) as pool:
            await pool.answer("", b"nothing")
            return await use(pool)

    return asyncio.run(main())


async def warm(pool: Pool) -> None:
    """Wait until all are warm, which they become one after another."""
    until = time.monotonic() + 60
    while not all(place.warm for place in pool._places):
        assert sum(place.warming for place in pool._places) <= 1
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


def error(answer: Answer) -> str:
    text: str = json.loads(answer.content)["error"]
    return text


def test_what_dies_is_told_and_replaced() -> None:
    """The order at which a process died has an answer; the next one has another process."""

    async def use(pool: Pool) -> list[Answer]:
        return [await pool.answer("", body) for body in (b"nothing", b"exits", b"nothing")]

    before, died, after = within(use)
    assert (before.status, died.status, after.status) == (200, 500, 200)
    assert error(died) == "the process that solved this has died"
    assert before.content.split()[0] != after.content.split()[0]


def test_what_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A little after its limit; others in the queue get another process."""
    monkeypatch.setattr(pools, "BEYOND", 0.2)

    async def use(pool: Pool) -> list[Answer]:
        hanging = asyncio.create_task(pool.answer("", b"hangs 0.3"))
        return [await pool.answer("", b"nothing"), await hanging]

    waiting, hung = within(use)
    assert (waiting.status, hung.status) == (200, 504)


def test_compiling_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What starts up has its time, beyond its limit."""
    monkeypatch.setattr(pools, "BEYOND", 0.1)
    assert within(lambda pool: pool.answer("", b"compiles 0.8")).status == 200


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system tells no memory")
def test_what_grows_is_ended() -> None:
    """A process that holds more than it may."""
    found = within(lambda pool: pool.answer("", b"grows 6e8"), most=3e8)
    assert found.status == 413
    assert "a solve may have 0.30 GB here" in error(found)


def test_the_newest_of_a_client_counts() -> None:
    """The older ends at once, whether it waits or is at work; another client's does not."""

    async def use(pool: Pool) -> list[Answer]:
        bodies = [(b"waits 30", "a"), (b"nothing", "b"), (b"nothing", "a"), (b"nothing", "a")]
        tasks = []
        for body, client in bodies:
            tasks.append(asyncio.create_task(pool.answer("", body, client=client)))
            await asyncio.sleep(0.05)
        return await asyncio.gather(*tasks)

    start = time.monotonic()
    found = within(use)
    assert [answer.status for answer in found] in ([409, 200, 200, 200], [409, 200, 409, 200])
    assert time.monotonic() - start < 20


@pytest.mark.thorough
def test_an_abandoned_order_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Politely where the process listens, and by force where it doesn't."""

    async def use(pool: Pool) -> list[bytes]:
        found = [(await pool.answer("", b"nothing")).content.split()[0]]
        for body in (b"waits 30", b"hangs 30"):
            task = asyncio.create_task(pool.answer("", body))
            await asyncio.sleep(0.2)
            task.cancel()
            found.append((await pool.answer("", b"nothing")).content.split()[0])
        return found

    monkeypatch.setattr(pools, "PATIENCE", 0.5)
    first, polite, forced = within(use)
    assert first == polite != forced


def test_a_client_may_stop_what_it_waits_for() -> None:
    """It gets the answer that there is then."""

    async def use(pool: Pool) -> tuple[Answer, bool, bool]:
        task = asyncio.create_task(pool.answer("", b"waits 30", client="a"))
        await asyncio.sleep(0.2)
        own, other = pool.stop("a"), pool.stop("b")
        return await asyncio.wait_for(task, 10), own, other

    answer, own, other = within(use)
    assert answer.content.split()[1] == b"True"
    assert own
    assert not other


def test_what_waits_is_stopped_when_it_begins() -> None:
    """Not forgotten: it ends as soon as it has a process."""

    async def use(pool: Pool) -> Answer:
        first = asyncio.create_task(pool.answer("", b"waits 1"))
        second = asyncio.create_task(pool.answer("", b"waits 30", client="a"))
        await asyncio.sleep(0.2)
        assert pool.stop("a")
        await first
        return await asyncio.wait_for(second, 10)

    assert within(use).content.split()[1] == b"True"


def test_slow_orders_leave_a_process_to_quick_ones() -> None:
    """However many there are."""

    async def use(pool: Pool) -> tuple[Answer, int]:
        slow = [asyncio.create_task(pool.answer("", b"waits 30", slow=True)) for _ in range(4)]
        await asyncio.sleep(0.1)
        quick = await pool.answer("", b"nothing")
        done = sum(task.done() for task in slow)
        for task in slow:
            task.cancel()
        return quick, done

    quick, done = within(use, size=2)
    assert quick.status == 200
    assert done == 0


def test_nobody_is_overtaken() -> None:
    """What is asked first begins first, whoever asks: each waits for those before it alone."""

    async def use(pool: Pool) -> list[int]:
        ended: list[int] = []

        async def ask(number: int) -> None:
            await pool.answer("", b"nothing", slow=number % 3 == 0)
            ended.append(number)

        await asyncio.gather(*(ask(number) for number in range(20)))
        return ended

    assert within(use) == list(range(20))


def test_slow_orders_give_way() -> None:
    """To the server, and to the process that is kept for quick ones; not where there is one."""

    async def use(pool: Pool) -> list[bytes]:
        await warm(pool)
        found = [await pool.answer("", b"nothing", slow=slow) for slow in (True, False)]
        return [answer.content.split()[2] for answer in found]

    assert within(use, size=2) == [str(pools.NICER).encode(), b"0"]
    assert within(use) == [b"0", b"0"]


def test_processes_get_warm_in_turn() -> None:
    """So that one at least answers at once, and finds what the others have compiled."""

    within(warm, size=3)


@pytest.mark.thorough
def test_a_full_queue_refuses() -> None:
    """At once, and says how many wait."""

    async def use(pool: Pool) -> tuple[Answer, list[Answer]]:
        tasks = [asyncio.create_task(pool.answer("", b"waits 1")) for _ in range(3)]
        await asyncio.sleep(0.1)
        return await pool.answer("", b"nothing"), await asyncio.gather(*tasks)

    refused, others = within(use, waiting=2)
    assert (refused.status, error(refused)) == (503, "2 requests wait already; try again soon")
    assert [answer.status for answer in others] == [200] * 3


def test_processes_that_can_not_start_are_told() -> None:
    """Not tried for ever."""

    async def main() -> list[Answer]:
        async with Pool(1, make=Failing) as pool:
            return [await pool.answer("", b""), await pool.answer("", b"")]

    first, second = asyncio.run(main())
    assert first.status == second.status == 503
    assert error(first) == "the processes that solve can't be started: not today"
