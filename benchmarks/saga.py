"""Task graphs by ``auto`` and by every scheduler of anrg-saga 2.0.2, on the same 200 problems.

``python -m benchmarks.saga FILE PYTHON``: PYTHON, the interpreter of an environment with anrg-saga
(https://pypi.org/project/anrg-saga), plans them first, into FILE. ``python -m benchmarks.saga
FILE``: what ``auto`` makes of those in FILE. The plans of anrg-saga are carried out by the
statement of makespan, as early as their machines and orders allow: only that end counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import Dag, Network, TaskGraph, check, solve
from makespan.taskgraph.generate import graphs as generators

LIMIT = 1.5
SEEDS = 15
SHAPES: dict[str, Callable[[np.random.Generator], Dag]] = {
    "layered": lambda rng: generators.layered(int(rng.integers(20, 100)), rng=rng),
    "sparse layered": lambda rng: generators.layered(100, density=0.05, rng=rng),
    "fork-join": lambda rng: generators.fork_join(12, stages=3, rng=rng),
    "tree": lambda rng: generators.tree(5, inwards=bool(rng.random() < 0.5), rng=rng),
    "gaussian elimination": lambda rng: generators.gaussian_elimination(int(rng.integers(6, 12))),
    "fft": lambda rng: generators.fft(8),
    "cholesky": lambda rng: generators.cholesky(int(rng.integers(4, 7))),
    "stencil": lambda rng: generators.stencil(8, 8),
}


def made() -> list[dict[str, Any]]:
    """Return problems of this project's generators, as lists: unequal machines and links."""
    problems = []
    for number, (family, shape) in enumerate(SHAPES.items()):
        for seed in range(SEEDS):
            rng = np.random.default_rng([number, seed])
            dag, machines = shape(rng), int(rng.choice([3, 4, 8]))
            size = dag.size * rng.choice([0.1, 1.0, 5.0])
            rates = rng.uniform(0.5, 2.0, (machines, machines))
            problems.append(
                {
                    "family": family,
                    "work": dag.work.tolist(),
                    "edges": list(
                        zip(dag.source.tolist(), dag.target.tolist(), size.tolist(), strict=True)
                    ),
                    "speeds": rng.uniform(1.0, 4.0, machines).tolist(),
                    "rates": np.triu(rates, 1).tolist(),
                }
            )
    return problems


def problem_of(data: dict[str, Any], **plan: Any) -> TaskGraph:
    """Return the problem of a line of the file; tasks that take no time of the peer's included."""
    source, target, size = zip(*data["edges"], strict=True) if data["edges"] else ((), (), ())
    dag = Dag.from_arrays(work=data["work"], source=source, target=target, size=size)
    rates = np.array(data["rates"])
    np.fill_diagonal(rates, 1.0)  # of no use
    return TaskGraph(dag, Network(data["speeds"], rate=rates), **plan)


def carried_out(data: dict[str, Any], rows: list[tuple[int, int, float]]) -> float:
    """Return when the decisions of a plan end."""
    free = problem_of(data)
    tasks, machines = free.dag.names, free.machines
    sequence: dict[str, list[str]] = {}
    for task, machine, _ in sorted(rows, key=lambda row: (row[2], free.dag.position[row[0]])):
        sequence.setdefault(machines[machine], []).append(tasks[task])
    result = solve(problem_of(data, sequence=sequence))
    assert result.makespan is not None
    return result.makespan


def compare(path: Path) -> None:
    """Print and write the table of ``auto`` beside the best of all schedulers."""
    rows: dict[str, list[tuple[float, float, str, bool]]] = {}
    beyond, lacking, late = 0, 0, []
    for line in path.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        whole = {
            name: plan for name, plan in data["plans"].items()
            if sorted(row[0] for row in plan.get("rows", ())) == list(range(len(data["work"])))
        }  # fmt: skip
        lacking += len(data["plans"]) - len(whole)
        ends = {name: carried_out(data, plan["rows"]) for name, plan in whole.items()}
        beyond += sum(plan["makespan"] < ends[name] * (1 - 1e-9) for name, plan in whole.items())
        best = min(ends, key=ends.__getitem__)
        problem = problem_of(data)
        started = time.perf_counter()
        result = solve(problem, time_limit=LIMIT)
        late.append(time.perf_counter() - started)
        assert result.makespan is not None
        assert check(result).ok
        ratio = result.makespan / ends[best]
        proved = str(result.status) == "optimal"
        rows.setdefault(data["family"], []).append((ratio, ends["HeftScheduler"], best, proved))
        if ratio > 1 + 1e-9:
            print(
                f"worse: {data['family']}, {result!r}, {best} {ends[best]:.6g}, ratio {ratio:.4f}"
            )
    every = [row for family in rows.values() for row in family]
    table = Table(
        "saga",
        "Task graphs: `auto` and the schedulers of anrg-saga 2.0.2",
        f"{len(every)} problems, {LIMIT:g} s for `auto`, each beside the best plan of all "
        f"{len(data['plans'])} schedulers of anrg-saga (all but brute force, SMT and the hybrid of "
        "others), carried out under the same statement. Ratio: makespan of `auto` over that best. "
        f"Of their plans {beyond} promised less than carrying them out takes; {lacking} times "
        "there was none within 2 s, or not with every task.",
        (
            "family",
            "problems",
            "never worse",
            "mean ratio",
            "largest ratio",
            "proved",
            "best there",
        ),
        clock="wall-clock time",
    )
    for family, found in [*rows.items(), ("all", every)]:
        ratios = [row[0] for row in found]
        winners = [row[2].removesuffix("Scheduler") for row in found]
        often = max(sorted(set(winners)), key=winners.count)
        table.add(
            family, len(found), sum(ratio <= 1 + 1e-9 for ratio in ratios),
            f"{np.mean(ratios):.3f}", f"{max(ratios):.3f}", sum(row[3] for row in found),
            f"{often} ({winners.count(often)})",
        )  # fmt: skip
    table.write()
    print(f"slowest {max(late):.2f} s")


def main(path: str, python: str | None = None) -> None:
    """Let the peer plan where its interpreter is given; then compare."""
    if python is not None:
        peer = Path(__file__).with_name("saga_peer.py")
        with Path(path).open("w", encoding="utf-8") as file:
            done = subprocess.run(
                [python, "-P", str(peer)], input=json.dumps(made()), stdout=file, text=True,
                check=False, env={"PYTHONHASHSEED": "0"},
            )  # fmt: skip
        if done.returncode == 3:
            print(f"anrg-saga is not installed in {python}")
            return
        done.check_returncode()
        return
    compare(Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
