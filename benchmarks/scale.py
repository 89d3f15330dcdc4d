"""Beyond one machine: what planning, the master's port and a scheduler cost as things grow.

``python -m benchmarks.scale`` writes the tables of docs/scale.md; with ``plans``, ``port``,
``scheduler`` or ``commands`` only that one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.heft import problem as layered
from benchmarks.table import Table, cpu_seconds, shown_seconds
from makespan import DivisibleLoad, Star, Tree, TreeNode, simulate, solve
from makespan.core.system import memory

NOISE = 0.1
COMPUTE, SEND = 1.0, 1e-3
LOAD = 1e6


def star(workers: int) -> DivisibleLoad:
    """Return a load of ten units a worker, on workers of different speeds."""
    rng = np.random.default_rng(workers)
    platform = Star.from_arrays(
        send_per_unit=rng.uniform(1e-7, 2e-7, workers),
        compute_per_unit=rng.uniform(0.5, 2.0, workers),
        send_fixed=1e-7,
    )
    return DivisibleLoad(load=10.0 * workers, platform=platform)


def graph(tasks: int) -> object:
    """Return a layered graph of about four edges a task on 64 machines."""
    return layered(tasks, 64)


def measured(kind: str, size: int, method: str) -> tuple[float, float, float]:
    """Return the CPU seconds of a plan and of a replay of it, and the bytes that both took."""
    make: Callable[[int], object] = star if kind == "star" else graph
    small = solve(make(50), method=method)  # type: ignore[arg-type]
    simulate(small, noise=NOISE, repetitions=2)  # compiles
    given = make(size)
    memory.forget_peak()
    before = memory.peak() or 0
    plan = solve(given, method=method)  # type: ignore[arg-type]
    planning = cpu_seconds(lambda: solve(given, method=method))  # type: ignore[arg-type]
    simulate(plan, noise=NOISE, repetitions=2)
    more = 200 if size <= 10_000 else 10
    few, many = (
        cpu_seconds(lambda count=count: simulate(plan, noise=NOISE, repetitions=count))  # type: ignore[misc]
        for count in (2, 2 + more)
    )
    return planning, (many - few) / more, (memory.peak() or 0) - before


def plans() -> None:
    """Write what planning and simulating take."""
    table = Table(
        "scale_plans",
        "Planning and simulating large problems",
        "Stars of unequal workers by `greedy`, layered graphs of about four edges a task on 64 "
        "machines by `heft`; a replay carries the plan out once under a normal error of 10 % on "
        "every activity. Each row in a process of its own, compiled; the memory is what plan and "
        "replays added to the problem.",
        ("what", "size", "plan", "a worker or task", "replay", "a worker or task ", "memory"),
    )
    rows = [("star", "greedy", 10**power) for power in range(3, 7)]
    rows += [("graph", "heft", 10**power) for power in range(3, 7)]
    for kind, method, size in rows:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            planning, replay, held = pool.submit(measured, kind, size, method).result()
        noun = "workers" if kind == "star" else "tasks"
        each = [shown_seconds(seconds / size) for seconds in (planning, replay)]
        amount = f"{held / 1e6:,.0f} MB"
        table.add(
            f"{kind}, {method}", f"{size:,} {noun}", planning, each[0], replay, each[1], amount
        )
    table.write()


def port() -> None:
    """Write how many workers a master can keep busy."""
    table = Table(
        "scale_port",
        "How many workers a master keeps busy",
        f"{LOAD:,.0f} units of {COMPUTE:g} s each; a unit takes a link for {1e3 * SEND:g} ms. "
        "Speed-up over one worker, of the plan and in the mean of 20 simulated runs under a normal "
        "error of 10 %: with one port, in one round and in ten; with a port for each worker; in a "
        "tree, in which the master sends to 10 workers who serve the others.",
        ("workers", "one round", "simulated", "ten rounds", "simulated ", "many ports", "tree"),
        clock="no times are measured",
    )
    for workers in (10, 100, 1_000, 10_000, 100_000):
        equal = Star.from_arrays(send_per_unit=[SEND] * workers, compute_per_unit=COMPUTE)
        one = solve(DivisibleLoad(load=LOAD, platform=equal), method="bus")
        cells = [_speedup(one.makespan), _speedup(_mean(one))]
        if workers <= 10_000:
            ten = solve(DivisibleLoad(load=LOAD, platform=equal, rounds=10), time_limit=10)
            cells += [_speedup(ten.makespan), _speedup(_mean(ten))]
        else:
            cells += ["", ""]
        free = solve(DivisibleLoad(load=LOAD, platform=equal, ports="many"))
        tree = solve(DivisibleLoad(load=LOAD, platform=_tree(workers)))
        table.add(f"{workers:,}", *cells, _speedup(free.makespan), _speedup(tree.makespan))
    table.write()


def _tree(workers: int) -> Tree:
    """Return a root that only sends, and workers of whom the first ten serve the others."""
    names = [f"W{index}" for index in range(workers)]
    parents = ["root"] * 10 + [names[index % 10] for index in range(workers - 10)]
    below = [
        TreeNode(name=name, parent=parent, send=SEND, compute=COMPUTE)
        for name, parent in zip(names, parents, strict=True)
    ]
    return Tree([TreeNode(name="root"), *below])


def _mean(plan: object) -> float:
    return simulate(plan, noise=NOISE, repetitions=20, rng=0).mean  # type: ignore[arg-type]


def _speedup(makespan: float | None) -> str:
    return "" if makespan is None else f"{LOAD * COMPUTE / makespan:,.0f}"


def scheduler() -> None:
    """Write what a Dask scheduler takes for tasks that do nothing."""
    from distributed import Client, LocalCluster

    from makespan import Experiment, Grid, experiment
    from makespan.execute import dask

    table = Table(
        "scale_scheduler",
        "What a Dask scheduler takes",
        "Two workers of one thread on this machine. `client.map`: tasks that return their number, "
        "gathered. `experiment`: solves of 20 independent tasks by `lpt` through `dask.Workers`, "
        "which sends them in batches. The median of three runs; busy is the CPU time of the "
        "scheduler's process, which is the client's, too, over the time.",
        ("what", "number", "time", "each", "scheduler busy"),
        clock="wall-clock time",
    )
    grid = Grid("independent", options={"tasks": 20}, seeds=100)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:  # noqa: SIM117
        with Client(cluster) as client:
            busy = time.process_time  # the scheduler lives in this process, and so does the client
            for count in (1_000, 10_000):
                runs = []
                for _ in range(3):
                    started, used = time.perf_counter(), busy()
                    client.gather(client.map(_same, range(count), pure=False))
                    runs.append((time.perf_counter() - started, busy() - used))
                _add(table, "client.map", count, runs)
            where = dask.Workers(client)
            for count in (1_000, 10_000):
                asked = Experiment(grid, methods=["lpt"], seeds=count // 100)
                runs = []
                for _ in range(3):
                    started, used = time.perf_counter(), busy()
                    experiment(asked, where=where)
                    runs.append((time.perf_counter() - started, busy() - used))
                _add(table, "experiment", count, runs)
    table.write()


def _add(table: Table, what: str, count: int, runs: list[tuple[float, float]]) -> None:
    seconds = statistics.median(run[0] for run in runs)
    share = statistics.median(used / taken for taken, used in runs)
    table.add(what, f"{count:,}", seconds, shown_seconds(seconds / count), f"{100 * share:.0f} %")


def _same(number: int) -> int:
    return number


def commands() -> None:
    """Write what the command line takes for a graph of a million tasks, files included."""
    table = Table(
        "scale_commands",
        "A million tasks on the command line",
        "A layered graph of 1,000,000 tasks and about 4,000,000 edges on 8 and on 64 machines, in "
        "a file of binary columns: start-up, reading, checking and saving included. `auto` uses "
        "its 10 s.",
        ("command", "8 machines", "memory", "64 machines", "memory "),
        clock="wall-clock time",
    )
    asked = (
        "generate taskgraph -O size=1000000 -O machines={0} -o {1}graph.npz",
        "solve {1}graph.npz --method heft -o {1}plan.npz",
        "solve {1}graph.npz -o {1}plan.npz",
    )
    with TemporaryDirectory() as folder:
        found = [[_whole(line.format(count, f"{folder}/")) for line in asked] for count in (8, 64)]
    for line, few, many in zip(asked, *found, strict=True):
        shown = f"`makespan {line.format('N', '')}`"
        table.add(shown, few[0], _memory(few[1]), many[0], _memory(many[1]))
    table.write()


def _whole(line: str) -> tuple[float, int]:
    """Return the seconds that a command takes, and the most memory that it held, in bytes."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "makespan", *line.split()], stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise ChildProcessError(line)
    return time.perf_counter() - started, used.ru_maxrss * 1024


def _memory(held: int) -> str:
    return f"{held / 1e9:.2f} GB"


PARTS = {"plans": plans, "port": port, "scheduler": scheduler, "commands": commands}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
