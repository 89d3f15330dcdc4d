"""Equal counts: samples over ranks beside verl's own code, and proofs for published families.

* ``python -m benchmarks.balance batches [SEQLEN_BALANCING.py]``: lengths over ranks that all get
  equally many. The file is that of verl, https://github.com/verl-project/verl; it is no part of
  this repository, and of it only the two functions that share out are run.
* ``... proofs``: the families of Dell'Amico and Martello 2001 and, with a limit of its own for each
  machine, of Dell'Amico, Iori, Martello and Monaci 2006, after their rules, from a seed of ours.
* ``... import``: what importing the file costs.
"""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import IndependentTasks, balance, lower_bound, solve

SIZES = ((512, 32), (1024, 64), (1024, 8))
DRAWS = 10
LIMIT = 5.0
Share = Callable[[list[int], int], list[list[int]]]


def lengths(family: str, count: int, seed: int) -> list[int]:
    """Return lengths of samples, in tokens."""
    rng = np.random.default_rng([list(FAMILIES).index(family), count, seed])
    return [max(1, int(each)) for each in FAMILIES[family](rng, count)]


FAMILIES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "lognormal(7, 1), up to 16k": lambda rng, n: np.minimum(rng.lognormal(7, 1, n), 16_384),
    "exponential, mean 1.5k": lambda rng, n: rng.exponential(1500, n),
    "groups of 8 alike": lambda rng, n: np.minimum(
        np.repeat(rng.lognormal(7, 1, n // 8), 8) * rng.uniform(0.8, 1.2, n), 16_384
    ),
    "10 % at the cap of 8k": lambda rng, n: np.where(
        rng.random(n) < 0.1, 8192, np.minimum(rng.lognormal(6.5, 0.8, n), 8192)
    ),
    "uniform, 100 to 8k": lambda rng, n: rng.uniform(100, 8192, n),
}


def of_peer(path: Path) -> Share:
    """Return verl's function with equal sizes, out of its file."""
    wanted = ("karmarkar_karp", "get_seqlen_balanced_partitions")
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in wanted]
    scope: dict[str, Any] = {"heapq": __import__("heapq"), "Callable": Callable}
    for name in ("List", "Tuple"):
        scope[name] = getattr(__import__("typing"), name)
    exec(compile(tree, str(path), "exec"), scope)
    function: Any = scope["get_seqlen_balanced_partitions"]
    return lambda values, ranks: function(values, ranks, equal_size=True)


def of_file(values: list[int], ranks: int) -> list[list[int]]:
    return balance.get_seqlen_balanced_partitions(values, ranks, equal_size=True)


def of_library(values: list[int], ranks: int) -> list[list[int]]:
    """Share out by ``solve``: bounds, referee and all."""
    plan = solve(IndependentTasks(ranks, values, counts="equal"), method="interchange").schedule
    assert plan is not None
    return [plan.item[plan.machine == rank].tolist() for rank in range(ranks)]


