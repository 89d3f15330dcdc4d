"""Collectives on networks beside the optima of SCCL and ForestColl, in their models of cost.

``python -m benchmarks.collective_peers`` needs SCCL (https://github.com/microsoft/sccl, the package
``msccl``) with ``z3-solver``, and on the path the files of ForestColl
(https://github.com/liangyuRain/ForestColl); where one is missing it says so and ends.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.table import Table
from makespan import Interconnect, Reduction, solve

DGX1 = "01 01 02 03 04 04 12 13 13 15 23 23 26 26 37 45 45 46 47 56 57 57 67 67"
"""The pairs of GPUs, once for each NVLink between them."""
MACHINES = 8
SECONDS = 120.0  # for a synthesis
LIMIT = 20.0  # for a plan of ours
LATENCIES = (0.0, 1.0)  # of a step, in transfers of a segment
INSTANCES = (
    *((where, "all-gather", *sizes) for where, sizes in (
        ("DGX-1", (1, 2, 2)), ("DGX-1", (2, 2, 3)), ("DGX-1", (6, 3, 7)), ("ring", (1, 4, 4)),
        ("ring", (2, 7, 7)), ("hypercube", (1, 3, 3)), ("hypercube", (3, 3, 7)),
    )),
    *(("DGX-1", "broadcast", *sizes) for sizes in ((2, 2, 2), (6, 3, 3), (6, 3, 5))),
    *(("DGX-1", "gather", *sizes) for sizes in ((1, 2, 2), (6, 3, 7))),
    *(("DGX-1", "all-to-all", *sizes) for sizes in ((1, 2, 3), (1, 3, 3))),
    ("hypercube", "all-to-all", 1, 3, 4),
    *(("DGX-1", "reduce-scatter", *sizes) for sizes in ((1, 2, 2), (6, 3, 7))),
    *(("DGX-1", "all-reduce", *sizes) for sizes in ((1, 4, 4), (6, 6, 14))),
)  # fmt: skip
"""Network and collective; segments of a machine, steps and rounds, as SCCL calls an algorithm.

