"""Experiments in processes: the same rows, whatever happens to the processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from makespan import Experiment, Grid, IndependentTasks, experiment, records
from makespan.core import registry
from makespan.core.errors import ExecutionError, InputError
from makespan.core.system import subprocesses
from makespan.lab import processes
from makespan.lab.journal import read_records
from makespan.lab.processes import Processes
from tests.lab.test_experiment import untimed

GRID = Grid("independent", options={"tasks": [6, 9]}, seeds=10)
TASKS = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])
DYING = """
import os, signal, time
import numpy as np
from makespan.core.registry import register
from makespan.independent.methods.list_scheduling import lpt

def added(name):
    return register("independent", name=name, complexity="", source="a test")

@added("exits")
def exits(problem, control):
    if control.seed == 1:
        os._exit(3)
    return lpt(problem, control)

@added("faults")
def faults(problem, control):
    os.kill(os.getpid(), signal.SIGSEGV)

@added("is-killed")
def is_killed(problem, control):
    os.kill(os.getpid(), signal.SIGKILL)

@added("hangs")
def hangs(problem, control):
    time.sleep(60)

@added("grows")
def grows(problem, control):
    kept = []
    for _ in range(100):
        kept.append(np.ones(5_000_000))
        time.sleep(0.05)
"""


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A module with methods that end their process in one way or another."""
    (tmp_path / "dying_methods.py").write_text(DYING)
    monkeypatch.syspath_prepend(str(tmp_path))
    for kind in ("independent", "taskgraph"):
        registry.methods_of(kind)
    kept = {kind: dict(methods) for kind, methods in registry._REGISTER.items()}
    monkeypatch.setattr(registry, "_REGISTER", kept)
    __import__("dying_methods")
    yield ["dying_methods"]
    del sys.modules["dying_methods"]


def test_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    """Two processes and this one: the same table but for times and order."""
    asked = Experiment(GRID, methods=["lpt", "multifit"], seeds=3)
    apart = experiment(asked, output=tmp_path / "t.csv", jobs=2)
    assert untimed(apart) == untimed(experiment(asked))


def test_a_solve_that_dies_is_a_row(dying: list[str]) -> None:
    """Exit, fault and kill: a row says which; all other solves are there, each once."""
    grid = Grid("independent", options={"tasks": 6})
    methods = ["exits", "lpt", "faults", "multifit", "is-killed"]
    asked = Experiment(grid, methods=methods, seeds=2)
    rows = list(records(asked, jobs=2, imports=dying))
    assert sorted(row.key for row in rows) == sorted(cell.key for cell in asked.cells())
    found = Counter((row.method, row.status) for row in rows if row.makespan is None)
    assert found == {
        ("exits", "crashed"): 1, ("faults", "crashed"): 2, ("is-killed", "killed"): 2,
    }  # fmt: skip
    assert {row.seed for row in rows if row.method == "exits" and row.status == "crashed"} == {1}
    notes = {row.method: row.note for row in rows if row.status == "crashed"}
    assert notes["exits"] == "its process ended with exit code 3"
    assert notes["faults"].startswith("its process ended with signal 11: Fatal Python error")


