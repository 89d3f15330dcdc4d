"""The rules of trees: one message per edge, forwarded after it has arrived."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from makespan.core.report import Violation
from makespan.core.schedule import WORDS, Activity, Floats, Integers, Schedule
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee.reading import NONE, RELATIVE_TOLERANCE, violation_by
from makespan.divisible.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeReading:
    """A schedule on a tree: the row of the message to each node, and of its computation.

    ``seconds`` and ``units`` say by how much times and amounts may be off.
    """

    problem: DivisibleLoad
    tree: Tree
    schedule: Schedule
    message: Integers
    computation: Integers
    seconds: float
    units: float

    def amount(self, rows: Integers) -> Floats:
        """Return the amounts of some rows, 0 where there is none."""
        amounts, given = np.zeros(len(rows)), rows != NONE
        amounts[given] = self.schedule.amount[rows[given]]
        return amounts

    def violation(self, rule: str, message: str, *rows: int, excess: float = 0.0) -> Violation:
        return violation_by(self.schedule, rule, message, rows, excess)


def tree_violations(problem: DivisibleLoad, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in ``schedule`` that breaks the statement of a problem on a tree."""
    tree = problem.platform
    assert isinstance(tree, Tree)
    computes = schedule.kind == Activity.COMPUTE
    load = problem.load
    reading = TreeReading(
        problem=problem,
        tree=tree,
        schedule=schedule,
        message=np.full(len(tree), NONE, dtype=np.int64),
        computation=np.full(len(tree), NONE, dtype=np.int64),
        seconds=RELATIVE_TOLERANCE * schedule.makespan,
        units=RELATIVE_TOLERANCE
        * (float(schedule.amount[computes].sum()) if load is None else load),
    )
    yield from _rows(reading)
    for rule in (_duration, _precedence, _port, _conservation, _deadline):
        yield from rule(reading)


def _rows(reading: TreeReading) -> Iterator[Violation]:
    """Messages go from a parent to its child, once; a node that computes does so once."""
    schedule, tree = reading.schedule, reading.tree
    names = schedule.machines
    for row in range(len(schedule)):
        kind, machine = int(schedule.kind[row]), int(schedule.machine[row])
        peer = int(schedule.peer[row])
        if kind == Activity.SEND:
            if peer == NONE or tree.parent[peer] != machine:
                to = names[peer] if peer != NONE else "no machine"
                text = f"{names[machine]} sends to {to}, which is not its child"
                yield reading.violation("route", text, row)
                continue
            kept, node, what = reading.message, peer, f"the message to {names[peer]}"
        elif kind == Activity.COMPUTE:
            kept, node, what = reading.computation, machine, f"the computation on {names[machine]}"
            if not tree.computes[machine]:
                yield reading.violation("master", f"{names[machine]} only forwards", row)
            if peer != NONE:
                yield reading.violation("route", f"{what} has a peer; it has none", row)
        else:
            text = f"activity {row} is a {WORDS[kind]}; on a tree there are sends and computations"
            yield reading.violation("kind", text, row)
            continue
        if schedule.amount[row] == 0:
            yield reading.violation("empty", f"{what} is empty", row)
        if kept[node] != NONE:
            yield reading.violation("chunk", f"{what} stands twice", int(kept[node]), row)
        else:
            kept[node] = row


def _duration(reading: TreeReading) -> Iterator[Violation]:
    """A message and a computation last as long as they cost."""
    schedule, tree = reading.schedule, reading.tree
    for rows, of in ((reading.message, "send"), (reading.computation, "compute")):
        fixed, per_unit = getattr(tree, f"{of}_fixed"), getattr(tree, f"{of}_per_unit")
        for node in np.flatnonzero(rows != NONE).tolist():
            row = int(rows[node])
            if np.isinf(per_unit[node]):
                continue
            cost = float(fixed[node] + per_unit[node] * schedule.amount[row])
            lasts = float(schedule.end[row] - schedule.start[row])
            if abs(lasts - cost) > reading.seconds:
                text = f"the {of} of {schedule.machines[node]} lasts {lasts!r}, it costs {cost!r}"
                yield reading.violation("duration", text, row, excess=abs(lasts - cost))


def _precedence(reading: TreeReading) -> Iterator[Violation]:
    """A node computes and forwards after it has received everything."""
    schedule, tree = reading.schedule, reading.tree
    names = schedule.machines
    for node in range(len(tree)):
        arrival = 0.0 if node == tree.root else np.inf
        if reading.message[node] != NONE:
            arrival = float(schedule.end[reading.message[node]])
        later = [int(reading.computation[node])]
        later += [int(reading.message[child]) for child in tree.children[node]]
        for row in later:
            if row != NONE and schedule.start[row] < arrival - reading.seconds:
                begin = float(schedule.start[row])
                when = f"arrives at {arrival!r}" if np.isfinite(arrival) else "never arrives"
                text = f"{names[node]} uses its load from {begin!r}, but it {when}"
                yield reading.violation("precedence", text, row, excess=arrival - begin)


def _port(reading: TreeReading) -> Iterator[Violation]:
    """A node sends to one child at a time."""
    schedule, tree = reading.schedule, reading.tree
    for node in range(len(tree)):
        rows = [int(reading.message[child]) for child in tree.children[node]]
        rows = sorted(
            (row for row in rows if row != NONE and schedule.end[row] > schedule.start[row]),
            key=lambda row: (schedule.start[row], schedule.end[row]),
        )
        for first, second in pairwise(rows):
            overlap = float(schedule.end[first] - schedule.start[second])
            if overlap > reading.seconds:
                name = schedule.machines[node]
                text = f"{name} sends to two children at a time for {overlap!r} s"
                yield reading.violation("one-port", text, first, second, excess=overlap)


def _conservation(reading: TreeReading) -> Iterator[Violation]:
    """What a node receives, it computes or forwards; the root has the load."""
    tree, problem = reading.tree, reading.problem
    received = reading.amount(reading.message)
    handled = reading.amount(reading.computation)
    for node in range(len(tree)):
        if node != tree.root:
            handled[tree.parent[node]] += received[node]
    if problem.load is not None:
        received[tree.root] = problem.load
    else:
        received[tree.root] = handled[tree.root]
    for node in np.flatnonzero(np.abs(received - handled) > reading.units).tolist():
        name = reading.schedule.machines[node]
        excess = float(abs(received[node] - handled[node]))
        text = f"{name} has {received[node]!r} units, computes and forwards {handled[node]!r}"
        rows = (int(reading.message[node]), int(reading.computation[node]))
        yield reading.violation(
            "conservation", text, *(row for row in rows if row != NONE), excess=excess
        )


def _deadline(reading: TreeReading) -> Iterator[Violation]:
    """The schedule ends by the deadline."""
    limit = reading.problem.deadline
    if limit is None:
        return
    for row in np.flatnonzero(reading.schedule.end > limit + reading.seconds).tolist():
        late = float(reading.schedule.end[row]) - limit
        yield reading.violation("deadline", f"activity {row} ends {late!r} late", row, excess=late)
