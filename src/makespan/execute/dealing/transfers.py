"""Transfers: the order that a plan decided, enforced while it runs; and what happened when."""

from __future__ import annotations

import asyncio
import bisect
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from makespan.core.schedule import Activity, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dealing.engine import Window

NEAR = 1e-9  # of the makespan: times nearer than this are the same


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of the plan: its activity, its chunk and worker, and its planned time."""

    activity: Activity
    item: int
    worker: str
    start: float
    end: float


class Way:
    """One thing that transfers share: each starts when those that the plan ends before it ended.

    On one port that is their order; where several go on at a time, it lets as many go on as the
    plan does.
    """

    def __init__(self, transfers: Sequence[Transfer], tolerance: float) -> None:
        by_end = sorted(transfers, key=lambda transfer: (transfer.end, transfer.start))
        ends = [transfer.end for transfer in by_end]
        self._place = {(t.activity, t.item): place for place, t in enumerate(by_end)}
        self._before = [
            min(bisect.bisect_right(ends, transfer.start + tolerance), place)
            for place, transfer in enumerate(by_end)
        ]
        self._done = [False] * len(by_end)
        self._passed = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    async def turn(self, activity: Activity, item: int) -> None:
        """Wait for the transfer's turn."""
        needed = self._before[self._place[activity, item]]
        if self._passed < needed:
            free: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((needed, free))
            await free

    def done(self, activity: Activity, item: int) -> None:
        """Say that a transfer is over, or will never be."""
        self._done[self._place[activity, item]] = True
        while self._passed < len(self._done) and self._done[self._passed]:
            self._passed += 1
        for needed, free in self._waiting:
            if needed <= self._passed and not free.done():
                free.set_result(None)
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]


class Order:
    """The ways of a plan, and which of all its transfers takes which.

    Its problem says what excludes what; without one, every worker has a link of its own.
    """

    def __init__(self, transfers: Sequence[Transfer], problem: DivisibleLoad | None) -> None:
        self.problem = problem
        tolerance = NEAR * max((transfer.end for transfer in transfers), default=0.0)
        groups: dict[Hashable, list[Transfer]] = {}
        self._group = {}
        for transfer in transfers:
            group = self._way_of(transfer)
            groups.setdefault(group, []).append(transfer)
            self._group[transfer.activity, transfer.item] = group
        self._ways = {group: Way(members, tolerance) for group, members in groups.items()}

    def _way_of(self, transfer: Transfer) -> Hashable:
        problem = self.problem
        if problem is None:
            return transfer.activity, transfer.worker
        if problem.ports == 1:
            return "port"
        master = problem.star.master
        limited = getattr(master, "sends", None) or getattr(master, "uplink", None)
        if problem.ports == 2 or (limited and transfer.activity is Activity.SEND):
            return transfer.activity
        return transfer.activity, transfer.worker

    async def turn(self, activity: Activity, item: int) -> None:
        """Wait for a transfer's turn; one that the plan does not have need not wait."""
        if (activity, item) in self._group:
            await self._ways[self._group[activity, item]].turn(activity, item)

    def done(self, activity: Activity, item: int) -> None:
        """Say that a transfer is over, or will never be."""
        if (activity, item) in self._group:
            self._ways[self._group[activity, item]].done(activity, item)


def transfers_of(schedule: Schedule) -> tuple[Transfer, ...]:
    """Return the sends and returns of a schedule in the order of their start."""
    found = []
    for activity in (Activity.SEND, Activity.RETURN):
        worker = schedule.peer if activity is Activity.SEND else schedule.machine
        for row in schedule.rows_of(activity).tolist():
            found.append(
                Transfer(
                    activity,
                    int(schedule.item[row]),
                    schedule.machines[int(worker[row])],
                    float(schedule.start[row]),
                    float(schedule.end[row]),
                )
            )
    return tuple(sorted(found, key=lambda transfer: (transfer.start, transfer.end)))


@dataclass(frozen=True, slots=True)
class Computation:
    """A computation on its worker's clock, and the window on the client's that it lies in."""

    worker: str
    item: int
    amount: float
    start: float
    end: float
    within: Window


class Record:
    """The activities of a run."""

    def __init__(self, machines: Sequence[str]) -> None:
        self.machines = list(machines)
        self._transfers: list[tuple[str, str, int, float, Window]] = []
        self._computed: list[Computation] = []

    def transfer(self, kind: str, worker: str, item: int, amount: float, window: Window) -> None:
        """Note a ``send`` to a worker or a ``return`` from it."""
        self._transfers.append((kind, worker, item, amount, window))

    def computed(self, computation: Computation) -> None:
        """Note a computation."""
        self._computed.append(computation)

    def schedule(self) -> Schedule:
        """Return what was measured, from the start of the first transfer."""
        workers = [worker for _, worker, *_ in self._transfers]
        machines = [*self.machines, *sorted({*workers} - {*self.machines}, key=_numbers_by_value)]
        place = {name: index for index, name in enumerate(machines)}
        zero = min((window.start for *_, window in self._transfers), default=0.0)
        ahead = clocks_ahead(self._computed)
        rows = []
        for kind, worker, item, amount, window in self._transfers:
            ends = (0, place[worker]) if kind == "send" else (place[worker], 0)
            rows.append((kind, *ends, item, amount, window.start - zero, window.end - zero))
        for one in self._computed:
            behind = ahead[one.worker] + zero
            start, end = one.start - behind, one.end - behind
            rows.append(("compute", place[one.worker], -1, one.item, one.amount, start, end))
        rows.sort(key=lambda row: (row[5], row[6]))
        return Schedule.of_rows(machines, rows)


def _numbers_by_value(name: str) -> list[tuple[int, str]]:
    """Return a key that puts names in the order of the numbers in them.

    >>> sorted(["w10", "w9", "a"], key=_numbers_by_value)
    ['a', 'w9', 'w10']
    """
    return [(int(part) if part.isdecimal() else -1, part) for part in re.split(r"([0-9]+)", name)]


def clocks_ahead(computed: Sequence[Computation]) -> dict[str, float]:
    """Return by how many seconds each worker's clock is ahead of the client's.

    A computation lies between its submission and the news of its end, as both the client sees
    them. The offsets that allow this for all computations of a worker form an interval; its
    middle is taken, as if both ways took equally long (as in D. Mills' network time protocol).
    Where clocks agree to within the interval's width, what is 0 there stays 0.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    for one in computed:
        low[one.worker] = max(low.get(one.worker, -math.inf), one.end - one.within.end)
        high[one.worker] = min(high.get(one.worker, math.inf), one.start - one.within.start)
    return {
        worker: 0.0 if low[worker] <= 0.0 <= high[worker] else (low[worker] + high[worker]) / 2
        for worker in low
    }
