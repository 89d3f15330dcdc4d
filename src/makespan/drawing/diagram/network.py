"""A picture of a network: its machines and routers, the links between them, and what they carry."""

import numpy as np

from makespan.core.network.interconnect import Interconnect
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.picture import Diagram, Edges, Nodes
from makespan.drawing.text import short

MOST_SHOWN = 60
MOST_AROUND = 10  # machines up to which links from all to all are drawn one by one
DIRECTIONS = np.array([(1, 0), (0, 1), (0.42, 0.36), (2.6, 0), (0, 2.6), (1.2, 1.0)])
"""Where the next machine stands along each extent of a mesh."""


def network_diagram(
    network: Interconnect,
    title: str,
    notes: list[str],
    carried: Floats | None = None,
    more: tuple[str, ...] = (),
) -> Diagram:
    """Return the machines and routers with their links and rates.

    ``notes`` are said of each node, ``more`` below; ``carried``, shape (nodes, nodes), are the data
    of a plan over each link.
    """
    if _is_common(network):
        return _over_a_bar(network, title, notes, carried)
    source, target, arrow = _links(network)
    rates, latencies = network.arcs[source, target], network.latencies[source, target]
    said: tuple[str, ...] = ()
    labels: list[str] = []
    bold = None
    if carried is not None:
        both = carried if arrow else carried + carried.T
        labels = [short(each) if each else "" for each in both[source, target].tolist()]
        bold = both[source, target] > 0
        said = ("a link is labelled with the data that it carries",)
    elif len(rates) and (rates == rates[0]).all() and (latencies == latencies[0]).all():
        lag = f", latency {short(float(latencies[0]))}" if latencies[0] else ""
        said = (f"rate of every link: {short(float(rates[0]))}{lag}",)
    else:
        lags = [f" + {short(lag)}" if lag else "" for lag in latencies.tolist()]
        labels = [short(rate) + lag for rate, lag in zip(rates.tolist(), lags, strict=True)]
        said = ("at a link: rate + latency",) if latencies.any() else ()
    x, y = _places(network, source, target)
    return Diagram(
        nodes=Nodes(label=list(network.nodes), note=notes, x=x, y=y),
        edges=Edges(source=source, target=target, label=labels, bold=bold, arrow=arrow),
        title=title,
        stands_for="machine",
        carries="link",
        bold="used by the plan",
        notes=(*said, *more),
    )


def _is_common(network: Interconnect) -> bool:
    """Whether all machines are linked in one way: by a bus, or many each to each alike."""
    if network.topology == "bus":
        return True
    arcs = network.arcs[~np.eye(len(network.nodes), dtype=bool)]
    return len(network.nodes) > MOST_AROUND and bool(len(arcs) and (arcs == arcs[0]).all())


def _over_a_bar(
    network: Interconnect, title: str, notes: list[str], carried: Floats | None
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
    if carried is not None:
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


def _links(network: Interconnect) -> tuple[Integers, Integers, bool]:
    """Return the links, and whether they have a direction; else each stands there once."""
    arcs, latencies = network.arcs, network.latencies
    if np.array_equal(arcs, arcs.T) and np.array_equal(latencies, latencies.T):
        source, target = np.nonzero(np.triu(arcs))
        return source, target, False
    source, target = np.nonzero(arcs)
    return source, target, True


def _places(
    network: Interconnect, source: Integers, target: Integers
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
