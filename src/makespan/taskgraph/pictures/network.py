"""The machines of a task graph problem, the links between them, and what a plan sends over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Diagram, Edges, Nodes
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.diagram.network import MOST_SHOWN, network_diagram
from makespan.drawing.text import percent, short
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.pictures.graph import NO_DETAILS
from makespan.taskgraph.problem import TaskGraph

MOST_ROUTED = 12


def platform(
    problem: TaskGraph,
    schedule: Schedule | None = None,
    *,
    by: str | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Diagram:
    """Return the machines and routers with their links and rates, and the routes where they differ.

    Of a plan, the share of the makespan that each machine executes, and the data on each link.
    """
    network = problem.network
    count = len(network.nodes)
    title = f"network: {len(network):,} machines, {network.topology}"
    if count > MOST_SHOWN:
        return _summary(network, title)
    if schedule is not None:
        schedule = schedule.renamed(problem.machines)
    notes = _speeds(network) if schedule is None else _shares(problem, schedule)
    carried = None if schedule is None else _carried(schedule, count)
    return network_diagram(network, title, notes, carried, _routes(network))


def _speeds(network: Network) -> list[str]:
    machines = zip(network.speed.tolist(), network.cores.tolist(), strict=True)
    own = [
        f"speed {short(speed)}" + (f", {cores} cores" if cores > 1 else "")
        for speed, cores in machines
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


def _carried(schedule: Schedule, count: int) -> Floats:
    """Return the data sent over each link, shape (nodes, nodes)."""
    rows = schedule.rows_of(Activity.TRANSFER)
    data = np.zeros((count, count))
    np.add.at(data, (schedule.machine[rows], schedule.peer[rows]), schedule.amount[rows])
    return data


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
