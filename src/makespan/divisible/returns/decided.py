"""Schedule → what it decides: transfers, amounts, and when chunks are computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, computed
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.returns.receptions import Behind, Sequence as Transfers
from makespan.divisible.timing.dispatch import at_a_time


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """What a schedule decides: its transfers, when chunks are computed, and who computes."""

    transfers: Transfers
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
        sequence = Transfers(
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
