"""Cores and profiles against counts at every second."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from makespan.taskgraph.list_scheduling.free_times import FOREVER, Cores, Profile

TOTAL, LAST = 4, 400


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(1, 5), st.booleans()),
        max_size=25,
    )
)
def test_profiles_against_seconds(requests: list[tuple[int, int, int, bool]]) -> None:
    """The first fit, the options from there on, and what is given back."""
    profile, free = Profile(TOTAL), np.full(LAST, TOTAL)
    for earliest, length, width, kept in requests:
        start = profile.first_fit(earliest, length, width)
        if width > TOTAL:
            assert start == FOREVER
            assert profile.options(earliest, width) == []
            continue
        fits = free >= width
        expected = next(t for t in range(earliest, LAST) if fits[t : t + max(length, 1)].all())
        assert start == expected
        spans = profile.options(earliest, width)
        inside = np.zeros(LAST, dtype=bool)
        for begin, until in spans:
            inside[int(begin) : int(min(until, LAST))] = True
            assert until == FOREVER or not fits[int(until)]
        assert (inside[earliest:] == fits[earliest:]).all()
        assert [begin for begin, _ in spans] == sorted({begin for begin, _ in spans})
        taken = profile.take(start, start + length, width)
        if kept:
            free[int(start) : int(start) + length] -= width
        else:
            profile.undo(taken)


@given(st.lists(st.tuples(st.integers(1, TOTAL), st.integers(1, 9)), max_size=20))
def test_cores_against_a_list(tasks: list[tuple[int, int]]) -> None:
    """When so many are free is the last of so many first times; copies are apart."""
    cores, times = Cores(TOTAL), [0] * TOTAL
    for width, lasts in tasks:
        for each in range(1, TOTAL + 1):
            assert cores.free_at(each) == sorted(times)[each - 1]
        before, until = cores.copy(), cores.free_at(width) + lasts
        cores.take(width, until)
        assert before.free_at(TOTAL) == max(times)
        times = sorted(times)[width:] + [int(until)] * width
    assert cores.free_at(TOTAL + 1) == FOREVER