An all-reduce is the all-gather and its reverse.
"""
FABRICS = (
    *(("a100_topology", boxes, each) for boxes in (1, 2, 4) for each in (13, 52)),
    *(("mi250_topology", boxes, each) for boxes in (1, 2) for each in (13, 52)),
)


def link_counts(network: str) -> list[list[int]]:
    """Return the number of links between each two machines."""
    table = [[0] * MACHINES for _ in range(MACHINES)]
    pairs = [(int(pair[0]), int(pair[1])) for pair in DGX1.split()]
    if network != "DGX-1":
        every = range(MACHINES)
        near: Callable[[int, int], bool] = {
            "ring": lambda i, j: (j - i) % MACHINES == 1,
            "hypercube": lambda i, j: j > i and (i ^ j) & ((i ^ j) - 1) == 0,
        }[network]
        pairs = [(i, j) for i in every for j in every if near(i, j)]
    for i, j in pairs:
        table[i][j] += 1
        table[j][i] += 1
    return table


def synthesised(network: str, collective: str, sizes: tuple[int, int, int], answer: Any) -> None:
    """Put whether SCCL finds the algorithm, and its CPU seconds, into a queue."""
    topology = import_module("msccl.topologies.topology").Topology(network, link_counts(network))
    name = collective.replace("-to-", "to").replace("all-g", "allg").replace("-", "_")
    rooted = (MACHINES, 0) if name in ("broadcast", "gather") else (MACHINES,)
    task = getattr(import_module("msccl.collectives"), name)(*rooted)
    segments, steps, rounds = sizes
    instance = import_module("msccl.instance").Instance(
        steps, extra_rounds=rounds - steps, chunks=segments
    )
    started = time.process_time()
    found = import_module("msccl.strategies").solve_instance(topology, task, instance)
    answer.put((found is not None, time.process_time() - started))


def within_limit(network: str, collective: str, sizes: tuple[int, int, int]) -> str | float:
    """Return CPU seconds of SCCL, or what else became of it."""
    if collective == "all-reduce":
        return "-"
    answer = multiprocessing.get_context("spawn").Queue()
    child = multiprocessing.get_context("spawn").Process(
        target=synthesised, args=(network, collective, sizes, answer)
    )
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
        return f"over {SECONDS:.0f} s"
    found, seconds = answer.get(timeout=5)
    return seconds if found else "not found"


def ours(network: Interconnect, collective: Any, segments: int) -> tuple[float, str, str]:
    """Return the makespan, it in words, and its bound, or that it is optimal."""
    problem = Reduction(network=network, segments=segments, collective=collective)
    result = solve(problem, time_limit=LIMIT)
    bound = "optimal" if result.status == "optimal" else f"{result.lower_bound:.4g}"
    assert result.makespan is not None
    return result.makespan, f"{result.makespan:.4g}", bound


def beside_sccl(table: Table) -> None:
    for network, collective, *sizes in INSTANCES:
        segments, steps, rounds = sizes
        took = within_limit(network, collective, (segments, steps, rounds))
        counts = link_counts(network)
        for latency in LATENCIES:
            links = [
                (f"M{i + 1}", f"M{j + 1}", float(counts[i][j]), latency)
                for i in range(MACHINES) for j in range(i) if counts[i][j]
            ]  # fmt: skip
            fabric = Interconnect(MACHINES, topology="links", links=links, ports="links")
            held = segments * (1 if collective == "broadcast" else MACHINES)
            made, shown, bound = ours(fabric, collective, held)
            cost = latency * steps + rounds
            table.add(
                network, collective, segments, f"SCCL: {steps} steps, {rounds} rounds", took,
                f"{latency:g}", f"{cost:g}", shown, bound, f"{made / cost:.3f}",
            )  # fmt: skip


def beside_forestcoll(table: Table) -> None:
    for name, boxes, each in FABRICS:
        graph, machines = getattr(import_module("topologies"), name)(boxes)
        names = {node: " ".join(map(str, node)) for node in graph.nodes()}
        near = [node for node in graph.nodes() if node not in set(machines)]
        near.sort(key=lambda node: node[1] != "NVSwitch")  # ways within a box before others
        network = Interconnect(
            [names[node] for node in machines], topology="links", ports="links",
            routers=[names[node] for node in near],
            one_way_links=[
                (names[one], names[other], float(link["capacity"]))
                for one, other, link in graph.edges(data=True)
            ],
        )  # fmt: skip
        started = time.process_time()
        search = import_module("pipeline_allgather").OptimalBranchingsAlgo(
            graph, capacitated=True, compute_nodes=machines
        )
        unit = search.convertToRuntime(*search.binary_search())
        took = time.process_time() - started
        count = each * len(machines)
        made, shown, bound = ours(network, "all-gather", count)
        table.add(
            f"{boxes} × {name.split('_')[0].upper()}", "all-gather", each, "ForestColl: cut", took,
            "0", f"{unit * count:.4g}", shown, bound, f"{made / (unit * count):.3f}",
        )  # fmt: skip


def main() -> None:
    missing = [
        name for name in ("msccl", "z3", "pipeline_allgather", "topologies") if not find_spec(name)
    ]
    if missing:
        sys.exit(
            f"{' and '.join(missing)} missing: pip install git+https://github.com/microsoft/sccl "
            "z3-solver, and the files of https://github.com/liangyuRain/ForestColl on PYTHONPATH"
        )
    table = Table(
        "collective_peers",
        "Collectives on networks, beside SCCL and ForestColl",
        "Machines use all their links at once (`ports = \"links\"`). SCCL (Cai et al. 2021) "
        "synthesises algorithms of S steps and R rounds that all machines take together, for C "
        "segments of each; it costs α S + R, with α the latency, and a round for a segment over a "
        "link. Here a send takes α + 1 (0.5 over two NVLinks), and machines need not wait for each "
        "other, so each of its algorithms is a plan here that ends by α S + R. An all-reduce is "
        "its all-gather and that reversed. ForestColl (Zhao et al. 2024) bounds the time of an "
        "all-gather by the tightest cut, which its trees reach as segments get many; without "
        "latency, and with the topologies that come with it. Bound: that of ours, the same as "
        "the cut where it is equal; \"optimal\" where our plan meets it, or search has.",
        ("network", "collective", "segments a machine", "peer", "its search", "α", "theirs",
         "ours", "our bound", "ours / theirs"),
    )  # fmt: skip
    beside_sccl(table)
    beside_forestcoll(table)
    table.write()


if __name__ == "__main__":
    main()
