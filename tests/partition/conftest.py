"""Every test that asks for ``loops`` runs once with plain and once with compiled loops."""

from __future__ import annotations

import pytest

from makespan.partition.methods import dynamic_programming
from makespan.partition.model import choices


@pytest.fixture(params=["plain", "compiled"])
def loops(request, monkeypatch):
    if request.param == "compiled":
        monkeypatch.setattr(choices, "LARGE", 0)
        monkeypatch.setattr(dynamic_programming, "COMPILED_FROM", 0)
    return request.param
