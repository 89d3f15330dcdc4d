"""HEFT with insertion: large graphs, and anrg-saga (https://pypi.org/project/anrg-saga) beside it.

``python -m benchmarks.heft [PYTHON]``: PYTHON is the interpreter of an environment with
anrg-saga 2.0.2, this one if omitted; without it that part is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table, cpu_seconds, ratio
from makespan import Network, TaskGraph, read_problem, save
from makespan.core.control import Control
from makespan.core.registry import find_method
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.list_scheduling.insertion import inserted_by_trial

SIZES = ((1_000, 8), (10**5, 8), (10**5, 64), (10**5, 512), (10**6, 8), (10**6, 64))
PLAIN_UP_TO = 10**6  # tries of a task on a machine
PEER_TASKS = (100, 300, 1_000)
PEER_MACHINES = 8

PEER = """
import json, logging, sys, time
logging.disable(logging.WARNING)
try:
    from saga import Network, TaskGraph
    from saga.schedulers import HeftScheduler
except ImportError:
    sys.exit(3)
data = json.load(sys.stdin)
graph = TaskGraph.create([(f"t{i}", w) for i, w in enumerate(data["work"])],
                         [(f"t{a}", f"t{b}", s) for a, b, s in data["edges"]])
names = [f"m{i}" for i in range(len(data["speeds"]))]
network = Network.create(zip(names, data["speeds"]),
                         [(a, b, 1.0) for a in names for b in names if a < b])
times = []
for _ in range(3):
    started = time.process_time()
    schedule = HeftScheduler().schedule(network, graph)
    times.append(time.process_time() - started)
print(json.dumps({"makespan": schedule.makespan, "seconds": sorted(times)[1]}))
"""


def problem(tasks: int, machines: int) -> TaskGraph:
    """Return a layered graph of about four edges a task on machines of different speeds."""
    density = min(0.3, 3 / tasks**0.5)
    speeds = np.random.default_rng(machines).uniform(1.0, 4.0, machines)
    return TaskGraph(generators.layered(tasks, density=density, rng=tasks), Network(speeds))


def heft(given: TaskGraph, **options: Any) -> Any:
    """Plan by HEFT, neither re-timed nor refereed."""
    return find_method("taskgraph", "heft").run(given, Control(), **options).schedule


def plain(given: TaskGraph) -> Any:
    """Plan by the plain twin."""
    order = by_level(given.dag, levels(given.dag, *weights(given)))
    return inserted_by_trial(given, Control(), order)


def large() -> None:
    """Graphs of up to a million tasks, the plain twin, and reading from JSON."""
    table = Table(
        "heft",
        "HEFT with insertion",
        "Planning, ranks included, with the kernel loaded. The plain twin gives the same plan to "
        "the bit. Reading is that of a JSON file with columns, checks included.",
        ("tasks", "machines", "edges", "makespan", "planning", "plain twin", "reading"),
    )
    heft(problem(100_000, 4))
    for tasks, machines in SIZES:
        given = problem(tasks, machines)
        schedule = heft(given)
        seconds = cpu_seconds(lambda given=given: heft(given))  # type: ignore[misc]
        twin: object = ""
        if tasks * machines <= PLAIN_UP_TO:
            same = plain(given)
            assert np.array_equal(same.start, schedule.start)
            assert np.array_equal(same.machine, schedule.machine)
            twin = cpu_seconds(lambda given=given: plain(given), repeat=1)  # type: ignore[misc]
        reading = _reading(given) if tasks <= 10**5 else ""
        edges = f"{len(given.dag.source):,}"
        table.add(f"{tasks:,}", machines, edges, f"{schedule.makespan:.6g}", seconds, twin, reading)
    table.write()


def _reading(given: TaskGraph) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        save(given, path)
        return cpu_seconds(lambda: read_problem(path), repeat=1)


def peer(python: str) -> None:
    """anrg-saga's HEFT on the same graphs.

    Its ranks average communication over all pairs of machines, each machine with itself
    included: the weight ``w2`` says the same here, and the makespans must be equal.
    """
    weight = (PEER_MACHINES - 1) / (PEER_MACHINES + 1)
    rows = []
    for tasks in PEER_TASKS:
        given = problem(tasks, PEER_MACHINES)
        dag = given.dag
        edges = list(zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True))
        data = {
            "work": dag.work.tolist(),
            "speeds": given.network.speed.tolist(),
            "edges": edges,
        }
        done = subprocess.run(
            [python, "-c", PEER],
            input=json.dumps(data),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 3:
            print(f"anrg-saga is not installed in {python}: the peer is left out")
            return
        done.check_returncode()
        found = json.loads(done.stdout.splitlines()[-1])
        schedule = heft(given, w2=weight)
        assert np.isclose(schedule.makespan, found["makespan"], rtol=1e-9)
        seconds = _repeated(given, weight)
        rows.append((tasks, f"{schedule.makespan:.6g}", found["seconds"], seconds))
    table = Table(
        "heft_peer",
        "HEFT: anrg-saga 2.0.2 and makespan",
        f"The same graphs on {PEER_MACHINES} machines, ranks defined as in anrg-saga, graphs "
        "built beforehand. The makespans are equal.",
        ("tasks", "makespan", "anrg-saga", "makespan's time", "factor"),
    )
    for tasks, makespan, theirs, ours in rows:
        table.add(tasks, makespan, theirs, ours, ratio(theirs, ours))
    table.write()


def _repeated(given: TaskGraph, weight: float, times: int = 50) -> float:
    """Return the CPU seconds of one plan, as the mean of many: one is too short for the clock."""
    heft(given, w2=weight)
    started = time.process_time()
    for _ in range(times):
        heft(given, w2=weight)
    return (time.process_time() - started) / times


if __name__ == "__main__":
    large()
    peer(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
