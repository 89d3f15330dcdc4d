"""Pictures of divisible loads: plans over time, platforms with costs or amounts, and fronts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.diagram import Curves, Diagram, Drawn, Edges, Nodes
from makespan.core.front import Values, points_of
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Mark, OnDemand, Picture, Role
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import computed, plan_of
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import ROOT, Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import matched, timed
from makespan.drawing.diagram.front import front_curves
from makespan.drawing.gantt.assemble import Lane, assembled, busy_first
from makespan.drawing.text import percent, short

COSTS = "at a link: seconds to send x units, ↩ to return the results; in a box: to compute them"
NO_DETAILS: Mapping[str, Any] = {}
AMOUNTS = "at a link: units sent over it; in a box: units computed, and their share"


def cost(fixed: float, per_unit: float) -> str:
    """Return an affine cost as people write it.

    >>> cost(0.0, 3.0), cost(2.0, 0.5), cost(1.0, 0.0), cost(0.0, 0.0)
    ('3x', '2 + 0.5x', '1', '0')
    """
    parts = [short(fixed)] if fixed or not per_unit else []
    if np.isinf(per_unit):
        return "forwards only"
    if per_unit:
        parts.append(f"{short(per_unit)}x" if per_unit != 1 else "x")
    return " + ".join(parts)


def title(problem: DivisibleLoad, what: str) -> str:
    return what if problem.load is None else f"{what}, {short(problem.load)} units of load"


def sent(schedule: Schedule) -> Floats:
    """Return how much each machine receives."""
    rows = schedule.rows_of(Activity.SEND)
    sent = np.zeros(len(schedule.machines))
    np.add.at(sent, schedule.peer[rows], schedule.amount[rows])
    return sent


def share(loads: Floats, machine: int) -> str:
    if not loads[machine]:
        return ""
    return f"{short(float(loads[machine]))} ({percent(float(loads[machine] / loads.sum()))})"


MOST_SOURCES, MOST_SERVED = 6, 12
COSTS_OF_SOURCES = "at a link: seconds to send x units; in a box: to compute them"


def of_sources(problem: DivisibleLoad, platform: Sources, schedule: Schedule | None) -> Diagram:
    """Return the sources and the workers, up to 6 and 12; the others are counted."""
    count = len(platform.source_names)
    above = np.arange(min(count, MOST_SOURCES))
    below = np.arange(min(len(platform), MOST_SERVED))
    shown = np.concatenate([above, below + count])
    linked = np.isfinite(platform.send_per_unit[: len(above), : len(below)])
    source, worker = np.nonzero(linked)
    used = None
    if schedule is None:
        labels = [
            cost(platform.send_fixed[link], platform.send_per_unit[link])
            for link in zip(source.tolist(), worker.tolist(), strict=True)
        ]
        fixed = np.concatenate([platform.own_fixed, platform.compute_fixed])
        per_unit = np.concatenate([platform.own_per_unit, platform.compute_per_unit])
        notes = [cost(fixed[machine], per_unit[machine]) for machine in shown.tolist()]
        for index in above[~platform.computes[above]].tolist():
            notes[index] = "" if platform.held is None else f"holds {short(platform.held[index])}"
    else:
        sends = schedule.rows_of(Activity.SEND)
        carried = np.zeros(platform.send_fixed.shape)
        link = schedule.machine[sends], schedule.peer[sends] - count
        np.add.at(carried, link, schedule.amount[sends])
        used = carried[source, worker] > 0
        labels = [short(units) if units else "" for units in carried[source, worker].tolist()]
        loads = computed(schedule)
        notes = [share(loads, machine) for machine in shown.tolist()]
    hidden = len(problem.machines) - len(shown)
    return Diagram(
        nodes=Nodes(
            label=[problem.machines[machine] for machine in shown.tolist()],
            note=notes,
            item=shown,
            layer=np.repeat([0, 1], [len(above), len(below)]),
        ),
        edges=Edges(source=source, target=worker + len(above), label=labels, bold=used),
        title=title(problem, f"{count:,} sources, {len(platform):,} workers"),
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(
            COSTS_OF_SOURCES if schedule is None else AMOUNTS,
            *([f"and {hidden:,} more machines"] if hidden else []),
        ),
    )


MOST_WORKERS, MOST_NODES = 20, 40
"""Machines of a star and of a tree that are drawn; the others are counted."""


def platform(
    problem: DivisibleLoad,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Diagram:
    """Return the machines with the costs of computing, the links with those of sending.

    Of a plan, the units that each machine computes and each link carries, what is used bold. A bus
    is a bar. Beyond 20 workers of a star, and 40 nodes of a tree, the others are counted.
    """
    if schedule is not None:
        problem, schedule = matched(problem, schedule)
    if isinstance(problem.platform, Tree):
        return _tree(problem, problem.platform, schedule)
    if isinstance(problem.platform, Sources):
        return of_sources(problem, problem.platform, schedule)
    return _star(problem, problem.star, schedule)


def _work(star: Star, worker: int) -> str:
    """Return a computing cost as people write it, with what units cost beyond sizes."""
    affine = cost(star.compute_fixed[worker], star.compute_per_unit[worker])
    slower = (f"{short(rate)} beyond {short(size)}" for size, rate in star.beyond.of_worker(worker))
    return ", ".join([affine, *slower])


def _star(problem: DivisibleLoad, star: Star, schedule: Schedule | None) -> Diagram:
    shown = min(len(star), MOST_WORKERS)
    hidden = len(star) - shown
    master = star.master if isinstance(star.master, Master) else None
    on_bus = star.is_bus and len(star) > 1
    names = [star.names[index] for index in range(shown)]
    notes = [_work(star, index) for index in range(shown)]
    sends = [_link(star, index, sent=not on_bus) for index in range(shown)]
    top = "" if master is None else master.name
    own = star.master_cost
    top_note = "" if master is None or master.compute is None else cost(own.fixed, own.per_unit)
    used = None
    if schedule is not None:
        loads = computed(schedule)
        at = len(schedule.machines) - len(star)  # the master stands before the workers
        carried = sent(schedule)
        notes = [share(loads, at + index) for index in range(shown)]
        sends = [
            short(carried[at + index]) if carried[at + index] else "" for index in range(shown)
        ]
        top_note = share(loads, 0) if at else ""
        used = carried[at : at + shown] > 0
    if hidden:
        names.append(f"{hidden:,} more")
        notes.append("")
        sends.append("")
        used = None if used is None else np.append(used, False)
    count = len(names)
    labels, bold = sends, used
    node_names, node_notes, item = [top], [top_note], [0 if master is not None else -1]
    above: list[tuple[int, int]] = []
    first = int(master is not None)
    if on_bus:
        node_names.append("")
        node_notes.append("")
        item.append(-1)
        above = [(0, 1)]
        send = cost(star.send_fixed[0], star.send_per_unit[0])
        labels = ["" if schedule is not None else send, *labels]
        bold = None if bold is None else np.append(bold.any(), bold)
    base = len(node_names)
    edges = [*above, *((base - 1, base + index) for index in range(count))]
    if master is None:  # a bus on which one of the machines becomes the master
        node_names, node_notes, item = node_names[1:], node_notes[1:], item[1:]
        edges = [(0, index + 1) for index in range(count)]
        labels, base = labels[1:], base - 1
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    bar = np.zeros(base + count, dtype=bool)
    bar[base - 1] = on_bus
    what = "bus" if on_bus else "star"
    said = [COSTS if schedule is None else AMOUNTS]
    if master is None:
        said = [
            f"one of the machines becomes the master; sending x units takes "
            f"{cost(star.send_fixed[0], star.send_per_unit[0])} seconds",
            "in a box: seconds to compute x units",
        ]
    return Diagram(
        nodes=Nodes(
            label=[*node_names, *names],
            note=[*node_notes, *notes],
            bar=bar if on_bus else None,
            item=np.array([*item, *range(first, first + shown), *[-1] * bool(hidden)]),
        ),
        edges=Edges(
            source=source, target=target, label=labels, bold=bold, arrow=master is not None
        ),
        title=title(problem, f"{what} of {len(star):,} workers"),
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=tuple(said),
    )


def _link(star: Star, index: int, *, sent: bool) -> str:
    """Return the costs of a worker's link: of sending, and of returning where that costs."""
    words = [cost(star.send_fixed[index], star.send_per_unit[index])] if sent else []
    if star.return_fixed[index] or star.return_per_unit[index]:
        words.append(f"↩ {cost(star.return_fixed[index], star.return_per_unit[index])}")
    return " ".join(words)


