"""The referee: does a schedule keep to the statement of a reduction?

Times are compared to within 1e-9 of the makespan. Idle time is legal. What is no longer than that
takes no time: on a port or a unit it may stand where another activity begins or ends, as either
order is then kept to, but not in its midst.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import as_places, grouped, sorted_by
from makespan.core.report import Violation, broken
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.referee.given import given_plan
from makespan.reduction.referee.reading import SHOWN, TOLERANCE, Plan


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
    plan: Plan, count: Any, rule: str, fewest: Any, most: Any, machine: Integers
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
        held = (end[rows] * problem.items + schedule.item[rows] for end in (child, parent))
        known, (lower, upper) = as_places(plan.sources.size, *held)
        up = np.arange(len(known))
        up[lower] = upper
        for _ in range(len(problem.machines).bit_length()):
            up = up[up]
        moved = np.zeros(len(known), dtype=bool)
        moved[lower] = True
        strays, segments = np.divmod(known[moved & ~plan.sources.ravel()[known[up]]], problem.items)
        for segment in np.unique(segments)[:SHOWN].tolist():
            stray = int(strays[segments == segment][0])
            text = (
                f"{segment_name(segment)} of {plan.who(stray)} goes round in a cycle, or "
                "comes from or goes to a machine that has nothing to do with it"
            )
            yield broken("tree", text)


def ports(plan: Plan) -> Iterator[Violation]:
    """One transfer at a time on every sending and on every receiving port."""
    schedule, sends = plan.schedule, plan.sends
    exits, entries = plan.ports
    yield from overlaps(plan, sends, exits, schedule.start[sends], schedule.end[sends], "sends")
    yield from overlaps(plan, sends, entries, plan.began, plan.arrival, "receives")
    yield from _shared_links(plan)


def _shared_links(plan: Plan) -> Iterator[Violation]:
    """One transfer at a time on a link that several ways share, from when it gets there."""
    ways = plan.problem.shared
    if ways is None:
        return
    schedule, sends = plan.schedule, plan.sends
    pairs = schedule.machine[sends], schedule.peer[sends]
    index, place = np.nonzero(ways.shared[pairs] >= 0)
    link = ways.shared[pairs][index, place]
    start, end = (
        times[sends][index] + ways.ahead[pairs][index, place]
        for times in (schedule.start, schedule.end)
    )
    for one, two, excess in _clashes(plan, link, start, end):
        first, second = int(sends[index[one]]), int(sends[index[two]])
        text = (
            f"{ways.names[int(link[two])]} carries {plan.segment_of(second)} from "
            f"{float(start[two])!r} on, but is busy with {plan.segment_of(first)} until "
            f"{float(end[one])!r}"
        )
        yield broken("shared-link", text, (first, second), (start[two], end[one]), excess)


def overlaps(
    plan: Plan, rows: Integers, group: Integers, start: Floats, end: Floats, verb: str
) -> Iterator[Violation]:
    machine = plan.schedule.peer if verb == "receives" else plan.schedule.machine
    for one, two, excess in _clashes(plan, group, start, end):
        text = (
            f"{plan.who(machine[rows[one]])} {verb} {plan.segment_of(rows[two])} from "
            f"{float(start[two])!r} on, but is busy with {plan.segment_of(rows[one])} until "
            f"{float(end[one])!r}"
        )
        rule = {"sends": "send-port", "receives": "receive-port"}.get(verb, "reduction-unit")
        yield broken(rule, text, rows[[one, two]], (start[two], end[one]), excess)


def _clashes(
    plan: Plan, group: Integers, start: Floats, end: Floats
) -> Iterator[tuple[int, int, float]]:
    """Yield pairs of a group that overlap, and by how much."""
    busy = np.flatnonzero(end - start > plan.tolerance)
    busy = busy[grouped(group[busy], start[busy])]
    before, after = busy[:-1], busy[1:]
    excess = end[before] - start[after]
    wrong = (group[before] == group[after]) & (excess > plan.tolerance)
    for index in np.flatnonzero(wrong)[:SHOWN].tolist():
        yield int(before[index]), int(after[index]), float(excess[index])
    moments = np.flatnonzero(end - start <= plan.tolerance)
    if not len(moments) or not len(busy):
        return
    both = np.concatenate([busy, moments])
    rank = np.repeat([0, 1], [len(busy), len(moments)])
    order = np.lexsort((rank, start[both], group[both]))
    last = np.maximum.accumulate(np.where(rank[order] == 0, np.arange(len(order)), -1))
    inside = order[last]
    one, two = both[inside], both[order]
    depth = np.minimum(end[one] - start[two], end[two] - start[one])
    wrong = (last >= 0) & (rank[order] == 1) & (group[one] == group[two])
    for index in np.flatnonzero(wrong & (depth > plan.tolerance))[:SHOWN].tolist():
        yield int(one[index]), int(two[index]), float(depth[index])


def readiness(plan: Plan) -> Iterator[Violation]:
    """A machine sends a segment after combining all it received for it, or after receiving it."""
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    done, cells = schedule.end[plan.reductions], plan.sources.size
    own = plan.sources[schedule.machine[sends], schedule.item[sends]]
    gives, takes = (
        stage * cells + end[sends] * problem.items + schedule.item[sends]
        for stage, end in ((plan.final & ~own, schedule.machine), (plan.final, schedule.peer))
    )
    known, (given, taken) = as_places(2 * cells, gives, takes)
    ready = np.zeros(len(known))
    np.maximum.at(ready, taken, done)
    excess = ready[given] - schedule.start[sends]
    for index in np.flatnonzero(excess > plan.tolerance)[:SHOWN].tolist():
        row = int(sends[index])
        begin = float(schedule.start[row])
        text = (
            f"{plan.who(schedule.machine[row])} sends "
            f"{plan.segment_of(row)} at {begin!r}, but has it complete only at "
            f"{begin + float(excess[index])!r}"
        )
        yield broken("ready", text, (row,), (begin, begin + float(excess[index])), excess[index])


def reductions(plan: Plan) -> Iterator[Violation]:
    """Combinations start after the arrival, one at a time, in order of arrival."""
    schedule, rows = plan.schedule, plan.reductions
    begin = schedule.start[rows]
    early = plan.arrival - begin
    for index in np.flatnonzero(early > plan.tolerance)[:SHOWN].tolist():
        row = int(rows[index])
        text = (
            f"{plan.who(schedule.machine[row])} has {plan.segment_of(row)} "
            f"at {float(begin[index])!r}, but it arrives at {float(plan.arrival[index])!r}"
        )
        yield broken("arrival", text, (plan.sends[index], row), (begin[index], plan.arrival[index]))
    yield from _late_broadcasts(plan, begin - plan.arrival)
    unit = np.flatnonzero(~plan.final)
    port = plan.ports[1]  # whose unit combines
    group = port[unit]
    yield from overlaps(plan, rows[unit], group, begin[unit], schedule.end[rows][unit], "combines")
    order = _combined_in_turn(plan, unit, group)
    one, two = order[:-1], order[1:]
    same = port[one] == port[two]
    late = np.maximum(plan.began[one] - plan.began[two], plan.arrival[one] - plan.arrival[two])
    for index in np.flatnonzero(same & (late > plan.tolerance))[:SHOWN].tolist():
        first, second = int(rows[one[index]]), int(rows[two[index]])
        text = (
            f"{plan.who(schedule.machine[first])} combines "
            f"{plan.segment_of(first)} before {plan.segment_of(second)}, which arrived first"
        )
        times = plan.arrival[[one[index], two[index]]]
        yield broken("order-of-arrival", text, (first, second), times, late[index])


def _combined_in_turn(plan: Plan, unit: Integers, group: Integers) -> Integers:
    """Return the sends ``unit`` by machine and combination; at one moment by arrival.

    Nothing tells which of the combinations that take no time at one moment was first: any order
    that fits the arrivals is kept to. Middles tell what is first where begins differ by rounding.
    """
    begin, end = (
        column[plan.reductions[unit]] for column in (plan.schedule.start, plan.schedule.end)
    )
    order = grouped(group, begin + end)
    one, two = order[:-1], order[1:]
    brief = end - begin <= plan.tolerance
    apart = ~brief[one] | ~brief[two] | (begin[two] - begin[one] > plan.tolerance)
    moment = np.zeros(len(order), dtype=np.int64)
    moment[1:] = np.cumsum(apart | (group[one] != group[two]))
    middle = plan.began[unit] + plan.arrival[unit]
    return np.asarray(unit[order[sorted_by(moment, middle[order])]])


def _late_broadcasts(plan: Plan, late: Floats) -> Iterator[Violation]:
    """The mark of an arrival in a broadcast stands at the arrival."""
    for index in np.flatnonzero(plan.final & (late > plan.tolerance))[:SHOWN].tolist():
        row = int(plan.reductions[index])
        text = (
            f"{plan.segment_of(row)} is marked on "
            f"{plan.who(plan.schedule.machine[row])} {float(late[index])!r} after it arrives"
        )
        yield broken("arrival", text, (row,), excess=late[index])
