"""What is printed: quiet, help, wrapped; comparisons and plans that leave as tables."""

from __future__ import annotations

import csv
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from makespan import IndependentTasks, save
from makespan.cli.main import COMMANDS, run
from makespan.cli.parameters import wrapped
from makespan.core.numeric import jit
from makespan.flow import compile as ahead, solve

TASKS = IndependentTasks(machines=2, durations=[4, 3, 2, 2])


@pytest.fixture
def problem(tmp_path: Path) -> str:
    save(TASKS, tmp_path / "tasks.toml")
    return str(tmp_path / "tasks.toml")


@pytest.fixture
def measured(tmp_path: Path) -> str:
    path = tmp_path / "gpus.csv"
    path.write_text("resource,count,time\nA,0,0\nA,10,2.0\nA,20,3.0\nB,0,0\nB,10,4.0\nB,20,9.0\n")
    return str(path)


def test_quiet_prints_nothing(
    problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files are written, exit codes stay; what was asked for is printed all the same."""
    plan = tmp_path / "plan.json"
    for command in (
        ["solve", problem, "-o", str(plan), "-q"],
        ["--quiet", "check", str(plan)],
        ["compare", problem, "--quiet", "-o", str(tmp_path / "methods.csv")],
        ["plot", str(plan), str(tmp_path / "plan.svg"), "-q"],
        ["simulate", str(plan), "--repetitions", "2", "-q"],
    ):
        assert run(command) == 0
        assert capsys.readouterr() == ("", "")
    assert run(["solve", problem, "-q", "--json"]) == 0
    assert capsys.readouterr().out.startswith("{")


def test_quiet_leaves_warnings_out(
    problem: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as that kernels are compiled beside; afterwards they are told again."""
    log, solved = logging.getLogger("makespan"), solve.solve_controlled

    def told(*arguments: Any, **options: Any) -> Any:
        log.warning("kernels are compiled")
        return solved(*arguments, **options)

    monkeypatch.setattr(solve, "solve_controlled", told)
    assert run(["solve", problem, "-q"]) == 0
    assert not caplog.records
    assert run(["solve", problem]) == 0
    assert [record.message for record in caplog.records] == ["kernels are compiled"]


@pytest.mark.skipif(not jit.compiles(), reason="the compiler is off")
def test_a_quiet_compile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its list of kernels was not asked for."""
    monkeypatch.setattr(ahead, "compile_ahead", lambda _tell: [])
    assert run(["compile", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert run(["compile"]) == 0
    assert "0 kernels" in capsys.readouterr().out


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    """'help' is a command, too; a wrong name is answered by the nearest."""
    assert run(["help"]) == 0
    overview = capsys.readouterr().out
    assert all(f"  {name} " in overview for name in COMMANDS)
    assert run(["help", "solve"]) == 0
    assert capsys.readouterr().out.startswith("Usage: makespan solve")
    assert run(["help", "slove"]) == 2
    assert "did you mean 'solve'" in capsys.readouterr().err
    assert run(["-V"]) == 0
    assert "makespan, version" in capsys.readouterr().out


def test_a_plan_and_a_comparison_as_csv(
    problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The suffix decides; one row an activity, or a problem and method."""
    plan, methods = tmp_path / "plan.csv", tmp_path / "methods.csv"
    assert run(["solve", problem, "-o", str(plan)]) == 0
    assert len(plan.read_text().splitlines()) == 5
    assert run(["compare", problem, problem, "--methods", "lpt", "-o", str(methods)]) == 0
    assert f"{methods} written" in capsys.readouterr().out
    rows = list(csv.DictReader(methods.read_text().splitlines()))
    assert [row["problem"] for row in rows] == [problem, f"{problem} (2)"]
    assert run(["compare", problem, "-o", str(tmp_path / "methods.doc")]) == 2


def test_parts_stand_wherever_a_csv_may(
    measured: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tasks, objective and interpolation are taken by every command that reads problems."""
    parts = ["--tasks", "25", "--objective", "total", "--interpolation", "linear"]
    for command in (
        ["solve", measured],
        ["compare", measured],
        ["methods", measured],
        ["convert", measured, str(tmp_path / "problem.toml")],
        ["plot", measured, str(tmp_path / "costs.svg")],
    ):
        assert run([*command, *parts]) == 0, capsys.readouterr().err
    assert 'objective = "total"' in (tmp_path / "problem.toml").read_text()
    plan = str(tmp_path / "plan.json")
    assert run(["solve", measured, *parts, "-o", plan]) == 0
    assert run(["check", plan, "--problem", measured, *parts]) == 0
    capsys.readouterr()
    assert run(["check", plan, "--tasks", "3"]) == 2
    assert "--tasks is for the problem" in capsys.readouterr().err


def test_completion(tmp_path: Path) -> None:
    """The shells can ask for the names of commands and options."""
    asked = {"_MAKESPAN_COMPLETE": "bash_complete", "COMP_WORDS": "makespan so", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['makespan']; from makespan.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "plain,solve" in found.stdout


@given(st.text("ab  -", max_size=300), st.integers(20, 120))
def test_wrapping_keeps_the_words(line: str, width: int) -> None:
    """No word is lost or cut, and only a word that is longer than a line sticks out."""
    lines = wrapped(line, width).split("\n")
    assert " ".join(lines).split() == line.split()
    for each in lines:
        assert len(each) <= width or max(map(len, line.split())) > width // 2 - 8


@pytest.mark.thorough
def test_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Long tables end in a count; with --all they are whole, of every kind."""
    for kind, options, more in (
        ("divisible", ["workers=50"], "more machines"),
        ("independent", ["machines=40", "tasks=90"], "more machines"),
        ("partition", ["resources=40", "tasks=60"], "more resources"),
        ("reduction", ["machines=40"], "more machines"),
        ("taskgraph", ["size=60"], "more tasks"),
    ):
        path = str(tmp_path / f"{kind}.json")
        chosen = [word for option in options for word in ("-O", option)]
        assert run(["generate", kind, *chosen, "-o", path]) == 0
        capsys.readouterr()
        assert run(["solve", path, "--time-limit", "0.1"]) == 0
        assert more in capsys.readouterr().out
        assert run(["solve", path, "--time-limit", "0.1", "--all"]) == 0
        assert more not in capsys.readouterr().out


def test_an_infeasible_table_names_the_interpolation(
    measured: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts between the measured ones are a matter of one option."""
    assert run(["solve", measured, "--tasks", "25"]) == 3
    assert "--interpolation linear" in capsys.readouterr().out
    assert run(["compare", measured, "--tasks", "25", "--methods", "threshold"]) == 0
    assert "--interpolation linear" in capsys.readouterr().out
    assert run(["solve", measured, "--tasks", "99", "--interpolation", "linear"]) == 3
    assert "--interpolation" not in capsys.readouterr().out
