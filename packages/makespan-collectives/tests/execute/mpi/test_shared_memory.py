"""Collectives by memory that ranks on one computer share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.execute.mpi.launch import launch
from tests.thorough import few

PROGRAMS = Path(__file__).parent


@pytest.mark.parametrize(
    ("ranks", "calls", "room"), few([(3, 80, 2**15), (2, 80, 2**25), (8, 8, 2**18)], 2, thorough=3)
)
def test_values_are_those_of_the_order_of_ranks(ranks, calls, room):
    """To the bit, for all types, in place, in pieces, whatever collective was before."""
    done = launch(ranks, PROGRAMS / "sharing.py", calls, room)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, []]
