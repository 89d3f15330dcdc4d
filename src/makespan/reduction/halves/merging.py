"""All-reduce: segments are combined, each on some machine, and copied as soon as they are complete.

On the root: a reduction and a broadcast. Dealt out: a reduce-scatter and an all-gather.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import logged
from makespan.reduction.bounds import best_bound, quick_bounds
from makespan.reduction.exact.cp_sat_allreduce import AllreduceModel
from makespan.reduction.halves import Planner, planner, trees
from makespan.reduction.halves.closed_forms import (
    bruck,
    circulant,
    direct,
    recursive_doubling,
    ring,
    single_segment,
)
from makespan.reduction.halves.proofs import best_by_cp_sat, branch_and_bound, copies_by_cp_sat
from makespan.reduction.halves.rarest_first import STYLES, Spreader, rarest_first
from makespan.reduction.halves.shortest_paths import shortest_paths, without_idle
from makespan.reduction.halves.tree_packing import tree_packing
from makespan.reduction.heuristics.allreduce_edd import schedule_by_due_date
from makespan.reduction.heuristics.rarest_first import broadcast_rarest_first
from makespan.reduction.heuristics.symmetry import schedule_from_copies
from makespan.reduction.model import homes_of
from makespan.reduction.problem import Collective, Reduction
from makespan.reduction.sends import Sends, claim_sends, costs_of, sends_in, sends_of
from makespan.reduction.timing import in_order

FEW_HOMES = 6
SENDS_IN_ALL = 2_000_000
MAX_RESTARTS = 60
SHAPES = (trees.chain, trees.two_tree, trees.binary, trees.star)
QUICK = (single_segment, trees.ALONG[trees.star], trees.ALONG[trees.two_tree], circulant)
QUICK_DEALT = (ring, recursive_doubling, bruck)
Parts = tuple[Collective, Collective]
FEW_RUNS = {"restarts": 40, "rebuilds": 40}
ONE_RUN = {"restarts": 1, "rebuilds": 0}
MANY = 5_000  # sends of a part, from which no closed form that leaves most machines idle is tried
EXACT_UP_TO = 24  # sends
SECONDS = 6.0  # for a part at most, where runs are not counted; a method gets a share of it
RUNS = 2  # by due dates: where one takes too long uncompiled, the time is better spent before
SECONDS_MERGED = 3e-7
BYTES_DEALT = 660  # a send, the most that was measured: two plans and the merged one
SECONDS_AT_LEAST = 5e-6
"""What merging both parts of a large plan takes for a send, and what any plan does at least."""


ON_ROOT: Parts = ("reduce", "broadcast")
DEALT: Parts = ("reduce-scatter", "all-gather")


@planner(
    name="reduce-then-broadcast",
    needs=(needs.AN_ALL_REDUCE, *needs.FREE_PLAN),
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
    return _merged_parts(problem, control, ON_ROOT, restarts)


@planner(
    name="reduce-scatter-all-gather",
    needs=(needs.COMBINED_AND_COPIED, *needs.FREE_PLAN),
    complexity="that of rarest-first, for the reduce-scatter and for the all-gather",
    source="Rabenseifner 2004; both share the ports",
)
def reduce_scatter_all_gather(
    problem: Reduction, control: Control, *, restarts: int | None = None
) -> Solution:
    """Combine segment k on machine k mod n, and copy it from there to all, over the same ports.

    Of a custom collective, on one of those in turn that must hold it.
    """
    return _merged_parts(problem, control, DEALT, restarts)


@planner(
    **needs.BY_CP_SAT._asdict(),
    name="cp-sat",
    proves="CP-SAT's optimality certificate, in whole units of time",
    complexity="exponential; (n - 1)² m optional transfers",
    source="optional intervals on ports and units; OR-tools CP-SAT",
)
def cp_sat(problem: Reduction, control: Control) -> Solution:
    """Choose destinations and times together; start from the best plan known.

    Combinations may first follow in any order, which gives a bound and mostly the optimum. Where
    the order of arrival then ends later, it is asked for and the search repeated.
    """
    if problem.statement.one_way or len(problem.machines) == 1:
        return copies_by_cp_sat(problem, control)
    first = partial(reduce_then_broadcast, problem, control, restarts=1)
    return best_by_cp_sat(problem, control, AllreduceModel, first)


EXACT = (branch_and_bound, cp_sat)


def _merged_parts(
    problem: Reduction, control: Control, pair: Parts, restarts: int | None
) -> Solution:
    claim_sends(problem, BYTES_DEALT if pair is DEALT else None)
    known, left = control.incumbent, control.remaining
    more_comes = needs.is_tried(problem, needs.BY_DUE_DATES, needs.ALONG_CRITICAL_PATH)
    packed = pair is DEALT and problem.times is None  # by linear programmes, which take a while
    soon = needs.is_tried(problem, needs.PROVED_SOON, needs.ANNEALED)
    part = 8 if more_comes and (soon or not packed) else 2
    more_finds = more_comes and not schedule_by_due_date.lacks(RUNS * sends_in(problem))
    others = pair is ON_ROOT or (known is not None and more_finds)  # are still to come
    share = math.inf if left is None else left / part if others else left
    needed = SECONDS_AT_LEAST * sends_in(problem)
    if share < needed <= (left or 0.0) / (2 if pair is DEALT else 6):
        share = needed
    if known is not None and known.schedule and share < needed:
        return known
    with (
        control.reserving(SECONDS_MERGED * sends_in(problem)),
        control.aside(),
        control.limited(share if others and left is not None else None),
    ):
        found = _planned(problem, control, pair, restarts)
    return logged(problem, control, found)


def _planned(problem: Reduction, control: Control, pair: Parts, restarts: int | None) -> Solution:
    best: Schedule | None = None
    lower_bound, least = best_bound(problem), math.inf
    everywhere = problem.items == 1 and (problem.times is not None or _on_each(problem, pair))
    for parts in _parts(problem, pair):
        if best is not None and control.expired():
            everywhere = False
            break
        with quick_bounds(problem.items > 1 and control.remaining is not None):
            reduced, spread = _alone(parts, control, exact=restarts is None)
            assert reduced.schedule is not None
            least = min(least, _proved(reduced) + _proved(spread))
            target = max(lower_bound, least if problem.items == 1 else 0.0) * (1 + 1e-12)
            for reduction, copies, start in (
                (one, *back)
                for one in chain((reduced.schedule,), _reductions(parts[0], control, restarts))
                for back in _broadcasts(parts[1], one, spread.schedule, control)
            ):
                # who needs no copy gets none: the send of a segment with one end would be its part
                rows = without_idle(copies, parts[1].statement.copied[1])
                schedule = merged(problem, parts[0], reduction, copies[rows], start[rows])
                if schedule is not None and (best is None or schedule.makespan < best.makespan):
                    best = schedule
                if best is not None and (best.makespan <= target or control.expired()):
                    break
    assert best is not None
    if everywhere:  # nothing is copied before all is combined, somewhere
        lower_bound = max(lower_bound, least)
    met = best.makespan <= lower_bound * (1 + 1e-12)
    return Solution(schedule=best, lower_bound=lower_bound, stopped=not met)


def _parts(problem: Reduction, pair: Parts) -> Iterator[tuple[Reduction, Reduction]]:
    """Yield what is combined, and then copied; one segment on each of a few unequal machines."""
    after, few = homes_of(problem.statement, problem.links), _on_each(problem, pair)
    if problem.collective == "all-reduce" and not few:
        one, other = (replace(problem, collective=part) for part in pair)
        yield one, other
        return
    every = [(np.flatnonzero(column) + 1).tolist() for column in after.T]
    custom: dict[str, Any] = {"collective": "custom", "segments": problem.segments}
    before: Any = [(np.flatnonzero(row) + 1).tolist() for row in problem.statement.before.T]
    wanted: Any = [(np.flatnonzero(row) + 1).tolist() for row in problem.statement.after.T]
    for turn in range(int(after.sum()) if few else 1):
        homes: Any = [[int(row[(k + turn) % len(row)])] for k, row in enumerate(every)]
        one = replace(problem, **custom, before=before, after=homes, combine=True)
        yield one, replace(problem, **custom, before=homes, after=wanted, combine=False)


def _on_each(problem: Reduction, pair: Parts) -> bool:
    """Whether a single segment is combined on each machine in turn, as they are unequal and few."""
    few = problem.items == 1 and len(problem.machines) <= FEW_HOMES
    return few and problem.times is None and pair is DEALT


def _alone(parts: Sequence[Reduction], control: Control, *, exact: bool) -> list[Solution]:
    """Return the best plans of the parts, by the methods for them.

    What is quick comes first, for all parts, and is done for small ones also when time is up; so
    the plan is no worse than those of the parts, each planned within such a time. Of large parts
    the second has no plan where the first took all the time.
    """
    best: list[Solution] = []
    on_root = parts[0].collective == "reduce"
    for part in parts:
        late = bool(best) and control.expired() and not _is_small(part)
        best.append(Solution(schedule=None) if late else _quickest(part, control))
    closed = QUICK if on_root else () if any(map(_is_thin, parts)) else QUICK_DEALT
    stages: list[tuple[Planner, dict[str, int]]] = [(each, {}) for each in closed]
    if exact and all(map(_is_small, parts)):
        stages += [(rarest_first, FEW_RUNS), *((each, {}) for each in EXACT)]
    lacking = any(broadcast_rarest_first.lacks(sends_in(part)) for part in parts)
    once: list[tuple[Planner, dict[str, int]]]
    once = [(rarest_first, ONE_RUN)] if exact and lacking else []
    stages += [(tree_packing, {}), *once, (rarest_first, {})]
    if parts[0].times is None:  # closed forms take all ways for equal
        stages.sort(key=lambda stage: stage[0] in closed)
    before = control.incumbent
    for method, budget in stages:
        for place, part in enumerate(parts):
            quick = _is_small(part) and (
                method not in EXACT and (method is not rarest_first or budget)
            )
            if best[place].optimal or (control.expired() and not quick):
                continue
            if lacking and place and method is tree_packing and _takes_as_long_back(part):
                continue  # the other half backwards will do: one whole run takes long
            if method.applies(part):
                control.incumbent = best[place]
                packs = method is tree_packing and parts[0].times is None
                share = 1 / (len(parts) - place) if packs else 1 / 3  # a packing: what is left
                share = 1.0 if budget is ONE_RUN else share  # uncompiled, one may take all of it
                with control.limited(_seconds(control, share, exact=exact)):
                    best[place] = _better(best[place], method(part, control, **budget))
    control.incumbent = before
    return best


def _takes_as_long_back(part: Reduction) -> bool:
    """Whether every way takes as long as the one back, where there is one."""
    return all(np.array_equal(table, table.T) for table in (part.latencies, part.transfers))


def _seconds(control: Control, share: float, *, exact: bool) -> float | None:
    """Return how long a method may plan a part; where runs are counted, no clock ends it."""
    left = math.inf if control.remaining is None else control.remaining
    seconds = share * (min(SECONDS, left) if exact else left)
    return None if seconds == math.inf else seconds


def _quickest(part: Reduction, control: Control) -> Solution:
    """Return a plan of a part that is there soon."""
    if _is_thin(part):
        return rarest_first(part, control, **ONE_RUN)
    if part.links is not None:
        return shortest_paths(part, control)
    on_root = part.collective in ("reduce", "broadcast")
    return (trees.ALONG[trees.chain] if on_root else direct)(part, control)


def _better(one: Solution, other: Solution) -> Solution:
    """Return the solution with the better plan, with what both prove."""
    wins = other.schedule is not None and (other.optimal or other.makespan < one.makespan)
    return replace(other if wins else one, lower_bound=max(_proved(one), _proved(other)))


def _is_small(part: Reduction) -> bool:
    return (len(part.machines) - 1) * len(part.sizes) <= EXACT_UP_TO


def _is_thin(part: Reduction) -> bool:
    """Whether a large part has fewer segments than equal machines: closed forms leave most idle."""
    return (
        part.collective in ("reduce-scatter", "all-gather")
        and part.times is not None
        and part.items < len(part.machines)
        and sends_in(part) >= MANY
    )


def _proved(solution: Solution) -> float:
    """Return the bound that a method proved."""
    return solution.makespan if solution.optimal else solution.lower_bound or 0.0


def _reductions(part: Reduction, control: Control, restarts: int | None) -> Iterator[Schedule]:
    """Yield reductions: classical trees on a root, then rarest-first with fresh seeds."""
    shapes = SHAPES if part.collective == "reduce" and part.links is None else ()
    for shape in shapes:
        yield trees.planned(part, trees.parents_of(part, shape), control, trees.LEADS)
    count = max(1, (len(part.machines) - 1) * len(part.sizes))
    restarts = max(2, min(MAX_RESTARTS, SENDS_IN_ALL // count)) if restarts is None else restarts
    for turn in range(restarts):
        spreader = Spreader(part, control)
        if not spreader.run(int(control.rng.integers(2**31)), STYLES[turn % len(STYLES)]):
            return
        yield schedule_from_copies(part, spreader.copies)


def _broadcasts(
    part: Reduction, reduction: Schedule, spread: Schedule | None, control: Control
) -> Iterator[tuple[Integers, Any]]:
    """Yield copies that spread every segment from when it is complete, and their starts, seconds.

    The first are those of ``spread``, begun as soon as every segment is there in time; where it
    is None, or ends later alone, the reduction backwards.
    """
    complete = np.zeros(len(part.sizes))
    rows = np.flatnonzero(reduction.kind == Activity.REDUCE)
    np.maximum.at(complete, reduction.item[rows], reduction.end[rows])
    order = sorted_by(complete)
    mirrored = _mirrored(part, reduction, complete, order)
    if spread is None or reduction.makespan < spread.makespan:
        yield from mirrored
        mirrored = []
    spread = _quickest(part, control).schedule if spread is None else spread
    assert spread is not None
    sends, rows = sends_of(part, spread)
    wait = _wait(complete, sends.segment, spread.start[rows])
    copies = np.column_stack([sends.sender, sends.receiver, sends.segment])
    yield copies, spread.start[rows] + wait
    yield from mirrored
    for style in STYLES[:2]:
        spreader = Spreader(part, control, complete)
        if not spreader.run(int(control.rng.integers(2**31)), style):
            return
        copies = spreader.copies
        yield copies, spreader.times[:, 0] * float(spreader.unit or 1)


def _wait(complete: Any, segment: Integers, start: Any) -> float:
    """Return by how much copies must be put off for every segment to be complete by its first."""
    first = np.full(len(complete), np.inf)
    np.minimum.at(first, segment, start)
    return float(np.max(complete - first, initial=0.0)) if len(start) else 0.0


def _mirrored(
    part: Reduction, reduction: Schedule, complete: Any, order: Integers
) -> list[tuple[Integers, Any]]:
    """Return the reduction run backwards, or nothing where a link does not lead back."""
    rows = reduction.rows_of(Activity.SEND)
    sender, receiver = reduction.machine[rows], reduction.peer[rows]
    if part.links is not None and not part.links[receiver, sender].all():
        return []
    arrival = reduction.end[rows] + part.latencies[sender, receiver]
    role = np.arange(len(order))
    if part.collective == "broadcast":
        role[order[::-1]] = order
    start = reduction.makespan - arrival
    segment = role[reduction.item[rows]]
    wait = _wait(complete, segment, start)
    return [(np.column_stack([receiver, sender, segment]), start + wait)]


def merged(
    problem: Reduction, part: Reduction, reduction: Schedule, copies: Integers, starts: Any
) -> Schedule | None:
    """Return both parts on shared ports, every port in the order of the parts' own times."""
    sends, rows = sends_of(part, reduction)
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
    arrivals = inverse(order)[costs.order_of_arrival(start, start)]
    return in_order(problem, together.take(order), arrivals)
