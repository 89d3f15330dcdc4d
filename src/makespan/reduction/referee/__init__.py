"""The referee: does a schedule keep to the statement of a reduction?

Times are compared to within 1e-9 of the makespan. Idle time is legal. What is no longer than that
takes no time: on a port or a unit it may stand where another activity begins or ends, as either
order is then kept to, but not in its midst.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop
from makespan.core.numeric.sorting import grouped, sorted_by
from makespan.core.report import Violation
from makespan.core.schedule import Activity, Schedule
from makespan.reduction.problem import ROOT, Reduction
from makespan.reduction.referee.rule import turns

TOLERANCE = 1e-9
SHOWN = 1000


def violations(problem: Reduction, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in which ``schedule`` breaks the statement.

    Complexity: O(rows log rows), vectorised; one Python object per violation only.
    """
    schedule = schedule.renamed(problem.machines)
    found = list(_misplaced(problem, schedule))
    if problem.segments == "auto" and not found:
        problem = problem.with_segments(int(schedule.item.max(initial=0)) + 1)
    if not found:
        plan = _Plan(problem, schedule)
        found = list(_incomplete(plan))
    yield from found
    if found:
        return
    yield from _durations(plan)
    yield from _amounts(plan)
    yield from _trees(plan)
    yield from _ports(plan)
    yield from _readiness(plan)
    yield from _reductions(plan)
    yield from _given_plan(plan)


@dataclass(frozen=True)
class _Plan:
    """The sends of a schedule, and the row of the reduction that each leads to."""

    problem: Reduction
    schedule: Schedule
    names: list[str] = field(init=False, default_factory=list)

    @cached_property
    def tolerance(self) -> float:
        return TOLERANCE * self.schedule.makespan

    @cached_property
    def sends(self) -> Integers:
        """The rows of the sends as they stand."""
        return np.flatnonzero(self.schedule.kind == Activity.SEND)

    @cached_property
    def combined(self) -> Integers:
        """The rows of the reductions as they stand."""
        return np.flatnonzero(self.schedule.kind == Activity.REDUCE)

    @cached_property
    def final(self) -> NDArray[np.bool_]:
        """Which sends belong to a broadcast."""
        return _is_final(self.problem, self.schedule, self.sends)

    @cached_property
    def reductions(self) -> Integers:
        """The row of the reduction of each send: of several between the same machines, in order."""
        if self.are_alike and bool(np.all(np.diff(np.sort(self.sent)))):
            return self.combined
        matched = np.empty(len(self.sends), dtype=np.int64)
        matched[self._in_turn(self.sends, self.sent)] = self.combined[
            self._in_turn(self.combined, self.taken)
        ]
        return matched

    def _in_turn(self, rows: Integers, keys: Integers) -> Integers:
        """Return places in ``rows`` by key, of one key by time."""
        return sorted_by(keys, self.schedule.start[rows], self.schedule.end[rows])

    @cached_property
    def are_alike(self) -> bool:
        """Whether sends and reductions are of the same segments and machines, row for row."""
        return np.array_equal(self.sent, self.taken)

    @cached_property
    def sent(self) -> Integers:
        """Who gives which segment to whom, a number for each of the sends."""
        return _keys(self.problem, self.schedule, self.sends)

    @cached_property
    def taken(self) -> Integers:
        """The same for each of the reductions."""
        return _keys(self.problem, self.schedule, self.combined)

    @cached_property
    def latency(self) -> Floats:
        schedule, sends = self.schedule, self.sends
        return np.asarray(self.problem.latencies[schedule.machine[sends], schedule.peer[sends]])

    @cached_property
    def began(self) -> Floats:
        """When each send begins to arrive."""
        return np.asarray(self.schedule.start[self.sends] + self.latency)

    @cached_property
    def arrival(self) -> Floats:
        """When each send has arrived whole."""
        return np.asarray(self.schedule.end[self.sends] + self.latency)

    def who(self, machine: int) -> str:
        return self.problem.machines[machine]


