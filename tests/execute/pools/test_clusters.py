"""Pools of Ray, where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from makespan import InputError, execute
from tests.execute.pools import pools
from tests.sources import ROOT


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray on this machine, with two processors and what is called a gadget."""
    package = pytest.importorskip("ray")
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
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
    assert pools.gone(int(stopped.read_text()))
    again = execute.map(pools.square, range(60), on="ray", progress=False)
    assert again.results == [item**2 for item in range(60)]
    assert ray.get(ray.remote(num_cpus=2)(pools.square).remote(3), timeout=30) == 9


def test_ray_is_loaded_when_it_is_asked_for() -> None:
    """And no other engine."""
    code = (
        "import sys; from makespan import execute\n"
        "execute.map(abs, [1], on=1, progress=False)\n"
        "print(*{'ray', 'distributed', 'dask', 'mpi4py', 'loky'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not run.stdout.strip()
