"""Local search along the critical path of the best plan known."""

import sys

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import readonly
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.reduction.answer import finished
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.merging import reduce_scatter_all_gather
from makespan.reduction.halves.rarest_first import rarest_first
from makespan.reduction.heuristics.annealing_sends import AnnealedSends
from makespan.reduction.heuristics.critical_path import Shortening
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.needs import (
    ALONG_CRITICAL_PATH,
    ANNEALED,
    BY_CP_SAT,
    FEW_ARCS,
    PROVED_SOON,
    is_tried,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends, shared_links, tables_of

TIMED = 1_000_000  # sends in a run
TIMED_ANNEALED = 1_000_000  # the same, while a plan is annealed
STALE = 60  # runs that were of no use, before it is given up
SHARE = 0.5  # of the time that is left, where exact search follows
SHARE_ANNEALED = 0.85  # the same where sends are annealed, as exact search seldom improves them
SHARE_BEFORE_PROOF = 0.1  # the same, where it soon proves the optimum
FEW_RUNS = {"restarts": 20, "rebuilds": 0}
MOST_LATER = 0.1  # by what part plans that are gone on from may end later than the best, at most


@register(
    **ALONG_CRITICAL_PATH._asdict(),
    complexity="O(n m) a try",
    source="van Laarhoven, Aarts and Lenstra 1992; record-to-record travel, Dueck 1993",
)
def critical_path(problem: Reduction, control: Control, *, runs: int | None = None) -> Solution:
    """Send otherwise what the end of a plan waits for: sooner, from others, or to others.

    Plans that end a little later are gone on from, too: by less and less in turn.
    """
    claim_sends(problem)
    known = control.known_or(lambda: _first(problem, control))
    lower_bound = best_bound(problem)
    least = lower_bound * (1 + 1e-12) / unit_of(problem)
    search = _shortening(problem, control)
    search.take(Plan.of(problem, known), backward=False)
    rows = max(1, len(search.plan.rows))
    more_comes = is_tried(problem, BY_CP_SAT)
    best = search.run(0)
    few = is_tried(problem, FEW_ARCS) or (problem.statement.one_way and problem.links is not None)
    share = SHARE_ANNEALED if is_tried(problem, ANNEALED) and not few else SHARE
    share = SHARE_BEFORE_PROOF if is_tried(problem, PROVED_SOON) else share
    annealed = _annealed(problem, control, search, least)
    with control.sharing(share if more_comes else 1.0):
        for _ in range(sys.maxsize if runs is None else runs):
            if not least < best < np.inf or search.stale > STALE or control.expired():
                break
            if annealed is None or problem.statement.one_way:
                later = MOST_LATER * control.rng.random() ** 2
                best = search.run(1 + TIMED // rows, later)
            if annealed is not None:
                annealed.take(search.plan, best)
                if annealed.run(1 + TIMED_ANNEALED // rows) < best:
                    search.take(annealed.plan, backward=False)
                    best = annealed.end
    plan = search.plan
    schedule = plan.schedule(problem) if best < np.inf else known
    schedule = min(known, schedule, key=lambda each: each.makespan)
    return finished(problem, control, schedule, lower_bound)


def unit_of(problem: Reduction) -> float:
    """Return the unit of the tables, seconds."""
    return float(tables_of(problem).unit or 1)


def _annealed(
    problem: Reduction, control: Control, search: Shortening, least: float
) -> AnnealedSends | None:
    """Return the annealing of a problem in which all machines have or get all, else None."""
    if not is_tried(problem, ANNEALED):
        return None
    return AnnealedSends(search.given, least, int(problem.unit is not None), control)


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
