"""One round with fixed costs: subset-dp against HiGHS, alone on large stars, and beside a peer.

``python -m benchmarks.affine_star [milp] [reach] [many] [bus] [peer]`` runs some parts; all without
names.
The peer is DLT-Studio (https://github.com/HiPERACT-Scheduling/DLT-Studio); the environment
variable ``DLT_STUDIO`` holds the path of its program ``dls``, and that part is skipped without it.

Instances: C uniform in [0, 10], c in [0.05, 1], W in [0, 10] or 0, w in [0.5, 5].
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table, ratio, shown_seconds
from makespan import DivisibleLoad, Result, Star, solve

LOADS = (20.0, 100.0, 1000.0)
MILP_SECONDS = 40.0
PEER_SECONDS = 60.0
MANY_SECONDS = 10.0
HEURISTICS = ("single-round", "ga", "best-rate", "auto")


def instance(workers: int, seed: int, *, computing: bool, load: float) -> DivisibleLoad:
    """Return a random affine star, with fixed costs of computing or without."""
    generator = np.random.default_rng(seed)
    send_fixed = generator.uniform(0, 10, workers)
    send = generator.uniform(0.05, 1, workers)
    compute_fixed = generator.uniform(0, 10, workers) * computing
    star = Star.from_arrays(
        send_fixed=send_fixed,
        send_per_unit=send,
        compute_fixed=compute_fixed,
        compute_per_unit=generator.uniform(0.5, 5, workers),
    )
    return DivisibleLoad(load=load, platform=star)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what ``work`` returns, and its CPU seconds."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def end(problem: DivisibleLoad, method: str, **options: Any) -> float:
    """Return the makespan that a method reaches."""
    makespan = solve(problem, method=method, **options).makespan
    assert makespan is not None
    return makespan


def families() -> list[tuple[bool, float]]:
    """Return (fixed costs of computing, load) of the families of instances."""
    return [(computing, load) for computing in (False, True) for load in LOADS]


def warm_up() -> None:
    """Compile or load the kernel, and import what the programmes need."""
    solve(instance(16, 0, computing=True, load=1000.0), method="subset-dp")
    solve(instance(3, 0, computing=True, load=10.0), method="milp")


def against_milp() -> None:
    """subset-dp and the mixed-integer programme on the same stars."""
    table = Table(
        "affine_star_milp",
        "Fixed costs, one round: subset-dp and HiGHS",
        "The same stars by `subset-dp` and by the mixed-integer programme of the slides (`milp`, "
        f"stopped after {MILP_SECONDS:.0f} s by the clock: then its plan need "
        "not be optimal). `W`: fixed costs of computing. `difference`: of the makespans.",
        ("workers", "W", "load", "subset-dp", "milp", "times", "milp ended", "difference"),
    )
    for workers in range(9, 15):
        for computing, load in families():
            problem = instance(workers, 1, computing=computing, load=load)
            ours, fast = timed(partial(end, problem, "subset-dp"))
            theirs, slow = timed(partial(solve, problem, method="milp", time_limit=MILP_SECONDS))
            table.add(
                workers,
                "yes" if computing else "no",
                f"{load:.0f}",
                fast,
                slow,
                ratio(slow, fast),
                str(theirs.status),
                f"{theirs.makespan / ours - 1:.1e}",
            )
    table.write()


def reach() -> None:
    """subset-dp on large stars."""
    table = Table(
        "affine_star_reach",
        "Fixed costs, one round: how far subset-dp reaches",
        "Twenty random stars a row, each proved optimal unless `proved` says otherwise, the "
        "kernel loaded before. `used`: workers that take part, median. `heuristic`: by how much "
        "the plan for large loads is longer than the optimum, median and most.",
        ("workers", "W", "load", "median", "slowest", "proved", "used", "heuristic", "most"),
    )
    for workers in (20, 30, 40, 50):
        for computing, load in families():
            rows = [
                _reached(instance(workers, seed, computing=computing, load=load))
                for seed in range(20)
            ]
            seconds, proved, used, longer = zip(*rows, strict=True)
            table.add(
                workers,
                "yes" if computing else "no",
                f"{load:.0f}",
                float(statistics.median(seconds)),
                float(max(seconds)),
                f"{sum(proved)} of {len(rows)}",
                f"{statistics.median(used):.0f}",
                f"{statistics.median(longer):.1%}",
                f"{max(longer):.1%}",
            )
    table.write()


def _reached(problem: DivisibleLoad) -> tuple[float, bool, int, float]:
    result, seconds = timed(lambda: solve(problem, method="subset-dp", time_limit=120.0))
    longer = end(problem, "large-load") / result.makespan - 1
    return seconds, result.status == "optimal", len(result.answer["order"]), longer


def many() -> None:
    """port-prices on stars of 100 to 100,000 workers, with fixed costs and with all limits."""
    table = Table(
        "affine_star_many",
        "One round with many workers: port-prices",
        f"One star a row, `auto` with a limit of {MANY_SECONDS:.0f} s, each in a process of its "
        "own. C, W uniform in [0, latency], c in [0.1, 1], w in [1, 10], load 100; with `limits`: "
        "half of the workers hold at most 8 times their share, half are released within 30 s, and "
        "the budget is 90 for prices of 0 to 2 fixed and 0.5 to 2 a unit. `by send cost`: how much "
        "longer the plan of `large-load` is.",
        ("workers", "latency", "limits", "makespan", "gap", "by send cost", "seconds", "memory"),
        clock="wall-clock time",
    )
    for workers in (100, 1_000, 10_000, 100_000):
        for latency, limits in ((0.1, False), (1.0, False), (1.0, True)):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                table.add(*pool.submit(_many, workers, latency, limits).result())
    table.write()


def many_workers(workers: int, latency: float, *, limits: bool) -> DivisibleLoad:
    """Return a random star of many workers."""
    generator = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "send_fixed": generator.uniform(0, latency, workers),
        "send_per_unit": generator.uniform(0.1, 1, workers),
        "compute_fixed": generator.uniform(0, latency, workers),
        "compute_per_unit": generator.uniform(1, 10, workers),
    }
    if not limits:
        return DivisibleLoad(load=100.0, platform=Star.from_arrays(**columns))
    half = np.arange(workers) % 2 == 0
    columns |= {
        "memory": np.where(half, 800.0 / workers, np.inf),
        "release": np.where(half, 0.0, generator.uniform(0, 30, workers)),
        "price_fixed": generator.uniform(0, 2, workers),
        "price_per_unit": generator.uniform(0.5, 2, workers),
    }
    return DivisibleLoad(load=100.0, platform=Star.from_arrays(**columns), budget=90.0)


def _many(workers: int, latency: float, limits: bool) -> tuple[str | float, ...]:
    problem = many_workers(workers, latency, limits=limits)
    solve(many_workers(50, latency, limits=limits), time_limit=1.0)  # imports, compiled loops
    started = time.perf_counter()
    result = solve(problem, time_limit=MANY_SECONDS)
    seconds = time.perf_counter() - started
    assert result.makespan is not None
    assert result.gap is not None
    longer = "–" if limits else f"{end(problem, 'large-load') / result.makespan - 1:.1%}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{workers:,}", f"{latency:g}", "yes" if limits else "no", f"{result.makespan:.4f}",
        f"{result.gap:.2%}", longer, seconds, f"{peak:.0f} MB",
    )  # fmt: skip


def buses() -> None:
    """bus-exchange on large buses: C, W and w at random, one c."""
    table = Table(
        "affine_bus_reach",
        "Fixed costs on a bus: how far bus-exchange reaches",
        "Ten random buses a row (one cost per unit sent, c = 0.2; fixed costs of sending in "
        "[0, 10]), each proved optimal unless `proved` says otherwise.",
        ("workers", "load", "median", "slowest", "proved", "used"),
    )
    for workers in (20, 40, 80, 160, 320):
        for load in (100.0, 1000.0):
            rows = [_bus(workers, seed, load) for seed in range(10)]
            results, seconds = zip(*rows, strict=True)
            table.add(
                workers,
                f"{load:.0f}",
                float(statistics.median(seconds)),
                float(max(seconds)),
                f"{sum(result.status == 'optimal' for result in results)} of {len(rows)}",
                f"{statistics.median(len(result.answer['order']) for result in results):.0f}",
            )
    table.write()


def _bus(workers: int, seed: int, load: float) -> tuple[Result, float]:
    generator = np.random.default_rng(seed)
    star = Star.from_arrays(
        send_fixed=generator.uniform(0, 10, workers),
        send_per_unit=0.2,
        compute_fixed=generator.uniform(0, 10, workers),
        compute_per_unit=generator.uniform(0.5, 5, workers),
    )
    problem = DivisibleLoad(load=load, platform=star)
    found: tuple[Result, float] = timed(
        lambda: solve(problem, method="bus-exchange", time_limit=120.0)
    )
    return found


def beside_the_peer() -> None:
    """DLT-Studio's exact search and heuristics on the same stars."""
    program = os.environ.get("DLT_STUDIO")
    if program is None:
        print("DLT_STUDIO is not set: the comparison with DLT-Studio is skipped")
        return
    exact = Table(
        "affine_star_peer",
        "Fixed costs, one round: subset-dp and the exact search of DLT-Studio",
        "DLT-Studio's `exact` with every worker at most once, one thread, stopped after "
        f"{PEER_SECONDS:.0f} s of CPU time. `difference`: of the makespans.",
        ("workers", "W", "load", "subset-dp", "DLT-Studio", "times", "difference"),
    )
    for workers in range(5, 9):
        for computing, load in families():
            problem = instance(workers, 1, computing=computing, load=load)
            ours, fast = timed(partial(end, problem, "subset-dp"))
            theirs, slow = _peer(program, "exact", problem)
            exact.add(
                workers,
                "yes" if computing else "no",
                f"{load:.0f}",
                fast,
                slow if theirs is not None else f"over {shown_seconds(slow)}",
                ratio(slow, fast),
                "stopped" if theirs is None else f"{theirs / ours - 1:.1e}",
            )
    exact.write()
    _peer_heuristics(program)


