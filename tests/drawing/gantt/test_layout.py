"""Where things are placed in a picture."""

from dataclasses import replace

import numpy as np
import pytest

from makespan.core.picture import Groups, Mark, Picture, Role, Row
from makespan.drawing.colours import FILL
from makespan.drawing.gantt.layout import MAX_BLOCKS, MAX_ROWS, lay_out
from tests.drawing.gantt.test_merge import bars_of


def picture_of(rows, names, *, lanes=("receive", "compute"), **more):
    return Picture(rows=tuple(Row(name, lanes) for name in names), bars=bars_of(rows), **more)


def test_bars_lie_in_their_lanes():
    """A bar covers its lane from top to bottom, and lanes lie in their row without overlap."""
    picture = picture_of([(0, 0, 0, 0, 1), (0, 1, 3, 1, 4), (1, 1, 3, 2, 4)], ["A", "B"])
    layout = lay_out(picture, width=500.0)
    for index in range(3):
        row, lane = int(layout.blocks.row[index]), int(layout.blocks.lane[index])
        place = layout.rows[row].lanes[lane]
        assert layout.top[index] == pytest.approx(place.top)
        assert layout.height_of[index] == pytest.approx(place.height)
    for row in layout.rows:
        assert row.top <= row.lanes[0].top
        assert row.lanes[0].top + row.lanes[0].height <= row.lanes[1].top
        assert row.lanes[1].top + row.lanes[1].height <= row.top + row.height


def test_given_height_is_kept():
    """The rows fill the height that a backend gives, whatever it is."""
    picture = picture_of([(0, 0, 0, 0, 1)], ["A", "B", "C"])
    assert lay_out(picture, width=100.0, height=321.0).height == pytest.approx(321.0)


def test_only_the_first_rows_are_shown_and_the_others_counted():
    """Of many machines the first are shown; one row says how many of the others are busy when."""
    rows = [(k, 0, 3, 0.0, 1.0 + k % 2) for k in range(1000)]
    layout = lay_out(picture_of(rows, [f"M{k}" for k in range(1000)]), width=500.0)
    assert len(layout.rows) == MAX_ROWS + 1
    assert layout.hidden == 940
    assert (layout.rows[-1].label, layout.rows[-1].note) == ("940 more machines", "busy 75 %")
    crowd = layout.blocks.row == MAX_ROWS
    assert (layout.blocks.activity[crowd] < 0).all()
    early = layout.blocks.end[crowd] <= 1.0
    assert layout.blocks.covered[crowd][early] == pytest.approx(1.0)
    assert layout.blocks.covered[crowd][~early] == pytest.approx(0.5)


def test_lanes_of_several_sends_keep_their_height():
    """Three sends at a time: each is as high as one alone."""
    picture = picture_of(
        [(0, 0, 0, 0, 4), (0, 0, 0, 1, 5), (0, 0, 0, 2, 5), (1, 0, 0, 0, 4)], ["A", "B"]
    )
    layout = lay_out(picture, width=500.0)
    assert layout.height_of[:3] == pytest.approx(layout.height_of[3])


def test_groups_have_colours_of_their_own():
    """Bars of one group merge and are painted alike; roles without a group keep their colours."""
    picture = picture_of([(0, 0, 3, 0, 1), (0, 0, 3, 1, 2), (0, 0, 0, 2, 3)], ["A"])
    grouped = replace(picture, groups=Groups(np.array([0, 1, -1]), ("x", "y")))
    layout = lay_out(grouped, width=500.0)
    words = [layout.paints[paint][0] for paint in layout.blocks.role.tolist()]
    assert sorted(words) == ["send", "x", "y"]
    assert [word for word, _ in layout.legend] == ["x", "y", "send"]
    assert len({colour for _, colour in layout.legend}) == 3


def test_transfers_fold_away():
    """What is left are the lanes in which machines compute, and all machines."""
    picture = picture_of(
        [(0, 0, 0, 0, 1), (0, 1, 3, 1, 2), (1, 0, 1, 0, 1)], ["A", "B"], lanes=("send", "compute")
    )
    folded = picture.folded()
    assert [row.lanes for row in folded.rows] == [("compute",), ("",)]
    assert folded.bars.lane.tolist() == [0]
    assert folded.bars.row.tolist() == [0]


