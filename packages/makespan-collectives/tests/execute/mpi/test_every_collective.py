"""All nine collectives on real ranks, and where their segments lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.mpi.launch import launch
from tests.thorough import few

PROGRAMS = Path(__file__).parent


@pytest.mark.parametrize(
    ("ranks", "seed", "plans"),
    few([(4, 0, 9), (3, 9, 27), (1, 0, 9), (5, 36, 90), (8, 0, 18)], 1, thorough=3),
)
def test_all_nine_give_what_numpy_and_mpi_give(ranks, seed, plans):
    """Random plans, some over missing links, other roots, in place, types, blocks; refusals."""
    done = launch(ranks, PROGRAMS / "every_collective.py", seed, plans, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