def _is_final(problem: Reduction, schedule: Schedule, sends: Integers) -> NDArray[np.bool_]:
    if problem.collective == "reduce":
        return np.zeros(len(sends), dtype=bool)
    if problem.collective == "broadcast":
        return np.ones(len(sends), dtype=bool)
    segments = int(schedule.item.max(initial=0)) + 1
    key = schedule.machine[sends] * segments + schedule.item[sends]
    first = np.full(len(problem.machines) * segments, -1)
    find_first.run(len(key), (key, schedule.start[sends], schedule.end[sends]), (first,))
    return np.asarray((first[key] != np.arange(len(key))) | (schedule.machine[sends] == ROOT))


@loop(pays_from=300_000, loaded_from=20_000)
def find_first(key, start, end, first):  # type: ignore[no-untyped-def]
    """Write for every key the index that starts first; on ties ends first, then stands first."""
    for index in range(len(key)):
        other = first[key[index]]
        if (
            other < 0
            or start[index] < start[other]
            or (start[index] == start[other] and end[index] < end[other])
        ):
            first[key[index]] = index


def _misplaced(problem: Reduction, schedule: Schedule) -> Iterator[Violation]:
    """Yield the rows that can't belong to such a problem at all."""
    known = (schedule.kind == Activity.SEND) | (schedule.kind == Activity.REDUCE)
    low = schedule.item < 0
    if problem.segments != "auto":
        low |= schedule.item >= problem.segments
    tests = (
        ("kind", ~known, "is neither a send nor a reduction"),
        ("segment", low, "handles no segment of the problem; they are numbered from 0"),
        ("peer", schedule.peer < 0, "has no peer; a send and a reduction name the other machine"),
        ("self-send", schedule.peer == schedule.machine, "is between a machine and itself"),
    )
    for rule, wrong, what in tests:
        for row in np.flatnonzero(wrong)[:SHOWN].tolist():
            yield Violation(rule=rule, message=f"activity {row} {what}", activities=(row,))


def _incomplete(plan: _Plan) -> Iterator[Violation]:
    """Yield the sends that are missing or too many, and those without exactly one reduction."""
    problem, schedule = plan.problem, plan.schedule
    assert problem.segments != "auto"
    shape = (len(problem.machines), problem.segments)
    sends, final = plan.sends, plan.final
    wanted = np.ones(shape, dtype=np.int64)
    wanted[ROOT] = 0
    for last, machine, rule in (
        (False, schedule.machine, "sends"),
        (True, schedule.peer, "receives"),
    ):
        if problem.collective == ("broadcast" if not last else "reduce"):
            continue
        rows = sends[final == last]
        place = machine[rows] * problem.segments + schedule.item[rows]
        count = np.bincount(place, minlength=wanted.size).reshape(shape)
        for who, segment in np.argwhere(count != wanted)[:SHOWN].tolist():
            yield Violation(
                rule="once",
                message=(
                    f"{problem.machines[who]} {rule} segment {segment + 1} "
                    f"{count[who, segment]} times; it must {'once' if who else 'never'}"
                ),
                activities=tuple(
                    rows[(machine[rows] == who) & (schedule.item[rows] == segment)][:20].tolist()
                ),
            )
    sent, combined = plan.sent, plan.taken
    if plan.are_alike or np.array_equal(np.sort(sent), np.sort(combined)):
        return
    keys, inverse = np.unique(np.concatenate([sent, combined]), return_inverse=True)
    sign = np.repeat([1, -1], [len(sent), len(combined)])
    total = np.bincount(inverse, weights=sign, minlength=len(keys))
    for key in keys[total != 0][:SHOWN].tolist():
        pair, segment = divmod(key, shape[1])
        receiver, sender = divmod(pair, shape[0])
        yield Violation(
            rule="reduction",
            message=(
                f"segment {segment + 1} from {problem.machines[sender]} to "
                f"{problem.machines[receiver]}: sends and reductions differ in number"
            ),
        )


def _keys(problem: Reduction, schedule: Schedule, rows: Integers) -> Integers:
    """Return for rows of one kind a number for who gives which segment to whom."""
    assert problem.segments != "auto"
    machine, peer = schedule.machine[rows], schedule.peer[rows]
    sending = schedule.kind[rows] == Activity.SEND
    giver, taker = np.where(sending, machine, peer), np.where(sending, peer, machine)
    return (taker * len(problem.machines) + giver) * problem.segments + schedule.item[rows]


