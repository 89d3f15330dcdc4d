"""What type checkers tell users: a program of theirs under ``mypy --strict``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
"""


@pytest.mark.slow
def test_a_program_of_a_user_is_checked(tmp_path: Path) -> None:
    """What is right passes; a result without a plan, and wrong types, are told apart."""
    (tmp_path / "mine.py").write_text(PROGRAM, "utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = PROGRAM.splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if "ERROR" in line}
    told = {int(line.split(":")[1]) for line in found.stdout.splitlines() if ": error:" in line}
    assert told == wrong, found.stdout
