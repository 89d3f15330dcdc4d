"""Graphs that the tests run, and plans for them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
from dask import delayed

from makespan import Dag, Network, Result, TaskGraph, solve


def increment(value: int) -> int:
    return value + 1


def add(*values: int) -> int:
    return sum(values)


def slow_increment(value: int) -> int:
    time.sleep(0.05)
    return value + 1


def fails(value: int) -> int:
    raise ValueError(f"{value} is not allowed")


def noted(folder: str, name: str, *_: Any) -> str:
    """Append a name to a file: the order of execution."""
    with Path(folder, "order").open("a") as file:
        file.write(f"{name}\n")
    time.sleep(0.02)
    return name


def suicidal_once(marker: str, value: int) -> int:
    """End the worker's process, the first time."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return value + 1


def tree(width: int = 4, function: Any = increment) -> Any:
    """``width`` tasks, and their sum."""
    leaves = [delayed(function)(leaf, dask_key_name=f"leaf-{leaf}") for leaf in range(width)]
    return delayed(add)(*leaves, dask_key_name="sum")


def raw_tree(width: int = 4, function: Any = increment) -> dict[str, Any]:
    """The same as a raw graph."""
    leaves = {f"leaf-{leaf}": (function, leaf) for leaf in range(width)}
    return {**leaves, "sum": (add, *leaves)}


def planned_tree(machines: list[str], width: int = 4, **options: Any) -> Result:
    """A plan for it."""
    dag = Dag(
        {**{f"leaf-{leaf}": 1.0 for leaf in range(width)}, "sum": 0.5},
        [(f"leaf-{leaf}", "sum", 10.0) for leaf in range(width)],
    )
    network = Network.complete(speeds=[1.0] * len(machines), names=machines, rate=1000.0)
    return solve(TaskGraph(dag, network, **options), method="heft")


def nap(seconds: float, *_: Any) -> None:
    time.sleep(seconds)


async def later(value: int) -> int:
    return value + 1


def slow_add(*values: int) -> int:
    time.sleep(0.05)
    return sum(values)


SPEEDS = {"w1": 1.0, "w2": 1.5, "w3": 2.5}


class Slept:
    """A task: sleeps as long as its work takes on this worker, and returns random bytes."""

    def __init__(self, seconds: float, size: int) -> None:
        self.seconds = seconds
        self.size = size

    def __call__(self, *inputs: bytes) -> bytes:
        from distributed import get_worker

        time.sleep(self.seconds / SPEEDS[str(get_worker().name)])
        return np.random.default_rng(self.size).bytes(self.size)
