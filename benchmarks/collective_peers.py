"""Collectives on networks beside SCCL and ForestColl, in their models of cost, and classical ones.

``python -m benchmarks.collective_peers ROWS.json [--only PART] [--within 540] [--page]``

The parts are ``sccl``, ``forestcoll`` and ``nodes``, two-level nodes beside classical algorithms.

Rows are written as soon as they are known, and what has rows is passed over: a run that was stopped
goes on, and begins nothing that may take longer than it has left. The page is written once all
rows are there, with ``--page`` from those that are. The rows of SCCL need
https://github.com/microsoft/sccl, the package ``msccl``, with ``z3-solver``, those of ForestColl
the files of https://github.com/liangyuRain/ForestColl on the path, with ``networkx``; what is
missing is named.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import queue
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.along_trees import along_trees
from benchmarks.table import Table
from makespan import Interconnect, Reduction, read_problem, solve
from makespan.reduction.bounds import bounds

DGX1 = "01 01 02 03 04 04 12 13 13 15 23 23 26 26 37 45 45 46 47 56 57 57 67 67"
"""The pairs of GPUs, once for each NVLink between them."""
MACHINES = 8
NODES = Path(__file__).parent.parent / "examples" / "networks" / "nodes.toml"
SECONDS = {"sccl": 120.0, "forestcoll": 420.0}  # for a synthesis, and a packing
NEEDS = {
    "sccl": ("msccl", "z3", "humanfriendly"),
    "forestcoll": ("pipeline_allgather", "topologies"),
    "nodes": (),
}
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
    *(("a100_topology", boxes) for boxes in (1, 2, 4)),
    *(("mi250_topology", boxes) for boxes in (1, 2)),
)
CLASSICAL = {
    "all-gather": ("ring", "recursive-doubling", "bruck"),
    "reduce-scatter": ("ring", "recursive-doubling"),
    "broadcast": ("chain", "binomial", "two-tree"),
    "reduce": ("chain", "binomial", "two-tree"),
}
TREES = 13  # from every machine
TIMES = (1, 4)  # segments that follow each tree
Row = list[Any]


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
    answer = in_time(SECONDS["sccl"], synthesised, network, collective, sizes)
    if answer is None:
        return f"over {SECONDS['sccl']:.0f} s"
    found, seconds = answer
    return seconds if found else "not found"


def in_time(limit: float, work: Callable[..., None], *given: Any) -> Any:
    """Return what work puts into a queue, or None where it takes too long."""
    spawn = multiprocessing.get_context("spawn")
    answer = spawn.Queue()
    child = spawn.Process(target=work, args=(*given, answer))
    child.start()
    until = time.monotonic() + limit
    try:
        while time.monotonic() < until:
            try:
                return answer.get(timeout=1.0)
            except queue.Empty:
                if child.exitcode:
                    raise RuntimeError(f"{work.__name__} failed: {given}") from None
        return None
    finally:
        child.kill()
        child.join()


def ours(problem: Reduction) -> tuple[float, str, str]:
    """Return the makespan, it in words, and its bound, or that it is optimal."""
    result = solve(problem, time_limit=LIMIT)
    bound = "optimal" if result.status == "optimal" else f"{result.lower_bound:.4g}"
    assert result.makespan is not None
    return result.makespan, f"{result.makespan:.4g}", bound


class Piece(NamedTuple):
    """Some rows of the table, and how long they take at most, seconds."""

    name: str
    most: float
    rows: Callable[[], list[Row]]


def pieces() -> Iterator[Piece]:
    """Yield all of the table, in order."""
    for instance in INSTANCES:
        most = SECONDS["sccl"] + len(LATENCIES) * LIMIT
        yield Piece(f"sccl {' '.join(map(str, instance))}", most, partial(beside_sccl, *instance))
    for name, boxes in FABRICS:
        most = SECONDS["forestcoll"] + (len(TIMES) + 1) * LIMIT
        yield Piece(f"forestcoll {name} {boxes}", most, partial(beside_forestcoll, name, boxes))
    for collective, peers in CLASSICAL.items():
        most = LIMIT + len(peers)
        yield Piece(f"nodes {collective}", most, partial(beside_classical, collective))


def beside_sccl(network: str, collective: str, segments: int, steps: int, rounds: int) -> list[Row]:
    took = within_limit(network, collective, (segments, steps, rounds))
    counts = link_counts(network)
    rows: list[Row] = []
    for latency in LATENCIES:
        links = [
            (f"M{i + 1}", f"M{j + 1}", float(counts[i][j]), latency)
            for i in range(MACHINES) for j in range(i) if counts[i][j]
        ]  # fmt: skip
        fabric = Interconnect(MACHINES, topology="links", links=links, ports="links")
        held = segments * (1 if collective == "broadcast" else MACHINES)
        name: Any = collective
        made, shown, bound = ours(Reduction(network=fabric, segments=held, collective=name))
        cost = latency * steps + rounds
        rows.append([
            network, collective, segments, f"SCCL: {steps} steps, {rounds} rounds", took,
            f"{latency:g}", f"{cost:g}", shown, bound, f"{made / cost:.3f}",
        ])  # fmt: skip
    return rows


def beside_forestcoll(name: str, boxes: int) -> list[Row]:
    network, unit, took = fabric_of(name, boxes)
    fabric, machines = f"{boxes} × {name.split('_', maxsplit=1)[0].upper()}", len(network)
    problem = Reduction(network=network, segments=TREES * machines, collective="all-gather")
    packed = solve(problem, method="tree-packing", runs=1).details["packing"]["seconds"]
    cut = unit * TREES * machines
    least = next(bound.value for bound in bounds(problem) if bound.name == "packing")
    proved = "optimal" if packed <= least * (1 + 1e-9) else f"{least:.4g}"
    rows: list[Row] = [[
        fabric, "all-gather", f"data of {TREES}", "ForestColl: throughput", took, "0",
        f"{cut:.4g}", f"{packed:.4g}", proved, f"{packed / cut:.3f}",
    ]]  # fmt: skip
    limit = SECONDS["forestcoll"]
    trees = in_time(limit, packed_trees, name, boxes)
    for times in TIMES:
        count = times * TREES * machines
        problem = Reduction(network=network, segments=count, collective="all-gather")
        made, shown, bound = ours(problem)
        theirs, ratio, seconds = "-", "-", f"over {limit:.0f} s"
        if trees is not None:
            end, seconds = along_trees(problem, trees[0], times), trees[1]
            theirs, ratio = f"{end:.4g}", f"{made / end:.3f}"
        rows.append([
            fabric, "all-gather", times * TREES, "ForestColl: trees", seconds, "0",
            theirs, shown, bound, ratio,
        ])  # fmt: skip
    return rows


def beside_classical(collective: str) -> list[Row]:
    name: Any = collective
    given: Any = read_problem(NODES)
    problem: Reduction = replace(given, collective=name)
    made, shown, bound = ours(problem)
    rows: list[Row] = []
    for method in CLASSICAL[collective]:
        started = time.process_time()
        end = solve(problem, method=method).makespan
        took = time.process_time() - started
        assert end is not None
        rows.append([
            "4 nodes × 8", collective, f"{problem.items} in all", method, took, "-",
            f"{end:.4g}", shown, bound, f"{made / end:.3f}",
        ])  # fmt: skip
    return rows


def fabric_of(name: str, boxes: int) -> tuple[Interconnect, float, float]:
    """Return one of ForestColl's topologies, what a unit of data takes there in all at its optimal
    throughput, and the CPU seconds in which ForestColl finds that.
    """
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
    return network, unit, time.process_time() - started


def packed_trees(name: str, boxes: int, answer: Any) -> None:
    """Put ForestColl's trees, each (root, how many, links), and its CPU seconds, into a queue."""
    graph, machines = getattr(import_module("topologies"), name)(boxes)
    place = {node: number for number, node in enumerate(machines)}
    started = time.process_time()
    _, (trees, counts) = import_module("pipeline_allgather").optimal_pipeline_spanning_trees(
        graph, compute_nodes=machines, fixed_K=TREES
    )
    seconds = time.process_time() - started
    found = [
        (place[key[0]], counts[key], [(place[way[0][0]], place[way[-1][1]]) for way in tree])
        for key, tree in trees.items()
    ]
    answer.put((found, seconds))


