"""How many of a test's inputs are tried when.

A claim is tested fast on a few inputs, thoroughly on three times as many, and on all of them where
there is time: ``pytest`` runs the few, ``pytest -m "thorough and not slow"`` the next, and
``pytest -m slow`` the rest. `.ci/run` runs the first two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

THOROUGH = 3
"""How many times as many inputs, and examples, thorough tests take as fast ones."""


EXAMPLES = 20
"""On how many inputs of Hypothesis the fast tests try a property that names no number."""


def few(inputs: int | Iterable[Any], fast: int, thorough: int | None = None) -> list[Any]:
    """Return all inputs, or as many numbers from 0 on: ``fast`` of them unmarked.

    Those up to number ``thorough`` are for the thorough tests, where three times as many are too
    few or too many.
    """
    until = max(1, fast) * THOROUGH if thorough is None else thorough
    every = list(range(inputs) if isinstance(inputs, int) else inputs)

    def marked(index: int, each: Any) -> Any:
        if index < fast:
            return each
        mark = pytest.mark.thorough if index < until else pytest.mark.slow
        return pytest.param(*each if isinstance(each, tuple) else (each,), marks=mark)

    return [marked(index, each) for index, each in enumerate(every)]


def up_to(fast: int, thorough: int) -> list[Any]:
    """Return how many inputs one run of a test tries: a few, and many in the thorough tests."""
    return [fast, pytest.param(thorough, marks=pytest.mark.thorough)]


def examples(fast: int) -> settings:
    """Try a property on as many examples, and thorough tests on :data:`THOROUGH` times as many.

    What names no number is tried on :data:`EXAMPLES`, there on more, by the profile ``many``.
    """
    return settings(max_examples=fast * settings().max_examples // EXAMPLES)
