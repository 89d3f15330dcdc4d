"""Starting activities one after another, each as early as what it needs is free.

Every activity waits for its floor (a release time), for the activity it builds on, and for the
things it holds while it lasts: ports, links, processors. Things are numbered; one of them may
hold several activities at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Master
from makespan.divisible.problem import DivisibleLoad

NOTHING = -1
HELD = 3  # things that an activity holds at most


@loop(pays_from=200_000, loaded_from=5_000)  # rows
def dispatch(
    order: Integers,
    duration: Floats,
    floor: Floats,
    builds_on: Integers,
    holds: Integers,
    free: Floats,
    shared: Floats,
    shares: np.ndarray,
) -> Floats:
    """Return the start of every activity.

    Parameters
    ----------
    order
        The rows in the order of dispatch.
    duration, floor
        Seconds that each row lasts, and before which it can't start.
    builds_on
        The row whose end each row waits for, or -1.
    holds
        An array (rows, 3) of the things that a row holds, -1 for none.
    free
        When each thing is free; changed in place.
    shared
        When each place of the shared thing is free; changed in place.
    shares
        Whether a row takes a place of the shared thing.
    """
    start = np.zeros(len(duration))
    for index in range(len(order)):
        row = order[index]
        begin = floor[row]
        before = builds_on[row]
        if before >= 0:
            begin = max(begin, start[before] + duration[before])
        for k in range(holds.shape[1]):
            thing = holds[row, k]
            if thing >= 0:
                begin = max(begin, free[thing])
        place = -1
        if shares[row]:
            place = int(np.argmin(shared))
            begin = max(begin, shared[place])
        start[row] = begin
        end = begin + duration[row]
        for k in range(holds.shape[1]):
            thing = holds[row, k]
            if thing >= 0:
                free[thing] = end
        if place >= 0:
            shared[place] = end
    return start


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dispatch:
    """What every row of a schedule waits for and holds: the same for any durations."""

    order: Integers
    floor: Floats
    builds_on: Integers
    holds: Integers
    things: int
    places: int
    shares: np.ndarray

    @classmethod
    def of(cls, problem: DivisibleLoad, rows: Schedule, order: Integers) -> Dispatch:
        """Read off what the rows of a schedule on a star need, in the order of dispatch."""
        star = problem.star
        count = len(problem.machines)
        worker = np.where(rows.kind == Activity.SEND, rows.peer, rows.machine)
        holds = np.full((len(rows), HELD), NOTHING, dtype=np.int64)
        sends, returns = rows.kind == Activity.SEND, rows.kind == Activity.RETURN
        computes = rows.kind == Activity.COMPUTE
        holds[computes, 0] = worker[computes]  # processors come first, then ports or links
        if problem.ports == 1:
            holds[sends | returns, 1] = count
        elif problem.ports == 2:
            holds[sends, 1], holds[returns, 1] = count, count + 1
        else:
            holds[sends, 1] = count + worker[sends]
            holds[returns, 1] = 2 * count + worker[returns]
        if not problem.front_end:
            holds[sends, 2] = worker[sends]
        release = np.concatenate([[0.0], star.release])
        floor = np.where(computes, release[worker], 0.0)
        master = star.master
        limit = master.sends if isinstance(master, Master) else None
        if isinstance(master, Master) and master.uplink is not None:
            floor[sends] = rows.start[sends]  # their rates are decisions: they stay in place
        return cls(
            order=order,
            floor=floor,
            builds_on=_builds_on(rows),
            holds=holds,
            things=3 * count,
            places=min(limit or 1, max(1, count)),
            shares=sends & (limit is not None),
        )

    def starts(self, duration: Floats, repetitions: int = 1) -> Floats:
        """Return the start of every row for these durations, seconds.

        ``repetitions`` is how often that will be asked: a reason to compile.
        """
        started: Floats = dispatch.at(len(duration) * repetitions)(
            self.order,
            duration,
            self.floor,
            self.builds_on,
            self.holds,
            np.zeros(self.things),
            np.zeros(self.places),
            self.shares,
        )
        return started


def _builds_on(rows: Schedule) -> Integers:
    """Return for each computation the send of its chunk, for each return its computation."""
    builds_on = np.full(len(rows), NOTHING, dtype=np.int64)
    items = int(rows.item.max(initial=NOTHING)) + 1
    for first, second in (
        (Activity.SEND, Activity.COMPUTE),
        (Activity.COMPUTE, Activity.RETURN),
    ):
        row_of = np.full(items + 1, NOTHING, dtype=np.int64)
        earlier = np.flatnonzero(rows.kind == first)
        row_of[rows.item[earlier]] = earlier
        later = np.flatnonzero(rows.kind == second)
        builds_on[later] = row_of[rows.item[later]]
    return builds_on
