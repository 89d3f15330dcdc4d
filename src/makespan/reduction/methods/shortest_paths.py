"""Every segment by the quickest ways, or around busy ones: a plan also where links are missing."""

from __future__ import annotations

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.needs import (
    COPIED_OR_COMBINED,
    FREE_ORDER,
    GIVEN_COUNT,
    OPEN_PLAN,
    WAYS_ABOUT,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import broadcast_of, schedule_from_copies
from makespan.reduction.rules.routes import quickest_ways
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import claim_sends

SHARE = 0.15  # of the time that is left
RESTARTS = 1_000
MOST_RUN_AGAIN = 20_000  # machines times segments


@register(
    "reduction",
    name="shortest-paths",
    needs=(COPIED_OR_COMBINED, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    reach=(WAYS_ABOUT,),
    complexity="O(n²) for each different pair of ends; where it is run again, for each segment",
    source="Dijkstra 1959; run again with ports that are held for long taking longer",
)
def shortest_paths(
    problem: Reduction, control: Control, *, restarts: int | None = None
) -> Solution:
    """Send every segment along the tree of its quickest ways, one after another.

    Then by other ways, around ports that many of these hold, and segments in another order.
    """
    claim_sends(problem)
    holds, lacks = problem.statement.copied
    costs = broadcast_of(problem).over(len(problem.machines))
    copies, arrival = quickest_ways(problem, costs, holds, lacks)
    # a holder releases its segments one after another
    giver = holds.argmax(axis=0)
    order = np.argsort(giver, kind="stable")
    rank = np.arange(problem.items) - np.searchsorted(giver[order], giver[order])
    turn = np.empty(problem.items)
    turn[order] = rank * float(np.max(costs.transfer * np.max(costs.size), initial=0))
    rows = np.argsort(arrival + turn[copies[:, 2]], kind="stable")
    best = schedule_from_copies(problem, copies[rows])
    lower_bound = best_bound(problem)
    if restarts is None:
        restarts = RESTARTS if 0 < problem.items * len(holds) <= MOST_RUN_AGAIN else 0
    rng = np.random.default_rng(control.rng.integers(2**31))
    with control.sharing(SHARE):
        for run in range(restarts):
            if best.makespan <= lower_bound * (1 + 1e-12) or control.expired():
                break
            copies, arrival = quickest_ways(problem, costs, holds, lacks, rng)
            rows = np.argsort(arrival, kind="stable") if run % 2 else np.arange(len(copies))
            schedule = schedule_from_copies(problem, copies[rows])
            best = min(best, schedule, key=lambda each: each.makespan)
    met = best.makespan <= lower_bound * (1 + 1e-12)
    found = Solution(schedule=best, lower_bound=lower_bound, stopped=not met)
    return logged(problem, control, found)