def _peer_heuristics(program: str) -> None:
    table = Table(
        "affine_star_peer_heuristics",
        "Fixed costs, one round: the heuristics of DLT-Studio against the optimum",
        "By how much the plans of DLT-Studio's heuristics are longer than the optimum, mean of "
        "ten stars without fixed costs of computing (which its `single-round` does not see), "
        "each with as many installments as workers; `large-load` is ours.",
        ("workers", "load", *HEURISTICS, "large-load"),
    )
    for workers in (10, 20, 40):
        for load in LOADS:
            longer: dict[str, list[float]] = {name: [] for name in (*HEURISTICS, "large-load")}
            for seed in range(10):
                problem = instance(workers, seed, computing=False, load=load)
                best = end(problem, "subset-dp")
                for name in HEURISTICS:
                    theirs, _ = _peer(program, name, problem)
                    if theirs is not None:
                        longer[name].append(theirs / best - 1)
                longer["large-load"].append(end(problem, "large-load") / best - 1)
            cells = [f"{statistics.mean(gaps):.1%}" if gaps else "-" for gaps in longer.values()]
            table.add(workers, f"{load:.0f}", *cells)
    table.write()


def _peer(program: str, solver: str, problem: DivisibleLoad) -> tuple[float | None, float]:
    """Return the peer's makespan, None where it found none in time, and its CPU seconds."""
    star = problem.star
    columns = (
        star.send_fixed.tolist(),
        star.send_per_unit.tolist(),
        star.compute_per_unit.tolist(),
        star.compute_fixed.tolist(),
    )
    lines = [f"V {problem.load!r}"]
    lines += [f"{C!r} {c!r} {w!r} 1e9 {W!r}" for C, c, w, W in zip(*columns, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "star.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        options = [f"--installments={len(star)}", "--repeats=0", "--seed=1", "--json"]
        ended = subprocess.run(
            ["prlimit", f"--cpu={PEER_SECONDS:.0f}", program, "solve", f"--solver={solver}",
             *options, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if ended.returncode < 0:
        return None, seconds
    solution = json.loads(ended.stdout)["solution"]
    return solution["makespan"] if solution["feasible"] else None, seconds


PARTS = {"milp": against_milp, "reach": reach, "many": many, "bus": buses, "peer": beside_the_peer}


def main() -> None:
    """Print and write the tables."""
    warm_up()
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
