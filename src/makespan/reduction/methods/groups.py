"""Groups of machines: within groups and between their homes, or each group for itself."""

from bisect import insort
from collections.abc import Iterator
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, condition, one_of, register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished, logged
from makespan.reduction.bounds import best_bound
from makespan.reduction.heuristics.hierarchical_exchange import (
    COMBINED,
    COPY,
    MANNERS,
    PART,
    InTurns,
    Shape,
    places_of,
    take_turns,
)
from makespan.reduction.heuristics.symmetry import Plan, schedule_from_copies
from makespan.reduction.model import ENDS, statement_of
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Sends, claim_sends, sends_in, tables_of
from makespan.reduction.timing import kept_to

MOST_GROUPS = 4096
STEPS = 50_000_000  # about a quarter of a second
SHAPES, TIMED = 12, 3
MANY = 2_000  # sends from which other manners are tried
MOST_NEAR, STEPS_NEAR = 100, 400_000_000  # runs in such, and what they do in all
SHARE, SHARE_BEFORE = 0.4, 0.15  # of the time that is left, and where a search follows
ROUNDING = 1e-11
BYTES, BYTES_APART = 260, 500  # a send of an all-reduce, the most that was measured, with a check
TIMED_IN_ALL = 50_000  # sends
SHARE_APART = 0.5  # of the time that is left: others then go on with all groups at once


def _not_over_groups(problem: Reduction) -> str | None:
    if problem.collective == "all-reduce":
        return None
    if problem.collective not in ("all-gather", "reduce-scatter"):
        return f"collective is {problem.collective!r}"
    few = problem.segments == "auto" or problem.segments < len(problem.machines)
    return None if few else "there are as many segments as machines"


OVER_GROUPS = Need(
    "an all-reduce, or an all-gather or reduce-scatter of fewer segments than machines",
    _not_over_groups,
)


@register(
    needs=(OVER_GROUPS, *needs.FREE_PLAN, needs.ALL_LINKS),
    reach=(needs.NOT_ANNEALED,),
    complexity="O(n m + g² m), for the number g of groups",
    source="Jia et al. 2018 and Mikami et al. 2018: within groups, between groups, and back; here "
    "in waves that overlap, and between machines of any two groups",
)
def hierarchical(problem: Reduction, control: Control) -> Solution:
    """Combine every segment on a home in each group, between the homes, and copy it back.

    While homes wait for each other, parts and copies of other waves of segments are sent. Machines
    at one place of their groups do the same: it is groups that send to each other in turns, to
    whatever group is free, those at place p to those at place p + r for the r-th part. An
    all-gather is the way back, from machines that have segments; backwards, a reduce-scatter.

    Of many sends, groups take turns in more manners: near those in which they were done first.
    """
    claim_sends(problem, BYTES if problem.collective == "all-reduce" else None)
    lower_bound = best_bound(problem)
    searched = needs.is_tried(problem, needs.BY_DUE_DATES, needs.ALONG_CRITICAL_PATH)
    with control.sharing(SHARE_BEFORE if searched else SHARE):
        best = _planned(problem, control, lower_bound * (1 + ROUNDING))
    return logged(problem, control, Solution(schedule=best, lower_bound=lower_bound))