@pytest.mark.thorough
def test_a_solve_that_hangs_is_overdue(dying: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes far more than its limit is ended, and those dealt with it are solved."""
    monkeypatch.setattr(processes, "GRACE", 0.5)
    asked = Experiment(TASKS, methods=["hangs", "lpt"], seeds=2, time_limit=0.5)
    rows = list(records(asked, jobs=1, imports=dying))
    assert sorted((row.method, row.status) for row in rows) == [
        *(("hangs", "overdue"), ("hangs", "overdue"), ("lpt", "optimal"), ("lpt", "optimal")),
    ]


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system tells no memory")
def test_a_solve_that_grows_is_out_of_memory(dying: list[str]) -> None:
    """A process that holds more than it may is ended."""
    place = Processes(1, most=6e8, imports=dying)
    asked = Experiment(TASKS, methods=["grows", "lpt"])
    rows = {row.method: row for row in records(asked, where=place)}
    assert (rows["grows"].status, rows["lpt"].status) == ("out of memory", "optimal")
    assert "a solve may have 0.60 GB here" in rows["grows"].note


def test_processes_that_can_not_start_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not a row for each solve."""
    (tmp_path / "ending.py").write_text("raise SystemExit('not today')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ExecutionError, match="a process could not start: not today"):
        list(records(Experiment(TASKS, methods="lpt"), where=Processes(1, imports=["ending"])))
    with pytest.raises(InputError, match="jobs: 0 is not a number of processes"):
        list(records(Experiment(TASKS, methods="lpt"), jobs=0))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="nothing can be pinned")
def test_each_process_has_a_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One core each, and one thread for what libraries compute."""
    (tmp_path / "telling.py").write_text(
        "import os\nfrom pathlib import Path\n"
        f"out = Path({str(tmp_path)!r}, f'core{{os.getpid()}}')\n"
        "out.write_text(f\"{os.sched_getaffinity(0)} {os.environ['OMP_NUM_THREADS']}\")\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    place = Processes(2, imports=["telling"])
    assert len(list(records(Experiment(GRID, methods="lpt", seeds=5), where=place))) == 100
    told = [path.read_text() for path in tmp_path.glob("core*")]
    assert len(told) == 2
    assert set(told) <= {f"{{{core}}} 1" for core in os.sched_getaffinity(0)}


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no names of this kind")
def test_no_two_processes_take_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """While another is left: then they share."""
    kept: list[set[int]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: kept.append(cores))
    first = 10**6 + os.getpid() * 10  # cores that no other test has
    two = [first, first + 1]
    with (
        subprocesses.pinned(two),
        subprocesses.pinned(two),
        subprocesses.pinned(two[::-1]),
    ):
        pass
    with subprocesses.pinned(two):
        pass
    assert kept == [{first}, {first + 1}, {first + 1}, {first}]


CLI = [sys.executable, "-c", "from makespan.cli import main; main()"]
EXPERIMENT = """
time_limit = 3600
methods = ["lpt", "multifit", "largest-differencing"]
seeds = 8
instances = [{ generate = "independent", options = { tasks = [6, 9, 12] }, seeds = 20 }]
"""
ROWS = 3 * 8 * 3 * 20


def rows_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("jobs", [["--jobs", "2"], pytest.param([], marks=pytest.mark.slow)])
def test_killed_twice_and_continued(jobs: list[str], tmp_path: Path) -> None:
    """The table is that of an uninterrupted run, and no process is left."""
    toml, path = tmp_path / "e.toml", tmp_path / "t.jsonl"
    toml.write_text(EXPERIMENT)
    call = [*CLI, "compare", "e.toml", "-o", "t.jsonl", *jobs]
    left: list[int] = []
    for _ in range(2):
        before = rows_in(path)
        with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            while rows_in(path) < before + 100 and process.poll() is None:
                time.sleep(0.01)
            assert process.poll() is None
            left += children(process.pid)
            process.send_signal(signal.SIGKILL)
    assert 200 <= rows_in(path) < ROWS
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=True, text=True)
    assert f"{ROWS:,} rows" in done.stdout
    whole = tmp_path / "whole.csv"
    other = [str(whole) if each == "t.jsonl" else each for each in call]
    subprocess.run(other, cwd=tmp_path, capture_output=True, check=True)
    pairs = zip(untimed(read_records(path)), untimed(read_records(whole)), strict=True)
    assert not [(one, other) for one, other in pairs if one != other]
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


def children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text().split()] if path.exists() else []


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"]])
def test_ctrl_c_on_the_command_line(jobs: list[str], tmp_path: Path) -> None:
    """Ends with its exit code; the table holds what was done."""
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    call = [*CLI, "compare", "e.toml", "-o", "t.json", *jobs]
    journal = tmp_path / "t.json.jsonl"
    with subprocess.Popen(call, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        while rows_in(journal) < 50 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "interrupted: the same command goes on\n")
    assert 50 <= len(list(read_records(tmp_path / "t.json"))) < ROWS
