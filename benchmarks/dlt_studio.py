"""Divisible loads beside DLT-Studio, on the instances of its own generators.

``python -m benchmarks.dlt_studio FOLDER [INSTANCES]``: FOLDER is a checkout of
https://github.com/HiPERACT-Scheduling/DLT-Studio in which ``build/bin/dls`` was built; its
generators in ``tools`` make the instances, 20 of each class. What it calls the best plan is the
best of all its solvers that take the class.
"""

from __future__ import annotations

import importlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import DivisibleLoad, Result, Star, Tree, TreeNode, solve

SECONDS = 2.0
PEER_SECONDS = 20
SMALL = 6  # workers up to which its exact search is quick, as its own generators have it
SAME = 1e-5  # of chains and trees it prints six digits
HEURISTICS = ("ga", "best-rate", "online", "auto")
INSTANCE = re.compile(r"^V [\d.]+\n(?:[\d.e+]+(?: [\d.e+]+){3,8}\n)+", re.MULTILINE)
MAKESPAN = re.compile(r"^makespan +: (.+)$", re.MULTILINE)
UNBOUNDED = 1e17  # memory from which its instances mean none


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An instance in its form, what its program is asked, and the same as our problem.

    Parameters
    ----------
    text
        The instance.
    asked
        The arguments of each of its solvers.
    problem
        Ours.
    """

    text: str
    asked: tuple[tuple[str, ...], ...]
    problem: DivisibleLoad


def read_star(text: str) -> DivisibleLoad:
    """Read an instance of its single loads: V, beta, and a row ``S C A B [p r d f l]`` each."""
    rows, fields = [], {"V": 0.0, "beta": 0.0}
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words and words[0] in fields:
            fields[words[0]] = float(words[1])
        elif words:
            rows.append([*map(float, words), *[0.0] * (9 - len(words))])
    latency, send, compute, memory, start_up, release, deadline, fee, rate = np.array(rows).T
    back = fields["beta"]
    star = Star.from_arrays(
        send_fixed=latency,
        send_per_unit=send,
        compute_fixed=start_up,
        compute_per_unit=compute,
        return_fixed=latency * (back > 0),
        return_per_unit=back * send,
        memory=np.where((memory <= 0) | (memory >= UNBOUNDED), np.inf, memory),
        release=release,
        deadline=np.where(deadline > 0, deadline, np.inf),
        price_fixed=fee,
        price_per_unit=rate,
    )
    return DivisibleLoad(load=fields["V"], platform=star)


def read_tree(text: str) -> DivisibleLoad:
    """Read a chain or a tree: V, and a row ``node A C [parent]`` each."""
    (_, load), *rows = [line.split() for line in text.splitlines()]
    nodes = []
    for place, (_, compute, send, *parent) in enumerate(rows):
        above = int(parent[0]) if parent else place - 1
        cost = 0.0 if above < 0 else float(send)
        name = f"N{above}" if above >= 0 else None
        nodes.append(TreeNode(name=f"N{place}", parent=name, send=cost, compute=float(compute)))
    return DivisibleLoad(load=float(load), platform=Tree(nodes))


def stars(tools: Any, regimes: Sequence[int]) -> Iterator[tuple[str, DivisibleLoad]]:
    """Yield the instances of some regimes of its generator of stars."""
    for index in range(10**6):
        generator = random.Random(tools.genlib.derive_seed(42, index))
        text = tools.random_instance(generator, regimes[index % len(regimes)])[0]
        yield text, read_star(text)


def examples(tools: Any) -> Iterator[Case]:
    """The instances in the texts of its examples, several chunks a worker."""
    folder = Path(tools.__file__).parent.parent
    files = [folder / "README.md", *sorted((folder / "examples").rglob("*.*"))]
    found = [INSTANCE.findall(file.read_text(encoding="utf-8")) for file in files]
    for text in dict.fromkeys(each for some in found for each in some):
        problem = read_star(text)
        yield Case(text=text, asked=_many(problem), problem=replace(problem, rounds="auto"))


def one_chunk(tools: Any) -> Iterator[Case]:
    """Without limits, one chunk a worker."""
    for text, problem in stars(tools, (0, 1, 3)):
        if not problem.has_returns:
            asked: list[tuple[str, ...]] = [("--solver=single-round",)]
            if len(problem.star) <= SMALL:
                once = f"--installments={len(problem.star)}"
                asked.append(("--solver=exact", "--repeats=0", once))
            yield Case(text=text, asked=tuple(asked), problem=problem)


def several_chunks(tools: Any) -> Iterator[Case]:
    """Without limits, several chunks a worker."""
    for text, problem in stars(tools, (0, 1, 3)):
        if not problem.has_returns:
            yield Case(text=text, asked=_many(problem), problem=replace(problem, rounds="auto"))


def _many(problem: DivisibleLoad) -> tuple[tuple[str, ...], ...]:
    longest = f"--installments={2 * len(problem.star)}"
    asked = [(f"--solver={name}", longest) for name in HEURISTICS[:-1]]
    exact = [("--solver=exact", "--installments=5")] if len(problem.star) <= SMALL else []
    return (*asked, ("--solver=auto",), *exact)


def memory(tools: Any) -> Iterator[Case]:
    """Chunks within the workers' memory, several chunks a worker."""
    for text, problem in stars(tools, (2,)):
        if not problem.has_returns:
            yield Case(text=text, asked=_many(problem), problem=replace(problem, rounds="auto"))


