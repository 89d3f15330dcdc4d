"""Random task graph problems: a generated graph on generated machines."""

from __future__ import annotations

from typing import Any

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.network.checks import squarish
from makespan.taskgraph.generate.graphs import GENERATORS
from makespan.taskgraph.model.columns import CORES
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.problem import TaskGraph

SIZES = {
    "layered": (40, 10**6),
    "fork-join": (10, 10**6),
    "tree": (5, 20),
    "gaussian-elimination": (8, 1000),
    "fft": (16, 2**15),
    "cholesky": (6, 150),
    "stencil": (6, 1000),
}
"""The size of each graph where none is given, and the largest: about a million tasks."""
MAX_MACHINES = 4096
RANDOM = ("layered", "fork-join", "tree")


def generate(
    rng: np.random.Generator,
    *,
    graph: str = "layered",  # one of ``GENERATORS``; ``RANDOM`` ones are random
    size: int | None = None,
    ccr: float = 1.0,  # the mean size of an edge over the mean work of a task
    machines: int = 4,
    heterogeneity: float = 2.0,  # the largest speed over the smallest; they are drawn log-uniformly
    cores: int = 1,  # of each machine
    rigid: float = 0.0,
    topology: str = "complete",  # as in :class:`Network`; meshes and tori are as square as possible
    communication: str = "overlap",  # as in :class:`TaskGraph`
    contention: str = "none",
) -> TaskGraph:
    """Return a problem with a graph of a known family on machines of different speeds.

    ``size`` is the tasks of a layered graph, the branches of a fork-join, the levels of a tree, the
    order of an elimination, the points of a transform, the tiles of a factorisation, the cells and
    steps of a stencil. ``rigid`` is the share of the tasks that need several cores: 2, 4, 8, …, up
    to those of a machine, each as likely as the next. Most parallel jobs on record ask for a power
    of two (Lublin and Feitelson 2003). Raises ProblemError with every option that makes no problem.
    """
    mistakes = Mistakes()
    if graph not in GENERATORS:
        hint = did_you_mean(graph, GENERATORS)
        mistakes.add("graph", f"there is no graph {quoted(graph)}{hint}")
    usual, largest = SIZES.get(graph, (1, 10**6))
    extent = usual if size is None else size
    mistakes.number("size", extent, whole("a size is", 1, largest))
    mistakes.number("machines", machines, whole("machines are", 1, MAX_MACHINES))
    mistakes.number("ccr", ccr, Rule("a ratio is 0 or more"))
    mistakes.number("heterogeneity", heterogeneity, Rule("a ratio of speeds is 1 or more", low=1.0))
    mistakes.number("cores", cores, CORES)
    mistakes.number("rigid", rigid, Rule("a share is 0 to 1", high=1.0))
    mistakes.raise_if_any()
    speeds = np.exp(rng.uniform(0.0, np.log(heterogeneity), machines))
    shape = squarish(machines) if topology in ("mesh", "torus") else ()
    more: dict[str, Any] = {"rng": rng} if graph in RANDOM else {}
    dag = GENERATORS[graph](*[extent] * (1 + (graph == "stencil")), ccr=ccr, **more)
    if rigid and cores > 1:
        several = 2 ** rng.integers(1, cores.bit_length(), len(dag))
        dag = Dag.from_arrays(
            work=dag.work, source=dag.source, target=dag.target, size=dag.size, names=dag.names,
            cores=np.where(rng.random(len(dag)) < rigid, several, 1),
        )  # fmt: skip
    return TaskGraph(
        dag,
        Network(speeds, topology=topology, shape=shape, cores=cores),
        communication=communication,  # type: ignore[arg-type]
        contention=contention,  # type: ignore[arg-type]
    )
