"""Plans that the problem gives: destinations, sequences, and the rule of order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.jit import loop
from makespan.core.report import Violation, broken
from makespan.reduction.problem import ROOT, Reduction, segment_name
from makespan.reduction.referee.reading import SHOWN, Plan


def given_plan(plan: Plan) -> Iterator[Violation]:
    """What the problem fixes: destinations, sequences, or the rule that orders the sends."""
    problem, schedule, sends = plan.problem, plan.schedule, plan.sends
    if problem.collective != "reduce":
        return
    parents = np.zeros((len(problem.machines), len(problem.sizes)), dtype=np.int64)
    parents[schedule.machine[sends], schedule.item[sends]] = schedule.peer[sends]
    if problem.destinations is not None:
        wrong = np.argwhere(parents != np.array(problem.destinations) - 1)
        for machine, segment in wrong[:SHOWN].tolist():
            text = (
                f"{plan.who(machine)} sends {segment_name(segment)} to "
                f"{plan.who(parents[machine, segment])}, not to "
                f"{plan.who(problem.destinations[machine][segment] - 1)} as given"
            )
            yield broken("destinations", text)
    if problem.sequences is not None:
        listed = [(machine, k - 1) for machine, row in enumerate(problem.sequences) for k, _ in row]
        turn = np.array(listed, dtype=np.int64).reshape(-1, 2)
        yield from in_turn(plan, turn[:, 0], turn[:, 1])
        yield from _deadlock(plan, problem.sequences)
    elif problem.order != "free":
        yield from in_turn(plan, *turns(problem, parents), receivers=True)


def _deadlock(plan: Plan, sequences: Sequence[Sequence[tuple[int, int]]]) -> Iterator[Violation]:
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
        text = (
            f"{plan.who(machine)} sends {segment_name(left[machine][-1])} after sends "
            "that wait for it: the sequences are a deadlock, also where sends take no time"
        )
        yield broken("order", text)


def in_turn(
    plan: Plan, machine: Integers, segment: Integers, receivers: bool = False
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
                f"{plan.segment_of(sends[row])}"
                + (f" from {plan.who(schedule.machine[sends[row]])}" if receivers else "")
                for row in (one, two)
            ]
            text = (
                f"{plan.who(group[one])} {verb} {names[1]} before {names[0]} has ended, "
                "but it has to go after it"
            )
            yield broken("order", text, sends[[one, two]], (begin[two], until[one]))


def turns(problem: Reduction, parents: Integers) -> tuple[Integers, Integers]:
    """Return sender and segment of every send of given trees, in the order of the rule.

    Times are whole numbers where they have a common unit, so that ties are ties.
    """
    grid = problem.grid
    unit, parts = (float(1 / grid[0]), float(grid[1])) if grid else (1.0, 1.0)

    def scaled(values: Any, by: float) -> Any:
        table = np.asarray(values, dtype=float)
        return np.rint(table * by) if grid else table

    machines = np.arange(len(problem.machines))[:, None]
    size = scaled(problem.sizes, parts)
    # the root's row is never read
    delays = scaled(problem.latencies[machines, parents], unit * parts)
    lasts = scaled(problem.transfers[machines, parents], unit) * size
    works = scaled(problem.reduces[parents], unit) * size
    order = _turns.at(parents.size)(parents, delays, lasts, works, problem.order == "backfilling")
    return order[:, 0], order[:, 1]


@loop(pays_from=2_000)
def _turns(parents: Any, delays: Any, lasts: Any, works: Any, backfilling: bool) -> Any:
    """Return rows (machine, segment).

    Every receiver has two queues of the leaves that send to it: those that only wait for it go
    in the order of their latencies, the longest first; all others in the order of when they can
    start. It calls for its first leaf, as far as it knows; of all calls the least is answered.
    Of the leaves that a sender holds up itself, only the lowest segment stands in a queue.
    """
    machines, segments = parents.shape
    complete = np.zeros((machines, segments))
    sending, receiving, combining = np.zeros((3, machines))
    waits = np.zeros((machines, segments), np.int32)
    gone = np.zeros((machines, segments), np.bool_)
    patient = np.zeros((machines, segments), np.bool_)  # waits for its receiver only
    soon = [[(0.0, 0, 0)] for _ in range(machines)]
    late = [[(0.0, 0, 0)] for _ in range(machines)]
    kept = np.zeros((machines, segments), np.bool_)  # waits for its sender
    own = [[0] for _ in range(machines)]
    call = [(np.inf, 0, 0) for _ in range(machines)]
    for machine in range(machines):
        soon[machine].pop()
        late[machine].pop()
        own[machine].pop()
        if machine != ROOT:
            for segment in range(segments):
                waits[parents[machine, segment], segment] += 1
    order = np.zeros(((machines - 1) * segments, 2), np.int64)
    count = 0
    calls = [(0.0, 0, 0)]
    calls.pop()
    new = [(0, 0)]
    new.pop()
    for phase in range(1 if backfilling else segments):
        low, high = (0, segments) if backfilling else (phase, phase + 1)
        for machine in range(1, machines):
            for segment in range(low, high):
                if waits[machine, segment] == 0:
                    new.append((segment, machine))
        while len(new) > 0 or len(calls) > 0:
            while len(new) > 0:
                segment, machine = new.pop()
                to = parents[machine, segment]
                entry = (max(complete[machine, segment], sending[machine]), segment, machine)
                heappush(late[to], entry)
                if entry < call[to]:
                    call[to] = entry
                    heappush(calls, entry)
            answered = heappop(calls)
            to = parents[answered[2], answered[1]]
            if answered != call[to]:
                continue
            first = (np.inf, 0, 0)
            while len(late[to]) > 0:
                when, segment, machine = late[to][0]
                able = max(complete[machine, segment], sending[machine])
                behind = kept[machine, segment] and own[machine][0] != segment
                if gone[machine, segment] or patient[machine, segment] or behind:
                    heappop(late[to])
                elif able > when:
                    heappop(late[to])
                    if not kept[machine, segment]:
                        kept[machine, segment] = True
                        heappush(own[machine], segment)
                    if own[machine][0] == segment:
                        heappush(late[to], (able, segment, machine))
                elif able <= receiving[to] - delays[machine, segment]:
                    heappop(late[to])
                    heappush(soon[to], (-delays[machine, segment], segment, machine))
                    patient[machine, segment] = True
                    if kept[machine, segment]:
                        kept[machine, segment] = False
                        heappop(own[machine])
                        if len(own[machine]) > 0:
                            new.append((own[machine][0], machine))
                else:
                    first = late[to][0]
                    break
            while len(soon[to]) > 0:
                minus, segment, machine = soon[to][0]
                when = receiving[to] + minus
                able = max(complete[machine, segment], sending[machine])
                if gone[machine, segment]:
                    heappop(soon[to])
                    continue
                entry = (max(able, when), segment, machine)
                if able > when:
                    heappop(soon[to])
                    patient[machine, segment] = False
                    kept[machine, segment] = True
                    heappush(own[machine], segment)
                    if own[machine][0] != segment:
                        continue
                    heappush(late[to], entry)
                if entry < first:  # noqa: PLR1730 - Numba compares tuples, but has no least of them
                    first = entry
                if able <= when:
                    break
            call[to] = first
            if first != answered:
                if first[0] < np.inf:
                    heappush(calls, first)
                continue
            start, segment, machine = first
            order[count, 0], order[count, 1] = machine, segment
            count += 1
            gone[machine, segment] = True
            sending[machine] = start + lasts[machine, segment]
            receiving[to] = start + delays[machine, segment] + lasts[machine, segment]
            combining[to] = max(combining[to], receiving[to]) + works[machine, segment]
            complete[to, segment] = combining[to]
            heappush(calls, first)  # the receiver calls again
            if kept[machine, segment]:
                kept[machine, segment] = False
                heappop(own[machine])
                if len(own[machine]) > 0:
                    new.append((own[machine][0], machine))
            waits[to, segment] -= 1
            if waits[to, segment] == 0 and to != ROOT:
                new.append((segment, to))
    return order