def results(tools: Any) -> Iterator[Case]:
    """Results that return (beta), one chunk a worker."""
    for text, problem in stars(tools, (0, 1, 4)):
        if problem.has_returns:
            once = ("--solver=exact", "--repeats=0", f"--installments={len(problem.star)}")
            yield Case(text=text, asked=(once,), problem=problem)


def most_load(tools: Any) -> Iterator[Case]:
    """The most load by a deadline, one chunk a worker."""
    for text, problem in stars(tools, (1, 4)):
        limited = bool(np.isfinite(problem.star.memory).any())
        if len(problem.star) <= SMALL and not problem.has_returns and not limited:
            deadline = 0.5 * (solve(problem, time_limit=SECONDS).makespan or 0.0)
            text_ = text.replace(f"V {problem.load:.6f}", f"V {10 * (problem.load or 0.0):.6f}")
            once = f"--installments={len(problem.star)}"
            asked = ("--solver=optv", "--repeats=0", once, f"--deadline={deadline!r}")
            yield Case(
                text=text_, asked=(asked,), problem=replace(problem, load=None, deadline=deadline)
            )


def limits(tools: Any) -> Iterator[Case]:
    """Start-ups of computing, release times and prices with a budget, drawn for its stars."""
    for text, problem in stars(tools, (1,)):
        count = len(problem.star)
        if count > SMALL or problem.has_returns:
            continue
        draw = np.random.default_rng(count).uniform
        base = solve(problem).makespan or 0.0
        rows = [row.split() for row in text.splitlines()]
        for row in rows[1:]:
            numbers = draw(0, 2), draw(0, 0.5 * base), 0.0, draw(0, 50), draw(0.5, 2)
            row += [f"{number:.6f}" for number in numbers]
        fuller = "\n".join(map(" ".join, rows))
        stated = read_star(fuller)
        budget = 1.2 * (problem.load or 0.0) + 25.0 * count
        asked = ("--solver=exact", "--repeats=0", f"--installments={count}", f"--cost={budget!r}")
        yield Case(text=fuller, asked=(asked,), problem=replace(stated, budget=budget))


def trees(of: str) -> Callable[[Any], Iterator[Case]]:
    """Return what yields chains or trees."""

    def cases(tools: Any) -> Iterator[Case]:
        for index in range(10**6):
            generator = random.Random(tools.genlib.derive_seed(42, index))
            text = getattr(tools, f"build_{of}")(generator, index % 4)[0]
            yield Case(text=text, asked=((f"--class={of}",),), problem=read_tree(text))

    return cases


STARS, TOPOLOGIES = "generate_training_data", "generate_topology_training_data"
CLASSES: dict[str, tuple[str, Callable[[Any], Iterator[Case]]]] = {
    "its examples, several chunks": (STARS, examples),
    "star, one chunk a worker": (STARS, one_chunk),
    "star, several chunks": (STARS, several_chunks),
    "star, memory, several chunks": (STARS, memory),
    "star, results, one chunk": (STARS, results),
    "star, most load by a deadline": (STARS, most_load),
    "star, release, start-ups, budget": (STARS, limits),
    "chain": (TOPOLOGIES, trees("chain")),
    "tree": (TOPOLOGIES, trees("tree")),
}


