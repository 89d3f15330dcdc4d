"""Bounds: what is said where none is known."""

from __future__ import annotations

import pytest

from makespan import DivisibleLoad, InputError, Star, Worker, lower_bound

WORKER = Worker(send=1.0, compute=2.0)


def test_a_deadline_alone():
    """The greatest load by a deadline has no bound on its makespan; that is said."""
    with pytest.raises(InputError, match="no bound on the makespan is known"):
        lower_bound(DivisibleLoad(deadline=5.0, platform=Star([WORKER])))
