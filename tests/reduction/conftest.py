"""Fewer tries of the plans that others start from."""

import pytest

from makespan.reduction.halves import shortest_paths


@pytest.fixture
def few_restarts(monkeypatch):
    """Shortest paths, tried thirty times: a thousand take seconds, where others are tested."""
    monkeypatch.setattr(shortest_paths, "RESTARTS", 30)
