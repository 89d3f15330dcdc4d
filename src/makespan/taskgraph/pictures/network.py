"""The machines of a task graph problem, the links between them, and what a plan sends over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.diagram import Diagram, Edges, Nodes
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.text import percent, short
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.pictures.graph import NO_DETAILS
from makespan.taskgraph.problem import TaskGraph

MOST_SHOWN = 60
MOST_AROUND = 10
"""Machines up to which links from all to all are drawn one by one."""
MOST_ROUTED = 12
DIRECTIONS = np.array([(1, 0), (0, 1), (0.42, 0.36), (2.6, 0), (0, 2.6), (1.2, 1.0)])
"""Where the next machine stands along each extent of a mesh."""


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
    if _is_common(network):
        return _over_a_bar(network, title, notes, schedule)
    source, target, arrow = _links(network)
    rates = network.arcs[source, target]
    said: tuple[str, ...] = ()
    labels: list[str] = []
    bold = None
    if schedule is not None:
        carried = _carried(schedule, count)
        both = carried if arrow else carried + carried.T
        labels = [short(each) if each else "" for each in both[source, target].tolist()]
        bold = both[source, target] > 0
        said = ("a link is labelled with the data that it carries",)
    elif len(rates) and (rates == rates[0]).all():
        said = (f"rate of every link: {short(float(rates[0]))}",)
    else:
        labels = [short(rate) for rate in rates.tolist()]
    x, y = _places(network, source, target)
    return Diagram(
        nodes=Nodes(label=list(network.nodes), note=notes, x=x, y=y),
        edges=Edges(source=source, target=target, label=labels, bold=bold, arrow=arrow),
        title=title,
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(*said, *_routes(network)),
    )


def _is_common(network: Network) -> bool:
    """Whether all machines are linked in one way: by a bus, or many each to each alike."""
    if network.topology == "bus":
        return True
    arcs = network.arcs[~np.eye(len(network.nodes), dtype=bool)]
    return len(network.nodes) > MOST_AROUND and bool(len(arcs) and (arcs == arcs[0]).all())


def _over_a_bar(
    network: Network, title: str, notes: list[str], schedule: Schedule | None
) -> Diagram:
    """Return the machines on a bar that stands for the bus, or for links from each to each."""
    count = len(network.nodes)
    arcs = network.arcs[~np.eye(count, dtype=bool)]
    alike = bool(len(arcs) and (arcs == arcs[0]).all())
    low, high = short(float(arcs.min(initial=np.inf))), short(float(arcs.max(initial=0.0)))
    rate = low if alike else f"{low} to {high}"
    on_bus = network.topology == "bus"
    said = f"rate of the bus: {rate}" if on_bus else f"each is linked to each, at a rate of {rate}"
    labels: list[str] = []
    if schedule is not None:
        carried = _carried(schedule, count)
        labels = [
            f"↑{short(sent)} ↓{short(got)}" if sent or got else ""
            for sent, got in zip(
                carried.sum(axis=1).tolist(), carried.sum(axis=0).tolist(), strict=True
            )
        ]
    return Diagram(
        nodes=Nodes(
            label=["", *network.nodes],
            note=["", *notes],
            bar=np.arange(count + 1) == 0,
            item=np.arange(-1, count),
        ),
        edges=Edges(
            source=np.zeros(count, dtype=np.int64),
            target=np.arange(1, count + 1),
            label=labels,
            arrow=False,
        ),
        title=title,
        stands_for="machine",
        carries="link",
        notes=(said, *(["↑ data sent, ↓ data received"] if labels else [])),
    )


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


def _links(network: Network) -> tuple[Integers, Integers, bool]:
    """Return the links, and whether they have a direction; else each stands there once."""
    arcs = network.arcs
    if np.array_equal(arcs, arcs.T):
        source, target = np.nonzero(np.triu(arcs))
        return source, target, False
    source, target = np.nonzero(arcs)
    return source, target, True


def _places(
    network: Network, source: Integers, target: Integers
) -> tuple[Floats | None, Floats | None]:
    """Return where the machines stand; None for trees, which have layers."""
    count = len(network.nodes)
    shape = network.shape
    if network.topology == "tree":
        return None, None
    if network.topology == "hypercube":
        shape = (2,) * max(count.bit_length() - 1, 0)
    if network.topology in ("mesh", "torus", "hypercube") and 0 < len(shape) <= len(DIRECTIONS):
        steps = np.array(np.unravel_index(np.arange(len(network)), shape[::-1][::-1])).T[:, ::-1]
        places = steps @ DIRECTIONS[: len(shape)]
        if len(network.routers) == 0:
            return places[:, 0], places[:, 1]
    if network.topology in ("mesh", "torus", "hypercube", "nodes", "links"):
        from igraph import Graph

        graph = Graph(n=count, edges=list(zip(source.tolist(), target.tolist(), strict=True)))
        places = np.array(graph.layout_kamada_kawai(seed=_around(count).tolist()).coords)
        return places[:, 0], places[:, 1]
    places = _around(count)
    if network.topology == "star":
        centre = len(network) if network.routers else 0
        others = np.delete(np.arange(count), centre)
        places[others], places[centre] = _around(count - 1), 0.0
    return places[:, 0], places[:, 1]


def _around(count: int) -> Floats:
    """Return places on a circle, the first at the top, clockwise."""
    angle = 2.0 * np.pi * np.arange(count) / max(count, 1)
    return np.column_stack([1.35 * np.sin(angle), -np.cos(angle)])


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
