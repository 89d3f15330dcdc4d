"""Sorting by several keys."""

import numpy as np
from hypothesis import given, strategies as st

from makespan.core.sorting import sorted_by

FEW = st.integers(0, 3)


@given(st.lists(st.tuples(FEW, FEW, FEW), max_size=40))
def test_ties_go_to_the_next_key_then_to_the_index(rows):
    """The order is that of Python's sort of the keys themselves."""
    first, second, third = (
        (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        if rows
        else (np.zeros(0),) * 3
    )
    wanted = sorted(range(len(rows)), key=lambda row: (*rows[row], row))
    assert sorted_by(first, second, third).tolist() == wanted
