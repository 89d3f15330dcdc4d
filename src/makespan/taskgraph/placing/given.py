"""A given plan → its times."""

from __future__ import annotations

import numpy as np

from makespan.core.schedule import Schedule
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.placing.board import on_board
from makespan.taskgraph.placing.insertion import in_order
from makespan.taskgraph.problem import TaskGraph


def timed(problem: TaskGraph) -> Schedule:
    """Return the given plan, as early as possible; tasks without a sequence go by level."""
    given = problem.given
    assert given.machine_of is not None
    order = by_level(given.chained, ranks(problem))
    if not problem.transfers_wait:
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return in_order(problem, given.machine_of, place, in_turn=True)
    schedule = on_board(problem, given.machine_of, order)
    assert schedule is not None
    return schedule