def _durations(plan: _Plan) -> Iterator[Violation]:
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    size = problem.sizes[schedule.item[sends]]
    sender, receiver = schedule.machine[sends], schedule.peer[sends]
    combine = np.zeros(len(sends))
    if problem.collective != "broadcast":
        combine = np.where(plan.final, 0.0, problem.reduces[receiver] * size)
    for rows, expected, what in (
        (sends, problem.transfers[sender, receiver] * size, "send"),
        (plan.reductions, combine, "reduction"),
    ):
        excess = np.abs(schedule.end[rows] - schedule.start[rows] - expected)
        for index in np.flatnonzero(excess > plan.tolerance)[:SHOWN].tolist():
            row = int(rows[index])
            yield Violation(
                rule="duration",
                message=(
                    f"{what} of segment {schedule.item[row] + 1} on "
                    f"{plan.who(int(schedule.machine[row]))} lasts "
                    f"{float(schedule.end[row] - schedule.start[row])!r}; "
                    f"it takes {float(expected[index])!r}"
                ),
                activities=(row,),
                times=(float(schedule.start[row]), float(schedule.end[row])),
                excess=float(excess[index]),
            )


def _amounts(plan: _Plan) -> Iterator[Violation]:
    """The amount of a row is the size of its segment."""
    schedule = plan.schedule
    size = plan.problem.sizes[schedule.item]
    wrong = np.abs(schedule.amount - size) > TOLERANCE * size
    for row in np.flatnonzero(wrong)[:SHOWN].tolist():
        yield Violation(
            rule="amount",
            message=(
                f"activity {row} has the amount {float(schedule.amount[row])!r}; segment "
                f"{schedule.item[row] + 1} has the size {float(size[row])!r}"
            ),
            activities=(row,),
            excess=float(abs(schedule.amount[row] - size[row])),
        )


def _trees(plan: _Plan) -> Iterator[Violation]:
    """Every machine's contribution must reach the root, and what is broadcast come from it."""
    problem, schedule = plan.problem, plan.schedule
    for last, child, parent in (
        (False, schedule.machine, schedule.peer),
        (True, schedule.peer, schedule.machine),
    ):
        rows = plan.sends[plan.final == last]
        if not len(rows):
            continue
        up = np.zeros((len(problem.machines), len(problem.sizes)), dtype=np.int64)
        up[child[rows], schedule.item[rows]] = parent[rows]
        for _ in range(len(problem.machines).bit_length()):
            up = np.take_along_axis(up, up, axis=0)
        for segment in np.flatnonzero(up.any(axis=0))[:SHOWN].tolist():
            stray = int(np.flatnonzero(up[:, segment])[0])
            yield Violation(
                rule="tree",
                message=f"segment {segment + 1} of {plan.who(stray)} goes round in a cycle",
            )


def _ports(plan: _Plan) -> Iterator[Violation]:
    """One transfer at a time on every sending and on every receiving port."""
    schedule, sends = plan.schedule, plan.sends
    yield from _overlaps(
        plan, sends, schedule.machine[sends], schedule.start[sends], schedule.end[sends], "sends"
    )
    yield from _overlaps(plan, sends, schedule.peer[sends], plan.began, plan.arrival, "receives")


def _overlaps(
    plan: _Plan, rows: Integers, group: Integers, start: Floats, end: Floats, verb: str
) -> Iterator[Violation]:
    for one, two, excess in _clashes(plan, group, start, end):
        item = plan.schedule.item
        yield Violation(
            rule={"sends": "send-port", "receives": "receive-port"}.get(verb, "reduction-unit"),
            message=(
                f"{plan.who(int(group[one]))} {verb} segment {item[rows[two]] + 1} from "
                f"{float(start[two])!r} on, but is busy with segment {item[rows[one]] + 1} until "
                f"{float(end[one])!r}"
            ),
            activities=(int(rows[one]), int(rows[two])),
            times=(float(start[two]), float(end[one])),
            excess=excess,
        )


