"""The platform of a divisible load: a star, bus or tree with its costs, or a plan's amounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.picture import Diagram, Edges, Nodes
from makespan.core.schedule import Schedule
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import computed
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import ROOT, Tree
from makespan.divisible.pictures.machines import AMOUNTS, COSTS, cost, sent, share, title
from makespan.divisible.pictures.sources import of_sources
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import matched
from makespan.drawing.text import short

MOST_WORKERS, MOST_NODES = 20, 40
"""Machines of a star and of a tree that are drawn; the others are counted."""
NO_DETAILS: Mapping[str, Any] = {}


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
    top_note = "" if master is None or master.compute is None else cost(*_parts(master.compute))
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


def _parts(cost_of_computing: Any) -> tuple[float, float]:
    return float(cost_of_computing.fixed), float(cost_of_computing.per_unit)


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
