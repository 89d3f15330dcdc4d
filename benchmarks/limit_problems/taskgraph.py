"""Task graphs: by tasks, by machines and by edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.limit_problems.family import Family
from makespan import Network, TaskGraph

Build = Callable[[np.random.Generator, int], TaskGraph]
Columns = dict[str, Any]


def _random(rng: np.random.Generator, count: int, *, before: int = 2) -> Columns:
    """Return tasks that each read ``before`` of the hundred tasks ahead of them."""
    target = np.repeat(np.arange(1, count), before)
    source = np.maximum(0, target - 1 - rng.integers(0, 100, len(target)))
    source, target = np.unique(np.stack([source, target]), axis=1)
    return {
        "work": rng.uniform(1.0, 19.0, count),
        "source": source,
        "target": target,
        "size": rng.uniform(0.0, 20.0, len(source)),
    }


def _dense(rng: np.random.Generator, count: int) -> Columns:
    """Return a graph in which every task reads all earlier ones."""
    target, source = np.tril_indices(count, -1)
    return {"work": rng.uniform(1.0, 19.0, count), "source": source, "target": target, "size": 1.0}


def _fork_join(rng: np.random.Generator, count: int) -> Columns:
    inner = np.arange(1, max(2, count - 1))
    ends = np.full(len(inner), len(inner) + 1)
    return {
        "work": rng.uniform(1.0, 19.0, len(inner) + 2),
        "source": np.concatenate([np.zeros_like(inner), inner]),
        "target": np.concatenate([inner, ends]),
        "size": 5.0,
    }


def _chain(rng: np.random.Generator, count: int) -> Columns:
    tasks = np.arange(1, count)
    return {"work": rng.uniform(1, 19, count), "source": tasks - 1, "target": tasks, "size": 5.0}


def _alone(rng: np.random.Generator, count: int) -> Columns:
    return {"work": rng.uniform(1.0, 19.0, count)}


def _forest(rng: np.random.Generator, count: int) -> Columns:
    tasks = np.arange(1, count)
    return {
        "work": np.ones(count),
        "source": tasks,
        "target": (rng.random(count - 1) * tasks).astype(int),
    }


def _windows(rng: np.random.Generator, count: int) -> Columns:
    """Return tasks that are released at some time, and have to end by a late one."""
    return {**_random(rng, count), "release": rng.uniform(0.0, 10.0, count), "deadline": 1e9}


def _rigid(rng: np.random.Generator, count: int) -> Columns:
    return {**_random(rng, count), "cores": rng.integers(1, 9, count)}


def _equal(rng: np.random.Generator, count: int) -> Columns:
    return {**_random(rng, count), "work": np.ones(count), "size": 0.0}


def _speeds(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.exp(rng.uniform(0.0, 1.0, count))


def _tasks(
    columns: Callable[..., Columns],
    *,
    machines: int = 8,
    network: Columns | None = None,
    **fields: Any,
) -> Build:
    def build(rng: np.random.Generator, size: int) -> TaskGraph:
        return TaskGraph.from_arrays(
            network=Network(_speeds(rng, machines), **(network or {})),
            **columns(rng, size),
            **fields,
        )

    return build


def _alike(columns: Callable[..., Columns], machines: int) -> Build:
    """Return a builder for machines of one speed."""
    return lambda rng, size: TaskGraph.from_arrays(
        network=Network(np.ones(machines)), **columns(rng, size)
    )


def _machines(tasks: int, *, network: Columns | None = None, **fields: Any) -> Build:
    def build(rng: np.random.Generator, size: int) -> TaskGraph:
        return TaskGraph.from_arrays(
            network=Network(_speeds(rng, size), **(network or {})),
            **_random(rng, tasks),
            **fields,
        )

    return build


def _durations(rng: np.random.Generator, size: int) -> TaskGraph:
    columns = _random(rng, size)
    columns["durations"] = rng.uniform(1.0, 19.0, (size, 8))
    del columns["work"]
    return TaskGraph.from_arrays(network=Network(np.ones(8)), **columns)


def _given(rng: np.random.Generator, size: int) -> TaskGraph:
    columns, names = _random(rng, size), [f"T{task}" for task in range(1, size + 1)]
    return TaskGraph.from_arrays(
        network=Network(np.ones(8)),
        assignment={name: f"M{task % 8 + 1}" for task, name in enumerate(names)},
        **columns,
    )


RING: Columns = {"topology": "ring"}
PRICE: Columns = {"price": 1.0, "start_price": 1.0}
PRICES: Columns = {"price": np.arange(1.0, 9.0), "start_price": 1.0}

FAMILIES = (
    Family("random", "tasks", _tasks(_random)),
    Family("random-64", "tasks", _tasks(_random, machines=64)),
    Family("dense", "tasks", _tasks(_dense), 1000),
    Family("fork-join", "tasks", _tasks(_fork_join)),
    Family("chain", "tasks", _tasks(_chain)),
    Family("alone", "tasks", _tasks(_alone)),
    Family("durations", "tasks", _durations),
    Family("forest-equal", "tasks", _alike(_forest, 8)),
    Family("equal-two", "tasks", _alike(_equal, 2)),
    Family("blocking", "tasks", _tasks(_random, communication="blocking")),
    Family("contention-links", "tasks", _tasks(_random, contention="links")),
    Family("contention-ports", "tasks", _tasks(_random, contention="ports")),
    Family(
        "mesh-links",
        "tasks",
        _tasks(
            _random, machines=16, contention="links", network={"topology": "mesh", "shape": (4, 4)}
        ),
    ),
    Family("cores", "tasks", _tasks(_random, network={"cores": 4})),
    Family("duplication", "tasks", _tasks(_random, duplication=True)),
    Family("given", "tasks", _given),
    Family("releases", "tasks", _tasks(_windows)),
    Family("deadline", "tasks", _tasks(_random, network=PRICES, objective="price", deadline=1e9)),
    Family("budget", "tasks", _tasks(_random, network=PRICES, budget=1e12)),
    Family("budget-alone", "tasks", _tasks(_alone, network=PRICES, budget=1e12)),
    Family("budget-machines", "machines", _machines(1000, budget=1e12, network=PRICE), 4096),
    Family("price", "tasks", _tasks(_random, network=PRICES, objective="price")),
    Family("front", "tasks", _tasks(_random, network=PRICES, objective="pareto")),
    Family("front-machines", "machines", _machines(100, objective="pareto", network=PRICE), 4096),
    Family(
        "front-links",
        "tasks",
        _tasks(_random, network=PRICES, objective="pareto", contention="links"),
    ),
    Family("rigid", "tasks", _tasks(_rigid, network={"cores": 8})),
    Family("two-cores", "tasks", _tasks(_alone, machines=1, network={"cores": 2})),
    Family(
        "blocking-links", "tasks", _tasks(_random, communication="blocking", contention="links")
    ),
    Family("duplication-machines", "machines", _machines(1000, duplication=True), 4096),
    Family("links-machines", "machines", _machines(1000, contention="links", network=RING), 1000),
    Family("ports-machines", "machines", _machines(1000, contention="ports"), 4096),
    Family("dense-links", "tasks", _tasks(_dense, contention="links"), 1000),
    Family("dense-duplication", "tasks", _tasks(_dense, duplication=True), 1000),
    Family("machines", "machines", _machines(1000), 4096),
    Family("machines-ring", "machines", _machines(1000, network=RING), 1000),
    Family("machines-few-tasks", "machines", _machines(10), 4096),
    Family(
        "cores-many",
        "cores",
        lambda rng, size: TaskGraph.from_arrays(
            network=Network(np.ones(2), cores=size), **_random(rng, 100)
        ),
        10**12,
    ),
)
