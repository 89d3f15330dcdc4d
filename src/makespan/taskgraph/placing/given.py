"""Given machines of tasks → their times."""

from __future__ import annotations

from collections.abc import Callable

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse
from makespan.core.schedule import Schedule
from makespan.taskgraph.levels import by_level, ranks
from makespan.taskgraph.placing.board import on_board
from makespan.taskgraph.placing.insertion import in_order
from makespan.taskgraph.problem import TaskGraph


def one_by_one(
    problem: TaskGraph,
    machine: Integers,
    order: Integers,
    *,
    in_turn: bool = False,
    expired: Callable[[], bool] = lambda: False,
) -> Schedule | None:
    """Return the plan that places the tasks of ``order`` on their machines, one after another.

    Where transfers wait, no task starts before the one that its machine took before it, and there
    is no plan once ``expired``; else see :func:`in_order`.
    """
    if problem.transfers_wait:
        return on_board(problem, machine, order, expired)
    return in_order(problem, machine, inverse(order), in_turn=in_turn)


def timed(problem: TaskGraph) -> Schedule:
    """Return the given plan, as early as possible; tasks without a sequence go by level."""
    given = problem.given
    assert given.machine_of is not None
    order = by_level(given.chained, ranks(problem))
    schedule = one_by_one(problem, given.machine_of, order, in_turn=True)
    assert schedule is not None
    return schedule
