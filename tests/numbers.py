"""Numbers as problems take them, for properties."""

from __future__ import annotations

from hypothesis import strategies as st

from makespan.core.inputs.rules import LEAST


def amounts(high: float) -> st.SearchStrategy[float]:
    """0, or a number of an allowed magnitude up to ``high``."""
    return st.floats(0.0, high).map(lambda value: value if value >= LEAST else 0.0)
