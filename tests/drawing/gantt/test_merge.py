"""Merging keeps the time that bars cover and loses no bar."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan.core.picture import Bars, Role
from makespan.drawing.gantt.merge import MERGED, merged


def bars_of(rows):
    """Make bars of (row, lane, role, start, end)."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    return Bars(
        row=np.array(columns[0], dtype=np.int64),
        lane=np.array(columns[1], dtype=np.int64),
        role=np.array(columns[2], dtype=np.int8),
        activity=np.arange(len(rows), dtype=np.int64),
        start=np.array(columns[3], dtype=np.float64),
        end=np.array(columns[4], dtype=np.float64),
    )


@st.composite
def lanes_of_bars(draw):
    """Bars that do not overlap in their lane, in shuffled order."""
    rows = []
    for row in range(draw(st.integers(1, 3))):
        for lane in range(draw(st.integers(1, 2))):
            time = 0.0
            for _ in range(draw(st.integers(0, 12))):
                start = time + draw(st.sampled_from([0.0, 0.01, 0.5, 3.0]))
                time = start + draw(st.sampled_from([0.01, 0.3, 2.0]))
                rows.append((row, lane, draw(st.sampled_from([0, 3])), start, time))
    return draw(st.permutations(rows))


def covered_time(blocks, row, lane):
    mine = (blocks.row == row) & (blocks.lane == lane)
    return float((blocks.covered * (blocks.end - blocks.start))[mine].sum())


@given(lanes_of_bars(), st.sampled_from([0.0, 0.05, 0.4, 10.0]))
def test_merging_keeps_covered_time(rows, resolution):
    """In every lane the blocks stand for as much busy time as the bars."""
    bars = bars_of(rows)
    blocks = merged(bars, resolution, most=10_000)
    for row in range(3):
        for lane in range(2):
            mine = (bars.row == row) & (bars.lane == lane)
            busy = float((bars.end - bars.start)[mine].sum())
            assert covered_time(blocks, row, lane) == pytest.approx(busy)


@given(lanes_of_bars(), st.sampled_from([0.05, 0.4, 10.0]))
def test_every_bar_lies_in_a_block_of_its_role(rows, resolution):
    """No bar is lost or drawn in another lane or colour."""
    blocks = merged(bars_of(rows), resolution, most=10_000)
    for row, lane, role, start, end in rows:
        assert (
            (blocks.row == row)
            & (blocks.lane == lane)
            & (blocks.role == role)
            & (blocks.start <= start)
            & (blocks.end >= end)
        ).any()


@given(lanes_of_bars())
def test_wide_bars_stay_what_they_are(rows):
    """Bars wider than the resolution keep their activity, start and end."""
    bars = bars_of(rows)
    blocks = merged(bars, 0.05, most=10_000)
    single = blocks.activity != MERGED
    wide = np.flatnonzero(bars.end - bars.start >= 0.05)
    assert set(wide.tolist()) <= set(blocks.activity[single].tolist())
    assert blocks.start[single].tolist() == bars.start[blocks.activity[single]].tolist()
    assert blocks.end[single].tolist() == bars.end[blocks.activity[single]].tolist()


def test_narrow_neighbours_become_one_block():
    """A thousand touching slivers are one block, fully covered."""
    edges = np.linspace(0.0, 1.0, 1001)
    rows = [(0, 0, Role.SEND, a, b) for a, b in itertools.pairwise(edges)]
    blocks = merged(bars_of(rows), 0.01, most=100)
    assert (len(blocks), blocks.activity.tolist()) == (1, [MERGED])
    assert blocks.covered[0] == pytest.approx(1.0)


def test_half_idle_slivers_are_half_covered():
    """A block says how much of its time is idle."""
    rows = [(0, 0, Role.SEND, 0.002 * k, 0.002 * k + 0.001) for k in range(500)]
    blocks = merged(bars_of(rows), 0.01, most=100)
    assert len(blocks) == 1
    assert blocks.covered[0] == pytest.approx(0.5, abs=0.01)


def test_resolution_doubles_until_few_enough():
    """There are never more blocks than allowed while anything is left to merge."""
    rows = [(row, 0, Role.SEND, float(k), k + 0.5) for row in range(4) for k in range(200)]
    blocks = merged(bars_of(rows), 1e-6, most=50)
    assert 4 <= len(blocks) <= 50


def test_no_bars_give_no_blocks():
    """An empty picture has no blocks."""
    assert len(merged(bars_of([]), 0.1, most=10)) == 0
