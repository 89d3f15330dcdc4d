"""Prepared plans on real ranks, and what they are refused for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.mpi.launch import launch
from tests.thorough import few

PROGRAMS = Path(__file__).parent


def right(ranks, length, timeout=120):
    done = launch(ranks, PROGRAMS / "prepared.py", length, timeout=timeout)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", few([3, 1, 4], 1))
def test_prepared_plans_give_what_numpy_gives(ranks):
    """All types and operations, in place, other roots, orders, and refusals."""
    right(ranks, 1000)


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "length"), [(8, 1000), (2, 10**7), (8, 10**7)])
def test_large_arrays_and_many_ranks(ranks, length):
    """The same on eight ranks, and with ten million numbers."""
    right(ranks, length, timeout=400)
