"""Random divisible load problems: stars, buses, trees and several sources."""

from typing import Any

import numpy as np

from makespan.core.costs import Affine
from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.numeric.arrays import Floats
from makespan.divisible.model.machines import Master, Worker
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Source, Sources
from makespan.divisible.model.statement import LOAD
from makespan.divisible.model.tree import Tree
from makespan.divisible.problem import DivisibleLoad

TOPOLOGIES = ("star", "bus", "tree", "sources")
MAX_WORKERS = 10**7
RULES = {
    "workers": whole("workers are", 1, MAX_WORKERS),
    "children": whole("children are", 1, MAX_WORKERS),
    "sources": whole("sources are", 1, MAX_WORKERS),
    "load": LOAD,
    "heterogeneity": Rule("heterogeneity is 1 or more", low=1.0),
    "ratio": Rule("a ratio is above 0", strictly=True),
    "latency": Rule("a latency is 0 or more"),
    "returns": Rule("returns are a share of the cost of sending"),
}
SLOWDOWN = Rule("a slowdown is 1 or more", low=1.0)
ON = {"tree": "on a tree", "sources": "with several sources"}


def generate(
    rng: np.random.Generator,
    *,
    topology: str = "star",  # one of ``TOPOLOGIES``
    workers: int = 8,  # beside the master, root or sources
    load: float = 1000.0,  # units
    heterogeneity: float = 4.0,  # the largest cost per unit over the smallest; 1: all alike
    ratio: float = 10.0,  # the median cost per unit of computing over that of sending, 1 second
    latency: float = 0.0,  # fixed, in times to send ``load / workers`` units; 0: costs are linear
    returns: float = 0.0,  # the cost of returning as a share of that of sending; 0: nothing returns
    slowdown: float = 1.0,  # cost of units beyond half of an equal share over the others'
    master_computes: bool = False,  # or the root, or each source
    children: int = 3,  # of a node of a tree, at most
    sources: int = 2,  # of that topology; each holds an equal part of the load
) -> DivisibleLoad:
    """Return a problem whose workers differ in speed and bandwidth.

    Costs per unit are drawn log-uniformly: the logarithm is uniform, so that slow and fast ones are
    alike in number; fixed costs vary like them. Raises ProblemError with every option that is not
    allowed.

    >>> problem = generate(np.random.default_rng(0), workers=3, heterogeneity=1.0)
    >>> problem.platform.compute_per_unit.tolist()
    [10.0, 10.0, 10.0]
    """
    _check_options(locals())
    half = 0.5 * float(np.log(heterogeneity))

    def drawn(count: int) -> Floats:
        """Draw factors around 1 whose extremes differ by ``heterogeneity`` at most."""
        factors: Floats = np.exp(rng.uniform(-half, half, count))
        return factors

    compute = ratio * drawn(workers + (topology == "tree"))
    if topology == "sources":
        alone = ratio * drawn(sources) if master_computes else np.full(sources, np.inf)
        send = drawn(sources * workers)
        fixed = latency * load / workers * drawn(len(send))
        return _of_sources(load / sources, send, fixed, compute, alone)
    send = drawn(1 if topology == "bus" else len(compute))
    fixed = latency * load / workers * drawn(len(send)) if latency else np.zeros(len(send))
    if topology == "tree":
        columns = {"compute_per_unit": compute, "send_per_unit": send, "send_fixed": fixed}
        return _tree(rng, columns, load, children, root_computes=master_computes)
    own = ratio * float(drawn(1)[0]) if master_computes else None
    size = load / workers / 2
    beyond = [((size, slowdown * cost),) for cost in compute.tolist()] if slowdown > 1 else None
    some = 0 if topology == "bus" else slice(None)
    return DivisibleLoad(load=load, platform=Star.from_arrays(
        compute_per_unit=compute, compute_beyond=beyond, send_per_unit=send[some],
        send_fixed=fixed[some], return_per_unit=returns * send[some], master=Master(compute=own),
    ))  # fmt: skip


def _check_options(given: dict[str, Any]) -> None:
    mistakes, topology = Mistakes(), given["topology"]
    for name, rule in RULES.items():
        mistakes.number(name, given[name], rule)
    if topology not in TOPOLOGIES:
        mistakes.add("topology", f"{quoted(topology)} must be one of {', '.join(TOPOLOGIES)}")
    mistakes.number("slowdown", given["slowdown"], SLOWDOWN)
    if topology in ON and not mistakes and given["returns"]:
        mistakes.add("returns", f"nothing returns {ON[topology]}; leave it out")
    if topology in ON and not mistakes and given["slowdown"] > 1:
        mistakes.add("slowdown", f"{ON[topology]} all units cost alike; leave it out")
    mistakes.flag("master_computes", given["master_computes"])
    mistakes.raise_if_any()


def _of_sources(
    held: float, send: Floats, fixed: Floats, compute: Floats, own: Floats
) -> DivisibleLoad:
    tables = (column.reshape(len(own), -1).tolist() for column in (fixed, send))
    holders = [
        Source(load=held, send=tuple(map(Affine, *costs)), compute=None if np.isinf(mine) else mine)
        for *costs, mine in zip(*tables, own.tolist(), strict=True)
    ]
    crew = [Worker(compute=cost) for cost in compute.tolist()]
    return DivisibleLoad(platform=Sources(holders, crew))


def _tree(
    rng: np.random.Generator,
    columns: dict[str, Any],
    load: float,
    children: int,
    *,
    root_computes: bool,
) -> DivisibleLoad:
    """Return a tree: each node's parent is one of the earlier ones that have room."""
    compute = columns["compute_per_unit"]
    if not root_computes:
        compute[0] = np.inf
    for name in ("send_per_unit", "send_fixed"):
        columns[name][0] = 0.0
    parent = np.full(len(compute), -1, dtype=np.int64)
    room = [0] * children  # each node stands here once for every child it may still get
    for node in range(1, len(compute)):
        chosen = int(rng.integers(len(room)))
        parent[node] = room[chosen]
        room[chosen] = room[-1]
        room.pop()
        room.extend([node] * children)
    return DivisibleLoad(load=load, platform=Tree.from_arrays(parent=parent, **columns))
