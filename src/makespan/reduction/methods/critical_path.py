"""Local search along the critical path of the best plan known."""

import sys

import numpy as np

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.merging import reduce_scatter_all_gather
from makespan.reduction.halves.rarest_first import rarest_first
from makespan.reduction.heuristics.annealing_sends import anneal
from makespan.reduction.heuristics.critical_path import Shortening
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.needs import ALONG_CRITICAL_PATH, ANNEALED, is_tried
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends, shared_links, tables_of

TIMED = 1_000_000  # sends in a run
STALE = 60  # runs that were of no use, before it is given up
FEW_RUNS = {"restarts": 20, "rebuilds": 0}
MOST_LATER = 0.1  # by what part plans that are gone on from may end later than the best, at most


@register(
    **ALONG_CRITICAL_PATH._asdict(),
    complexity="O(n m) a try",
    source="van Laarhoven, Aarts and Lenstra 1992; Dueck 1993; ruin and recreate, Schrimpf et al. "
    "2000",
)
def critical_path(problem: Reduction, control: Control, *, runs: int | None = None) -> Solution:
    """Send otherwise what the end of a plan waits for: sooner, from others, or to others.

    Plans that end a little later are gone on from, too: by less and less in turn. What all
    machines have or get is annealed, and grown anew in gaps of ports.
    """
    claim_sends(problem)
    known = control.known_or(lambda: _first(problem, control))
    lower_bound = best_bound(problem)
    least = lower_bound * (1 + 1e-12) / unit_of(problem)
    backward = _is_a_broadcast(problem)
    search = (_reversed if backward else _shortening)(problem, control)
    search.take(Plan.of(problem, known), backward=backward)
    rows = max(1, len(search.plan.rows))
    best = search.run(0)
    if known.makespan <= lower_bound * (1 + 1e-12):
        runs = 0
    annealed, one_way = is_tried(problem, ANNEALED), problem.statement.one_way
    share = needs.share_of_search(problem)
    share = share / 2 if is_tried(problem, needs.EJECTED) else share
    changing = search.plan.rows.copy()
    with control.sharing(share):
        for _ in range(sys.maxsize if runs is None else runs):
            if not least < best < np.inf or search.stale > STALE or control.expired():
                break
            before, tries = best, 1 + TIMED // rows
            if one_way or not annealed:
                best = search.run(tries, MOST_LATER * control.rng.random() ** 2)
                changing = search.plan.rows.copy() if best < before else changing
            if annealed:
                before, grain = best, int(problem.unit is not None)
                best = anneal(search, changing, best, least, grain, tries)
                search.stale = 0 if best < before else search.stale + (not one_way)
    plan = search.plan.mirrored() if backward else search.plan
    schedule = plan.schedule(problem) if best < np.inf else known
    schedule = min(known, schedule, key=lambda each: each.makespan)
    return finished(problem, control, schedule, lower_bound)


def unit_of(problem: Reduction) -> float:
    """Return the unit of the tables, seconds."""
    return float(tables_of(problem).unit or 1)


def _first(problem: Reduction, control: Control) -> Solution:
    """Return a plan to start from."""
    if problem.statement.one_way:
        return rarest_first(problem, control, **FEW_RUNS)
    return reduce_scatter_all_gather(problem, control, restarts=1)


def _shortening(problem: Reduction, control: Control) -> Shortening:
    """Return the search of a problem, all times in the unit of its tables."""
    count = len(problem.machines)
    tables = tables_of(problem).over(count)
    transfer, latency, reduce, size = (
        np.ascontiguousarray(each, dtype=tables.latency.dtype) for each in tables[:4]
    )
    before, _, combining = problem.statement
    holds = np.where(before, 0 if combining else 2, 1).astype(np.int64)
    every, ports = np.arange(count), problem.ports
    ends = (every[:, None], every[None]) if ports is None else (ports.sending, ports.receiving)
    shared, ahead = shared_links(problem, tables)
    ways = *map(np.ascontiguousarray, (*ends, shared)), np.ascontiguousarray(ahead, latency.dtype)
    last = float(transfer.max() * size.max())
    return Shortening((latency, transfer, reduce, size), holds, ways, last, control)


def _is_a_broadcast(problem: Reduction) -> bool:
    """Whether a problem is annealed as the broadcast that it is in reversed time."""
    sizes, statement = problem.sizes, problem.statement
    reversible = statement.combining and statement.one_way and sizes.min() == sizes.max()
    return bool(reversible) and is_tried(problem, ANNEALED)


def _reversed(problem: Reduction, control: Control) -> Shortening:
    """Return the search of a reduction as a broadcast in reversed time.

    More arrives late then if a plan is to end sooner: all that the last copies bring, and not a few
    parts at the root. What a giver prepares delays its copy; where that takes longer than to send,
    it holds the ports for as long, so that no plan of parts ends later than that of copies.
    """
    search = _shortening(problem, control)
    latency, transfer, reduce, size, *_, exits, entries, shared, ahead = search.given
    work = np.broadcast_to(reduce[:, None], transfer.shape)
    sent, lasts = transfer.T, np.where(transfer.T < 0, transfer.T, np.maximum(transfer.T, work))
    before = latency.T + ((work + sent - lasts) * size[0]).astype(latency.dtype)
    holds, _ = problem.statement.copied
    costs = map(np.ascontiguousarray, (before, lasts, 0 * reduce, size))
    ways = exits, entries, shared, ahead
    return Shortening(tuple(costs), np.where(holds, 2, 1), ways, search.last, control)