def _tree(problem: DivisibleLoad, tree: Tree, schedule: Schedule | None) -> Diagram:
    """Return the nodes of a tree, breadth first up to the most that are shown."""
    shown: list[int] = [tree.root]
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(tree.parent != ROOT).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    for node in shown:
        shown += children.get(node, [])[: max(0, MOST_NODES - len(shown))]
    place = {node: index for index, node in enumerate(shown)}
    lines = [(place[int(tree.parent[node])], place[node]) for node in shown[1:]]
    labels = [cost(tree.send_fixed[node], tree.send_per_unit[node]) for node in shown[1:]]
    notes = [cost(tree.compute_fixed[node], tree.compute_per_unit[node]) for node in shown]
    used = None
    if schedule is not None:
        loads, carried = computed(schedule), sent(schedule)
        notes = [share(loads, node) for node in shown]
        labels = [short(carried[node]) if carried[node] else "" for node in shown[1:]]
        used = carried[shown[1:]] > 0
    source, target = np.array(lines, dtype=np.int64).reshape(-1, 2).T
    hidden = len(tree) - len(shown)
    return Diagram(
        nodes=Nodes(label=[tree.names[node] for node in shown], note=notes, item=np.array(shown)),
        edges=Edges(source=source, target=target, label=labels, bold=used),
        title=title(problem, f"tree of {len(tree):,} nodes"),
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(
            COSTS if schedule is None else AMOUNTS,
            *([f"and {hidden:,} more nodes below"] if hidden else []),
        ),
    )


