"""What runs have shown of a graph, as a problem to plan."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats
from makespan.execute.dask.cluster.fit import fit
from makespan.execute.dask.graphs.learning.known import Cluster, Known
from makespan.execute.dask.graphs.learning.structure import Structure
from makespan.execute.dealing.engine import WorkerInfo
from makespan.taskgraph.model.network import Network
from makespan.taskgraph.problem import TaskGraph

SWITCH = "switch"
HANDING = 3e-3  # seconds between tasks that wait for one another, where none were seen
BANDWIDTH = 1e8  # bytes per second, where nothing was sent: what Dask assumes
MIN_SECONDS = 2e-3  # what takes less tells nothing about speeds
MIN_SEEN = 3  # tasks of a kind on a worker, from which their own ratio is believed
ALIKE = 0.1  # of the logarithm of a ratio: nearer to 1, workers count as equally fast


def problem_of(
    cluster: Cluster, known: Known, structure: Structure, members: Sequence[WorkerInfo]
) -> TaskGraph:
    """Return the problem: seconds on each worker, bytes, and a line from each to a switch.

    What a worker sends shares its line. A task that was seen on one worker takes on others what
    tasks of its kind took there beside it; of a kind that they have not computed, what all kinds
    took. Of several runs the median counts.
    """
    setup = cluster.handing
    setup = HANDING if setup is None else setup
    seconds = durations(known, structure, [member.name for member in members]) + setup
    sizes = np.zeros(len(structure.keys))
    for task, size in known.size.items():
        sizes[task] = size
    return TaskGraph(
        structure.dag(seconds, sizes), _network(cluster, members, setup), contention="links"
    )


def durations(known: Known, structure: Structure, names: Sequence[str]) -> Floats:
    """Return the seconds of each task on each worker; of what was never seen 0."""
    kinds: dict[str, list[tuple[str, float]]] = {}
    for task, times in known.took.items():
        kinds.setdefault(structure.kinds[task], []).extend(
            (worker, float(np.log(seconds))) for worker, seconds in times if seconds > MIN_SECONDS
        )
    usual: dict[str, list[float]] = {}
    of_kind: dict[tuple[str, str], list[float]] = {}
    for kind, seen in kinds.items():
        by_worker: dict[str, list[float]] = {}
        for worker, value in seen:
            by_worker.setdefault(worker, []).append(value)
        if len(by_worker) < 2:
            continue
        middle = float(np.mean([median(values) for values in by_worker.values()]))
        for worker, values in by_worker.items():
            of_kind[kind, worker] = [value - middle for value in values]
            usual.setdefault(worker, []).extend(of_kind[kind, worker])
    general = {worker: median(values) for worker, values in usual.items()}

    def ratio(kind: str, worker: str) -> float:
        own = of_kind.get((kind, worker), ())
        found = median(own) if len(own) >= MIN_SEEN else general.get(worker, 0.0)
        return float(np.exp(found)) if abs(found) > ALIKE else 1.0

    table = np.zeros((len(structure.keys), len(names)))
    ratios = {kind: np.array([ratio(kind, n) for n in names]) for kind in set(structure.kinds)}
    for task, times in known.took.items():
        kind = structure.kinds[task]
        base = median(seconds / ratio(kind, worker) for worker, seconds in times)
        table[task] = max(0.0, base) * ratios[kind]
    return table


def line_of(cluster: Cluster, name: str) -> Affine | None:
    """Return what sending bytes costs a worker; None where it has sent nothing worth measuring."""
    periods = [period for period in cluster.sent.get(name, ()) if period[1] > 0.0]
    if not periods:
        return None
    found = fit(*zip(*periods, strict=True)).cost
    if found.per_unit > 0.0:
        return found
    return Affine(0.0, sum(p[1] for p in periods) / max(1.0, sum(p[0] for p in periods)))


def _network(cluster: Cluster, members: Sequence[WorkerInfo], setup: float) -> Network:
    names = [member.name for member in members]
    lines = [line_of(cluster, name) for name in names]
    seen = [line for line in lines if line is not None]
    usual = Affine(0.0, 1.0 / BANDWIDTH)
    if seen:
        usual = Affine(median(x.fixed for x in seen), median(x.per_unit for x in seen))
    costs = [usual if line is None else line for line in lines]
    links = []
    for name, cost in zip(names, costs, strict=True):
        links += [(name, SWITCH, 1.0 / cost.per_unit), (SWITCH, name, float("inf"))]
    return Network(
        np.ones(len(names)),
        names=names,
        cores=[member.threads for member in members],
        task_setup=setup,
        message_setup=[cost.fixed for cost in costs],
        topology="links",
        routers=[SWITCH],
        one_way_links=links,
    )