def _planned(problem: Reduction, control: Control, met: float) -> Schedule:
    """Return the best plan of those that end first in turns, or the first that ends by ``met``."""
    found: list[InTurns] = []
    for shape in _shapes(problem):
        for manner in MANNERS:
            if found and control.expired():
                break
            found.append(take_turns(problem, shape, manner))
    found.sort(key=lambda each: each.end)
    first = found[0]
    best = _schedule(problem, first)
    if sends_in(problem) >= MANY and best.makespan > met:
        found = _near(problem, control, found)
    timed = max(TIMED, TIMED_IN_ALL // (1 + sends_in(problem)))
    for plan in [plan for plan in found[:timed] if plan is not first]:
        if best.makespan <= met or control.expired():
            break
        schedule = _schedule(problem, plan)
        best = schedule if schedule.makespan < best.makespan else best
    return best


def _near(problem: Reduction, control: Control, found: list[InTurns]) -> list[InTurns]:
    """Return the best of the plans and of others, each in a manner near that of one before."""
    known, steps = list(found), 0
    with control.sharing(1 / 2):
        for _ in range(MOST_NEAR):
            chosen = known[int(len(known) * control.rng.random() ** 3)]
            steps += chosen.shape.groups * chosen.shape.sends
            if steps > STEPS_NEAR or control.expired():
                break
            insort(
                known,
                take_turns(problem, chosen.shape, chosen.manner.moved(control.rng)),
                key=lambda each: each.end,
            )
            known.pop()
    return known


def _shapes(problem: Reduction) -> list[Shape]:
    """Return the shapes that promise the fewest turns."""
    found: dict[tuple[int, int], Shape] = {}
    for shape in _divided(len(problem.machines), problem.items):
        if problem.collective != "all-reduce" and shape.waves > shape.groups:
            continue  # a root has segments of two waves
        if shape.groups * shape.sends <= STEPS or shape.groups == 1:
            found.setdefault((shape.size, shape.waves), shape)
    tables = tables_of(problem)
    longest = float(np.max(tables.latency) + np.max(tables.reduce)) / float(
        np.max(tables.transfer) or 1
    )
    depth = 2 * len(problem.machines).bit_length() * (1 + longest)

    def turns(shape: Shape) -> float:
        return shape.turns + (depth if shape.groups > 1 == shape.waves else 0.0)

    return sorted(found.values(), key=turns)[:SHAPES]


def _divided(machines: int, segments: int) -> Iterator[Shape]:
    for groups in range(1, min(machines, MOST_GROUPS) + 1):
        size = -(-machines // groups)
        homes = size if size * groups == machines else size - 1
        if homes:
            waves = -(-segments // homes)
            yield Shape(groups, size, -(-segments // waves), waves)


def _schedule(problem: Reduction, plan: InTurns) -> Schedule:
    """Return the plan of what groups send in turns."""
    sends = _sends(problem, plan.shape, plan.rows)
    if problem.collective != "all-reduce":
        copies = np.column_stack([sends.sender, sends.receiver, sends.segment])
        return schedule_from_copies(problem, copies)
    return kept_to(problem, sends)


def _sends(problem: Reduction, shape: Shape, rows: Integers) -> Sends:
    """Return the sends of machines, of every home's segment, that groups make in turns."""
    sender, receiver, wave, kind, left = (column[:, None] for column in rows.T)
    home = np.arange(shape.homes)
    within = kind * (COPY - kind) == PART  # not between homes
    other = (home - np.where(within, shape.size - left, 0)) % shape.size
    there = kind <= COMBINED
    place: Any = np.where(there, other, home), np.where(there, home, other)
    full = len(problem.machines) - shape.groups * (shape.size - 1)
    size = np.where(np.arange(shape.groups) < full, shape.size, shape.size - 1)
    first = np.cumsum(size) - size
    segment = np.broadcast_to(wave * shape.homes + home, place[0].shape)
    real = (segment < problem.items) & (other < np.where(there, size[sender], size[receiver]))
    ends = [(first[group] + at)[real] for group, at in zip((sender, receiver), place, strict=True)]
    if problem.collective != "all-reduce":  # the machines that have segments are the homes of roots
        roots = first[np.argmin(places_of(shape), axis=1)]
        machine = np.full(len(problem.machines), -1)
        owners = (roots[:, None] + home).ravel()[: problem.items]
        machine[owners] = np.arange(problem.items)
        machine[machine < 0] = np.arange(problem.items, len(machine))
        ends = [machine[each] for each in ends]
    final = np.broadcast_to(~there, real.shape)[real]
    return Sends(sender=ends[0], receiver=ends[1], segment=segment[real], final=final)


@register(
    needs=(
        one_of("collective", "custom", decisive=True),
        condition("no network", lambda each: each.network is None, "one is given", decisive=True),
        condition("groups that share no segment", lambda each: len(_groups(each)) > 1, "they do"),
        *needs.FREE_PLAN,
        needs.ALL_LINKS,
    ),
    complexity="that of other methods, once for each group that differs from the others",
    source="groups that share no segment are problems of their own",
)
def process_groups(problem: Reduction, control: Control) -> Solution:
    """Plan each group for itself by what ``auto`` tries; groups that are alike share a plan.

    Machines of a group send nothing of another one. Later methods let them help it.
    """
    claim_sends(problem, BYTES_APART)
    groups = _groups(problem)
    parts = [_part(problem, *each) for each in groups]
    unlike, plans = dict.fromkeys(parts), dict[Reduction, Plan]()
    with control.sharing(SHARE_APART):
        for part in unlike:
            with control.sharing(1 / (len(unlike) - len(plans))):
                found = control.line_up(part).schedule
            assert found is not None
            plans[part] = Plan.of(part, found)
    rows = np.concatenate([
        np.column_stack([machines[row[:, :2]], segments[row[:, 2]], row[:, 3]])
        for part, (machines, segments) in zip(parts, groups, strict=True)
        for row in [plans[part].rows]
    ])  # fmt: skip
    schedule = Plan(rows, np.empty((len(rows), 2))).schedule(problem)
    return finished(problem, control, schedule, best_bound(problem))


def _groups(problem: Reduction) -> list[tuple[Integers, Integers]]:
    """Return the machines and the segments of each group."""
    concerned = problem.statement.before | problem.statement.after
    label = np.arange(len(concerned))
    _, unlike = np.unique(np.packbits(concerned, axis=0), axis=1, return_index=True)
    for column in concerned.T[unlike]:
        mine = np.unique(label[column])
        label[np.isin(label, mine)] = mine[0]
    of_segment = label[concerned.argmax(axis=0)]
    places = ((label == each, of_segment == each) for each in np.unique(of_segment))
    return [(np.flatnonzero(one), np.flatnonzero(two)) for one, two in places]


def _part(problem: Reduction, machines: Integers, segments: Integers) -> Reduction:
    """Return what a group does, under its usual name if it has one: that has more methods."""
    combine, count = problem.combine, len(machines)
    ends = [side[np.ix_(machines, segments)] for side in problem.statement[:2]]
    sizes = None if problem.segment_sizes is None else problem.segment_sizes[segments]
    given: Any = {"machines": count, "segments": len(segments), "segment_sizes": sizes}
    for name in ("latency", "transfer", "reduce"):
        costs = np.asarray(getattr(problem, name))
        given[name] = costs[np.ix_(*[machines] * costs.ndim)]
    usual: Any
    for usual in ENDS:
        sides = statement_of(usual, count, len(segments), None, None, combine)
        if sides.combining == combine and all(map(np.array_equal, sides[:2], ends)):
            return Reduction(collective=usual, **given)
    before, after = ([(np.flatnonzero(each) + 1).tolist() for each in side.T] for side in ends)
    return Reduction(collective="custom", before=before, after=after, combine=combine, **given)
