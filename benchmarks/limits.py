"""Time limits: every method of every kind, from the smallest problems to the largest that fit.

Each solve runs in a child of its own, with kernels compiled: a small solve comes first, and one
that still had to compile, or to load kernels and libraries, is repeated. What is late took more
than 1.2 times the limit and half a second, of the wall clock or of CPU time, whichever is less:
threads use more of the latter, other work on the machine makes for more of the former. Building
the problem doesn't count, nor do imports. Memory is the most that was in use during the solve,
less what was in use before.

With ``--busy`` limits count CPU time, too: for a machine that others use.

    python -m benchmarks.limits --kind divisible --method milp --sizes 100 1e5
    python -m benchmarks.limits --kind reduction --json /tmp/limits.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.apart import Say, cpu_seconds_left, highest, resident, run_apart
from benchmarks.limit_problems import KINDS, families
from benchmarks.limit_problems.family import Family
from benchmarks.table import FOLDER
from makespan.core.system import startup

SIZES = (2, 10, 30, 100, 300, 1000, 3000, 10**4, 3 * 10**4, *(10**power for power in range(5, 13)))
BOUNDS = "(bounds)"
GIB = 2**30
MAX_MEMORY = 2 * GIB
ADDRESS_SPACE = 6 * GIB
LOADED = 0.05
"""Seconds of imports and of kernels read from disk after which a solve is repeated."""
BUILT_WITHIN = 60.0
"""CPU seconds after which the building of a problem is ended."""


@dataclass
class Row:
    """One solve."""

    kind: str
    method: str
    family: str
    counts: str
    size: int
    limit: float
    killed_after: float
    status: str = ""
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    input: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def over(self) -> float:
        """Seconds above what is allowed; below 0 where it was in time."""
        return min(self.wall, self.cpu) - (1.2 * self.limit + 0.5)

    @property
    def killed(self) -> bool:
        return "killed" in self.faults

    def cells(self) -> tuple[str, ...]:
        return (
            self.method,
            self.family,
            f"{self.size:,} {self.counts}",
            self.status,
            f"{self.wall:.2f}",
            f"{self.cpu:.2f}",
            f"{max(0.0, self.over):.2f}",
            f"{self.memory / 2**20:,.0f}",
            f"{self.input / 2**20:,.0f}",
            ", ".join(self.faults),
        )


COLUMNS = (
    "method",
    "problems",
    "size",
    "status",
    "wall s",
    "CPU s",
    "s late",
    "MiB",
    "input MiB",
    "faults",
)


def main() -> None:
    asked = _arguments()
    _import_all()
    rows: list[Row] = []
    unreached: list[str] = []
    with startup.by_processor() if asked.busy else nullcontext():
        for kind in asked.kind or KINDS:
            found, left = _measured_kind(kind, asked)
            rows += found
            unreached += left
    _print(rows, unreached)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(
                {"rows": [asdict(row) for row in rows], "unreached": unreached}, file, indent=1
            )
    if asked.write:
        (FOLDER / "limits.md").write_text(_page(rows, unreached, asked.limit), encoding="utf-8")
    sys.exit(any(row.faults for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.limits",
        description=__doc__,
        epilog="""The exit status is 1 where a solve was late, took more than 2 GiB (and more than
ten times its input), failed, or was ended after --killed-after or at 6 GiB. After two that were
ended, the larger problems of that method and family are left out.""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kind", nargs="+", choices=KINDS, help="all kinds where left out")
    parser.add_argument(
        "--method", nargs="+", help="methods; 'auto' and '(bounds)' are among them; default: all"
    )
    parser.add_argument("--family", nargs="+", help="families of problems; default: all")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds; default 1")
    parser.add_argument(
        "--killed-after", type=float, default=15.0, help="CPU seconds of a solve; default 15"
    )
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=float,
        default=SIZES,
        help="default: 2 to 10^12; what is above the largest of a family is that",
    )
    parser.add_argument(
        "--busy", action="store_true", help="limits count CPU time: others use the machine"
    )
    parser.add_argument("--list", action="store_true", help="list the families and leave")
    parser.add_argument("--json", metavar="FILE", help="also write all rows here")
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks/limits.md")
    asked = parser.parse_args()
    if asked.list:
        for kind in asked.kind or KINDS:
            for family in families(kind):
                print(f"{kind:12} {family.name:24} up to {family.most:,} {family.counts}")
        sys.exit()
    return asked


def _import_all() -> None:
    """Import here what methods import, so that no child does."""
    from importlib import import_module

    for name in ("numba", "highspy", "ortools.sat.python.cp_model", "scipy.sparse", "makespan"):
        import_module(name)


