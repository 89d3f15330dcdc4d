"""Experiments on a cluster: the same rows as in one process, whatever happens to workers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from makespan import (
    ExecutionError,
    Experiment,
    Grid,
    IndependentTasks,
    InputError,
    Record,
    experiment,
    records,
)
from makespan.cli.main import run
from makespan.execute.dask import Workers, experiments
from makespan.lab.experiment import Cell
from makespan.lab.journal import read_records
from makespan.lab.solving import here
from tests.execute.conftest import in_process, tasks_left
from tests.execute.stars import Cluster
from tests.lab.test_experiment import untimed
from tests.lab.test_processes import CLI, EXPERIMENT, ROWS, rows_in
from tests.sources import SOURCES
from tests.thorough import few

GRID = Grid("independent", options={"tasks": [6, 9]}, seeds=4)
TASKS = "kind = 'independent'\nmachines = 3\ndurations = [4, 4, 4, 4, 3, 2]\n"
DYING = """
import os
from makespan.core.registry import register
from makespan.independent.methods.list_scheduling import lpt

@register("independent", name="ends-itself", complexity="", source="a test")
def ends_itself(problem, control):
    if control.seed == 1:
        os._exit(3)
    return lpt(problem, control)
"""


@pytest.mark.thorough
def test_workers_give_the_rows_of_one_process(client: Any, tmp_path: Path) -> None:
    """Files, problems and grids: the same table but for times and order; nothing is left."""
    (tmp_path / "a.toml").write_text(TASKS)
    (tmp_path / "b.toml").write_text("kind = 'independent'\nmachines = 0\n")
    large = IndependentTasks(machines=3, durations=[float(1 + i % 7) for i in range(20_000)])
    named = {"a": tmp_path / "a.toml", "b": tmp_path / "b.toml", "grid": GRID, "large": large}
    asked = Experiment(named, methods=["lpt", "multifit"], seeds=2)
    where = Workers(client)
    there = experiment(asked, where=where)
    assert untimed(there) == untimed(experiment(asked))
    assert Counter(row.status for row in there)["unreadable"] == 4
    assert untimed(experiment(asked, where=where, output=tmp_path / "t.csv")) == untimed(there)


def test_a_large_instance_is_sent_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each solve in a batch of its own: one copy goes to the cluster."""
    monkeypatch.setattr(experiments, "LARGEST_BATCH", 1)
    scattered: list[int] = []
    send = client.scatter
    monkeypatch.setattr(client, "scatter", lambda data, **o: scattered.append(1) or send(data, **o))
    large = IndependentTasks(machines=3, durations=[1.5] * 20_000)
    asked = Experiment({"a": large, "b": large}, methods=["lpt"], seeds=5)
    assert len(list(records(asked, where=Workers(client)))) == 10
    assert len(scattered) == 2


