"""Fewer tries of the plans that others start from."""

import pytest

from makespan.reduction.methods import critical_path


@pytest.fixture
def few_restarts(monkeypatch):
    """Shorter searches, which take seconds where others are tested, and as plain Python."""
    monkeypatch.setattr(critical_path, "TIMED", 20_000)