def test_fuller_texts_stand_where_there_is_room():
    """A long text on a long bar, the short one on a short bar."""
    picture = picture_of(
        [(0, 0, 0, 0, 10), (0, 0, 0, 10, 11)],
        ["A"],
        labels=("a", "b"),
        fuller={Role.SEND: ("a and more", "b and more")},
    )
    layout = lay_out(picture, width=200.0)
    assert [text.text for text in layout.texts] == ["a and more", "b"]


def test_hidden_rows_still_count_for_the_time_axis():
    """The picture reaches to the end of the plan even if its last machine is not shown."""
    rows = [(0, 0, 3, 0.0, 1.0), (1, 0, 3, 0.0, 50.0)]
    layout = lay_out(picture_of(rows, ["A", "B"]), width=500.0, max_rows=1)
    assert layout.busy_until == 50.0
    assert layout.rows[-1].label == "1 more machine"


def test_overlapping_bars_get_tracks_of_their_own():
    """Two transfers at a time in one lane lie above each other, and their lane is taller."""
    picture = picture_of([(0, 0, 0, 0, 4), (0, 0, 0, 1, 5), (1, 0, 0, 0, 4)], ["A", "B"])
    layout = lay_out(picture, width=500.0)
    assert layout.top[0] + layout.height_of[0] <= layout.top[1] + 1e-9
    assert layout.rows[0].lanes[0].height > layout.rows[1].lanes[0].height


def test_texts_stand_only_where_they_fit():
    """A wide bar carries its text, a narrow one does not, and none repeats its row's name."""
    picture = picture_of(
        [(0, 0, 0, 0.0, 50.0), (0, 0, 0, 50.0, 50.5), (0, 1, 3, 50.5, 100.0)],
        ["A", "B"],
        labels=("wide", "narrow", "A"),
    )
    texts = lay_out(picture, width=500.0).texts
    assert [(text.text, text.time, text.fill) for text in texts] == [
        ("wide", 25.0, FILL[Role.SEND])
    ]


def test_legend_holds_the_roles_that_occur():
    """What is not in the picture is not explained."""
    layout = lay_out(picture_of([(0, 0, Role.RECEIVE, 0, 1)], ["A"]), width=500.0)
    assert layout.legend == (("receive", FILL[Role.RECEIVE]),)


def test_marks_are_placed():
    """Makespan and bound have lines at their times."""
    picture = picture_of([(0, 0, 0, 0, 10)], ["A"]).with_marks(
        "title", (Mark("makespan", 10.0), Mark("bound", 9.0, limit=True))
    )
    layout = lay_out(picture, width=500.0)
    assert {(mark.time, mark.limit) for mark in layout.marks} == {(10.0, False), (9.0, True)}
    assert layout.title == "title"


def test_a_picture_without_bars_or_rows_is_laid_out():
    """Nothing to show is no error."""
    layout = lay_out(picture_of([], []), width=500.0)
    assert (layout.height, layout.horizon, layout.legend) == (0.0, 1.0, ())


def test_many_bars_become_few_blocks():
    """Two hundred thousand slivers in sixty rows leave no more blocks than allowed."""
    generator = np.random.default_rng(5)
    start = np.sort(generator.uniform(0.0, 1000.0, 200_000))
    rows = np.arange(200_000) % 60
    bars = bars_of([])
    from dataclasses import replace

    bars = replace(
        bars,
        row=rows,
        lane=rows * 0,
        role=np.zeros(200_000, dtype=np.int8),
        activity=np.arange(200_000),
        start=start,
        end=start + 0.001,
    )
    picture = Picture(rows=tuple(Row(f"M{k}", ("send",)) for k in range(60)), bars=bars)
    assert 60 <= len(lay_out(picture, width=800.0).blocks) <= MAX_BLOCKS