def best_of_theirs(program: Path, case: Case, *, most: bool) -> tuple[float | None, float]:
    """Return the best value that its solvers print, and the seconds of all of them."""
    values, started = [], time.perf_counter()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(case.text + "\n")
        file.flush()
        for asked in case.asked:
            limit = ["prlimit", f"--cpu={PEER_SECONDS}"]
            command = [*limit, str(program), "solve", *asked, "--seed=1", "--json", file.name]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            printed = MAKESPAN.search(ended.stdout)
            if printed:  # chains and trees, in six digits
                values.append(float(printed[1]))
            elif ended.returncode == 0:
                solution = json.loads(ended.stdout)["solution"]
                if solution["feasible"]:
                    loads = [each["load"] for each in solution["fragments"]] if most else []
                    values.append(sum(loads) if most else solution["makespan"])
    seconds = time.perf_counter() - started
    return (max if most else min)(values, default=None), seconds


def ours(problem: DivisibleLoad) -> tuple[Result, float | None, float]:
    """Return the result, its value, and the seconds."""
    started = time.perf_counter()
    result = solve(problem, time_limit=SECONDS)
    value = result.makespan if result.objective is None else result.objective.value
    return result, value, time.perf_counter() - started


def main(folder: str, instances: int = 20) -> None:
    """Print and write the table."""
    program = Path(folder) / "build" / "bin" / "dls"
    sys.path.insert(0, str(Path(folder) / "tools"))
    table = Table(
        "dlt_studio",
        "Divisible loads: DLT-Studio on its own instances",
        f"Its examples and {instances} instances of each class by its own generators "
        "(`random_instance`, `build_chain`, `build_tree`); release times, start-ups of computing "
        f"and prices are drawn for its stars. Ours: `auto`, {SECONDS:g} s. Theirs: the best of all "
        f"its solvers that take the class (`exact` with at most {SMALL} workers, and with at most "
        "5 chunks where several are allowed; heuristics with twice as many chunks as workers), "
        f"{PEER_SECONDS} s of CPU time each. Better, same, worse: ours, to within {SAME:g}. "
        "`theirs over ours`: by how much its best makespan is longer, or its load less; median "
        "and most. Not quite alike are three classes, in which it restricts itself: its memory "
        "holds what a worker has not computed yet, too, where ours limits a chunk; its results "
        "return in the order of sending, after all sends; its trees serve children in the order "
        "of their numbers. Its other classes (many loads, MapReduce, energy) are not stated here.",
        ("class", "better", "same", "worse", "no plan of theirs", "theirs over ours", "most",
         "proved", "seconds", "theirs"),
        clock="wall-clock time",
    )  # fmt: skip
    for name, (module, cases) in CLASSES.items():
        rows = []
        made = cases(importlib.import_module(module))
        for _, case in zip(range(instances), made, strict=False):
            most = case.problem.load is None
            result, value, seconds = ours(case.problem)
            theirs, their_seconds = best_of_theirs(program, case, most=most)
            assert value is not None, case.text
            longer = np.nan if theirs is None else (value / theirs if most else theirs / value) - 1
            rows.append((longer, result.status == "optimal", seconds, their_seconds))
            if longer < -SAME:
                print(f"worse by {longer:.2e}: {name}\n{case.text}", case.asked, file=sys.stderr)
        gaps, proved, mine, its = map(np.array, zip(*rows, strict=True))
        known = gaps[~np.isnan(gaps)]
        table.add(
            name, int((known > SAME).sum()), int((abs(known) <= SAME).sum()),
            int((known < -SAME).sum()), int(np.isnan(gaps).sum()),
            f"{np.median(known).round(4) + 0.0:.2%}", f"{known.max():.1%}",
            f"{proved.sum()} of {len(rows)}", float(np.median(mine)), float(np.median(its)),
        )  # fmt: skip
    table.write()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
