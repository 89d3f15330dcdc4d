"""Plans that the problem gives: destinations, sequences, and the rule of order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from makespan.core.numeric.arrays import Integers
from makespan.core.report import Violation
from makespan.reduction.problem import segment_name
from makespan.reduction.referee.reading import SHOWN, Plan
from makespan.reduction.referee.rule import turns


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
            yield Violation(
                rule="destinations",
                message=(
                    f"{plan.who(machine)} sends {segment_name(segment)} to "
                    f"{plan.who(int(parents[machine, segment]))}, not to "
                    f"{plan.who(problem.destinations[machine][segment] - 1)} as given"
                ),
            )
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
        yield Violation(
            rule="order",
            message=(
                f"{plan.who(machine)} sends {segment_name(left[machine][-1])} after sends "
                "that wait for it: the sequences are a deadlock, also where sends take no time"
            ),
        )


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
