"""Plans as rows of sends, and those of all-reduces backwards, as trees, and rotated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.schedule import Schedule
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, costs_of, sends_of
from makespan.reduction.timing import in_order


class Trees(NamedTuple):
    """Where a machine (row) sends its part of a segment (column), -1 for where the plan leads.

    ``children`` is how many others it waits for, ``dues`` when its part is due.
    """

    parents: Integers
    children: Integers
    dues: Any


class Plan(NamedTuple):
    """Sends in their order: sender, receiver, segment, whether a copy; and starts and arrivals."""

    rows: Integers
    times: Any

    @classmethod
    def of(cls, problem: Reduction, schedule: Schedule) -> Plan:
        """Return the rows of a schedule, times in the unit of the problem's tables."""
        sends, rows = sends_of(problem, schedule)
        costs = costs_of(problem, sends)
        start = costs.units(schedule.start[rows]).astype(costs.latency.dtype)
        times = np.column_stack([start, start + costs.latency + costs.transfer])
        columns = sends.sender, sends.receiver, sends.segment, sends.final
        return cls(np.column_stack(columns).astype(np.int64), times)

    def schedule(self, problem: Reduction) -> Schedule:
        """Return the schedule in which ports take the rows in their order, each as it can."""
        sender, receiver, segment, copied = self.rows.T
        sends = Sends(sender=sender, receiver=receiver, segment=segment, final=copied > 0)
        schedule = in_order(problem, sends)
        assert schedule is not None
        return schedule

    def mirrored(self) -> Plan:
        """Return the plan in reversed time, in which what was copied is combined."""
        sender, receiver, segment, copied = self.rows[::-1].T
        rows = np.column_stack([receiver, sender, segment, 1 - copied])
        return Plan(rows, self.times.max(initial=0) - self.times[::-1, ::-1])

    def rotated(self, ports: int, wanted: int, machines: int, segments: int) -> Plan:
        """Return the plan of machines that share ``wanted`` ports, of one where they share fewer.

        Machine i has port i mod ``ports``. A plan stands for its rotations, too, by ``ports``
        machines each, in which other segments are sent at the same times: those that go on to
        different ports of the wanted ones are added, up to a number of ``segments``.
        """
        turn = np.arange(wanted // ports)
        sender, receiver, segment, copied = (column[:, None] for column in self.rows.T)
        columns = np.broadcast_arrays(
            (sender + turn * ports) % machines, (receiver + turn * ports) % machines,
            segment * len(turn) + turn, copied,
        )  # fmt: skip
        rows = np.stack(columns, axis=-1).reshape(-1, 4)
        real = rows[:, 2] < segments
        return Plan(rows[real], np.repeat(self.times, len(turn), axis=0)[real])

    def trees(self, machines: int) -> Trees:
        """Return the trees of the parts, and when they are sent."""
        parts = self.rows[:, 3] == 0
        sender, receiver, segment, _ = self.rows[parts].T
        shape = (machines, int(self.rows[:, 2].max(initial=0)) + 1)
        return grown(shape, sender, receiver, segment, self.times[parts, 0])


def grown(shape: tuple[int, int], sender: Any, receiver: Any, segment: Any, dues: Any) -> Trees:
    """Return the trees of parts that are sent."""
    trees = Trees(
        np.full(shape, -1), np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=dues.dtype)
    )
    trees.parents[sender, segment] = receiver
    np.add.at(trees.children, (receiver, segment), 1)
    trees.dues[sender, segment] = dues
    trees.children[trees.parents < 0] = shape[0]  # there it is complete, and never a part
    return trees
