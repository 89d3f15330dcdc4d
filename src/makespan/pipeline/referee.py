"""The referee: does a schedule keep to the statement of a pipeline?

Times are compared to within 1e-9 of the makespan, memory and limits to within 1e-9 of what is
allowed. Idle time is legal.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.pipeline.problem import Pipeline

TOLERANCE = 1e-9
WORDS = {Activity.SEND: "input", Activity.TRANSFER: "transfer", Activity.RETURN: "output"}


class _Way(NamedTuple):
    """Of each data set (row) and interval (column) who computes it, by which row, and when."""

    edges: Integers
    machine: Integers
    row: Integers
    start: Floats
    end: Floats


def violations(problem: Pipeline, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in which ``schedule`` breaks the statement, in O(rows log rows)."""
    schedule = schedule.renamed(problem.machines)
    found = list(_misplaced(problem, schedule))
    yield from found
    if found:
        return
    way = yield from _way_of(problem, schedule)
    if way is None:
        return
    groups = [list(dict.fromkeys(column.tolist())) for column in way.machine.T]
    found = list(_groups(problem, way, groups))
    yield from found
    yield from _computations(problem, schedule, way)
    yield from _memory(problem, way, groups)
    yield from _handed_over(problem, schedule, way)
    yield from _units(problem, schedule)
    if not found:
        yield from _limits(problem, way.edges, groups)