def batches(peer: str | None = None) -> None:
    """Write the table of samples over ranks."""
    ways: dict[str, Share] = {"the file": of_file, "the library": of_library}
    if peer is not None:
        ways = {"verl": of_peer(Path(peer)), **ways}
    table = Table(
        "balance",
        "Samples over ranks, equally many on each",
        f"Above the bound: the greatest total of a rank over the bound of `makespan.balance`, the "
        f"greatest of {DRAWS} draws. Time: the median. The library solves and referees.",
        ("lengths", "samples, ranks", *itertools.chain(*((f"{w}: above", "time") for w in ways))),
    )
    for family, (count, ranks) in itertools.product(FAMILIES, SIZES):
        cells: list[str | float] = []
        for share in ways.values():
            share(lengths(family, count, DRAWS), ranks)
            above, times = [], []
            for seed in range(DRAWS):
                values = lengths(family, count, seed)
                started = time.process_time()
                groups = share(values, ranks)
                times.append(time.process_time() - started)
                assert {len(group) for group in groups} == {count // ranks}
                most = max(sum(values[item] for item in group) for group in groups)
                bound = balance.lower_bound(list(map(float, values)), count // ranks, ranks)
                above.append(most / bound - 1)
            cells += [f"{100 * max(above):.3f} %", float(np.median(times))]
        table.add(family, f"{count:,} over {ranks}", *cells)
    table.write()


UNIFORM, EXPONENTIAL, NORMAL = (10, 200, 500), (25, 50, 100), (33, 66, 100)
"""The least of uniform weights up to 1000; means; deviations from 100."""
WEIGHTS = [
    *(("uniform", low) for low in UNIFORM),
    *(("exponential", mean) for mean in EXPONENTIAL),
    *(("normal", deviation) for deviation in NORMAL),
]


def weights(family: str, parameter: int, rng: np.random.Generator, count: int) -> Any:
    """Return whole weights from 1 on."""
    if family == "uniform":
        return rng.integers(parameter, 1000, count, endpoint=True)
    drawn = rng.exponential(parameter, count)
    if family == "normal":
        drawn = rng.normal(100, parameter, count)
    return np.maximum(1, np.rint(drawn))


TASKS, MACHINES = (10, 25, 50, 100, 250, 500), (3, 5, 10)


def problems() -> Iterator[tuple[str, IndependentTasks]]:
    """Yield problems with the family of their durations."""
    for at, tasks, machines in itertools.product(range(len(WEIGHTS)), TASKS, MACHINES):
        if tasks < 2 * machines:
            continue
        rng = np.random.default_rng([at, tasks, machines])
        durations = weights(*WEIGHTS[at], rng, tasks)
        even = -(-tasks // machines)
        own = rng.integers(even - 1, even + 1, machines, endpoint=True)
        own[0] = max(own[0], tasks - own[1:].sum())
        for limit in (even, own.tolist()):
            yield (
                f"{WEIGHTS[at][0]}, {WEIGHTS[at][1]}",
                IndependentTasks(machines, durations, counts=limit),
            )


def proofs(limit: float = LIMIT) -> None:
    """Write the table of what is proved."""
    table = Table(
        "balance_proofs",
        "Limited counts on identical machines: proved by `auto`",
        f"{TASKS[0]} to {TASKS[-1]} tasks on {', '.join(map(str, MACHINES))} machines, at most "
        f"⌈n/m⌉ on each, or a limit of its own for each from ⌈n/m⌉ - 1 to ⌈n/m⌉ + 1; {limit:g} s.",
        ("durations", "proved", "largest gap", "median time", "longest"),
        clock="wall-clock time",
    )
    found: dict[str, list[tuple[float, float]]] = {}
    for family, problem in problems():
        started = time.perf_counter()
        result = solve(problem, time_limit=limit)
        gap = 0.0 if result.status == "optimal" else result.gap or 0.0
        found.setdefault(family, []).append((gap, time.perf_counter() - started))
        if gap:
            print(family, problem, problem.counts, result.makespan, lower_bound(problem).value, gap)
    for family, each in found.items():
        gaps, times = zip(*each, strict=True)
        proved = f"{sum(gap == 0 for gap in gaps)} of {len(gaps)}"
        table.add(family, proved, f"{100 * max(gaps):.4f} %", float(np.median(times)), max(times))
    every = [gap for each in found.values() for gap, _ in each]
    table.add("all", f"{sum(gap == 0 for gap in every)} of {len(every)}", "", "", "")
    table.write()


def imports() -> None:
    """Print what importing the file costs, the least of twenty."""
    code = "import time; t = time.perf_counter(); import balance; print(time.perf_counter() - t)"
    folder = str(Path(balance.__file__).parent)
    runs = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {folder!r}); {code}"],
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(20)
    ]  # fmt: skip
    print(f"import: {1e3 * float(np.median(list(map(float, runs)))):.1f} ms")


if __name__ == "__main__":
    {"batches": batches, "proofs": proofs, "import": imports}[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
