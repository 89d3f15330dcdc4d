"""Ranks of MPI as a pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.execute.mpi.launch import launch
from tests.execute.pools.pools import gone

RANKS = Path(__file__).with_name("ranks.py")
pytest.importorskip("mpi4py")


@pytest.mark.thorough
def test_ranks_of_mpi_are_a_pool() -> None:
    """Whatever mpi4py.futures has started; they are free again afterwards."""
    done = launch(3, "-m", "mpi4py.futures", RANKS, "by-name")
    assert done.stdout.split() == ["done"], done.stderr


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
