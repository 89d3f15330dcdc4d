"""A problem → numbers without units that say what it is like."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from makespan.core.problem import Problem
from makespan.lab.adversary.document import document_of, lists, numbers, pattern
from makespan.taskgraph.levels import levels, weights
from makespan.taskgraph.problem import TaskGraph

COLUMNS = {
    "columns.work": "tasks", "columns.work.*": "tasks.*.work",
    "columns.size": "edges", "columns.size.*": "edges.*.size",
}  # fmt: skip
"""Where large task graphs have what others have in the tables of their tasks and edges."""
COUNTS = ("machines", "segments", "tasks")  # numbers that say how many there are


class Numbers:
    """The numbers of a problem as its file has it, together by the places that are alike."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        document = document_of(problem)
        self.at: dict[str, list[float]] = defaultdict(list)
        for path, value in numbers(document):
            self.at[COLUMNS.get(pattern(path), pattern(path))].append(float(value))
        counts = {pattern(path): len(value) for path, value in lists(document)}
        self.counts = {COLUMNS.get(place, place): count for place, count in counts.items()}

    def mean(self, *places: str) -> float:
        """Return the mean of all numbers at places, which may end in ``per_unit`` or ``fixed``."""
        found = [value for place in places for value in self.at.get(place, ())]
        return float(np.mean(found)) if found else 0.0

    def count(self, place: str) -> float:
        """Return how many a list holds, or a number says that there are."""
        return self.counts.get(place) or self.mean(place)


def spread(values: list[float]) -> float:
    """Return the standard deviation of numbers as a share of their mean.

    >>> spread([1.0, 3.0]), spread([2.0, 2.0]), spread([0.0, 0.0])
    (0.5, 0.0, 0.0)
    """
    mean = abs(float(np.mean(values)))
    return float(np.std(values)) / mean if mean > 0 else 0.0


def _share(part: float, whole: float) -> float:
    """Return the logarithm of a ratio, 1e-6 at least."""
    return math.log10(max(part / max(whole, 1e-300), 1e-6))


def _of_graphs(found: Numbers) -> dict[str, float]:
    problem = cast("TaskGraph", found.problem)
    dag = problem.dag
    task, edge = weights(problem)
    depth = float(levels(dag, np.ones(len(dag)), np.zeros(len(dag.size))).max(initial=1.0))
    return {
        "data to work": _share(float(edge.sum()), float(task.sum())),
        "width": len(dag) / depth,
        "edges of a task": len(dag.size) / max(1, len(dag)),
        "tasks of a machine": _share(len(dag), len(problem.network)),
    }


SEND = ("platform.workers.*.send", "platform.workers.*.send.per_unit", "platform.nodes.*.send",
        "platform.nodes.*.send.per_unit", "platform.send", "platform.send.per_unit")  # fmt: skip
COMPUTE = tuple(place.replace("send", "compute") for place in SEND)


def _of_loads(found: Numbers) -> dict[str, float]:
    fixed = [place.replace("per_unit", "fixed") for place in SEND if place.endswith("per_unit")]
    latency, unit = found.mean(*fixed), found.mean(*SEND)
    return {
        "data to work": _share(unit, found.mean(*COMPUTE)),
        "latency to data": _share(latency, unit * found.mean("load")),
    }


def _of_tasks(found: Numbers) -> dict[str, float]:
    durations = found.at["durations.*"] + found.at["durations.*.*"]
    machines = max(1.0, found.mean("machines"))
    return {
        "tasks of a machine": _share(found.count("durations"), machines),
        "longest to mean load": _share(max(durations), sum(found.at["durations.*"]) / machines),
    }


def _of_partitions(found: Numbers) -> dict[str, float]:
    return {"tasks of a resource": _share(found.mean("tasks"), found.count("resources"))}


def _of_collectives(found: Numbers) -> dict[str, float]:
    transfer = found.mean("transfer", "transfer.*.*")
    return {
        "latency to transfer": _share(found.mean("latency", "latency.*.*"), transfer),
        "combination to transfer": _share(found.mean("reduce", "reduce.*"), transfer),
        "segments of a machine": _share(
            found.mean("segments"), found.mean("machines") or found.count("machines")
        ),
    }


def _of_pipelines(found: Numbers) -> dict[str, float]:
    rate = found.mean("network.rate", "network.rate.*.*") or 1.0
    work = found.mean("stages.*.work") / (found.mean("machines.*.speed") or 1.0)
    return {
        "data to work": _share(found.mean("stages.*.data") / rate, work),
        "stages of a machine": _share(found.count("stages"), found.count("machines")),
    }


OF_KIND: Mapping[str, Callable[[Numbers], dict[str, float]]] = {
    "taskgraph": _of_graphs,
    "divisible": _of_loads,
    "independent": _of_tasks,
    "partition": _of_partitions,
    "reduction": _of_collectives,
    "pipeline": _of_pipelines,
}
"""What matters for a kind beside what each document says: ratios, as logarithms of ten."""


def features(problem: Problem) -> dict[str, float]:
    """Return the features of a problem, by name.

    Of any kind: how many elements its lists have, as logarithms of ten, and how numbers at alike
    places spread. Of its own kind: a few ratios.

    >>> import makespan
    >>> found = features(makespan.IndependentTasks(machines=2, durations=[1.0, 3.0]))
    >>> found["spread of durations.*"], found["tasks of a machine"]
    (0.5, 0.0)
    """
    found = Numbers(problem)
    told: dict[str, float] = {}
    counts = {place: found.mean(place) for place in COUNTS if place in found.at} | found.counts
    for place, count in counts.items():
        if "*" not in place and not place.startswith("columns.") and count:
            told[f"number of {place}"] = math.log10(count)
    for place, values in found.at.items():
        if len(values) > 1 and not place.startswith("columns."):
            told[f"spread of {place}"] = spread(values)
    return told | (OF_KIND[problem.kind](found) if problem.kind in OF_KIND else {})
