"""Sequences of transfers, as searched or read off a schedule, and when their chunks are computed.

A worker that receives or computes, but not both, may compute a chunk at once or after it has
received more of them: a decision for every chunk but the last of each worker. They are made in
the order of the chunks, depth first; the programme without those that are open bounds all that is
below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, computed
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.timing.dispatch import at_a_time

Behind = tuple[int, ...]  # for each first chunk, that behind whose reception it is computed


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferSequence:
    """A sequence of transfers: chunk k is sent (k) or returned (-1 - k).

    ``worker`` holds the worker of each chunk. The first return of a worker is that of its first
    chunk, and so on; returns of those who return nothing are left out. Where links share a number
    of places, ``place`` holds that of the send of each chunk.
    """

    worker: tuple[int, ...]
    transfers: tuple[int, ...]
    place: tuple[int, ...] = ()


def at_once(sequence: TransferSequence) -> Behind:
    """Return the decisions by which every chunk is computed right behind its own reception."""
    return tuple(range(len(sequence.worker)))


class Receptions:
    """The decisions of one sequence, chunk by chunk."""

    def __init__(self, sequence: TransferSequence) -> None:
        self.count = len(sequence.worker)
        self._worker = sequence.worker
        self._chunks: dict[int, list[int]] = {}  # of each worker
        self._place: list[int] = []  # of each chunk among those of its worker
        for chunk, worker in enumerate(sequence.worker):
            mine = self._chunks.setdefault(worker, [])
            self._place.append(len(mine))
            mine.append(chunk)

    def are_few(self, most: int) -> bool:
        """Whether there are at most so many decisions: a Catalan number for each worker."""
        number = 1
        for chunks in self._chunks.values():
            for count in range(2, len(chunks) + 1):
                number = number * (4 * count - 2) // (count + 1)
                if number > most:
                    return False
        return True

    def ways(self, behind: Behind) -> list[Behind]:
        """Return the decisions with one more: no chunk is computed before an earlier one."""
        chunk = len(behind)
        mine, place = self._chunks[self._worker[chunk]], self._place[chunk]
        least = behind[mine[place - 1]] if place else -1
        return [(*behind, other) for other in mine[place:] if other >= least]

    def all(self) -> Iterator[Behind]:
        """Iterate over all decisions, with every chunk computed as late as it can be last."""
        open_: list[Behind] = [()]
        while open_:
            behind = self.forced(open_.pop())
            if len(behind) == self.count:
                yield behind
            else:
                open_ += reversed(self.ways(behind))

    def forced(self, behind: Behind) -> Behind:
        """Return the decisions with those that follow without a choice."""
        while len(behind) < self.count:
            ways = self.ways(behind)
            if len(ways) > 1:
                break
            behind = ways[0]
        return behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """What a schedule decides: its transfers, when chunks are computed, and who computes."""

    transfers: TransferSequence
    behind: Behind
    amount: Floats
    own: bool
    used: frozenset[str]

    @classmethod
    def of(cls, problem: DivisibleLoad, schedule: Schedule) -> Decided:
        """Read off what a schedule with times decides."""
        sends, backs = schedule.rows_of(Activity.SEND), schedule.rows_of(Activity.RETURN)
        rows = np.concatenate([sends, backs])
        rows = rows[np.lexsort((schedule.kind[rows], schedule.end[rows], schedule.start[rows]))]
        is_send = schedule.kind[rows] == Activity.SEND
        send = rows[is_send]
        chunk_of = {item: chunk for chunk, item in enumerate(schedule.item[send].tolist())}
        returns = problem.star.returns
        code = [
            chunk_of[item] if sent else -1 - chunk_of[item]
            for item, sent, machine in zip(
                schedule.item[rows].tolist(), is_send, schedule.machine[rows] - 1, strict=True
            )
            if sent or returns[machine]
        ]
        computing = schedule.rows_of(Activity.COMPUTE)
        worker = schedule.peer[send] - 1
        sequence = TransferSequence(
            worker=tuple(worker.tolist()),
            transfers=tuple(code),
            place=_places(problem, schedule.end[send]),
        )
        begun = np.zeros(len(send))
        for row in computing[schedule.machine[computing] != MASTER].tolist():
            begun[chunk_of[int(schedule.item[row])]] = schedule.start[row]
        took_part = {MASTER} if (schedule.machine[computing] == MASTER).any() else set()
        names = problem.machines
        return cls(
            transfers=sequence,
            behind=() if problem.front_end else _behind(worker, schedule.end[send], begun),
            amount=schedule.amount[send],
            own=bool(took_part),
            used=frozenset(names[index] for index in took_part | set((worker + 1).tolist())),
        )

    def plan(self, schedule: Schedule) -> Plan:
        """Return the decisions without times, as the timing takes them."""
        return Plan.of(
            self.transfers.worker,
            self.amount,
            master=float(computed(schedule)[MASTER]) if self.own else 0.0,
            transfers=self.transfers.transfers,
        )


def _behind(worker: Integers, received: Floats, begun: Floats) -> Behind:
    """Return for each chunk the last one of its worker that had come when it was begun."""
    chunk = np.arange(len(worker))
    return tuple(
        int(chunk[(worker == worker[each]) & ((received <= begun[each]) | (chunk == each))][-1])
        for each in chunk
    )


def _places(problem: DivisibleLoad, end: Floats) -> tuple[int, ...]:
    """Return the place of each send where only so many can be under way at a time."""
    limit = at_a_time(problem)
    if not limit:
        return ()
    free = np.zeros(limit)
    found = []
    for done in end:
        place = int(np.argmin(free))
        free[place] = done
        found.append(place)
    return tuple(found)
