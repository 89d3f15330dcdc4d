"""Combinations: in the order of arrival, one at a time, and broadcasts behind them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import grouped, sorted_by
from makespan.core.report import Violation
from makespan.reduction.referee.ports import overlaps
from makespan.reduction.referee.reading import SHOWN, Plan


def reductions(plan: Plan) -> Iterator[Violation]:
    """Combinations start after the arrival, one at a time, in order of arrival."""
    schedule, rows = plan.schedule, plan.reductions
    begin = schedule.start[rows]
    early = plan.arrival - begin
    for index in np.flatnonzero(early > plan.tolerance)[:SHOWN].tolist():
        row = int(rows[index])
        yield Violation(
            rule="arrival",
            message=(
                f"{plan.who(int(schedule.machine[row]))} has {plan.segment_of(row)} "
                f"at {float(begin[index])!r}, but it arrives at {float(plan.arrival[index])!r}"
            ),
            activities=(int(plan.sends[index]), row),
            times=(float(begin[index]), float(plan.arrival[index])),
            excess=float(early[index]),
        )
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
        yield Violation(
            rule="order-of-arrival",
            message=(
                f"{plan.who(int(schedule.machine[first]))} combines "
                f"{plan.segment_of(first)} before {plan.segment_of(second)}, "
                "which arrived first"
            ),
            activities=(first, second),
            times=(float(plan.arrival[one[index]]), float(plan.arrival[two[index]])),
            excess=float(late[index]),
        )


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
        yield Violation(
            rule="arrival",
            message=(
                f"{plan.segment_of(row)} is marked on "
                f"{plan.who(int(plan.schedule.machine[row]))} {float(late[index])!r} after it "
                "arrives"
            ),
            activities=(row,),
            excess=float(late[index]),
        )
