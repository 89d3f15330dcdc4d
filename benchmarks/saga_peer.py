"""What anrg-saga makes of task graphs: run by the interpreter of an environment that has it.

``PYTHON benchmarks/saga_peer.py < problems.json``: prints a line of JSON for each problem, those
of standard input first, then those of its own generators: works, edges, speeds and rates, and of
each of its schedulers the machine of each task and when it starts there.
"""

from __future__ import annotations

import json
import logging
import random
import signal
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

logging.disable(logging.WARNING)
try:
    from saga import Network, TaskGraph, schedulers
    from saga.schedulers.data import random as saga_random, riotbench
    from saga.utils.random_graphs import get_branching_dag
except ImportError:
    sys.exit(3)

LEFT_OUT = ("BruteForceScheduler", "SMTScheduler", "HybridScheduler")
"""Those that take exponential time, and that which needs others as its argument."""
SCHEDULERS = [name for name in schedulers.__all__ if name not in LEFT_OUT]
EACH = 10
SECONDS = 2
"""What a scheduler may take for a plan: some don't end."""


def too_long(*_: Any) -> None:
    """End a scheduler whose time is up."""
    raise TimeoutError(f"no plan in {SECONDS} s")


def weight(*_: Any) -> float:
    """Return a weight as its generators draw them, within bounds the right way round."""
    return max(0.1, min(2.0, random.gauss(1, 1 / 3)))


def own_problems() -> list[tuple[str, Any, Any]]:
    """Return graphs and networks of its own generators: trees, chains, branchings, RIoTBench."""
    made = []
    for seed in range(EACH):
        random.seed(seed)
        np.random.seed(seed)
        width, machines = 2 + seed % 3, 3 + seed % 4
        drawn = {"get_task_weight": weight, "get_dependency_weight": weight}
        graphs = [
            ("out-tree", saga_random.gen_out_trees(1, 3, width, **drawn)[0]),
            ("in-tree", saga_random.gen_in_trees(1, 3, width, **drawn)[0]),
            ("chains", saga_random.gen_parallel_chains(1, 3 + seed % 5, 4 + seed, **drawn)[0]),
            ("branching", get_branching_dag(4, width, SimpleNamespace(sample=weight))),
        ]
        for name, graph in graphs:
            network = saga_random.gen_random_networks(
                1, machines, get_node_weight=weight, get_edge_weight=weight
            )[0]
            made.append((name, graph, network))
        fog = riotbench.get_fog_networks(1, num_edges_nodes=10, num_fog_nodes=3, num_cloud_nodes=2)
        for name in ("etl", "stats", "train", "predict"):
            graph = getattr(riotbench, f"get_{name}_task_graphs")(1)[0]
            made.append((f"riotbench {name}", graph, fog[0]))
    return made


def given(data: dict[str, Any]) -> tuple[str, Any, Any]:
    """Return the graph and the network of a problem from elsewhere."""
    names = [f"m{index:03}" for index in range(len(data["speeds"]))]
    graph = TaskGraph.create(
        [(f"t{task}", work) for task, work in enumerate(data["work"])],
        [(f"t{a}", f"t{b}", size) for a, b, size in data["edges"]],
    )
    links = [
        (a, b, data["rates"][i][j])
        for i, a in enumerate(names) for j, b in enumerate(names) if i < j
    ]  # fmt: skip
    return data["family"], graph, Network.create(zip(names, data["speeds"], strict=True), links)


def statement(family: str, graph: Any, network: Any) -> dict[str, Any]:
    """Return the problem as lists, tasks and machines in the order of their names."""
    nodes = sorted(network.nodes, key=lambda node: node.name)
    tasks = sorted(graph.tasks, key=lambda task: task.name)
    index = {task.name: place for place, task in enumerate(tasks)}
    edges = sorted((index[e.source], index[e.target], e.size) for e in graph.dependencies)
    rates = [[network.get_edge(a.name, b.name).speed for b in nodes] for a in nodes]
    rates = [[1e300 if i == j else r for j, r in enumerate(row)] for i, row in enumerate(rates)]
    return {
        "family": family, "work": [task.cost for task in tasks], "edges": edges,
        "speeds": [node.speed for node in nodes], "rates": rates,
    }  # fmt: skip


def plans(graph: Any, network: Any) -> dict[str, Any]:
    """Return the plan and the seconds of each scheduler, or what it raised."""
    task = {each.name: place for place, each in enumerate(sorted(graph.tasks, key=_name))}
    machine = {each.name: place for place, each in enumerate(sorted(network.nodes, key=_name))}
    found: dict[str, Any] = {}
    for name in SCHEDULERS:
        random.seed(0)
        signal.alarm(SECONDS)
        started = time.process_time()
        try:
            schedule = getattr(schedulers, name)().schedule(network, graph)
        except Exception as error:  # a peer that fails has no plan
            found[name] = {"error": repr(error)}
            continue
        finally:
            signal.alarm(0)
        rows = [
            (task[each.name], machine[node], each.start)
            for node, row in schedule.mapping.items() for each in row
        ]  # fmt: skip
        found[name] = {
            "rows": sorted(rows), "makespan": schedule.makespan,
            "seconds": time.process_time() - started,
        }  # fmt: skip
    return found


def _name(part: Any) -> str:
    return str(part.name)


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, too_long)
    for problem in [*map(given, json.load(sys.stdin)), *own_problems()]:
        print(json.dumps({**statement(*problem), "plans": plans(*problem[1:])}), flush=True)
