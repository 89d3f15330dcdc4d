"""What type checkers tell users: programs of theirs under ``mypy --strict``."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from types import ModuleType

import pytest

from makespan._public import PUBLIC

PROGRAM = """
import makespan
from makespan import Bound, DivisibleLoad, Report, Result, Schedule, Star, Worker

star = Star([Worker(send=1.0, compute=3.0)])
result: Result = makespan.solve(DivisibleLoad(load=100.0, platform=star), time_limit=1.0)
late: float = result.makespan  # ERROR: there may be no plan
if result.schedule is not None and result.makespan is not None:
    plan: Schedule = result.schedule
    end: float = result.makespan
report: Report = makespan.check(result)
bound: Bound = makespan.lower_bound(result.problem)
makespan.save(result, "plan.json")
makespan.solve(result.problem, time_limit="soon")  # ERROR: a text is no number
makespan.solve(3)  # ERROR: nor is a number a problem
for method in makespan.methods("divisible"):
    name: str = method.name
makespan.Experiment(star, methods="auto")  # ERROR: a platform is no problem
makespan.Experiment(["a.toml", result.problem], methods=["auto", ("heft", {})], seeds=[1, 2])
makespan.Noise("gamma", 0.2, machines={"A": 0.1}, tasks={"T1": {"A": 0.3}, "T2": 0.1})
makespan.Noise("gamma", "wide")  # ERROR: an error is a number
makespan.Reduction(machines=3, segments=2, transfer=[[0, 1, 2]] * 3, reduce=1)
makespan.Reduction(machines=3, segments=2, destinations={1: 2})  # ERROR: rows, not a table
try:
    makespan.read_result("plan.json")
except makespan.MakespanError as error:
    if error.execution is not None:
        measured: float = error.execution.measured
"""

PLACES = (*PUBLIC, "makespan.execute.dask", "makespan.execute.mpi", "makespan.execute.torch")
FREE = {
    "makespan.Partition": "costs energy first lower upper",  # come in many forms, and are read
    "makespan.partition.Curve": "function",
    "makespan.execute.PipelineExecution": "results",
    "makespan.execute.Execution": "results",  # what the functions of users return
    "makespan.execute.dask.Execution": "results",
    "makespan.execute.torch.Tuned": "begin",  # PyTorch's own, which need not be there
    "makespan.execute.torch.Weights": "reduce",
}
"""Attributes that may be anything."""
MEANT = {"to_pandas", "imap"}
"""Without its stubs, pandas has no types; ``imap`` gives what the functions of users return."""
OPEN = re.compile(
    r"(?:dict|Mapping)\[(?:builtins\.)?str, Any\]"  # of a method's own
    r"|dtype\[Any\]|tuple\[Any, \.\.\.\]|slice\[Any, Any, Any\]"
)


def own(names: dict[str, object], home: str) -> list[str]:
    """Public names of what is at home there."""
    return [
        name
        for name, thing in names.items()
        if not name.startswith("_") and getattr(thing, "__module__", home) == home
    ]


def surface() -> str:
    """A program that asks for the type of every public name, and of its attributes."""
    return "\n".join([*(f"import {place}" for place in PLACES), *asked()])


def asked() -> Iterator[str]:
    for place in PLACES:
        home = import_module(place)
        for name in home.__all__:
            thing, full = getattr(home, name), f"{place}.{name}"
            yield f"reveal_type({full})"
            if isclass(thing):
                kept = {
                    attribute: None
                    for base in reversed(thing.__mro__)
                    if base.__module__.startswith("makespan")
                    for attribute in (*vars(base).get("__annotations__", ()), *vars(base))
                    if not attribute.startswith("_")
                }
                free = FREE.get(full, "").split()
                yield f"def _(it: {full}) -> None:"
                yield from (f"    reveal_type(it.{each})" for each in kept if each not in free)
                yield "    return"
            elif isinstance(thing, ModuleType):
                made = {name: one for name, one in vars(thing).items() if isfunction(one)}
                yield from (f"reveal_type({full}.{each})" for each in own(made, thing.__name__))


def leaks(revealed: str) -> bool:
    """Whether what comes out of a function, or an attribute, may be anything."""
    for out in re.split(r", (?=def )", revealed.removeprefix("Overload(")):
        result = re.sub(r"^def .*\) -> ", "", out) if out.startswith("def ") else out
        nothing = out.startswith("def ") and " -> " not in out
        if not nothing and re.search(r"\bAny\b", OPEN.sub("", result)):
            return True
    return False


@pytest.mark.slow
def test_programs_of_users_are_checked(tmp_path: Path) -> None:
    """What is right passes; a result without a plan, and wrong types, are told apart; every public
    name and attribute has a type."""
    whole = surface()
    (tmp_path / "mine.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "surface.py").write_text(whole, "utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "mine.py", "surface.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    form = re.compile(r"(\w+)\.py:(\d+): (error|note): (.*)")
    told = [form.match(line) for line in found.stdout.splitlines()]
    errors = {(line[1], int(line[2])) for line in told if line and line[3] == "error"}
    wrong = {n for n, line in enumerate(PROGRAM.splitlines(), 1) if "ERROR" in line}
    assert errors == {("mine", number) for number in wrong}, found.stdout
    lines = whole.splitlines()
    revealed = {
        int(line[2]): line[4].removeprefix('Revealed type is "').removesuffix('"')
        for line in told
        if line and line[1] == "surface" and "Revealed type is" in line[4]
    }
    assert sorted(revealed) == [n for n, line in enumerate(lines, 1) if "reveal_type" in line]
    names = {number: lines[number - 1].strip(" )").rpartition(".")[2] for number in revealed}
    untold = [
        f"{lines[number - 1].strip()}: {type_}"
        for number, type_ in revealed.items()
        if leaks(type_) and names[number] not in MEANT
    ]
    assert not untold, "\n".join(untold)
