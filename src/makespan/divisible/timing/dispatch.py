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
from makespan.divisible.model.machines import Master
from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad

NOTHING = -1
HELD = 3  # things that an activity holds at most
LINES = 2  # of sends, and of returns


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
    line: Integers,
) -> Floats:
    """Return the start of every activity.

    - ``order``: the rows in the order of dispatch.
    - ``duration``, ``floor``: seconds that each row lasts, and before which it can't start.
    - ``builds_on``: the row whose end each row waits for, or -1.
    - ``holds``: an array (rows, 3) of the things that a row holds, -1 for none.
    - ``free``: when each thing is free; changed in place.
    - ``shared``: when each place of the shared thing is free; changed in place.
    - ``shares``: whether a row takes a place of the shared thing.
    - ``line``: the line that a row stands in, -1 for none: of one line none begins before those in
      front.
    """
    start = np.zeros(len(duration))
    begun = np.zeros(LINES)
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
        if line[row] >= 0:
            begin = max(begin, begun[line[row]])
        place = -1
        if shares[row]:
            place = int(np.argmin(shared))
            for other in range(len(shared)):  # the place that is free last of those in time
                if shared[place] < shared[other] <= begin:
                    place = other
            begin = max(begin, shared[place])
        start[row] = begin
        if line[row] >= 0:
            begun[line[row]] = begin
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
    line: Integers

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
        limit = at_a_time(problem)
        if isinstance(master, Master) and master.uplink is not None:
            floor[sends] = rows.start[sends]  # their rates are decisions: they stay in place
        line = np.full(len(rows), NOTHING, dtype=np.int64)
        for number, (mine, kept) in enumerate(
            ((sends, sends_in_turn(problem)), (returns, returns_in_turn(problem)))
        ):
            line[mine & kept] = number
        return cls(
            order=order,
            floor=floor,
            builds_on=builds_on(rows),
            holds=holds,
            things=3 * count,
            places=max(1, limit),
            shares=sends & (limit > 0),
            line=line,
        )

    def starts(self, duration: Floats, repetitions: int = 1) -> Floats:
        """Return the start of every row, compiled where many ``repetitions`` are to come."""
        started: Floats = dispatch.at(len(duration) * repetitions)(
            self.order,
            duration,
            self.floor,
            self.builds_on,
            self.holds,
            np.zeros(self.things),
            np.zeros(self.places),
            self.shares,
            self.line,
        )
        return started


def at_a_time(problem: DivisibleLoad) -> int:
    """Return how many sends may be under way at once, where that limits them; 0 elsewhere."""
    limit = getattr(problem.star.master, "sends", None)
    return limit if limit is not None and limit < len(problem.star) else 0


def sends_in_turn(problem: DivisibleLoad) -> bool:
    """Whether sends on links of their own have to begin in a certain order, not all at once."""
    if problem.ports != "many":
        return False
    given = problem.order is not None or _disciplined(problem)
    if problem.activation is not None:
        return True
    if problem.rounds == 1:
        return given and shares_links(problem)
    return problem.rounds != "auto" or _disciplined(problem)


def returns_in_turn(problem: DivisibleLoad) -> bool:
    """The same of returns."""
    if problem.ports != "many" or not problem.has_returns:
        return False
    if problem.return_order is not None:
        return problem.rounds != "auto" or problem.activation is not None
    return _disciplined(problem) and (sends_in_turn(problem) or shares_links(problem))


def _disciplined(problem: DivisibleLoad) -> bool:
    return problem.discipline is not None and problem.has_returns


def shares_links(problem: DivisibleLoad) -> bool:
    """Whether what the links share delays sends."""
    return getattr(problem.star.master, "uplink", None) is not None or at_a_time(problem) > 0


def builds_on(rows: Schedule) -> Integers:
    """Return for each computation the send of its chunk, for each return its computation."""
    builds_on = np.full(len(rows), NOTHING, dtype=np.int64)
    items = int(rows.item.max(initial=NOTHING)) + 1
    for first, second in ((Activity.SEND, Activity.COMPUTE), (Activity.COMPUTE, Activity.RETURN)):
        row_of = np.full(items + 1, NOTHING, dtype=np.int64)
        earlier = np.flatnonzero(rows.kind == first)
        row_of[rows.item[earlier]] = earlier
        later = np.flatnonzero(rows.kind == second)
        builds_on[later] = row_of[rows.item[later]]
    return builds_on


def rows_of_chunks(
    problem: DivisibleLoad, source: Integers, worker: Integers, amount: Floats, own: Floats
) -> tuple[Schedule, Integers]:
    """Return the rows of chunks, without times, and their order: each computed behind its send.

    ``source``, ``worker`` and ``amount`` are of each chunk; ``own`` are the units that each source
    computes.
    """
    count, many = len(problem.grid.source_names), len(amount)
    alone = np.flatnonzero(own > 0)
    rows = Schedule.of_columns(
        problem.machines,
        kind=np.repeat([Activity.SEND, Activity.COMPUTE], [many, many + len(alone)]),
        machine=np.concatenate([source, worker + count, alone]),
        peer=np.concatenate([worker + count, np.full(many + len(alone), NOTHING)]),
        item=np.concatenate([np.arange(many), np.arange(many + len(alone))]),
        amount=np.concatenate([amount, amount, own[alone]]),
        start=0.0,
        end=0.0,
    )
    order = np.arange(2 * many).reshape(2, many).T.ravel()
    return rows, np.concatenate([order, np.arange(2 * many, len(rows))])


def durations_of_sources(platform: Sources, rows: Schedule) -> Floats:
    count = len(platform.source_names)
    seconds = np.zeros(len(rows))
    send = rows.rows_of(Activity.SEND)
    link = rows.machine[send], rows.peer[send] - count
    seconds[send] = platform.send_fixed[link] + platform.send_per_unit[link] * rows.amount[send]
    fixed = np.concatenate([platform.own_fixed, platform.compute_fixed])
    per_unit = np.concatenate([platform.own_per_unit, platform.compute_per_unit])
    computes = rows.rows_of(Activity.COMPUTE)
    machine = rows.machine[computes]
    seconds[computes] = fixed[machine] + per_unit[machine] * rows.amount[computes]
    return seconds


def dispatch_of_sources(problem: DivisibleLoad, rows: Schedule, order: Integers) -> Dispatch:
    """Return what every row waits for and holds: processors, ports of both ends, or links."""
    platform = problem.grid
    machines = len(problem.machines)
    holds = np.full((len(rows), HELD), NOTHING, dtype=np.int64)
    sends = rows.kind == Activity.SEND
    holds[~sends, 0] = rows.machine[~sends]
    things = 3 * machines
    if problem.ports == "many":
        used, link = np.unique(
            rows.machine[sends] * machines + rows.peer[sends], return_inverse=True
        )
        holds[sends, 1] = machines + link
        things = machines + len(used)
    else:
        holds[sends, 1] = machines + rows.machine[sends]
        holds[sends, 2] = 2 * machines + rows.peer[sends]
    release = np.concatenate([platform.source_release, platform.release])
    return Dispatch(
        order=order,
        floor=release[rows.machine],
        builds_on=builds_on(rows),
        holds=holds,
        things=things,
        places=1,
        shares=np.zeros(len(rows), dtype=bool),
        line=np.full(len(rows), NOTHING, dtype=np.int64),
    )
