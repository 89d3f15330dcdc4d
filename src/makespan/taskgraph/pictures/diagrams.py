"""The task graph, the scheduled graph of a plan, and the machines with the links between them."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Edges, Flags, Nodes
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.diagram.network import MOST_SHOWN, network_diagram
from makespan.drawing.text import brief, percent, short, without_hashes
from makespan.taskgraph.levels import colevels
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.pictures.groups import dominant_sequence, first_rows, groups, longest_path
from makespan.taskgraph.problem import TaskGraph

ZEROS = 20  # edges up to which a size of 0 is written, too
LABELLED = 400  # edges up to which their sizes are written, where there is room


def graph(
    problem: TaskGraph,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = MappingProxyType({}),
) -> Diagram:
    """Return the tasks with their works and the edges with their sizes.

    Of a plan, the scheduled graph: tasks with their times, coloured by machine, sizes 0 on a
    machine, dashed edges where tasks follow one another there, the dominant sequence bold.
    Without a plan, the longest path is bold, and releases, deadlines and cores stand beside the
    works: ``3, from 1, by 9, on 2 cores``.
    """
    dag = problem.dag
    names = without_hashes(dag.names)
    size, added = dag.size, np.empty((0, 2), dtype=np.int64)
    if schedule is None:
        columns = dag.work, dag.release, dag.deadline, dag.cores
        notes = [
            f"{brief(work)}{_limits(*limits)}"
            for work, *limits in zip(*(each.tolist() for each in columns), strict=True)
        ]
        path, bold_word = longest_path(problem), "longest path"
    else:
        schedule = schedule.renamed(problem.machines)
        rows = first_rows(problem, schedule)
        begin, end = schedule.start[rows], schedule.end[rows]
        notes = [
            f"{short(one)}–{short(other)}" if row >= 0 else ""
            for row, one, other in zip(rows.tolist(), begin.tolist(), end.tolist(), strict=True)
        ]
        at = np.where(rows >= 0, schedule.machine[rows], -1)
        size = np.where(at[dag.source] == at[dag.target], 0.0, size)
        path, bold_word = dominant_sequence(problem, schedule), "dominant sequence"
        added = _added(problem, schedule, rows, path)
    source = np.concatenate([dag.source, added[:, 0]])
    target = np.concatenate([dag.target, added[:, 1]])
    bold = _follows(path, source, target, len(dag))
    dashed = np.arange(len(source)) >= len(dag.source)
    labels, said = _labels(size, len(added))
    layer = None
    if not len(added):
        layer = colevels(dag, np.ones(len(dag)), np.zeros(len(dag.source))).astype(np.int64) - 1
    on_path = np.zeros(len(dag), dtype=bool)
    on_path[path] = True
    what = "task graph" if schedule is None else "scheduled graph"
    return Diagram(
        nodes=Nodes(label=names, note=notes, bold=on_path, layer=layer),
        edges=Edges(
            source=source,
            target=target,
            label=labels,
            bold=bold,
            dashed=dashed,
            item=np.where(dashed, -1, np.arange(len(source))),
        ),
        title=f"{what}: {len(dag):,} tasks, {len(dag.source):,} edges",
        groups=groups(problem, schedule, by, details),
        bold=bold_word,
        dashed="one after another on a machine",
        notes=said,
    )


def _limits(release: float, deadline: float, cores: int) -> str:
    """Return what is said of a release, a deadline and several cores where there are any."""
    early = f", from {brief(release)}" if release else ""
    due = f", by {brief(deadline)}" if deadline < np.inf else ""
    return f"{early}{due}, on {cores} cores" if cores > 1 else f"{early}{due}"


def _added(problem: TaskGraph, schedule: Schedule, rows: Integers, path: list[int]) -> Integers:
    """Return the pairs of tasks that follow one another on a core, without an edge between."""
    dag = problem.dag
    known = set(zip(dag.source.tolist(), dag.target.tolist(), strict=True))
    row = np.where(rows >= 0, rows, 0)
    order = np.lexsort(
        (dag.position, schedule.end[row], schedule.start[row], schedule.machine[row])
    )
    cores: dict[int, list[tuple[float, int]]] = {}
    pairs: dict[tuple[int, int], None] = {}
    for task in order[rows[order] >= 0].tolist():
        here = int(schedule.machine[rows[task]])
        start, end = float(schedule.start[rows[task]]), float(schedule.end[rows[task]])
        free = [each for each in cores.get(here, []) if each[0] <= start * (1 + 1e-12)]
        held = min(int(dag.cores[task]), len(dag))
        for last in sorted(free)[-held:]:
            cores[here].remove(last)
            pairs[last[1], task] = None
        cores.setdefault(here, []).extend([(end, task)] * held)
    pairs |= dict.fromkeys(pairwise(path))
    return np.array([pair for pair in pairs if pair not in known], dtype=np.int64).reshape(-1, 2)


def _follows(path: list[int], source: Integers, target: Integers, count: int) -> Flags:
    """Return which edges lead from a task of a path to the next."""
    following = np.full(count, -1, dtype=np.int64)
    for one, other in pairwise(path):
        following[one] = other
    found: Flags = following[source] == target
    return found


def _labels(size: Floats, more: int) -> tuple[list[str], tuple[str, ...]]:
    """Return what is written on edges, and a line in place of it where they are all alike."""
    few = len(size) <= ZEROS
    if not len(size) or not size.any():
        return [], ()
    if len(size) > 1 and (size == size[0]).all():
        return [], (f"every edge carries {brief(float(size[0]))}",)
    if len(size) > LABELLED:
        return [], ()
    labels = [brief(each) if each or few else "" for each in size.tolist()]
    return [*labels, *[""] * more], ()


MOST_ROUTED = 12


def platform(problem: TaskGraph, schedule: Schedule | None = None, **_: Any) -> Diagram:
    """Return the machines and routers with their links and rates, and the routes where they differ.

    Of a plan, the share of the makespan that each machine executes, and the data on each link.
    """
    network = problem.network
    count = len(network.nodes)
    title = f"network: {len(network):,} machines, {network.topology}"
    if count > MOST_SHOWN:
        return _summary(network, title)
    notes = _speeds(network)
    carried = None
    if schedule is not None:
        schedule = schedule.renamed(problem.machines)
        notes = _shares(problem, schedule)
        rows, carried = schedule.rows_of(Activity.TRANSFER), np.zeros((count, count))
        np.add.at(carried, (schedule.machine[rows], schedule.peer[rows]), schedule.amount[rows])
    return network_diagram(network, title, notes, carried, _routes(network))


def _speeds(network: Network) -> list[str]:
    own = [
        f"speed {short(speed)}" + (f", {cores} cores" if cores > 1 else "")
        for speed, cores in zip(network.speed.tolist(), network.cores.tolist(), strict=True)
    ]
    return [*own, *["router"] * len(network.routers)]


def _shares(problem: TaskGraph, schedule: Schedule) -> list[str]:
    network, rows = problem.network, schedule.rows_of(Activity.COMPUTE)
    seconds = schedule.end[rows] - schedule.start[rows]
    busy = np.bincount(
        schedule.machine[rows],
        weights=seconds * problem.dag.cores[schedule.item[rows]],
        minlength=len(network.nodes),
    )[: len(network)]
    share = busy / (network.cores * (schedule.makespan or 1.0))
    own = [f"busy {percent(each)}" if each else "idle" for each in share.tolist()]
    return [*own, *["router"] * len(network.routers)]


def _routes(network: Network) -> tuple[str, ...]:
    """Return a line for each machine whose data pass others on their way."""
    hops = network.routing.hops
    if len(hops) > MOST_ROUTED or hops.max(initial=0) < 2 or network.topology == "star":
        return ()
    lines = []
    for start, name in enumerate(network.names):
        via: dict[str, list[str]] = {}
        for goal, other in enumerate(network.names):
            if hops[start, goal] > 1:
                step = network.nodes[int(network.routing.following[start, goal])]
                via.setdefault(step, []).append(other)
        if via:
            ways = "; ".join(f"by {step} to {', '.join(goals)}" for step, goals in via.items())
            lines.append(f"{name} sends {ways}")
    return tuple(lines)


def _summary(network: Network, title: str) -> Diagram:
    """Return a box for all machines of one speed and number of cores, without links."""
    alike = Counter(_speeds(network))
    return Diagram(
        nodes=Nodes(
            label=[
                f"{count:,} {'routers' if word == 'router' else 'machines'}"
                for word, count in alike.items()
            ],
            note=list(alike),
            item=np.full(len(alike), -1),
        ),
        edges=Edges(source=np.empty(0, dtype=np.int64), target=np.empty(0, dtype=np.int64)),
        title=title,
        stands_for="machine",
        carries="link",
        notes=("machines of one speed share a box",),
    )
