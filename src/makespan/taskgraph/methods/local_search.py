"""Local search: tasks change machines and places in the order."""

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.rules import quoted
from makespan.core.registry import register
from makespan.core.schedule import Activity
from makespan.core.solution import Solution
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.copies import first_copies
from makespan.taskgraph.limits import least_price, worth
from makespan.taskgraph.list_scheduling.assigned import on_one_machine
from makespan.taskgraph.local_search import (
    MAX_STEPS,
    improved,
    reach_of,
    replanned,
    steps_of_a_move,
)
from makespan.taskgraph.local_search.contention import improved_under_contention
from makespan.taskgraph.methods.heft import heft
from makespan.taskgraph.needs import NO_GIVEN_PLAN, NO_PRICE_OF_WAITING
from makespan.taskgraph.problem import TaskGraph


@register(
    needs=(NO_GIVEN_PLAN, NO_PRICE_OF_WAITING),
    complexity="O(k (n + e)), k the moves tried; compiled for large graphs",
    source="threshold accepting (Dueck and Scheuer 1990) over an order of the tasks and "
    "the machine of each; large graphs: forward-backward improvement (Li and Willis 1992; Valls, "
    "Ballestín and Quintanilla 2005)",
)
def local_search(problem: TaskGraph, control: Control, *, moves: int | None = None) -> Solution:
    """Improve the best plan known, or that of ``heft``, by moving tasks.

    Where that misses a limit, the greatest lateness falls first, and what it costs too much. Where
    the least price is sought, plans are kept by their price.

    It makes no copies: from a plan with copies it keeps those that end first. Without ``moves``,
    2,000 are tried for graphs of up to 40 tasks and edges, else as many as take about a second, up
    to 500,000; where these are fewer than the tasks, plans are made backwards and forwards again
    instead. Where transfers wait, 500 for up to 24 tasks and edges, else about 100 for each pair of
    tasks.
    """
    if moves is not None and (isinstance(moves, bool) or not isinstance(moves, int) or moves < 0):
        raise MethodError(f"moves: {quoted(moves)} is not allowed; it is a whole number from 0")
    schedule = control.incumbent.schedule if control.incumbent else None
    if schedule is None:
        schedule = heft(problem, control).schedule
        assert schedule is not None
        if problem.transfers_wait:  # plans of HEFT may take many times as long as one machine alone
            schedule = min(schedule, on_one_machine(problem), key=lambda plan: worth(problem, plan))
    if problem.duplication and np.count_nonzero(schedule.kind == Activity.COMPUTE) > len(
        problem.dag
    ):
        schedule = first_copies(problem, schedule)
    least = max(bound.value for bound in bounds(problem))
    if problem.objective == "price":
        least = least_price(problem)
    if worth(problem, schedule)[:2] <= (0.0, least) or control.expired():
        lower = least if problem.objective == "makespan" else None
        return Solution(schedule=schedule, lower_bound=lower)
    if moves is None and _too_large(problem):
        found = replanned(problem, control, schedule)
    elif problem.transfers_wait:
        count = len(problem.dag)
        found = improved_under_contention(
            problem, control, schedule, moves, lambda moves: reach_of(moves, count)
        )
    else:
        found = improved(problem, control, schedule, moves)
    best = min(schedule, found, key=lambda plan: worth(problem, plan))
    return Solution(schedule=best, stopped=True)  # by its moves, if not by the clock


def _too_large(problem: TaskGraph) -> bool:
    """Whether there are more tasks than moves in a second, and plans compare by their makespans."""
    free = problem.objective == "makespan" and problem.budget is None
    most = MAX_STEPS // steps_of_a_move(problem)
    return free and not problem.transfers_wait and most < len(problem.dag)
