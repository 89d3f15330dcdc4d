"""The command line as its own process: start-up, streams, signals, colours."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STAR = """
kind = "divisible"
load = 10.0
[platform]
topology = "star"
workers = [{ send = 1.0, compute = 3.0 }, { send = 2.0, compute = 5.0 }]
"""
TASKS = "kind = 'independent'\nmachines = 3\ndurations = [4, 4, 4, 4, 3, 2]\n"
HEAVY = (
    *("numpy", "numba", "pydantic", "rich", "scipy", "highspy", "ortools", "matplotlib"),
    *("pandas", "polars", "networkx", "dask", "mpi4py", "tomli_w"),
)
START = [sys.executable, "-c", "from makespan.cli import main; main()"]


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*START, *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in (("star.toml", STAR), ("tasks.toml", TASKS)):
        (tmp_path / name).write_text(text)
    return [str(tmp_path / "star.toml"), str(tmp_path / "tasks.toml")]


def imported(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after ``code``."""
    probe = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    return set(run.stdout.decode().splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["solve", "--help"], ["slove"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    """Help, version and typing mistakes are answered without any heavy library."""
    code = f"from makespan.cli.main import run; run({arguments!r})"
    assert imported(code).isdisjoint(HEAVY)


def test_a_small_solve_imports_only_what_it_needs(files: list[str]) -> None:
    """A closed form needs arrays and forms, and neither solvers nor pictures nor a table maker."""
    modules = imported(f"from makespan.cli.main import run; run(['solve', {files[0]!r}])")
    needed = {"numpy", "pydantic"}
    assert needed <= modules
    assert modules.isdisjoint(set(HEAVY) - needed)


def test_exit_codes_leave_the_process(files: list[str], tmp_path: Path) -> None:
    """The codes of success, refusal and infeasibility are the process's own."""
    assert call("solve", files[0]).returncode == 0
    assert call("solve", str(tmp_path / "none.toml")).returncode == 2
    empty = tmp_path / "empty.toml"
    empty.write_text(STAR.partition("workers")[0] + "workers = []")
    assert call("solve", str(empty)).returncode == 3


def test_output_does_not_depend_on_the_hash_seed(files: list[str]) -> None:
    """Two hash seeds give the same bytes but for the runtime."""
    for file in files:
        outputs = set()
        for seed in ("0", "4242"):
            data = json.loads(call("solve", file, "--json", PYTHONHASHSEED=seed).stdout)
            assert data.pop("runtime") >= 0
            outputs.add(json.dumps(data))
        assert len(outputs) == 1


def test_a_reader_that_leaves_early_is_no_error(files: list[str]) -> None:
    """A closed pipe is quiet."""
    with subprocess.Popen(
        [*START, "solve", files[0], "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_colour", ["", "1"])
def test_no_color_is_honoured(no_colour: str) -> None:
    """On a terminal the word error is red, unless NO_COLOR is set."""
    import pty

    terminal, line = pty.openpty()
    environment = {**os.environ, "NO_COLOR": no_colour, "TERM": "xterm"}
    with subprocess.Popen(
        [*START, "solve", "none.toml"], stderr=line, stdout=subprocess.DEVNULL, env=environment
    ) as process:
        process.wait(timeout=120)
        shown = os.read(terminal, 4096)
    os.close(line)
    os.close(terminal)
    assert b"none.toml: there is no such file" in shown
    assert (b"\x1b[" in shown) == (not no_colour)


INTERRUPTED_TEXT = """
from importlib import import_module

from makespan.cli import main

def run(arguments):
    exec("import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)")

import_module("makespan.cli.main").run = run
main()
"""


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_the_exit_code_says_which_signal_whatever_it_interrupted(tmp_path: Path) -> None:
    """Imports execute texts; one of them that SIGTERM breaks off does not end Python by SIGINT."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED_TEXT)
    done = subprocess.run(
        [sys.executable, "-m", "interrupted"], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (143, b"interrupted\n")


@pytest.mark.slow
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_the_first_interrupt_prints_the_incumbent(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a search prints the best plan found and exits with 130."""
    rng = random.Random(1)
    durations = [rng.uniform(1, 100) for _ in range(60)]
    path = tmp_path / "hard.toml"
    path.write_text(f"kind = 'independent'\nmachines = 9\ndurations = {durations}\n")
    with subprocess.Popen(
        [*START, "solve", str(path), "--time-limit", "60", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    data = json.loads(out)
    assert data["status"] == "feasible"
    assert any(note.startswith("interrupted") for note in data["notes"])
