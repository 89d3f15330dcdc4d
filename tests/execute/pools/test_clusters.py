"""Pools of other machines' engines: Ray, where it is installed, and MPI."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from makespan import InputError, execute
from tests.execute.mpi.launch import launch
from tests.execute.pools import pools

RANKS = Path(__file__).with_name("ranks.py")


@pytest.mark.thorough
def test_ranks_of_mpi_are_a_pool() -> None:
    """Whatever mpi4py.futures has started; they are free again afterwards."""
    pytest.importorskip("mpi4py")
    done = launch(3, "-m", "mpi4py.futures", RANKS, "by-name")
    assert done.stdout.split() == ["done"], done.stderr


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray on this machine, with two processors and what is called a gadget."""
    package = pytest.importorskip("ray")
    paths = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, sys.path)])
    package.init(
        num_cpus=2,
        resources={"gadget": 1},
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    yield package
    package.shutdown()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_ray_is_a_pool(ray: Any, tmp_path: Path) -> None:
    """What dies is replaced, an item that kills is given up; with what each call needs."""
    mapped = partial(execute.map, on="ray", progress=False)
    execution = mapped(pools.square, range(100))
    assert execution.results == [item**2 for item in range(100)]
    assert {one.name for one in execution.workers} <= {"0", "1"}
    failed = mapped(pools.fails_on_seven, range(20), keep_going=True)
    assert [failure.first for failure in failed.failures] == [7]
    alone = mapped(pools.nap, range(20), resources={"gadget": 1})
    assert [one.name for one in alone.workers] == ["0"]
    with pytest.raises(InputError, match=r"resources: no node has .*num_gpus"):
        mapped(pools.nap, [1], resources={"num_gpus": 1})
    once = tmp_path / "once"
    once.touch()
    again = mapped(partial(pools.dies_on, once=str(once)), range(60))
    assert again.results == list(range(60))
    assert any("died" in event for event in again.events)
    given_up = mapped(pools.dies_on, range(30), keep_going=True)
    assert given_up.results == [None if item == 13 else item for item in range(30)]
    assert ray.get(ray.remote(pools.square).remote(3)) == 9


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_a_worker_of_ray_that_stops_is_not_waited_for(ray: Any, tmp_path: Path) -> None:
    """Others do what it held; its process is killed in the end, and Ray has all it had."""
    once, stopped = tmp_path / "once", tmp_path / "stopped"
    once.touch()
    function = partial(pools.stops_on, once=str(once), tells=str(stopped))
    execution = execute.map(function, range(60), on="ray", progress=False)
    assert execution.results == list(range(60))
    assert any("is late" in event for event in execution.events)
    assert gone(int(stopped.read_text()))
    again = execute.map(pools.square, range(60), on="ray", progress=False)
    assert again.results == [item**2 for item in range(60)]
    assert ray.get(ray.remote(num_cpus=2)(pools.square).remote(3), timeout=30) == 9


def gone(process: int) -> bool:
    """Whether a process has ended, after a moment at most."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.thorough
def test_a_rank_that_stops_is_not_waited_for(tmp_path: Path) -> None:
    """Others do what it held; the executor waits for it, as MPI does, until it goes on."""
    (tmp_path / "once").touch()
    done = launch(3, "-m", "mpi4py.futures", RANKS, "stops", tmp_path / "once")
    assert done.stdout.split() == ["late", "done"], done.stderr


@pytest.mark.thorough
def test_a_rank_that_dies_ends_all(tmp_path: Path) -> None:
    """MPI has no worker that may die: the program ends with an error, and all ranks."""
    done = launch(3, "-m", "mpi4py.futures", RANKS, "dies", tmp_path / "ranks")
    assert done.returncode != 0
    assert "done" not in done.stdout
    assert all(map(gone, map(int, (tmp_path / "ranks").read_text().split())))


def test_ray_is_loaded_when_it_is_asked_for() -> None:
    """And no other engine."""
    code = (
        "import sys; from makespan import execute\n"
        "execute.map(abs, [1], on=1, progress=False)\n"
        "print(*{'ray', 'distributed', 'dask', 'mpi4py', 'loky'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not run.stdout.strip()