def _measured_kind(kind: str, asked: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Return the rows of a kind, and the methods that no family reaches."""
    from makespan.core.registry import applicability, methods_of

    known = {method.name: method for method in methods_of(kind)}
    names = [BOUNDS, "auto", *known]
    for name in asked.method or ():
        if name not in names and len(asked.kind or KINDS) == 1:
            sys.exit(f"{kind} problems have no method {name!r}; there are {', '.join(names)}")
    wanted = [name for name in names if not asked.method or name in asked.method]
    rows: list[Row] = []
    for family in families(kind):
        if asked.family and family.name not in asked.family:
            continue
        smallest = family.problem(family.least)
        for name in wanted:
            if name not in known or applicability(known[name], smallest).applies:
                rows += _measured_sizes(kind, name, family, asked)
    reached = {row.method for row in rows}
    unreached = [f"{kind} {name}" for name in wanted if name not in reached]
    return rows, unreached


def _measured_sizes(
    kind: str, method: str, family: Family, asked: argparse.Namespace
) -> Iterator[Row]:
    ended = 0
    for size in sorted({min(int(size), family.most) for size in asked.sizes}):
        if size < family.least:
            continue
        names = (kind, method, family.name, family.counts)
        row = measured(Row(*names, size, asked.limit, asked.killed_after), family)
        if row.status == "does not apply":
            return
        print("  ".join((kind, *row.cells())), file=sys.stderr, flush=True)
        yield row
        ended = ended + 1 if row.killed else 0
        if ended == 2:
            return


def measured(row: Row, family: Family) -> Row:
    """Fill in what one solve in a child gives."""
    for _ in range(4):  # a kernel may have several signatures, each compiled when it is met
        said = run_apart(
            lambda say: _solve(say, row, family),
            seconds=6 * (BUILT_WITHIN + row.killed_after),
            address_space=ADDRESS_SPACE,
        )
        if not said.get("compiled"):
            break
    return _judged(row, said)


def _judged(row: Row, said: dict[str, Any]) -> Row:
    ended, stage = said["ended"], said.get("stage")
    for name in ("status", "wall", "cpu", "memory", "input"):
        setattr(row, name, said.get(name, getattr(row, name)))
    if ended and stage == "building":
        row.status = f"not built ({ended})"
    elif ended.startswith("SIG"):
        row.status, row.faults = ended, ["killed"]
        row.wall = row.cpu = row.killed_after
        row.memory = max(0, said["highest"] - said["start"]) if "start" in said else 0
    elif ended:
        row.status, row.faults = ended, ["killed" if "MemoryError" in ended else "failed"]
    elif row.over > 0:
        row.faults.append("late")
    if row.memory > max(MAX_MEMORY, 10 * row.input):
        row.faults.append("memory")
    if row.method == "auto" and row.status == "limit":
        row.faults.append("no plan")
    return row


def _solve(say: Say, row: Row, family: Family) -> None:
    """Solve one problem, in the child: a small one first."""
    from numba.core import event

    from makespan.core.registry import applicability, find_method

    cpu_seconds_left(BUILT_WITHIN)
    _run(row.method, family.problem(family.least), row.limit)
    say(stage="building")
    before = resident()
    problem = family.problem(row.size)
    named = row.method not in (BOUNDS, "auto")
    if named and not applicability(find_method(row.kind, row.method), problem).applies:
        say(status="does not apply")
        return
    start = resident()
    say(stage="solving", input=max(0, start - before), start=start)
    cpu_seconds_left(2 * row.killed_after)
    with event.install_recorder("numba:compile") as compiled:
        for _ in range(2):
            spent, wall, cpu = startup.spent(), time.perf_counter(), time.process_time()
            status = _run(row.method, problem, row.limit)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            if compiled.buffer or startup.spent() - spent < LOADED:
                break
    say(status=status, wall=wall, cpu=cpu, memory=highest() - start, compiled=bool(compiled.buffer))


def _run(method: str, problem: Any, limit: float) -> str:
    """Return the status of a solve, or why it was refused."""
    from makespan import MakespanError, solve
    from makespan.flow.kinds import kind_of

    try:
        if method == BOUNDS:
            return "bound" if kind_of(problem).bounds.bounds(problem) else "no bound"
        result = solve(problem, method=method, time_limit=limit)
    except MakespanError as error:
        return f"refused: {str(error).partition('; ')[0][:60]}"
    return str(result.status.value)


def _table(rows: Sequence[Row]) -> list[str]:
    cells = [COLUMNS, *(row.cells() for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _offenders(rows: Sequence[Row]) -> list[Row]:
    return sorted((row for row in rows if row.faults), key=lambda row: -row.over)


def _print(rows: Sequence[Row], unreached: Sequence[str]) -> None:
    offenders = _offenders(rows)
    print(f"offenders: {len(offenders)} of {len(rows)}")
    if offenders:
        print(*_table(offenders), sep="\n")
    print("\nmethods that no family of problems reaches:", ", ".join(unreached) or "none")
    print(f"\nall {len(rows)}", *_table(rows), sep="\n")


def _page(rows: Sequence[Row], unreached: Sequence[str], limit: float) -> str:
    """Return the page of the docs: the offenders, and for each method what is most."""
    lines = [
        "# Time limits",
        "",
        f"`python -m benchmarks.limits`, with a limit of {limit:g} s.",
        "",
    ]
    lines += [
        f"{len(rows):,} solves, {len(_offenders(rows))} of them late, too large or failed.",
        "",
        "| kind | method | solves | largest problem | longest, s | most memory, MiB | at fault |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, method in dict.fromkeys((row.kind, row.method) for row in rows):
        own = [row for row in rows if (row.kind, row.method) == (kind, method)]
        largest = max(own, key=lambda row: row.size)
        lines.append(
            f"| {kind} | {method} | {len(own)} | {largest.size:,} {largest.counts} "
            f"| {max(min(row.wall, row.cpu) for row in own):.2f} "
            f"| {max(row.memory for row in own) / 2**20:,.0f} "
            f"| {len(_offenders(own)) or ''} |"
        )
    if unreached:
        lines += ["", f"Not reached by the problems here: {', '.join(unreached)}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
