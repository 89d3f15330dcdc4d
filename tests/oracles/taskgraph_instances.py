"""Random task graph problems over all topologies and models, by seed."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from makespan import Dag, Network, TaskGraph
from makespan.taskgraph.generate import graphs as generators

TOPOLOGIES = (
    "complete", "bus", "star", "routed star", "ring", "mesh", "torus", "hypercube", "tree", "links",
)  # fmt: skip
MODELS = tuple(product(("overlap", "blocking"), ("none", "links", "ports")))
FIXED_SIZES = {"mesh": 6, "torus": 6, "hypercube": 4}


def random_network(rng: np.random.Generator, topology: str) -> Network:
    count = FIXED_SIZES.get(topology, int(rng.integers(1, 7)))
    names = [f"M{index + 1}" for index in range(count)]
    more: dict[str, Any] = {"duplex": bool(rng.random() < 0.7)}
    if rng.random() < 0.5:
        more["task_setup"] = rng.random(count)
    if rng.random() < 0.5:
        more["message_setup"] = rng.random(count)
    if rng.random() < 0.5:
        more["cores"] = rng.integers(1, 4, count)
    if count > 1 and rng.random() < 0.3:
        more["delays"] = {(names[0], names[1]): float(rng.random())}
    if topology in ("mesh", "torus"):
        more["shape"] = (2, 3)
    if topology == "routed star":
        topology, more["routers"] = "star", ["S"]
    if topology == "links":
        more["routers"] = ["R", "S"]
        ends = [(name, "RS"[index % 2]) for index, name in enumerate(names)]
        more["links"] = [(a, b, float(rng.uniform(0.5, 2.0))) for a, b in [*ends, ("R", "S")]]
    rate: Any = float(rng.choice([0.5, 1.0, 2.0, np.inf]))
    if topology == "complete" and rng.random() < 0.3:
        rate = rng.uniform(0.5, 2.0, (count, count))
    speeds = rng.choice([1.0, 1.0, 2.0, 3.0], count)
    return Network(speeds, topology=topology, rate=rate, **more)


def random_dag(rng: np.random.Generator) -> Dag:
    ccr = float(rng.choice([0.0, 0.1, 1.0, 5.0]))
    dags = (
        lambda: generators.layered(int(rng.integers(1, 25)), ccr=ccr, rng=rng),
        lambda: generators.fork_join(4, stages=2, ccr=ccr, rng=rng),
        lambda: generators.tree(3, inwards=bool(rng.random() < 0.5), ccr=ccr, rng=rng),
        lambda: generators.gaussian_elimination(4, ccr=ccr),
        lambda: generators.fft(4, ccr=ccr),
        lambda: generators.cholesky(3, ccr=ccr),
        lambda: generators.stencil(3, 4, ccr=ccr),
    )
    dag = dags[int(rng.integers(len(dags)))]()
    if rng.random() < 0.2:  # tasks of no work and edges of no data
        work, size = dag.work.copy(), dag.size.copy()
        work[rng.random(len(work)) < 0.3] = 0.0
        size[rng.random(len(size)) < 0.3] = 0.0
        dag = Dag.from_arrays(work=work, source=dag.source, target=dag.target, size=size)
    return dag


def random_problem(
    seed: int, communication: str = "overlap", contention: str = "none", **more: Any
) -> TaskGraph:
    """Return the problem of a seed; neighbouring seeds have different topologies."""
    rng = np.random.default_rng(seed)
    dag = random_dag(rng)
    network = random_network(rng, TOPOLOGIES[seed % len(TOPOLOGIES)])
    if rng.random() < 0.2:
        durations = rng.uniform(1.0, 9.0, (len(dag), len(network)))
        dag = Dag.from_arrays(
            durations=durations, source=dag.source, target=dag.target, size=dag.size
        )
    if seed % 3 == 0:
        dag = with_releases(dag, rng)
    if seed % 4 == 3:
        dag = with_cores(dag, network, rng)
    return TaskGraph(dag, network, communication=communication, contention=contention, **more)


def with_releases(dag: Dag, rng: np.random.Generator) -> Dag:
    """Return the graph with releases of half of its tasks."""
    release = rng.uniform(0.0, 10.0, len(dag)) * (rng.random(len(dag)) < 0.5)
    return Dag.from_arrays(
        work=None if len(dag.own) else dag.work, durations=dag.durations if len(dag.own) else None,
        source=dag.source, target=dag.target, size=dag.size, release=release,
    )  # fmt: skip


def with_cores(dag: Dag, network: Network, rng: np.random.Generator) -> Dag:
    """Return the graph with tasks that need up to as many cores as a machine has."""
    return Dag.from_arrays(
        work=None if len(dag.own) else dag.work, durations=dag.durations if len(dag.own) else None,
        source=dag.source, target=dag.target, size=dag.size, release=dag.release,
        cores=rng.integers(1, int(network.cores.max()) + 1, len(dag)),
    )  # fmt: skip