def _clashes(
    plan: _Plan, group: Integers, start: Floats, end: Floats
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


def _readiness(plan: _Plan) -> Iterator[Violation]:
    """A machine sends a segment after combining all it received for it, or after receiving it."""
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    shape = (len(problem.machines), len(problem.sizes))
    ready = np.zeros((2, *shape))
    done = schedule.end[plan.reductions]
    np.maximum.at(ready, (plan.final.astype(int), schedule.peer[sends], schedule.item[sends]), done)
    stage = (plan.final & (schedule.machine[sends] != ROOT)).astype(int)
    if problem.collective == "broadcast":
        stage = np.ones_like(stage)
    excess = ready[stage, schedule.machine[sends], schedule.item[sends]] - schedule.start[sends]
    for index in np.flatnonzero(excess > plan.tolerance)[:SHOWN].tolist():
        row = int(sends[index])
        begin = float(schedule.start[row])
        yield Violation(
            rule="ready",
            message=(
                f"{plan.who(int(schedule.machine[row]))} sends segment "
                f"{schedule.item[row] + 1} at {begin!r}, but has it complete only at "
                f"{begin + float(excess[index])!r}"
            ),
            activities=(row,),
            times=(begin, begin + float(excess[index])),
            excess=float(excess[index]),
        )


def _reductions(plan: _Plan) -> Iterator[Violation]:
    """Combinations start after the arrival, one at a time, in order of arrival."""
    schedule, rows = plan.schedule, plan.reductions
    begin = schedule.start[rows]
    early = plan.arrival - begin
    for index in np.flatnonzero(early > plan.tolerance)[:SHOWN].tolist():
        row = int(rows[index])
        yield Violation(
            rule="arrival",
            message=(
                f"{plan.who(int(schedule.machine[row]))} has segment {schedule.item[row] + 1} "
                f"at {float(begin[index])!r}, but it arrives at {float(plan.arrival[index])!r}"
            ),
            activities=(int(plan.sends[index]), row),
            times=(float(begin[index]), float(plan.arrival[index])),
            excess=float(early[index]),
        )
    yield from _late_broadcasts(plan, begin - plan.arrival)
    unit = np.flatnonzero(~plan.final)
    group = schedule.machine[rows][unit]
    yield from _overlaps(plan, rows[unit], group, begin[unit], schedule.end[rows][unit], "combines")
    order = _combined_in_turn(plan, unit, group)
    one, two = order[:-1], order[1:]
    same = schedule.machine[rows][one] == schedule.machine[rows][two]
    late = np.maximum(plan.began[one] - plan.began[two], plan.arrival[one] - plan.arrival[two])
    for index in np.flatnonzero(same & (late > plan.tolerance))[:SHOWN].tolist():
        first, second = int(rows[one[index]]), int(rows[two[index]])
        yield Violation(
            rule="order-of-arrival",
            message=(
                f"{plan.who(int(schedule.machine[first]))} combines segment "
                f"{schedule.item[first] + 1} before segment {schedule.item[second] + 1}, "
                "which arrived first"
            ),
            activities=(first, second),
            times=(float(plan.arrival[one[index]]), float(plan.arrival[two[index]])),
            excess=float(late[index]),
        )


def _combined_in_turn(plan: _Plan, unit: Integers, group: Integers) -> Integers:
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


def _late_broadcasts(plan: _Plan, late: Floats) -> Iterator[Violation]:
    """The mark of an arrival in a broadcast stands at the arrival."""
    for index in np.flatnonzero(plan.final & (late > plan.tolerance))[:SHOWN].tolist():
        row = int(plan.reductions[index])
        yield Violation(
            rule="arrival",
            message=(
                f"segment {plan.schedule.item[row] + 1} is marked on "
                f"{plan.who(int(plan.schedule.machine[row]))} {float(late[index])!r} after it "
                "arrives"
            ),
            activities=(row,),
            excess=float(late[index]),
        )


def _given_plan(plan: _Plan) -> Iterator[Violation]:
    """What the problem fixes: destinations, sequences, or the rule that orders the sends."""
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    if problem.collective != "reduce":
        return
    parents = np.zeros((len(problem.machines), len(problem.sizes)), dtype=np.int64)
    parents[schedule.machine[sends], schedule.item[sends]] = schedule.peer[sends]
    if problem.destinations is not None:
        wrong = np.argwhere(parents != np.array(problem.destinations) - 1)
        for machine, segment in wrong[:SHOWN].tolist():
            yield Violation(
                rule="destinations",
                message=(
                    f"{plan.who(machine)} sends segment {segment + 1} to "
                    f"{plan.who(int(parents[machine, segment]))}, not to machine "
                    f"{problem.destinations[machine][segment]} as given"
                ),
            )
    if problem.sequences is not None:
        listed = [(machine, k - 1) for machine, row in enumerate(problem.sequences) for k, _ in row]
        turn = np.array(listed, dtype=np.int64).reshape(-1, 2)
        yield from _in_turn(plan, turn[:, 0], turn[:, 1])
        yield from _deadlock(plan, problem.sequences)
    elif problem.order != "free":
        yield from _in_turn(plan, *turns(problem, parents), receivers=True)


def _deadlock(plan: _Plan, sequences: Sequence[Sequence[tuple[int, int]]]) -> Iterator[Violation]:
    """Sends that take no time must not wait for each other; for others, times tell."""
    schedule, sends = plan.schedule, plan.sends
    brief = schedule.end[plan.reductions] - schedule.start[sends] <= plan.tolerance
    if not brief.any():
        return
    rows = sends[brief]
    keys = zip(schedule.machine[rows].tolist(), schedule.item[rows].tolist(), strict=True)
    receiver = dict(zip(keys, schedule.peer[rows].tolist(), strict=True))
    waits = Counter((j, k) for (_, k), j in receiver.items())
    left = [[segment - 1 for segment, _ in reversed(row)] for row in sequences]
    able = list(range(len(left)))
    while able:
        machine = able.pop()
        while left[machine]:
            key = (machine, left[machine][-1])
            if key in receiver:
                if waits[key]:
                    break
                waits[receiver[key], key[1]] -= 1
                able.append(receiver[key])
            left[machine].pop()
    for machine in [machine for machine, row in enumerate(left) if row][:1]:
        yield Violation(
            rule="order",
            message=(
                f"{plan.who(machine)} sends segment {left[machine][-1] + 1} after sends that wait "
                "for it: the sequences are a deadlock, also where sends take no time"
            ),
        )


def _in_turn(
    plan: _Plan, machine: Integers, segment: Integers, receivers: bool = False
) -> Iterator[Violation]:
    """Every machine sends, and where ``receivers`` takes, one after another in the order given."""
    schedule, sends = plan.schedule, plan.sends
    place = np.empty((len(plan.problem.machines), len(plan.problem.sizes)), dtype=np.int64)
    place[schedule.machine[sends], schedule.item[sends]] = np.arange(len(sends))
    turn = place[machine, segment]
    start, end = schedule.start[sends], schedule.end[sends]
    ports = [("sends", schedule.machine[sends], start, end)]
    if receivers:
        ports.append(("receives", schedule.peer[sends], plan.began, plan.arrival))
    for verb, group, begin, until in ports:
        order = turn[np.argsort(group[turn], kind="stable")]
        before, after = order[:-1], order[1:]
        excess = until[before] - begin[after]
        wrong = (group[before] == group[after]) & (excess > plan.tolerance)
        for index in np.flatnonzero(wrong)[:SHOWN].tolist():
            one, two = int(before[index]), int(after[index])
            names = [
                f"segment {schedule.item[sends[row]] + 1}"
                + (f" from {plan.who(int(schedule.machine[sends[row]]))}" if receivers else "")
                for row in (one, two)
            ]
            yield Violation(
                rule="order",
                message=(
                    f"{plan.who(int(group[one]))} {verb} {names[1]} before {names[0]} has ended, "
                    "but it has to go after it"
                ),
                activities=(int(sends[one]), int(sends[two])),
                times=(float(begin[two]), float(until[one])),
                excess=float(excess[index]),
            )