def _misplaced(problem: Pipeline, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that can't belong to such a problem at all."""
    kind, peer, between = schedule.kind, schedule.peer, schedule.kind == Activity.TRANSFER
    tests = (
        ("kind", kind == Activity.REDUCE, "combines something; nothing is combined here"),
        ("peer", (peer < 0) & between, "is a transfer to no machine"),
        ("peer", (peer >= 0) & ~between, "has a peer, but is no transfer between machines"),
        ("item", (schedule.item < 0) | (schedule.item >= problem.items), "is of no data set"),
        (
            "stages",
            (kind == Activity.COMPUTE) & (schedule.amount % 1 != 0),
            "has a part of a stage",
        ),
    )
    for rule, wrong, what in tests:
        for row in np.flatnonzero(wrong).tolist():
            yield Violation(rule=rule, message=f"activity {row} {what}", activities=(row,))


def _way_of(problem: Pipeline, schedule: Schedule):  # type: ignore[no-untyped-def]
    """Yield where data sets are not computed in the same intervals; return their way, or None."""
    rows = np.flatnonzero(schedule.kind == Activity.COMPUTE)
    rows = rows[np.lexsort((rows, schedule.end[rows], schedule.start[rows], schedule.item[rows]))]
    number = np.bincount(schedule.item[rows], minlength=problem.items)
    for item in np.flatnonzero((number != number[0]) | (number == 0)).tolist():
        text = (
            f"data set {item + 1} is computed in {number[item]} intervals, the first in {number[0]}"
        )
        yield Violation(rule="intervals", message=text)
        return None
    table = rows.reshape(problem.items, -1)
    amount = schedule.amount[table].astype(np.int64)
    edges = np.concatenate([[0], np.cumsum(amount[0])])
    if edges[-1] != len(problem.stages) or (amount[0] < 1).any():
        text = (
            f"the intervals {amount[0].tolist()[:20]} are not {len(problem.stages)} stages in all"
        )
        yield Violation(rule="intervals", message=text)
        return None
    for item in np.flatnonzero((amount != amount[0]).any(axis=1)).tolist():
        text = f"data set {item + 1} is cut into other intervals than the first"
        yield Violation(rule="intervals", message=text)
        return None
    return _Way(edges, schedule.machine[table], table, schedule.start[table], schedule.end[table])


def _groups(problem: Pipeline, way: _Way, groups: list[list[int]]) -> Iterator[Violation]:
    """Yield machines out of turn, in two intervals, too many, or against the given order."""
    owner: dict[int, int] = {}
    latest = -1
    for at, group in enumerate(groups):
        turn = np.array(group)[np.arange(problem.items) % len(group)]
        if len(group) > problem.replicas:
            text = f"interval {at + 1} is dealt to {len(group)} machines of {problem.replicas}"
            yield Violation(rule="replicas", message=text, excess=len(group) - problem.replicas)
        elif (turn != way.machine[:, at]).any():
            text = f"the machines of interval {at + 1} don't take data sets in turn"
            yield Violation(rule="turn", message=text)
        for machine in group:
            if machine in owner:
                name = problem.machines[machine]
                text = f"{name} computes intervals {owner[machine] + 1} and {at + 1}, not one"
                yield Violation(rule="one-interval", message=text)
            owner[machine] = at
        if problem.order == "given" and min(group) <= latest:
            name = problem.machines[min(group)]
            text = f"interval {at + 1} goes to {name}, before its source in the order"
            yield Violation(rule="order", message=text)
        latest = max(latest, *group)


def _seconds(problem: Pipeline, first: int, last: int, machine: int) -> float:
    """Return what an interval of stages takes on a machine."""
    own = problem.stages.durations
    if own is not None:
        return float(own[first:last, machine].sum())
    return float(np.sum(problem.stages.work[first:last]) / problem.speeds[machine])


def _computations(problem: Pipeline, schedule: Schedule, way: _Way) -> Iterator[Violation]:
    """Yield the computations that last longer or shorter than their stages."""
    tolerance = TOLERANCE * schedule.makespan
    for at, (first, last) in enumerate(zip(way.edges[:-1], way.edges[1:], strict=True)):
        seconds = {
            machine: _seconds(problem, int(first), int(last), machine)
            for machine in set(way.machine[:, at].tolist())
        }
        wanted = np.array([seconds[machine] for machine in way.machine[:, at].tolist()])
        length = way.end[:, at] - way.start[:, at]
        for item in np.flatnonzero(~(np.abs(length - wanted) <= tolerance)).tolist():
            yield Violation(
                rule="duration",
                message=(
                    f"interval {at + 1} of data set {item + 1} lasts {float(length[item])!r} s, "
                    f"not {float(wanted[item])!r} s"
                ),
                activities=(int(way.row[item, at]),),
                times=(float(way.start[item, at]), float(way.end[item, at])),
                excess=abs(float(length[item] - wanted[item])),
            )


def _memory(problem: Pipeline, way: _Way, groups: list[list[int]]) -> Iterator[Violation]:
    """Yield the machines that hold more than they can."""
    each = problem.stages.memory + problem.in_flight * problem.stages.memory_per_item
    for at, group in enumerate(groups):
        held = float(each[way.edges[at] : way.edges[at + 1]].sum())
        for machine in group:
            capacity = float(problem.memory[machine])
            if held > capacity * (1 + TOLERANCE):
                text = (
                    f"{problem.machines[machine]} holds {held!r} units, its memory is {capacity!r}"
                )
                yield Violation(rule="memory", message=text, excess=held - capacity)


def _handed_over(problem: Pipeline, schedule: Schedule, way: _Way) -> Iterator[Violation]:
    """Yield the hand-overs that are missing, wrong, too early or too late, and those of nothing."""
    last, expected = (
        way.machine.shape[1],
        {Activity.SEND: 0, Activity.TRANSFER: 0, Activity.RETURN: 0},
    )
    moved = np.concatenate([[problem.input], problem.stages.data[:-1], [problem.output]])
    for at in range(last + 1):
        units = float(moved[way.edges[at]])
        if 0 < at < last:
            kind, owner, peer = Activity.TRANSFER, way.machine[:, at - 1], way.machine[:, at]
            seconds = problem.per_unit[owner, peer] * units + problem.delay[owner, peer]
        else:
            kind = Activity.SEND if at == 0 else Activity.RETURN
            owner, peer = way.machine[:, min(at, last - 1)], np.full(problem.items, -1)
            seconds = units / problem.outside[owner]
        ready = way.end[:, at - 1] if at else np.zeros(problem.items)
        until = way.start[:, at] if at < last else np.full(problem.items, np.inf)
        rows = _rows_by(schedule, kind, owner)
        there = rows >= 0
        expected[kind] += int(there.sum())
        if not there.any() and not seconds.any() and (ready <= until).all():
            continue
        yield from _one_hand_over(
            schedule, kind, at, rows, there, seconds, units, peer, ready, until
        )
    for kind, count in expected.items():
        surplus = int((schedule.kind == kind).sum()) - count
        if surplus > 0:
            text = f"there are {surplus} more activities of the kind {WORDS[kind]} than hand-overs"
            yield Violation(rule="stray", message=text, excess=surplus)


def _rows_by(schedule: Schedule, kind: Activity, owner: Integers) -> Integers:
    """Return the first row of this kind on its machine for each data set, -1 for none."""
    rows = np.flatnonzero(schedule.kind == kind)
    if not len(rows):
        return np.full(len(owner), -1)
    stride = len(schedule.machines)
    key = schedule.item[rows] * stride + schedule.machine[rows]
    order = np.argsort(key, kind="stable")
    wanted = np.arange(len(owner)) * stride + owner
    place = np.minimum(np.searchsorted(key[order], wanted), len(rows) - 1)
    return np.where(key[order][place] == wanted, rows[order][place], -1)


def _one_hand_over(
    schedule: Schedule, kind: Activity, at: int, rows: Integers, there: np.ndarray,
    seconds: Floats, units: float, peer: Integers, ready: Floats, until: Floats,
) -> Iterator[Violation]:  # fmt: skip
    """Yield what is wrong with one hand-over of all data sets."""
    slack = TOLERANCE * schedule.makespan
    start = np.where(there, schedule.start[rows], ready)
    end = np.where(there, schedule.end[rows], ready)
    what = f"{WORDS[kind]} {at + 1}"
    tests = (
        ("missing", ~there & (seconds > slack), "is missing"),
        ("receiver", there & (schedule.peer[rows] != peer), "goes to another machine"),
        (
            "amount",
            there & ~np.isclose(schedule.amount[rows], units, 1e-9, 0.0),
            "is of other units",
        ),
        ("duration", there & ~(np.abs(end - start - seconds) <= slack), "takes another time"),
        ("early", there & (start < ready - slack), "starts before the data set is computed"),
        ("precedence", end > until + slack, "ends after the next computation starts"),
    )
    for rule, wrong, text in tests:
        for item in np.flatnonzero(wrong).tolist():
            yield Violation(
                rule=rule,
                message=f"the {what} of data set {item + 1} {text}",
                activities=(int(rows[item]),) if there[item] else (),
                times=(float(start[item]), float(end[item])),
            )


def _units(problem: Pipeline, schedule: Schedule) -> Iterator[Violation]:
    """Yield the activities of one unit of a machine that overlap.

    Each machine has three units, that receive, compute and send; without overlap it is one.
    """
    rows, between = np.arange(len(schedule)), schedule.kind == Activity.TRANSFER
    delay = np.where(between, problem.delay[schedule.machine, schedule.peer], 0.0)
    unit = np.choose(schedule.kind, [0, 2, 2, 1, 1])
    parts = [(schedule.machine, unit, schedule.start, schedule.end - delay, rows)]
    arrivals = rows[between]
    parts.append(
        (schedule.peer[arrivals], np.zeros(len(arrivals), dtype=np.int64),
         (schedule.start + delay)[arrivals], schedule.end[arrivals], arrivals)
    )  # fmt: skip
    machine, unit, start, end, row = (np.concatenate(column) for column in zip(*parts, strict=True))
    unit = machine * 3 + (unit if problem.overlap else 0)
    some = end > start  # what takes no time is in nobody's way
    unit, start, end, row = unit[some], start[some], end[some], row[some]
    order = np.lexsort((start, unit))
    unit, start, end, row = unit[order], start[order], end[order], row[order]
    clash = (unit[1:] == unit[:-1]) & (start[1:] < end[:-1] - TOLERANCE * schedule.makespan)
    for place in np.flatnonzero(clash).tolist():
        name = problem.machines[int(unit[place]) // 3]
        yield Violation(
            rule="overlap",
            message=f"activities {row[place]} and {row[place + 1]} overlap on {name}",
            activities=(int(row[place]), int(row[place + 1])),
            times=(float(start[place + 1]), float(end[place])),
            excess=float(end[place] - start[place + 1]),
        )


def _limits(problem: Pipeline, edges: Integers, groups: list[list[int]]) -> Iterator[Violation]:
    """Yield the limits that the mapping exceeds."""
    limits = (problem.period_limit, problem.latency_limit, problem.budget)
    if all(limit is None for limit in limits):
        return
    period, latency = _pace(problem, edges.tolist(), groups)
    price = float(problem.price[[machine for group in groups for machine in group]].sum())
    found = zip(("period", "latency", "budget"), (period, latency, price), limits, strict=True)
    for name, value, limit in found:
        if limit is not None and value > limit * (1 + TOLERANCE):
            what = "price" if name == "budget" else name
            text = f"the {what} is {value!r}, above the limit {limit!r}"
            yield Violation(rule=name, message=text, excess=value - limit)


def _pace(problem: Pipeline, edges: list[int], groups: list[list[int]]) -> tuple[float, float]:
    """Return the period and the latency, by the slowest machine and link of each group."""
    units, period, latency = [problem.input, *problem.stages.data[:-1], problem.output], 0.0, 0.0
    out = enter = max(problem.input / problem.outside[machine] for machine in groups[0])
    latency += enter
    for at, group in enumerate(groups):
        work = max(_seconds(problem, edges[at], edges[at + 1], machine) for machine in group)
        latency += work
        if at + 1 < len(groups):
            pairs = [(one, other) for one in group for other in groups[at + 1]]
            size = units[edges[at + 1]]
            whole = max(size * problem.per_unit[pair] + problem.delay[pair] for pair in pairs)
            out = max(size * problem.per_unit[pair] for pair in pairs)
            arrive = whole - min(problem.delay[pair] for pair in pairs)
            latency += whole
        else:
            out = arrive = max(problem.output / problem.outside[machine] for machine in group)
            latency += out
        load = max(enter, work, out) if problem.overlap else enter + work + out
        period, enter = max(period, load / len(group)), arrive
    return float(period), float(latency)
