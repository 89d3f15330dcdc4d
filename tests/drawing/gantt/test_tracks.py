"""Overlapping bars are put beside each other."""

import numpy as np
from hypothesis import given, strategies as st

from makespan.drawing.gantt.tracks import MAX_TRACKS, tracks
from tests.drawing.gantt.test_merge import bars_of

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
