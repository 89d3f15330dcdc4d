"""The order of transfers that a plan decided, enforced while it runs."""

from __future__ import annotations

import asyncio
import bisect
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import DivisibleLoad

OVERLAPPED = 0.8  # of a send's fixed cost
NEAR = 1e-9  # of the makespan: times nearer than this are the same


@dataclass(frozen=True, slots=True)
class Planned:
    """A transfer of the plan: its activity, its chunk and worker, and its planned time.

    ``lead`` is the part of it, seconds, that may overlap with the next on its way.
    """

    activity: Activity
    item: int
    worker: str
    start: float
    end: float
    lead: float = 0.0


class Way:
    """One thing that transfers share: each starts when those that the plan ends before it ended.

    On one port that is their order; where several go on at a time, it lets as many go on as the
    plan does. A transfer with a ``lead`` counts as ended so many seconds before its planned
    length has passed.
    """

    def __init__(self, transfers: Sequence[Planned], tolerance: float) -> None:
        by_end = sorted(transfers, key=lambda transfer: (transfer.end, transfer.start))
        ends = [transfer.end for transfer in by_end]
        self._planned = {(t.activity, t.item): (place, t) for place, t in enumerate(by_end)}
        self._before = [
            min(bisect.bisect_right(ends, transfer.start + tolerance), place)
            for place, transfer in enumerate(by_end)
        ]
        self._done = [False] * len(by_end)
        self._passed = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []

    async def turn(self, activity: Activity, item: int) -> None:
        """Wait for the transfer's turn."""
        place, transfer = self._planned[activity, item]
        loop = asyncio.get_running_loop()
        if self._passed < self._before[place]:
            free: asyncio.Future[None] = loop.create_future()
            self._waiting.append((self._before[place], free))
            await free
        if transfer.lead > 0.0:
            length = max(0.0, transfer.end - transfer.start - transfer.lead)
            loop.call_later(length, self._end, place)

    def done(self, activity: Activity, item: int) -> None:
        """Say that a transfer is over, or will never be."""
        self._end(self._planned[activity, item][0])

    def _end(self, place: int) -> None:
        self._done[place] = True
        while self._passed < len(self._done) and self._done[self._passed]:
            self._passed += 1
        for needed, free in self._waiting:
            if needed <= self._passed and not free.done():
                free.set_result(None)
        self._waiting = [entry for entry in self._waiting if not entry[1].done()]


class Order:
    """The ways of a plan, and which transfer takes which.

    Parameters
    ----------
    transfers
        All transfers of the plan.
    problem
        Its problem, which says what excludes what; None: every worker has a link of its own.
    """

    def __init__(self, transfers: Sequence[Planned], problem: DivisibleLoad | None) -> None:
        self.problem = problem
        tolerance = NEAR * max((transfer.end for transfer in transfers), default=0.0)
        groups: dict[Hashable, list[Planned]] = {}
        self._group = {}
        for transfer in transfers:
            group = self._way_of(transfer)
            groups.setdefault(group, []).append(transfer)
            self._group[transfer.activity, transfer.item] = group
        self._ways = {group: Way(members, tolerance) for group, members in groups.items()}

    def _way_of(self, transfer: Planned) -> Hashable:
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


def overlapping(transfers: Sequence[Planned], star: Star) -> list[Planned]:
    """Let the latency of each send overlap with the next, where no port forbids it.

    A send's fixed cost is mostly waiting for the worker's acknowledgement.
    """
    fixed = dict(zip(star.names, star.send_fixed.tolist(), strict=True))
    return [
        replace(one, lead=OVERLAPPED * fixed.get(one.worker, 0.0))
        if one.activity is Activity.SEND
        else one
        for one in transfers
    ]


def transfers_of(schedule: Schedule) -> tuple[Planned, ...]:
    """Return the sends and returns of a schedule in the order of their start."""
    found = []
    for activity in (Activity.SEND, Activity.RETURN):
        worker = schedule.peer if activity is Activity.SEND else schedule.machine
        for row in schedule.rows_of(activity).tolist():
            found.append(
                Planned(
                    activity,
                    int(schedule.item[row]),
                    schedule.machines[int(worker[row])],
                    float(schedule.start[row]),
                    float(schedule.end[row]),
                )
            )
    return tuple(sorted(found, key=lambda transfer: (transfer.start, transfer.end)))


class FewSends:
    """So many sends at a time, first come first served; where nothing else is planned."""

    def __init__(self, count: int) -> None:
        self._places = asyncio.Semaphore(count)
        self._holders: set[int] = set()

    async def turn(self, activity: Activity, item: int) -> None:
        """Wait until so few sends are under way; returns need not wait."""
        if activity is Activity.SEND:
            await self._places.acquire()
            self._holders.add(item)

    def done(self, activity: Activity, item: int) -> None:
        """Say that a transfer is over."""
        if activity is Activity.SEND and item in self._holders:
            self._holders.remove(item)
            self._places.release()