def front(
    problem: DivisibleLoad,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Curves:
    """Return the front of makespan and price in the details of a result, its plan marked."""
    return front_curves(details, schedule, "price")


def alternatives(
    problem: DivisibleLoad, details: Mapping[str, Any]
) -> list[tuple[Values, Schedule]]:
    """Return the plans of a front, with what each reaches, in the order of their times."""
    found = []
    for values, point in points_of(details, "price"):
        given = problem
        if "holder" in point:
            given = problem.with_master(problem.machines.index(point["holder"]))
        found.append((values, timed(given, *plan_of(given.star.names, point))))
    return found


VIEWS: Mapping[str, Callable[..., Drawn]] = {"platform": platform, "front": front}


def picture(problem: DivisibleLoad, schedule: Schedule) -> Picture:
    """Return a row for the master, or each source, then one for each worker as they are served.

    A chunk is a bar in the master's lane of sends and in its worker's lane of receives; what
    returns, in the worker's lane of sends and in the master's lane of receives; a tree's inner
    nodes have a lane for what they forward. On transfers stands the worker, on computations the
    amount; beside each machine, its load.
    """
    problem, schedule = matched(problem, schedule)
    sends = schedule.rows_of(Activity.SEND)
    returns = schedule.rows_of(Activity.RETURN)
    computes = schedule.rows_of(Activity.COMPUTE)
    holders = list(problem.holders)
    forwards = ~np.isin(schedule.machine[sends], holders)
    lanes = (
        _lane("send", Role.SEND, sends[~forwards], schedule.machine),
        _lane("receive", Role.RECEIVE, sends, schedule.peer),
        _lane("compute", Role.COMPUTE, computes, schedule.machine),
        _lane("forward", Role.SEND, sends[forwards], schedule.machine),
        _lane("send", Role.RETURN, returns, schedule.machine),
        _lane("receive", Role.RETURN, returns, schedule.peer),
    )
    order = busy_first(schedule, by_start=True)
    order = np.concatenate([holders, order[~np.isin(order, holders)]])
    loads = computed(schedule)
    drawn = assembled(
        schedule,
        lanes,
        order,
        note=lambda machine: share(loads, machine),
        labels=OnDemand(len(schedule), lambda row: _label(schedule, row)),
    )
    if problem.deadline is not None and math.isfinite(problem.deadline):
        return drawn.with_marks("", (Mark("deadline", problem.deadline, limit=True),))
    return drawn


def _lane(label: str, role: Role, rows: Integers, machine: Integers) -> Lane:
    rows = rows[machine[rows] >= 0]
    return Lane(label=label, role=role, activities=rows, machine=machine[rows])


def _label(schedule: Schedule, row: int) -> str:
    if schedule.kind[row] == Activity.COMPUTE:
        return short(float(schedule.amount[row]))
    machine = schedule.peer if schedule.kind[row] == Activity.SEND else schedule.machine
    return schedule.machines[int(machine[row])] if machine[row] >= 0 else ""
