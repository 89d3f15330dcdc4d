"""The referee: does a schedule keep to the statement of a reduction?

Times are compared to within 1e-9 of the makespan. Idle time is legal. What is no longer than that
takes no time: on a port or a unit it may stand where another activity begins or ends, as either
order is then kept to, but not in its midst.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.report import Violation, broken
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.referee.given import given_plan
from makespan.reduction.referee.reading import SHOWN, TOLERANCE, Plan
from makespan.reduction.referee.resources import ports, readiness, reductions


def violations(problem: Reduction, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in which ``schedule`` breaks the statement, in O(rows log rows)."""
    schedule = schedule.renamed(problem.machines)
    found = list(_misplaced(problem, schedule))
    if problem.segments == "auto" and not found:
        problem = problem.with_segments(int(schedule.item.max(initial=0)) + 1)
    if not found:
        plan = Plan(problem, schedule)
        found = [*_unlinked(plan), *_incomplete(plan)]
    yield from found
    if found:
        return
    yield from _durations(plan)
    yield from _amounts(plan)
    yield from _trees(plan)
    yield from ports(plan)
    yield from readiness(plan)
    yield from reductions(plan)
    yield from given_plan(plan)


def _misplaced(problem: Reduction, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that can't belong to such a problem at all."""
    known = (schedule.kind == Activity.SEND) | (schedule.kind == Activity.REDUCE)
    low = schedule.item < 0
    if problem.segments != "auto":
        low |= schedule.item >= problem.items
    tests = (
        ("kind", ~known, "is neither a send nor a reduction"),
        ("segment", low, "handles no segment of the problem; they are numbered from 0"),
        ("peer", schedule.peer < 0, "has no peer; a send and a reduction name the other machine"),
        ("self-send", schedule.peer == schedule.machine, "is between a machine and itself"),
    )
    for rule, wrong, what in tests:
        for row in np.flatnonzero(wrong)[:SHOWN].tolist():
            yield broken(rule, f"activity {row} {what}", (row,))


def _unlinked(plan: Plan) -> Iterator[Violation]:
    """Yield the sends over missing links."""
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    ends = schedule.machine[sends], schedule.peer[sends]
    wrong = np.isinf(problem.latencies[ends]) | np.isinf(problem.transfers[ends])
    for row in sends[wrong][:SHOWN].tolist():
        sender, receiver = plan.who(schedule.machine[row]), plan.who(schedule.peer[row])
        text = f"{sender} sends {plan.segment_of(row)} to {receiver}, but there is no link"
        yield broken("link", text, (row,))


def _incomplete(plan: Plan) -> Iterator[Violation]:
    """Yield the sends that are missing or too many, and those without exactly one reduction."""
    problem, schedule = plan.problem, plan.schedule
    shape = (len(problem.machines), problem.items)
    before, after, combining = problem.statement
    if combining:
        fewest = before & ~after  # one that must hold it after keeps its part
        keeps = np.zeros(shape, dtype=bool)
        if problem.statement.one_way:
            fewest, keeps = before & ~after, after
        yield from _times(plan, plan.given, "sends", fewest, before & ~keeps, schedule.machine)
        for segment in np.flatnonzero(plan.sources.sum(axis=0) != 1)[:SHOWN].tolist():
            count = int(plan.sources[:, segment].sum())
            text = f"{count} machines keep their part of {segment_name(segment)}; one must"
            yield broken("once", text)
    if not problem.statement.one_way or not combining:
        wanted, known = after & ~plan.sources, plan.sources
        yield from _times(plan, plan.got, "receives", wanted, ~known, schedule.peer)
    sent, combined = plan.sent, plan.taken
    if plan.are_alike or np.array_equal(np.sort(sent), np.sort(combined)):
        return
    keys, inverse = np.unique(np.concatenate([sent, combined]), return_inverse=True)
    sign = np.repeat([1, -1], [len(sent), len(combined)])
    total = np.bincount(inverse, weights=sign, minlength=len(keys))
    for key in keys[total != 0][:SHOWN].tolist():
        pair, segment = divmod(key, shape[1])
        receiver, sender = divmod(pair, shape[0])
        text = (
            f"{segment_name(segment)} from {problem.machines[sender]} to "
            f"{problem.machines[receiver]}: sends and reductions differ in number"
        )
        yield broken("reduction", text)


def _times(
    plan: Plan, count: Integers, rule: str, fewest: Any, most: Any, machine: Integers
) -> Iterator[Violation]:
    """Yield where a machine sends or receives a segment too rarely or too often."""
    rows = plan.sends[plan.final == (rule == "receives")]
    for who, segment in np.argwhere((count < fewest) | (count > most))[:SHOWN].tolist():
        low, high = bool(fewest[who, segment]), bool(most[who, segment])
        those = (machine[rows] == who) & (plan.schedule.item[rows] == segment)
        text = (
            f"{plan.who(who)} {rule} {segment_name(segment)} {count[who, segment]} times; "
            f"it must {'once' if low else 'once at most' if high else 'never'}"
        )
        yield broken("once", text, rows[those][:20])


def _durations(plan: Plan) -> Iterator[Violation]:
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    size = problem.sizes[schedule.item[sends]]
    sender, receiver = schedule.machine[sends], schedule.peer[sends]
    combine = np.zeros(len(sends))
    if problem.statement.combining:
        combine = np.where(plan.final, 0.0, problem.reduces[receiver] * size)
    for rows, expected, what in (
        (sends, problem.transfers[sender, receiver] * size, "send"),
        (plan.reductions, combine, "reduction"),
    ):
        excess = np.abs(schedule.end[rows] - schedule.start[rows] - expected)
        for index in np.flatnonzero(excess > plan.tolerance)[:SHOWN].tolist():
            row = int(rows[index])
            text = (
                f"{what} of {plan.segment_of(row)} on {plan.who(schedule.machine[row])} lasts "
                f"{float(schedule.end[row] - schedule.start[row])!r}; "
                f"it takes {float(expected[index])!r}"
            )
            times = schedule.start[row], schedule.end[row]
            yield broken("duration", text, (row,), times, excess[index])


def _amounts(plan: Plan) -> Iterator[Violation]:
    """The amount of a row is the size of its segment."""
    schedule = plan.schedule
    size = plan.problem.sizes[schedule.item]
    wrong = np.abs(schedule.amount - size) > TOLERANCE * size
    for row in np.flatnonzero(wrong)[:SHOWN].tolist():
        text = (
            f"activity {row} has the amount {float(schedule.amount[row])!r}; "
            f"{plan.segment_of(row)} has the size {float(size[row])!r}"
        )
        yield broken("amount", text, (row,), excess=abs(schedule.amount[row] - size[row]))


def _trees(plan: Plan) -> Iterator[Violation]:
    """Every part must reach where its segment is combined, and copies come from who has it."""
    problem, schedule = plan.problem, plan.schedule
    for last, child, parent in (
        (False, schedule.machine, schedule.peer),
        (True, schedule.peer, schedule.machine),
    ):
        rows = plan.sends[plan.final == last]
        if not len(rows):
            continue
        own = np.arange(len(problem.machines))[:, None]
        up = np.repeat(own, problem.items, axis=1)
        up[child[rows], schedule.item[rows]] = parent[rows]
        for _ in range(len(problem.machines).bit_length()):
            up = np.take_along_axis(up, up, axis=0)
        moved = np.zeros(up.shape, dtype=bool)
        moved[child[rows], schedule.item[rows]] = True
        ends = np.take_along_axis(plan.sources, up, axis=0)
        for segment in np.flatnonzero((moved & ~ends).any(axis=0))[:SHOWN].tolist():
            stray = int(np.flatnonzero((moved & ~ends)[:, segment])[0])
            text = (
                f"{segment_name(segment)} of {plan.who(stray)} goes round in a cycle, or "
                "comes from or goes to a machine that has nothing to do with it"
            )
            yield broken("tree", text)