@pytest.mark.parametrize("error", [OSError, KeyError])
def test_a_worker_is_lost_while_an_instance_is_sent(
    error: type[Exception], client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches bring the instance themselves until it lies on the cluster."""
    monkeypatch.setattr(experiments, "LARGEST_BATCH", 1)
    scattered: list[int] = []
    send = client.scatter

    def scatter(data: bytes, **options: Any) -> Any:
        scattered.append(1)
        if len(scattered) < 3:
            raise error("tcp://127.0.0.1:1")
        return send(data, **options)

    monkeypatch.setattr(client, "scatter", scatter)
    large = {"a": IndependentTasks(machines=3, durations=[1.5] * 20_000)}
    asked = Experiment(large, methods=["lpt"], seeds=5)
    assert untimed(records(asked, where=Workers(client))) == untimed(records(asked))
    assert len(scattered) == 3


def test_a_batch_tries_once_to_send_its_instance(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each solve: where no worker is there, every try takes seconds."""

    def scatter(data: bytes, **options: Any) -> Any:
        scattered.append(1)
        raise OSError("no worker")

    scattered: list[int] = []
    batches: list[int] = []
    monkeypatch.setattr(client, "scatter", scatter)
    where = Workers(client)
    submit = where._submit
    where._submit = lambda cells, worker: (batches.append(len(cells)), submit(cells, worker))  # type: ignore[assignment]
    large = {"a": IndependentTasks(machines=3, durations=[1.5] * 20_000)}
    assert len(list(records(Experiment(large, methods=["lpt"], seeds=50), where=where))) == 50
    assert len(scattered) == len(batches) < sum(batches)


@pytest.mark.thorough
def test_short_solves_come_in_batches(client: Any) -> None:
    """The scheduler sees few tasks for many solves."""
    asked = Experiment(GRID, methods=["lpt", "multifit"], seeds=100)
    batches: list[int] = []
    where = Workers(client)
    submit = where._submit
    where._submit = lambda cells, worker: (batches.append(len(cells)), submit(cells, worker))  # type: ignore[assignment]
    assert len(list(records(asked, where=where))) == sum(batches) == 1600
    assert len(batches) < 60


@pytest.mark.thorough
def test_a_solve_that_dies_is_a_row(
    cluster: Cluster, killable: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process ends, not the worker; all others are solved."""
    (tmp_path / "dying_elsewhere.py").write_text(DYING)
    killable.run(lambda path: sys.path.insert(0, path), str(tmp_path))
    monkeypatch.setattr(experiments, "LARGEST_BATCH", 2)
    where = Workers(killable, imports=["dying_elsewhere"])
    cells = [
        cell
        for method in ("lpt", "ends-itself", "multifit")
        for cell in Experiment(GRID, methods=["lpt"], seeds=2).cells()
        for cell in [cell._replace(method=method)]
    ]
    rows = [row for some in where(iter(cells)) for row in some]
    assert sorted(row.key for row in rows) == sorted(cell.key for cell in cells)
    died = [row for row in rows if row.makespan is None]
    assert {(row.method, row.seed, row.status) for row in died} == {("ends-itself", 1, "crashed")}
    assert len(died) == 8


@pytest.mark.thorough
@pytest.mark.parametrize("large", few([100_000, 1], 1))
def test_workers_may_be_lost(
    large: int, cluster: Cluster, killable: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a lost worker was at begins again on the others; instances it had are sent again."""
    monkeypatch.setattr(experiments, "LARGE", large)
    named = {one.name: one.problem() for one in GRID}
    asked = Experiment(named, methods=["lpt", "multifit"], seeds=20)
    rows = []
    for count, row in enumerate(records(asked, where=Workers(killable))):
        rows.append(row)
        if count in (50, 150):
            cluster.kill(f"w{1 + count // 100}")
    assert untimed(rows) == untimed(records(asked))
    assert tasks_left(killable) == []


def test_what_kills_workers_is_a_row(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    """A batch that no worker survives is divided; a single solve becomes a row."""
    from distributed import KilledWorker

    class Done:
        def __init__(self, cells: list[Cell]) -> None:
            self.cells = cells
            self.status = "error" if any(cell.seed == 1 for cell in cells) else "finished"

        def exception(self) -> Exception:
            return KilledWorker("task", None, 4)  # type: ignore[arg-type]

        def result(self) -> list[Record]:
            return [row for some in here(iter(self.cells)) for row in some]

    def submit(self: Workers, cells: list[Cell], worker: str) -> None:
        done = Done(cells)
        self._dealt[done] = experiments._Batch(cells, worker)
        self._done.put(done)

    monkeypatch.setattr(Workers, "_submit", submit)
    asked = Experiment(GRID, methods=["lpt"], seeds=3)
    rows = list(records(asked, where=Workers(client)))
    assert sorted(row.key for row in rows) == sorted(cell.key for cell in asked.cells())
    assert {(row.seed, row.status) for row in rows if row.makespan is None} == {(1, "killed")}


def test_no_workers_no_client_no_scheduler() -> None:
    """Each is an error that says so."""
    from distributed import Client

    with pytest.raises(InputError, match=r"client: 3 is not a distributed\.Client"):
        Workers(3)
    asked = Experiment(GRID, methods=["lpt"])
    with in_process(0) as cluster, Client(cluster, set_as_default=False) as own:
        where = Workers(own)
        with pytest.raises(ExecutionError, match="the cluster has no workers"):
            list(records(asked, where=where))
    with pytest.raises(ExecutionError, match="the client was closed"):
        list(records(asked, where=where))


def test_ending_early_leaves_nothing(client: Any) -> None:
    """Rows that are not asked for are not solved."""
    rows = records(Experiment(GRID, methods=["lpt"], seeds=500), where=Workers(client))
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert tasks_left(client) == []


def test_the_command(client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--scheduler, or the file, names the scheduler; beside --jobs it is refused."""
    address = client.scheduler.address
    text = f"scheduler = '{address}'\n{EXPERIMENT}"
    path = tmp_path / "e.toml"
    path.write_text(text)
    assert run(["compare", str(path), "-o", str(tmp_path / "t.csv"), "--seeds", "1"]) == 0
    assert "180 rows" in capsys.readouterr().out
    call = ["compare", str(path), "-o", str(tmp_path / "u.csv"), "--seeds", "1"]
    assert run([*call, "--scheduler", address]) == 0
    assert untimed(read_records(tmp_path / "t.csv")) == untimed(read_records(tmp_path / "u.csv"))
    assert run([*call, "--scheduler", address, "--jobs", "2"]) == 2
    assert "choose one" in capsys.readouterr().err
    assert run([*call, "--scheduler", "nowhere"]) == 2
    assert "is not of the form tcp://HOST:PORT" in capsys.readouterr().err
    path.write_text(f"jobs = 2\n{text}")
    assert run(["compare", str(path)]) == 2
    assert "jobs: stands beside scheduler" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_killed_and_interrupted_and_continued(cluster: Cluster, tmp_path: Path) -> None:
    """The table is that of one process."""
    toml, path = tmp_path / "e.toml", tmp_path / "t.jsonl"
    toml.write_text(EXPERIMENT)
    call = [*CLI, "compare", "e.toml", "-o", "t.jsonl", "--scheduler", cluster.address]
    env = {"PYTHONPATH": f"{SOURCES}", "PATH": ""}
    for end, code in ((signal.SIGKILL, -9), (signal.SIGINT, 130)):
        before = rows_in(path)
        with subprocess.Popen(
            call, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while rows_in(path) < before + 100 and process.poll() is None:
                time.sleep(0.01)
            assert process.poll() is None
            process.send_signal(end)
        assert process.returncode == code
    assert 200 <= rows_in(path) < ROWS
    done = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, check=True, text=True)
    assert f"{ROWS:,} rows" in done.stdout
    whole = [*CLI, "compare", "e.toml", "-o", "whole.csv"]
    subprocess.run(whole, cwd=tmp_path, env=env, capture_output=True, check=True)
    assert untimed(read_records(path)) == untimed(read_records(tmp_path / "whole.csv"))
