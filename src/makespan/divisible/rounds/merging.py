"""All rounds of a plan merged into one: the schedule of the factor-2 theorem."""

from __future__ import annotations

import numpy as np

from makespan.core.inputs.suggest import suggesting
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, computed
from makespan.divisible.problem import MASTER, DivisibleLoad
from makespan.divisible.timing import timed


@suggesting
def merge_rounds(problem: DivisibleLoad, schedule: Schedule) -> Schedule:
    """Return the one-round schedule that sends each worker all its load in one message.

    The workers are served in the order of their first chunks. It ends at most twice as late as
    ``schedule``: the master sends no longer than before, so that all load has arrived by the old
    makespan, and no worker computes longer than before. Hence many rounds gain at most a factor
    2 over the best single round.

    Parameters
    ----------
    problem
        A star with a given master and one send at a time, without returns and release times; its
        ``rounds`` do not matter.
    schedule
        A schedule of it, in any number of rounds.

    Source: Benoit 2016, multi-round scheduling, "An interesting theoretical result".

    >>> from makespan import Star, Worker, solve
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=1.0, compute=3.0)])
    >>> many = solve(DivisibleLoad(load=103.0, platform=star, rounds=2))
    >>> merged = merge_rounds(many.problem, many.schedule)
    >>> round(many.makespan, 9), merged.makespan <= 2 * many.makespan, len(merged)
    (184.0, True, 4)
    """
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    workers, first = np.unique(schedule.peer[sends], return_index=True)
    order = workers[np.argsort(first, kind="stable")]
    loads = computed(schedule)
    plan = Plan.of(order - 1, loads[order], master=float(loads[MASTER]))
    return timed(problem, plan.without_empty())
