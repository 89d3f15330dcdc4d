"""The labels of vertical lines can be read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan.core.picture import Mark
from makespan.drawing.gantt.marks import MAX_TRACKS, combined, horizon, placed, tracks
from tests.drawing.gantt.test_merge import bars_of

MAKESPAN, BOUND = Mark("makespan", 28.0), Mark("bound", 28.0, limit=True)


def test_marks_that_coincide_share_one_label():
    """An optimal plan has one line that says so, and it is solid."""
    (mark,) = combined([MAKESPAN, BOUND], 30.0)
    assert (mark.label, mark.limit) == ("makespan = bound 28", False)


def test_marks_that_differ_stay_apart():
    """A bound below the makespan has a label and a line of its own."""
    labels = [mark.label for mark in combined([MAKESPAN, Mark("bound", 27.9, limit=True)], 30.0)]
    assert labels == ["makespan 28", "bound 27.9"]


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0])
def test_marks_without_a_place_in_time_are_left_out(time):
    """No line can stand at NaN, infinity or before the start."""
    assert [mark.label for mark in combined([MAKESPAN, Mark("x", time)], 30.0)] == ["makespan 28"]


def test_far_deadline_does_not_squeeze_the_picture():
    """A far mark is announced at the edge; a near one widens the picture."""
    far, near = Mark("deadline", 1000.0, limit=True), Mark("deadline", 30.0, limit=True)
    assert horizon(28.0, [MAKESPAN, far]) < 30.0
    assert horizon(28.0, [MAKESPAN, near]) >= 30.0
    beyond = combined([MAKESPAN, far], np.float64(29.0))[1]
    assert beyond.beyond
    assert beyond.label == "deadline 1000 →"


def test_a_picture_without_time_has_a_horizon():
    """An empty schedule is drawn over one second."""
    assert horizon(0.0, [Mark("makespan", 0.0)]) == 1.0


@given(
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=4, unique=True),
    st.floats(200.0, 900.0),
)
def test_labels_never_cover_each_other(times, width):
    """Whatever the times, no two labels on one line of labels overlap, and all are in place."""
    marks = combined([Mark(f"mark{i}", time, i > 0) for i, time in enumerate(times)], 101.5)
    labels = placed(marks, width / 101.5, 10.0, 0.0, width)
    assert len(labels) == len(marks)
    for one, other in combinations(labels, 2):
        apart = one.right <= other.left or other.right <= one.left
        assert one.tier != other.tier or apart
    assert all(label.left >= -1e-9 and label.right <= width + 1e-9 for label in labels)


@given(st.floats(1.0, 99.0), st.floats(1.0, 99.0))
def test_no_line_crosses_the_label_of_makespan_or_bound(one, other):
    """With a wide picture the two usual labels are clear of both lines."""
    first, second = sorted([one, other])
    marks = combined([Mark("makespan", second), Mark("bound", first, limit=True)], 100.0)
    scale = 9.0
    labels = placed(marks, scale, 10.0, -60.0, 900.0)
    for line in labels:
        for label in labels:
            if line.tier >= label.tier:
                assert not label.left < line.time * scale < label.right


intervals = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=8).map(
    lambda pairs: [(0, 0, 0, float(a), float(a + length)) for a, length in pairs]
)


@given(intervals)
def test_bars_of_one_track_do_not_overlap(rows):
    """On each track a bar starts when the one before it has ended."""
    bars = bars_of(rows)
    track = tracks(bars, 1e-9)
    for one in range(len(rows)):
        for other in range(one):
            if track[one] == track[other]:
                overlap = min(bars.end[one], bars.end[other]) - max(
                    bars.start[one], bars.start[other]
                )
                assert (
                    overlap <= 0
                    or min(bars.end[one] - bars.start[one], bars.end[other] - bars.start[other])
                    == 0
                )


def test_touching_bars_share_a_track():
    """Bars that meet to within rounding are one after another."""
    bars = bars_of([(0, 0, 0, 0.0, 1.0 + 1e-12), (0, 0, 0, 1.0, 2.0)])
    assert tracks(bars, 1e-9).tolist() == [0, 0]


def test_too_many_at_once_share_one_track():
    """Where more bars overlap than there are tracks, they are drawn over each other."""
    crowd = bars_of([(0, 0, 0, 0.0, 1.0)] * (MAX_TRACKS + 1))
    assert not tracks(crowd, 1e-9).any()
    few = bars_of([(0, 0, 0, 0.0, 1.0)] * MAX_TRACKS)
    assert np.unique(tracks(few, 1e-9)).tolist() == list(range(MAX_TRACKS))


def test_lanes_and_rows_do_not_disturb_each_other():
    """Bars at the same time in other lanes or rows stay on the first track."""
    bars = bars_of([(0, 0, 0, 0.0, 1.0), (0, 1, 0, 0.0, 1.0), (1, 0, 0, 0.0, 1.0)])
    assert tracks(bars, 1e-9).tolist() == [0, 0, 0]
