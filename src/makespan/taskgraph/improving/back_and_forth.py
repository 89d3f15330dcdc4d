"""Plans of large graphs made better: planned from their ends, and forwards again."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.taskgraph.limits import worth
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

SHARES = (1.0, 0.3, 0.1, 0.0)
"""Of the tasks, how many may change machines, in turn."""
ROUNDS, PATIENCE = 40, 2 * len(SHARES)
"""The rounds in all, and those in a row that lead to no better plan."""
SECONDS_A_STEP = 4e-7
"""What a task or an edge takes in a round besides insertion, which ends when the time is up."""


def replanned(problem: TaskGraph, control: Control, schedule: Schedule) -> Schedule:
    """Return the best plan met while the best so far is planned backwards and forwards again.

    In a round, the tasks are inserted by falling end into a plan of the graph that is turned round,
    which is the plan from its end, and by its order into a plan from the start. Each time a random
    share of the tasks goes where it ends first, the others stay on their machines: with none that
    is double justification, which makes no plan longer where cores are single; with many it leads
    further away. Releases, deadlines and the direction of links count in plans from the start only.

    Source: forward-backward improvement, Li and Willis 1992; double justification, Valls, Ballestín
    and Quintanilla 2005; with machines to choose from as in ``heft``. Complexity: O(n m + e) a
    round where gaps are found at once.
    """
    dag, network = problem.dag, problem.network
    known = control.incumbent.schedule if control.incumbent else None
    best, least, idle = schedule, worth(problem, schedule), 0
    with control.reserving(SECONDS_A_STEP * (len(dag) + len(dag.source))):
        if control.expired():
            return best
        own = problem.finite_durations if len(dag.own) else None
        reverse = Dag.from_arrays(
            work=dag.work, durations=own, source=dag.target, target=dag.source, size=dag.size,
            cores=dag.cores,
        )  # fmt: skip
        turned = TaskGraph(reverse, network)
        for turn in range(ROUNDS):
            share = SHARES[turn % len(SHARES)]
            back = _again(turned, control, problem, best, share)
            if control.expired() or back is known:
                return best
            order = _from_the_end(turned, back)
            again = in_order(problem, machine_of_tasks(turned, back), inverse(order))
            forth = _again(problem, control, turned, back, share)
            for plan in (again, forth):
                if worth(problem, plan) < least:
                    best, least, idle = plan, worth(problem, plan), -1
            idle += 1
            if control.expired() or idle == PATIENCE:
                return best
    return best


def _again(
    problem: TaskGraph, control: Control, turned: TaskGraph, plan: Schedule, share: float
) -> Schedule:
    """Return a plan of ``problem`` from one of the graph ``turned`` round."""
    free = control.rng.random(len(problem.dag)) < share
    pinned = np.where(free, -1, machine_of_tasks(turned, plan))
    return inserted(problem, control, _from_the_end(turned, plan), pinned=pinned)


def _from_the_end(problem: TaskGraph, plan: Schedule) -> Integers:
    """Return the tasks by falling end, each behind its successors."""
    rows = np.flatnonzero(plan.kind == Activity.COMPUTE)
    rows = rows[sorted_by(plan.item[rows])]
    return sorted_by(-plan.end[rows], -plan.start[rows], -problem.dag.position)
