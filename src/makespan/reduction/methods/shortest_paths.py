"""Every segment by the quickest ways: a plan also where links are missing."""

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
    MISSING_LINKS,
    OPEN_PLAN,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.reversal import broadcast_of, schedule_from_copies
from makespan.reduction.rules.routes import quickest_ways
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import claim_sends


@register(
    "reduction",
    name="shortest-paths",
    needs=(COPIED_OR_COMBINED, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    reach=(MISSING_LINKS,),
    complexity="O(n²) for each different pair of ends",
    source="Dijkstra 1959",
)
def shortest_paths(problem: Reduction, control: Control) -> Solution:
    """Send every segment along the tree of its quickest ways, one after another."""
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
    schedule = schedule_from_copies(problem, copies[rows])
    return logged(problem, control, Solution(schedule=schedule, lower_bound=best_bound(problem)))
