"""The Python that solves what is on the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from makespan import DivisibleLoad, Star, Worker, read_problem, solve
from makespan.core.problem import Problem
from makespan.studio.exercises import examples
from makespan.studio.requests import snippet

HOSTILE = ['"""', "'''", "\\", 'a"', "\u2028", "tab\there", "{0}", "\r"]


def ran(lines: str, folder: Path) -> Problem:
    """Run a script; return the problem that it wrote."""
    done = subprocess.run(
        [sys.executable, "-c", lines], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "plan.html").exists()
    return read_problem(next(folder.glob("problem.*")))


@pytest.mark.thorough
def test_a_result_is_made_again(tmp_path: Path) -> None:
    """By the method and the options that made it."""
    (tmp_path / "example.toml").write_text(examples()[0]["toml"])
    result = solve(read_problem(tmp_path / "example.toml"), method="rarest-first")
    lines = snippet(result)
    assert "method='rarest-first'" in lines
    assert ran(lines, tmp_path) == result.problem


@pytest.mark.parametrize("together", [True])
def test_hostile_names_stay_names(together: bool, tmp_path: Path) -> None:
    """Whatever stands in them, the script means the same problem."""
    workers = [Worker(name=name, compute=1.0) for name in HOSTILE]
    problem = DivisibleLoad(load=8.0, platform=Star(workers))
    assert ran(snippet(problem), tmp_path) == problem
