"""All-reduce: a reduction, and a broadcast of each segment as soon as it is complete."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.registry import applicability, find_method, register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.methods import trees
from makespan.reduction.methods.rarest_first import STYLES, Spreader
from makespan.reduction.needs import AN_ALL_REDUCE, FREE_ORDER, GIVEN_COUNT, OPEN_PLAN
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.rules.reversal import schedule_from_copies
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import Sends, claim_sends, costs_of, sends_in, sends_of
from makespan.reduction.timing import in_order

SENDS_IN_ALL = 2_000_000
MAX_RESTARTS = 60
SHAPES = (trees.chain, trees.two_tree, trees.binary, trees.star)
QUICK = ("single-segment", "star", "two-tree")
FEW_RUNS = {"restarts": 40, "rebuilds": 40}
EXACT = ("branch-and-bound", "cp-sat")
EXACT_UP_TO = 24  # sends
SECONDS = 2.0  # for a part, by one method
SECONDS_MERGED = 3e-7
"""What merging both parts of a large plan takes for a send."""


@register(
    "reduction",
    name="reduce-then-broadcast",
    needs=(AN_ALL_REDUCE, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER),
    complexity="that of rarest-first, for the reduction and for the broadcast",
    source="time reversal: a broadcast is a reduction; both share the ports",
)
def reduce_then_broadcast(
    problem: Reduction, control: Control, *, restarts: int | None = None
) -> Solution:
    """Plan reductions by several methods; spread each complete segment back over the same ports.

    The sends of both are merged by when they would start alone, and then timed together. So are
    the best reduction and the best broadcast, one after the other: no plan is worse than they are.
    """
    claim_sends(problem)
    with control.reserving(SECONDS_MERGED * sends_in(problem)), control.aside():
        found = _planned(problem, control, restarts)
    return logged(problem, control, found)


def _planned(problem: Reduction, control: Control, restarts: int | None) -> Solution:
    best: Schedule | None = None
    lower_bound = best_bound(problem)
    parts = [replace(problem, collective="reduce"), replace(problem, collective="broadcast")]
    reduced, spread = _alone(parts, control, exact=restarts is None)
    assert reduced.schedule is not None
    if problem.segments == 1:  # nothing is broadcast before all is reduced
        lower_bound = max(lower_bound, _proved(reduced) + _proved(spread))
    target = lower_bound * (1 + 1e-12)
    for reduction in chain((reduced.schedule,), _reductions(problem, control, restarts)):
        for copies, start in _broadcasts(problem, reduction, spread.schedule, control):
            schedule = merged(problem, reduction, copies, start)
            if schedule is not None and (best is None or schedule.makespan < best.makespan):
                best = schedule
            if best is not None and (best.makespan <= target or control.expired()):
                return Solution(schedule=best, lower_bound=lower_bound)
    return Solution(schedule=best, lower_bound=lower_bound, stopped=True)


def _alone(parts: Sequence[Reduction], control: Control, *, exact: bool) -> list[Solution]:
    """Return the best plans of the parts, by the methods for them.

    What is quick comes first, for all parts, and is done for small ones also when time is up; so
    the plan is no worse than those of the parts, each planned within such a time. Of large parts
    the second has no plan where the first took all the time.
    """
    best: list[Solution] = []
    for part in parts:
        late = bool(best) and control.expired() and not _is_small(part)
        chained = find_method("reduction", "chain").run
        best.append(Solution(schedule=None) if late else chained(part, control))
    stages: list[tuple[str, dict[str, int]]] = [(name, {}) for name in QUICK]
    if exact and all(map(_is_small, parts)):
        stages += [("rarest-first", FEW_RUNS), *((name, {}) for name in EXACT)]
    stages.append(("rarest-first", {}))
    before = control.incumbent
    for name, budget in stages:
        method = find_method("reduction", name)
        for place, part in enumerate(parts):
            quick = _is_small(part) and (name in QUICK or budget)
            if best[place].optimal or (control.expired() and not quick):
                continue
            if applicability(method, part).applies:
                control.incumbent = best[place]
                left = control.remaining
                with control.limited(SECONDS if left is None else min(SECONDS, left / 2)):
                    best[place] = _better(best[place], method.run(part, control, **budget))
    control.incumbent = before
    return best


def _better(one: Solution, other: Solution) -> Solution:
    """Return the solution with the better plan, with what both prove."""
    wins = other.schedule is not None and (other.optimal or other.makespan < one.makespan)
    return replace(other if wins else one, lower_bound=max(_proved(one), _proved(other)))


def _is_small(part: Reduction) -> bool:
    return (len(part.machines) - 1) * len(part.sizes) <= EXACT_UP_TO


def _proved(solution: Solution) -> float:
    """Return the bound that a method proved."""
    return solution.makespan if solution.optimal else solution.lower_bound or 0.0


def _reductions(problem: Reduction, control: Control, restarts: int | None) -> Iterator[Schedule]:
    """Yield reductions: classical trees, then rarest-first with fresh seeds."""
    part = replace(problem, collective="reduce")
    for shape in SHAPES:
        yield trees.planned(part, trees.parents_of(part, shape), control, trees.LEADS)
    count = max(1, (len(part.machines) - 1) * len(part.sizes))
    restarts = max(2, min(MAX_RESTARTS, SENDS_IN_ALL // count)) if restarts is None else restarts
    for turn in range(restarts):
        spreader = Spreader(part, control)
        if not spreader.run(int(control.rng.integers(2**31)), STYLES[turn % len(STYLES)]):
            return
        yield schedule_from_copies(part, spreader.copies)


def _broadcasts(
    problem: Reduction, reduction: Schedule, spread: Schedule | None, control: Control
) -> Iterator[tuple[Integers, Any]]:
    """Yield copies that spread every segment from when the root has it, and their starts, seconds.

    The first are those of ``spread``, begun as soon as every segment is there in time; where it
    is None, the reduction backwards.
    """
    part = replace(problem, collective="broadcast")
    complete = np.zeros(len(part.sizes))
    rows = np.flatnonzero(reduction.kind == Activity.REDUCE)
    at_root = rows[reduction.machine[rows] == ROOT]
    np.maximum.at(complete, reduction.item[at_root], reduction.end[at_root])
    order = sorted_by(complete)
    if spread is None:
        yield _mirrored(problem, reduction, complete, order)
        spread = find_method("reduction", "chain").run(part, control).schedule
        assert spread is not None
    sends, rows = sends_of(part, spread)
    wait = _wait(complete, sends.segment, spread.start[rows])
    copies = np.column_stack([sends.sender, sends.receiver, sends.segment])
    yield copies, spread.start[rows] + wait
    yield _mirrored(problem, reduction, complete, order)
    for style in STYLES[:2]:
        spreader = Spreader(part, control, complete[order])
        if not spreader.run(int(control.rng.integers(2**31)), style):
            return
        copies = spreader.copies.copy()
        copies[:, 2] = order[copies[:, 2]]
        yield copies, spreader.times[:, 0] * float(spreader.unit or 1)


def _wait(complete: Any, segment: Integers, start: Any) -> float:
    """Return by how much copies must be put off for every segment to be complete by its first."""
    first = np.full(len(complete), np.inf)
    np.minimum.at(first, segment, start)
    return float(np.max(complete - first, initial=0.0)) if len(start) else 0.0


def _mirrored(
    problem: Reduction, reduction: Schedule, complete: Any, order: Integers
) -> tuple[Integers, Any]:
    """Return the reduction run backwards, its last segment becoming the first complete one."""
    sends, rows = sends_of(replace(problem, collective="reduce"), reduction)
    arrival = reduction.end[rows] + problem.latencies[sends.sender, sends.receiver]
    role = np.empty(len(order), dtype=np.int64)
    role[order[::-1]] = order
    start = reduction.makespan - arrival
    segment = role[sends.segment]
    wait = _wait(complete, segment, start)
    copies = np.column_stack([sends.receiver, sends.sender, segment])
    return copies, start + wait


def merged(
    problem: Reduction, reduction: Schedule, copies: Integers, starts: Any
) -> Schedule | None:
    """Return both parts on shared ports, every port in the order of the parts' own times."""
    sends, rows = sends_of(replace(problem, collective="reduce"), reduction)
    start = np.concatenate([reduction.start[rows], starts])
    together = Sends(
        sender=np.concatenate([sends.sender, copies[:, 0]]),
        receiver=np.concatenate([sends.receiver, copies[:, 1]]),
        segment=np.concatenate([sends.segment, copies[:, 2]]),
        final=np.repeat([False, True], [len(rows), len(copies)]),
    )
    costs = costs_of(problem, together)
    units = costs.units(start)
    order = sorted_by(units, units + costs.transfer)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    arrivals = place[costs.order_of_arrival(start, start)]
    return in_order(problem, together.take(order), arrivals)
