"""Pictures of divisible loads: plans over time, platforms with costs or amounts, and fronts."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Drawn, Edges, Mark, Nodes, OnDemand, Picture, Role
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import FrontValues, front_points
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import computed, plan_of
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import ROOT, Tree
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import matched, timed
from makespan.drawing.diagram.curves import front_view
from makespan.drawing.gantt.assemble import Lane, assembled, busy_first
from makespan.drawing.text import percent, short

COSTS = "at a link: seconds to send x units, ↩ to return the results; in a box: to compute them"
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


def _cost_of(platform: Star | Tree | Sources, of: str, index: int | tuple[int, int]) -> str:
    return cost(getattr(platform, f"{of}_fixed")[index], getattr(platform, f"{of}_per_unit")[index])


def _units(amounts: Floats) -> list[str]:
    return [short(units) if units else "" for units in amounts.tolist()]


def _diagram(
    problem: DivisibleLoad, nodes: Nodes, edges: Edges, what: str, *said: str, hidden: str = ""
) -> Diagram:
    load = "" if problem.load is None else f", {short(problem.load)} units of load"
    return Diagram(
        nodes=nodes,
        edges=edges,
        title=what + load,
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(*said, *([f"and {hidden}"] if hidden else [])),
    )


def sent(schedule: Schedule) -> Floats:
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
    source, worker = np.nonzero(np.isfinite(platform.send_per_unit[: len(above), : len(below)]))
    used = None
    if schedule is None:
        links = zip(source.tolist(), worker.tolist(), strict=True)
        labels = [_cost_of(platform, "send", link) for link in links]
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
        labels = _units(carried[source, worker])
        loads = computed(schedule)
        notes = [share(loads, machine) for machine in shown.tolist()]
    hidden = len(problem.machines) - len(shown)
    layer = np.repeat([0, 1], [len(above), len(below)])
    label = [problem.machines[machine] for machine in shown.tolist()]
    return _diagram(
        problem,
        Nodes(label=label, note=notes, item=shown, layer=layer),
        Edges(source=source, target=worker + len(above), label=labels, bold=used),
        f"{count:,} sources, {len(platform):,} workers",
        COSTS_OF_SOURCES if schedule is None else AMOUNTS,
        hidden=f"{hidden:,} more machines" if hidden else "",
    )


MOST_WORKERS, MOST_NODES = 20, 40  # machines of a star, and of a tree, that are drawn


def platform(problem: DivisibleLoad, schedule: Schedule | None = None, **_: Any) -> Diagram:
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
    affine = _cost_of(star, "compute", worker)
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
        sends = _units(carried[at : at + shown])
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
        labels = ["" if schedule is not None else _cost_of(star, "send", 0), *labels]
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
            f"{_cost_of(star, 'send', 0)} seconds",
            "in a box: seconds to compute x units",
        ]
    nodes = Nodes(
        label=[*node_names, *names],
        note=[*node_notes, *notes],
        bar=bar if on_bus else None,
        item=np.array([*item, *range(first, first + shown), *[-1] * bool(hidden)]),
    )
    links = Edges(source=source, target=target, label=labels, bold=bold, arrow=master is not None)
    return _diagram(problem, nodes, links, f"{what} of {len(star):,} workers", *said)


def _link(star: Star, index: int, *, sent: bool) -> str:
    """Return the costs of a worker's link: of sending, and of returning where that costs."""
    words = [_cost_of(star, "send", index)] if sent else []
    if star.returns[index]:
        words.append(f"↩ {_cost_of(star, 'return', index)}")
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
    labels = [_cost_of(tree, "send", node) for node in shown[1:]]
    notes = [_cost_of(tree, "compute", node) for node in shown]
    used = None
    if schedule is not None:
        loads, carried = computed(schedule), sent(schedule)
        notes = [share(loads, node) for node in shown]
        labels = _units(carried[shown[1:]])
        used = carried[shown[1:]] > 0
    source, target = np.array(lines, dtype=np.int64).reshape(-1, 2).T
    hidden = len(tree) - len(shown)
    return _diagram(
        problem,
        Nodes(label=[tree.names[node] for node in shown], note=notes, item=np.array(shown)),
        Edges(source=source, target=target, label=labels, bold=used),
        f"tree of {len(tree):,} nodes",
        COSTS if schedule is None else AMOUNTS,
        hidden=f"{hidden:,} more nodes below" if hidden else "",
    )


def alternatives(
    problem: DivisibleLoad, details: Mapping[str, Any]
) -> list[tuple[FrontValues, Schedule]]:
    """Return the plans of a front, with what each reaches, in the order of their times."""
    found = []
    for values, point in front_points(details, "price"):
        given = problem
        if "holder" in point:
            given = problem.with_master(problem.machines.index(point["holder"]))
        found.append((values, timed(given, *plan_of(given.star.names, point))))
    return found


VIEWS: Mapping[str, Callable[..., Drawn]] = {"platform": platform, "front": front_view("price")}


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
