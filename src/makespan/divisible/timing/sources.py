"""Chunks of several sources: their rows, how long they last, and what they wait for and hold."""

from __future__ import annotations

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.sources import Sources
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing.dispatch import HELD, NOTHING, Dispatch, builds_on


def rows_of_chunks(
    problem: DivisibleLoad, source: Integers, worker: Integers, amount: Floats, own: Floats
) -> tuple[Schedule, Integers]:
    """Return the rows of chunks, without times, and their order: each computed behind its send.

    ``source``, ``worker`` and ``amount`` are of each chunk; ``own`` are the units that each source
    computes.
    """
    platform = problem.platform
    assert isinstance(platform, Sources)
    count, many = len(platform.source_names), len(amount)
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


def durations(platform: Sources, rows: Schedule) -> Floats:
    """Return the nominal seconds of every row."""
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


def dispatch(problem: DivisibleLoad, rows: Schedule, order: Integers) -> Dispatch:
    """Return what every row waits for and holds: processors, ports of both ends, or links."""
    platform = problem.platform
    assert isinstance(platform, Sources)
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
