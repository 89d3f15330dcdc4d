"""Every segment by the quickest ways, or around busy ones: a plan also where links are missing."""

from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import planner
from makespan.reduction.heuristics.symmetry import (
    broadcast_of,
    ports_of_copies,
    schedule_from_copies,
)
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Tables, claim_sends


@planner(
    name="shortest-paths",
    needs=(needs.COPIED_OR_COMBINED, *needs.FREE_PLAN),
    reach=(needs.WAYS_ABOUT,),
    complexity="O(n²) for each different pair of ends; where it is run again, for each segment",
    source="Dijkstra 1959; run again with ports that are held for long taking longer",
)
def shortest_paths(
    problem: Reduction, control: Control, *, restarts: int | None = None
) -> Solution:
    """Send every segment along the tree of its quickest ways, one after another.

    Then, ``restarts`` times, by other ways around ports that many of these hold, in another order.
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
    rng = np.random.default_rng(control.rng.integers(2**31))
    for run in range(restarts or 0):
        if control.expired() or best.makespan <= lower_bound * (1 + 1e-12):
            break
        copies, arrival = quickest_ways(problem, costs, holds, lacks, rng)
        rows = np.argsort(arrival, kind="stable") if run % 2 else np.arange(len(copies))
        schedule = schedule_from_copies(problem, copies[rows])
        best = min(best, schedule, key=lambda each: each.makespan)
    return finished(problem, control, best, lower_bound)


SEARCHES = 20_000  # of n² steps, in which each segment is led around what others use


def quickest_ways(
    problem: Reduction, tables: Tables, holds: Bools, lacks: Bools, rng: Any = None
) -> tuple[Integers, Any]:
    """Return the copies of the quickest ways, and when each would arrive if nothing else were sent.

    Rows are (giver, taker, segment), each behind those that it waits for; costs are those of
    :func:`~makespan.reduction.heuristics.symmetry.broadcast_of`, for every pair. Of copies any
    other machine may forward those that are lacked. With ``rng``, ports that earlier segments use
    are taken for longer, those that the quickest ways hold for longest count for more, and segments
    follow at random, so that ways differ from call to call. Complexity: O(n²) for each different
    set of holders, and where parts are combined of ends; with ``rng`` for each segment. Source:
    Dijkstra 1959.
    """
    transfer, latency, prepare, size, _ = tables
    machines = len(prepare)
    exits, entries, _, _ = ports_of_copies(problem)
    if exits is None:
        exits, entries = np.indices((machines, machines))
    missing = (transfer < 0) | np.eye(machines, dtype=bool)
    forward = not problem.statement.combining
    load = np.zeros(exits.max() + 1), np.zeros(entries.max() + 1)
    weight, takes = 0.0, transfer + prepare[:, None]
    segments = np.flatnonzero(lacks.any(axis=0))
    if rng is not None and len(segments) <= SEARCHES:
        segments = rng.permutation(segments)
        weight = float(rng.choice([0.0, 0.1, 0.3, 1.0]))
        ways, _ = quickest_ways(problem, tables, holds, lacks)
        held = transfer[ways[:, 0], ways[:, 1]] * size[ways[:, 2]]
        np.add.at(load[0], exits[ways[:, 0], ways[:, 1]], held)
        np.add.at(load[1], entries[ways[:, 0], ways[:, 1]], held)
        dear = float(rng.choice([0.0, 0.3, 1.0, 3.0])) / max(load[0].max(), load[1].max(), 1e-300)
        takes = takes * (1 + dear * (load[0][exits] + load[1][entries]))
        load[0][:] = load[1][:] = 0
    known: dict[bytes, Any] = {}
    found: list[tuple[int, int, int]] = []
    arrivals: list[float] = []
    for segment in segments.tolist():
        own, wanted = holds[:, segment], lacks[:, segment]
        key = own.tobytes() + size[segment].tobytes() + (b"" if forward else wanted.tobytes())
        if key not in known or weight:
            cost = latency + takes * size[segment]
            cost = np.where(missing, np.inf, cost + weight * (load[0][exits] + load[1][entries]))
            goals = None if forward and not weight else wanted
            known[key] = _search(cost, own, goals, np.True_ if forward else wanted)
        for giver, taker, arrival in _tree(wanted, *known[key]):
            found.append((giver, taker, segment))
            arrivals.append(arrival)
            if weight:
                lasts = float(transfer[giver, taker] * size[segment])
                load[0][exits[giver, taker]] += lasts
                load[1][entries[giver, taker]] += lasts
    return np.array(found, dtype=np.int64).reshape(-1, 3), np.array(arrivals)


def _search(cost: Any, own: Bools, wanted: Bools | None, within: Any) -> tuple[Any, Any, list[int]]:
    """Return distances from ``own``, the machine before each, and the order, up to ``wanted``."""
    distance = np.where(own, 0.0, np.inf)
    above = np.full(len(own), -1)
    ahead = np.ones(len(own), dtype=bool)
    order: list[int] = []
    missing = len(own) if wanted is None else int(wanted.sum())
    while missing:
        reached = np.where(ahead, distance, np.inf)
        near = int(np.argmin(reached))
        if reached[near] == np.inf:
            break
        ahead[near] = False
        order.append(near)
        missing -= 1 if wanted is None else int(wanted[near])
        later = distance[near] + cost[near]
        nearer = ahead & within & (later < distance)
        distance[nearer] = later[nearer]
        above[nearer] = near
    return distance, above, order


def _tree(
    wanted: Bools, distance: Any, above: Any, order: list[int]
) -> list[tuple[int, int, float]]:
    """Return the links of the quickest ways to ``wanted``, in order of arrival."""
    used = wanted.copy()
    for machine in reversed(order):
        if used[machine] and above[machine] >= 0:
            used[above[machine]] = True
    return [
        (int(above[machine]), machine, float(distance[machine]))
        for machine in order
        if used[machine] and above[machine] >= 0
    ]


def without_idle(copies: Integers, lacks: Bools) -> Integers:
    """Return the rows of the copies but those to machines that neither need nor forward them."""
    rows = np.arange(len(copies))
    while True:
        gives = lacks.copy()
        gives[copies[rows, 0], copies[rows, 2]] = True
        useful = gives[copies[rows, 1], copies[rows, 2]]
        if useful.all():
            return rows
        rows = rows[useful]
