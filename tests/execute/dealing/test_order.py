"""The order of transfers is that of the plan."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from makespan import DivisibleLoad, Master, Star, Worker, solve
from makespan.core.schedule import Activity
from makespan.execute.dealing.transfers import (
    Order,
    Transfer,
    transfers_of,
)

SEND = Activity.SEND
STAR = Star([Worker(name="a", send=1.0, compute=3.0), Worker(name="b", send=2.0, compute=5.0)])


def carried_out(order: Any, transfers: list[Transfer], seconds: dict[int, float]) -> list[Any]:
    """Carry transfers out in ``seconds`` each; return (what, item) of starts and ends."""
    log: list[Any] = []

    async def one(transfer: Transfer) -> None:
        await order.turn(transfer.activity, transfer.item)
        log.append(("start", transfer.activity, transfer.item))
        await asyncio.sleep(seconds.get(transfer.item, 0.0))
        log.append(("end", transfer.activity, transfer.item))
        order.done(transfer.activity, transfer.item)

    async def everything() -> None:
        await asyncio.wait_for(asyncio.gather(*map(one, transfers)), 10)

    asyncio.run(everything())
    return log


def problem(ports: Any, master: Master | None = None) -> DivisibleLoad:
    platform = STAR if master is None else Star(STAR.workers, master=master)
    return DivisibleLoad(platform=platform, load=10.0, ports=ports)


@settings(deadline=None)
@given(st.permutations(range(5)))
def test_one_port_is_kept_in_order(asked: list[int]) -> None:
    """Whoever asks first, sends go in the plan's order and never overlap."""
    transfers = [Transfer(SEND, item, "ab"[item % 2], item, item + 1.0) for item in range(5)]
    order = Order(transfers, problem(1))
    log = carried_out(order, [transfers[item] for item in asked], {})
    assert log == [(what, SEND, item) for item in range(5) for what in ("start", "end")]


def test_links_of_their_own_overlap() -> None:
    """Sends to different workers do not wait, those to one worker do."""
    transfers = [
        Transfer(SEND, 0, "a", 0.0, 1.0),
        Transfer(SEND, 1, "b", 0.0, 1.0),
        Transfer(SEND, 2, "a", 1.0, 2.0),
    ]
    log = carried_out(Order(transfers, problem("many")), transfers, {0: 0.05})
    assert log.index(("start", SEND, 1)) < log.index(("end", SEND, 0))
    assert log.index(("start", SEND, 2)) > log.index(("end", SEND, 0))


def test_as_many_sends_go_on_as_the_plan_lets() -> None:
    """With two sends at a time, the third waits for the first."""
    transfers = [
        Transfer(SEND, 0, "a", 0.0, 1.0),
        Transfer(SEND, 1, "b", 0.0, 2.0),
        Transfer(SEND, 2, "b", 1.0, 3.0),
    ]
    order = Order(transfers, problem("many", Master(sends=2)))
    log = carried_out(order, transfers, {0: 0.02, 1: 0.08})
    assert log.index(("start", SEND, 1)) < log.index(("end", SEND, 0))
    assert log.index(("start", SEND, 2)) > log.index(("end", SEND, 0))
    assert log.index(("start", SEND, 2)) < log.index(("end", SEND, 1))


@pytest.mark.parametrize(("ports", "waits"), [(1, True), (2, False)])
def test_returns_share_one_port_but_not_two(ports: int, waits: bool) -> None:
    """A return waits for a send before it on one port only."""
    send = Transfer(SEND, 0, "a", 0.0, 1.0)
    back = Transfer(Activity.RETURN, 1, "b", 1.0, 2.0)
    log = carried_out(Order([send, back], problem(ports)), [send, back], {0: 0.05})
    later = log.index(("start", Activity.RETURN, 1)) > log.index(("end", SEND, 0))
    assert later is waits


def test_a_transfer_that_never_happens_holds_nobody_up() -> None:
    """Done may be said of what never started; the next goes on."""
    transfers = [Transfer(SEND, item, "a", item, item + 1.0) for item in range(3)]

    async def skipped() -> bool:
        order = Order(transfers, problem(1))
        order.done(SEND, 0)
        order.done(SEND, 1)
        await asyncio.wait_for(order.turn(SEND, 2), 5)
        return True

    assert asyncio.run(skipped())


def test_what_the_plan_does_not_have_need_not_wait() -> None:
    """Transfers without a place in the order go on at once."""

    async def unknown() -> bool:
        await asyncio.wait_for(Order([], problem(1)).turn(SEND, 9), 5)
        return True

    assert asyncio.run(unknown())


def test_transfers_of_a_plan_are_read() -> None:
    """Sends name the worker that receives, and come in the order of their start."""
    result = solve(DivisibleLoad(platform=STAR, load=10.0))
    assert result.schedule is not None
    found = transfers_of(result.schedule)
    assert [transfer.worker for transfer in found] == ["a", "b"]
    assert found[0].end == pytest.approx(found[1].start)
