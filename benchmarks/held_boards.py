"""Held boards: problems that stay open here, with the best plan and the best bound known.

``python -m benchmarks.held_boards [SECONDS]`` writes the table from the folder ``boards``. With
SECONDS it first searches on all boards for so long each, makes those that are missing, and keeps
what is better. ``makespan board submit`` takes plans of others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.frangioni import problem as drawn
from benchmarks.table import Table
from makespan import (
    InputError,
    Reduction,
    lower_bound,
    save,
    solve,
)
from makespan.core.problem import Problem
from makespan.drawing.text import percent
from makespan.flow.kinds import generate
from makespan.lab.held import BOUND, PLAN, PROBLEM, Held, held, submit

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "boards"


def collective(kind: str, machines: int) -> Reduction:
    """Return a collective over links of unlike speeds, four segments."""
    rng = np.random.default_rng(machines)
    transfer = rng.integers(1, 6, (machines, machines)).astype(float)
    np.fill_diagonal(transfer, 0)
    combines = {"reduce": 1.0} if "reduce" in kind else {"reduce": 0.0}
    return Reduction(
        machines=machines, segments=4, latency=1, transfer=transfer, collective=kind, **combines  # type: ignore[arg-type]
    )  # fmt: skip


def cholesky(ratio: float) -> Problem:
    """Return the tiles of a Cholesky factorisation, data to work in a ratio, on four machines."""
    options = {"graph": "cholesky", "size": 6, "machines": 4, "ccr": ratio}
    return generate("taskgraph", seed=1, options=options)


OF_CHOLESKY = "tiled Cholesky, unlike machines; generated with seed 1"
OF_COLLECTIVES = "links of unlike speeds, whole seconds; drawn by benchmarks/held_boards.py"
OF_FRANGIONI = "Frangioni, Necciari and Scutellà 2004 (rules); drawn by benchmarks/frangioni.py"
MAKERS: dict[str, tuple[str, Callable[[], Problem]]] = {
    "frangioni-25-100-0": (OF_FRANGIONI, lambda: drawn("uniform", 25, 100, 10_000, 0)),
    "frangioni-25-100-1": (OF_FRANGIONI, lambda: drawn("uniform", 25, 100, 10_000, 1)),
    "cholesky-6-ccr-1": (OF_CHOLESKY, lambda: cholesky(1.0)),
    "cholesky-6-ccr-5": (OF_CHOLESKY, lambda: cholesky(5.0)),
    "all-reduce-6": (OF_COLLECTIVES, lambda: collective("all-reduce", 6)),
    "reduce-10": (OF_COLLECTIVES, lambda: collective("reduce", 10)),
    "broadcast-12": (OF_COLLECTIVES, lambda: collective("broadcast", 12)),
}


def made(name: str, seconds: float) -> None:
    """Make a board: its problem, a first plan, and a bound by theorem or by search."""
    about, make = MAKERS[name]
    problem, folder = make(), FOLDER / name
    plan = solve(problem, time_limit=seconds)
    if plan.status == "optimal":
        print(f"{name}: solved")
        return
    folder.mkdir(parents=True)
    save(problem, folder / PROBLEM)
    save(plan, folder / PLAN)
    _kept(folder, _by_theorem(problem, about), plan.lower_bound, seconds)


def _by_theorem(problem: Problem, about: str) -> dict[str, Any]:
    """Return the best bound of a theorem, as a board holds it."""
    best = lower_bound(problem)
    named = {"name": best.name, "source": best.source}
    return {"about": about, "value": best.value, "proof": "bound", **named}


def _kept(folder: Path, bound: dict[str, Any], value: float | None, seconds: float) -> None:
    """Write a bound; that of a search where it is the greater one."""
    if value is not None and value > bound["value"] * (1 + 1e-9):
        asked = {"method": "auto", "time_limit": seconds, "seed": 0}
        bound = {"about": bound["about"], "value": value, "proof": "solve", **asked}
    (folder / BOUND).write_text(json.dumps(bound, indent=1, ensure_ascii=False) + "\n", "utf-8")


def improved(board: Held, seconds: float) -> None:
    """Search on, and keep a better plan and a greater bound."""
    found = solve(board.problem, time_limit=seconds)
    bounds = board.bound, _by_theorem(board.problem, board.bound["about"])
    best = max(bounds, key=lambda bound: bound["value"])  # the held one, if they are equal
    _kept(board.folder, best, found.lower_bound, seconds)
    with TemporaryDirectory() as folder:
        save(found, Path(folder) / PLAN)
        try:
            submit(Path(folder) / PLAN, FOLDER, to=board.name, by="auto")
        except InputError as error:
            print(error)


def table(boards: list[Held]) -> Table:
    """Return the table of all boards."""
    found = Table(
        "held_boards",
        "Held boards: open problems with their best plans and bounds",
        "Folder `boards`: each board has its problem, the best plan, and the best bound with what "
        "proves it: a theorem that `lower_bound` works out, or a solve that finds it again. "
        "`python -m benchmarks.held_boards` writes this table; `makespan board submit` takes "
        "better plans.",
        ("board", "kind", "plan", "by", "bound", "proof", "gap", "source"),
    )
    for each in boards:
        bound, plan = each.bound, each.plan
        proof = bound.get("name") or f"{bound['method']}, {bound['time_limit']:g} s"
        by = plan.details.get("by") or plan.method
        cells = (f"{plan.makespan:.10g}", by, f"{bound['value']:.10g}", proof, percent(each.gap))
        found.add(each.name, each.problem.kind, *cells, bound["about"])
    return found


def main() -> None:
    """Search where that is asked for, and write the table."""
    if len(sys.argv) > 1:
        seconds = float(sys.argv[1])
        there = {path.parent.name for path in FOLDER.glob(f"*/{PROBLEM}")}
        for name in MAKERS:
            if name not in there:
                made(name, seconds)
        for board in held(FOLDER):
            if board.name in there:
                improved(board, seconds)
    table(held(FOLDER)).write()


if __name__ == "__main__":
    main()
