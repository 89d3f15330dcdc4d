"""How many of a test's inputs the fast suite takes.

A claim is tested fast on a few inputs and thoroughly on all: ``pytest`` runs the few,
``pytest -m thorough`` the others, and `.ci/run` both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(inputs: int | Iterable[Any], fast: int) -> list[Any]:
    """Return all inputs, or as many numbers from 0 on, those behind the first as thorough."""
    every = list(range(inputs) if isinstance(inputs, int) else inputs)
    rest = [
        pytest.param(*each, marks=pytest.mark.thorough)
        if isinstance(each, tuple)
        else pytest.param(each, marks=pytest.mark.thorough)
        for each in every[fast:]
    ]
    return every[:fast] + rest