def known(path: Path) -> dict[str, list[Row]]:
    """Return the rows of a file, by pieces."""
    return json.loads(path.read_text()) if path.exists() else {}


def run(path: Path, only: str, within: float) -> None:
    """Find the rows that are not there yet, for as long as there is time."""
    until = time.monotonic() + within
    found = known(path)
    for piece in pieces():
        peer = piece.name.split()[0]
        if piece.name in found or not piece.name.startswith(only):
            continue
        if missing := [name for name in NEEDS[peer] if not find_spec(name)]:
            sys.exit(f"{' and '.join(missing)} missing: see the top of {Path(__file__).name}")
        if time.monotonic() + piece.most > until:
            print(f"{piece.name} may take {piece.most:.0f} s: the next run goes on from here")
            return
        found[piece.name] = piece.rows()
        path.write_text(json.dumps(found, indent=1))
        print(*(" ".join(map(str, row)) for row in found[piece.name]), sep="\n", flush=True)


def page(found: dict[str, list[Row]]) -> None:
    """Write the table."""
    table = Table(
        "collective_peers",
        "Collectives on networks, beside SCCL, ForestColl and classical algorithms",
        "Machines use all their links at once (`ports = \"links\"`). SCCL (Cai et al. 2021) "
        "synthesises algorithms of S steps and R rounds that all machines take together, for C "
        "segments of each; it costs α S + R, with α the latency, and a round for a segment over a "
        "link. Here a send takes α + 1 (0.5 over two NVLinks), and machines need not wait for each "
        "other, so each of its algorithms is a plan here that ends by α S + R. An all-reduce is "
        "its all-gather and that reversed. ForestColl (Zhao et al. 2024), here with the topologies "
        "that come with it, knows no latency and segments without end: the tightest cut is the "
        "time of an all-gather, and its trees reach it. \"Throughput\" compares that with our "
        "packing in the same model (`details[\"packing\"]`), \"optimal\" where our bound is the "
        "same. With segments of a size every plan ends later: \"trees\" are the 13 that "
        "ForestColl packs from every machine, each for so many segments, by our times, in list "
        "order: of the sends that can start, that with the longest way to go. Ours is the plan for "
        f"as many segments that is found in {LIMIT:.0f} s; bound: that of ours, \"optimal\" where "
        "our plan meets it, or search has. Last, four nodes of eight devices behind cards "
        "(`examples/networks/nodes.toml`, one port a device) beside classical algorithms, by the "
        "same times.",
        ("network", "collective", "segments a machine", "peer", "its search", "α", "theirs",
         "ours", "our bound", "ours / theirs"),
    )  # fmt: skip
    for piece in pieces():
        for row in found.get(piece.name, []):
            table.add(*row)
    table.write()


def main() -> None:
    """Read the arguments, find what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--only", choices=sorted(NEEDS), default="")
    parser.add_argument("--within", type=float, default=540.0)
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        run(given.rows, given.only, given.within)
    found = known(given.rows)
    if given.page or all(piece.name in found for piece in pieces()):
        page(found)


if __name__ == "__main__":
    main()
