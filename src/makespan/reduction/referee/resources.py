"""Ports and units: one at a time, in the order of arrival, and nothing before it is there."""

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import grouped, sorted_by
from makespan.core.report import Violation, broken
from makespan.reduction.referee.reading import SHOWN, Plan


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
    shape = (len(problem.machines), len(problem.sizes))
    ready = np.zeros((2, *shape))
    done = schedule.end[plan.reductions]
    np.maximum.at(ready, (plan.final.astype(int), schedule.peer[sends], schedule.item[sends]), done)
    own = plan.sources[schedule.machine[sends], schedule.item[sends]]
    stage = (plan.final & ~own).astype(int)
    excess = ready[stage, schedule.machine[sends], schedule.item[sends]] - schedule.start[sends]
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
