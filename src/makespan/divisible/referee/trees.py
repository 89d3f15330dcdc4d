"""The rules of trees: one message per edge, forwarded after it has arrived."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.report import Violation
from makespan.core.schedule import WORDS, Activity, Schedule
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.referee.reading import NONE, RELATIVE_TOLERANCE, violation_by
from makespan.divisible.referee.resources import overlaps


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

    def describe(self, row: int) -> str:
        """Return a row in words, such as ``the message to N1``."""
        schedule = self.schedule
        if schedule.kind[row] == Activity.SEND and schedule.peer[row] >= 0:
            return f"the message to {schedule.machines[int(schedule.peer[row])]}"
        what = "the computation" if schedule.kind[row] == Activity.COMPUTE else f"activity {row}"
        return f"{what} on {schedule.machines[int(schedule.machine[row])]}"

    def violation(self, rule: str, message: str, *rows: int, excess: float = 0.0) -> Violation:
        return violation_by(self.schedule, rule, message, rows, excess)


def tree_violations(problem: DivisibleLoad, schedule: Schedule) -> Iterator[Violation]:
    """Yield everything in ``schedule`` that breaks the statement of a problem on a tree."""
    tree = problem.tree
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
    machine, peer = schedule.machine, schedule.peer
    sends = schedule.kind == Activity.SEND
    computes = schedule.kind == Activity.COMPUTE
    stray = sends & ((peer == NONE) | (tree.parent[peer] != machine))
    node = np.where(sends, peer, machine)
    for kept, mask in ((reading.message, sends & ~stray), (reading.computation, computes)):
        rows = np.flatnonzero(mask)[::-1]
        kept[node[rows]] = rows  # the first row of a node is written last
    first = np.where(sends, reading.message[node], reading.computation[node])
    twice = first != np.arange(len(schedule))
    forwards = ~tree.computes[machine] | (peer != NONE)
    odd = ~(sends | computes) | stray | twice | (computes & forwards) | (schedule.amount == 0)
    for row in np.flatnonzero(odd).tolist():
        yield from _row_violations(reading, row, bool(stray[row]), int(first[row]))


def _row_violations(reading: TreeReading, row: int, stray: bool, first: int) -> Iterator[Violation]:
    """Tell what is wrong with one row; ``first`` is the first row of what it is."""
    schedule, names = reading.schedule, reading.schedule.machines
    kind, machine, peer = (
        int(column[row]) for column in (schedule.kind, schedule.machine, schedule.peer)
    )
    if stray:
        to = names[peer] if peer != NONE else "no machine"
        text = f"{names[machine]} sends to {to}, which is not its child"
        yield reading.violation("route", text, row)
        return
    if kind not in (Activity.SEND, Activity.COMPUTE):
        text = f"{reading.describe(row)} is a {WORDS[kind]}; "
        text += "on a tree there are sends and computations"
        yield reading.violation("kind", text, row)
        return
    what = reading.describe(row)
    if kind == Activity.COMPUTE:
        if not reading.tree.computes[machine]:
            yield reading.violation("master", f"{names[machine]} only forwards", row)
        if peer != NONE:
            yield reading.violation("route", f"{what} has a peer; it has none", row)
    if schedule.amount[row] == 0:
        yield reading.violation("empty", f"{what} is empty", row)
    if first != row:
        yield reading.violation("chunk", f"{what} stands twice", first, row)


def _duration(reading: TreeReading) -> Iterator[Violation]:
    """A message and a computation last as long as they cost."""
    schedule, tree = reading.schedule, reading.tree
    for rows, of in ((reading.message, "send"), (reading.computation, "compute")):
        fixed, per_unit = getattr(tree, f"{of}_fixed"), getattr(tree, f"{of}_per_unit")
        nodes = np.flatnonzero((rows != NONE) & np.isfinite(per_unit))
        row = rows[nodes]
        cost = fixed[nodes] + per_unit[nodes] * schedule.amount[row]
        lasts = schedule.end[row] - schedule.start[row]
        for index in np.flatnonzero(np.abs(lasts - cost) > reading.seconds).tolist():
            took, costs = float(lasts[index]), float(cost[index])
            name = schedule.machines[int(nodes[index])]
            text = f"the {of} of {name} lasts {took!r}, it costs {costs!r}"
            yield reading.violation("duration", text, int(row[index]), excess=abs(took - costs))


def _precedence(reading: TreeReading) -> Iterator[Violation]:
    """A node computes and forwards after it has received everything."""
    schedule, tree = reading.schedule, reading.tree
    arrival = np.full(len(tree), np.inf)
    arrival[tree.root] = 0.0
    received = reading.message != NONE
    arrival[received] = schedule.end[reading.message[received]]
    computed = reading.computation != NONE
    rows = np.concatenate([reading.computation[computed], reading.message[received]])
    user = np.concatenate([np.flatnonzero(computed), tree.parent[received]])
    for index in np.flatnonzero(schedule.start[rows] < arrival[user] - reading.seconds).tolist():
        row, at = int(rows[index]), float(arrival[user[index]])
        begin = float(schedule.start[row])
        when = f"arrives at {at!r}" if np.isfinite(at) else "never arrives"
        name = schedule.machines[int(user[index])]
        text = f"{name} uses its load from {begin!r}, but it {when}"
        yield reading.violation("precedence", text, row, excess=at - begin)


def _port(reading: TreeReading) -> Iterator[Violation]:
    """A node sends to one child at a time."""
    schedule = reading.schedule
    rows = reading.message[reading.message != NONE]
    for first, second, seconds in overlaps(schedule, rows, schedule.machine[rows], reading.seconds):
        name = schedule.machines[int(schedule.machine[first])]
        text = f"{name} sends to two children at a time for {seconds!r} s"
        yield reading.violation("one-port", text, first, second, excess=seconds)


def _conservation(reading: TreeReading) -> Iterator[Violation]:
    """What a node receives, it computes or forwards; the root has the load."""
    tree, problem = reading.tree, reading.problem
    received = reading.amount(reading.message)
    handled = reading.amount(reading.computation)
    below = tree.parent >= 0
    handled += np.bincount(tree.parent[below], received[below], minlength=len(tree))
    received[tree.root] = handled[tree.root] if problem.load is None else problem.load
    for node in np.flatnonzero(np.abs(received - handled) > reading.units).tolist():
        has, uses = float(received[node]), float(handled[node])
        text = (
            f"{reading.schedule.machines[node]} has {has!r} units, computes and forwards {uses!r}"
        )
        rows = (int(reading.message[node]), int(reading.computation[node]))
        yield reading.violation(
            "conservation", text, *(row for row in rows if row != NONE), excess=abs(has - uses)
        )


def _deadline(reading: TreeReading) -> Iterator[Violation]:
    """The schedule ends by the deadline."""
    limit = reading.problem.deadline
    if limit is None:
        return
    for row in np.flatnonzero(reading.schedule.end > limit + reading.seconds).tolist():
        late = float(reading.schedule.end[row]) - limit
        text = f"{reading.describe(row)} ends {late!r} after the deadline"
        yield reading.violation("deadline", text, row, excess=late)
