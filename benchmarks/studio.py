"""The service: from a request to its answer, as a page asks with each change."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from typing import Any

import httpx

from benchmarks.table import Table

REPEAT = 20
WARMING = 10.0  # seconds after which the processes have used their libraries once
LIMIT = 0.1  # seconds of each solve
SERVE = (sys.executable, "-m", "makespan", "serve", "--no-browser", "--port", "0")


def graph(rng: random.Random, tasks: int, machines: int) -> dict[str, Any]:
    """Return a graph whose tasks send to two of the next fifteen."""
    edges = []
    for task in range(tasks):
        near = range(task + 1, min(tasks, task + 16))
        for other in rng.sample(near, min(2, len(near))):
            edges.append({"from": f"t{task}", "to": f"t{other}", "size": rng.uniform(1, 5)})
    return {
        "kind": "taskgraph",
        "tasks": [{"name": f"t{task}", "work": rng.uniform(1, 9)} for task in range(tasks)],
        "edges": edges,
        "network": {"machines": [{"speed": rng.uniform(1, 3)} for _ in range(machines)]},
    }


def star(rng: random.Random, workers: int, fixed: float) -> dict[str, Any]:
    """Return a star of workers of unlike costs, with fixed ones of up to ``fixed`` seconds."""

    def cost(most: float) -> dict[str, float]:
        return {"fixed": rng.uniform(0, fixed), "per_unit": rng.uniform(most / 10, most)}

    listed = [{"send": cost(0.1), "compute": cost(3.0)} for _ in range(workers)]
    platform = {"topology": "star", "workers": listed}
    return {"kind": "divisible", "load": 1000, "platform": platform}


def cases() -> dict[str, dict[str, Any]]:
    """Return what is asked for, by its name."""
    rng = random.Random(1)
    small, large = graph(rng, 30, 4), graph(rng, 100, 8)
    durations = [rng.randint(1, 99) for _ in range(100)]
    resources = [{"cost": {"fixed": rng.uniform(0, 3), "per_unit": 1.0}} for _ in range(100)]
    collective = {"kind": "reduction", "machines": 100, "segments": 8, "latency": 0.5}
    return {
        "task graph, 30 tasks, HEFT": {"problem": small, "method": "heft", "diagrams": True},
        "task graph, 100 tasks, HEFT": {"problem": large, "method": "heft"},
        "task graph, 100 tasks, HEFT, with its graph": {
            "problem": large,
            "method": "heft",
            "diagrams": True,
        },
        "task graph, 100 tasks": {"problem": large},
        "star, 100 workers": {"problem": star(rng, 100, 0.0)},
        "star, 100 workers, fixed costs": {"problem": star(rng, 100, 1.0)},
        "independent, 100 tasks": {
            "problem": {"kind": "independent", "machines": 10, "durations": durations}
        },
        "partition, 100 resources": {
            "problem": {"kind": "partition", "tasks": 1000, "resources": resources}
        },
        "broadcast, 100 machines": {
            "problem": {**collective, "collective": "broadcast", "transfer": 1.0}
        },
    }


def main() -> None:
    """Print and write the table."""
    table = Table(
        "studio",
        "Studio",
        f"Seconds from a request to its answer, with what a page draws, over HTTP on one machine; "
        f"solves are given {LIMIT:g} s. {REPEAT} requests each, to processes that are warm.",
        ("problem", "median", "longest", "method", "status"),
        clock="wall time",
    )
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        address = next(word for word in words if word.startswith("http://"))
        time.sleep(WARMING)
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            for name, asked in cases().items():
                table.add(name, *measured(client, asked))
        process.terminate()
    table.write()


def measured(client: httpx.Client, asked: dict[str, Any]) -> tuple[float, float, str, str]:
    """Return the median and the longest time of an answer, and what it says."""
    request = {"time_limit": LIMIT, "view": True, "diagrams": False, **asked}
    times = []
    for repetition in range(REPEAT + 2):  # both processes once before
        start = time.perf_counter()
        answer = client.post("/api/solve", json=request)
        if repetition >= 2:
            times.append(time.perf_counter() - start)
        answer.raise_for_status()
    result = answer.json()
    return statistics.median(times), max(times), result["method"], result["status"]


if __name__ == "__main__":
    main()
