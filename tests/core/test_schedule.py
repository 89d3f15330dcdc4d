"""Schedules: whose the columns are, and the rows of one kind."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from makespan import Schedule
from makespan.core.schedule import COLUMNS, Activity

ROWS = [
    ("send", 0, 1, 0, 2.0, 0.0, 2.0),
    ("send", 0, 2, 1, 3.0, 2.0, 5.0),
    ("compute", 1, -1, 0, 2.0, 2.0, 8.0),
    ("send", 0, 1, 2, 1.0, 5.0, 6.0),
]


def test_the_callers_arrays_stay_the_callers():
    """A column is a copy of what can be written to, unless it is handed over."""
    amount = np.ones(2)
    given = dict(kind=[0, 0], machine=0, peer=1, item=[0, 1], start=0.0, end=[1.0, 2.0])
    kept = Schedule.of_columns(["A", "B"], amount=amount, **given)
    amount[0] = 7.0
    assert kept.amount.tolist() == [1.0, 1.0]
    taken = Schedule.of_columns(["A", "B"], amount=amount, copy=False, **given)
    assert taken.amount is amount
    with pytest.raises(ValueError, match="read-only"):
        amount[0] = 1.0


def test_other_times():
    """Only start and end change."""
    schedule = Schedule.of_rows(["A", "B", "C"], ROWS)
    later = schedule.timed(schedule.start + 1, schedule.end + 1)
    assert later.makespan == schedule.makespan + 1
    for name in set(COLUMNS) - {"start", "end"}:
        assert getattr(later, name) is getattr(schedule, name)


def test_it_is_drawn_by_itself():
    """A bar a row, as by makespan.plot."""
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    assert Schedule.of_rows(["A", "B", "C"], ROWS).plot(ax=ax, title="alone") is ax
    assert ax.get_title(loc="left") == "alone"


@pytest.mark.parametrize("activity", list(Activity))
@pytest.mark.parametrize("rows", [[0, 1], [0, 1, 2, 3], [2], [1, 2], [2, 3, 2]])
def test_the_span_of_a_kind_is_its_rows(activity, rows):
    """As a slice or as indices, wherever the rows stand."""
    schedule = Schedule.of_rows(["A", "B", "C"], ROWS).take(rows)
    expected = np.flatnonzero(schedule.kind == activity).tolist()
    assert np.arange(len(schedule))[schedule.span_of(activity)].tolist() == expected


def test_joined_parts_are_one_schedule():
    """Columns come when they are asked for; length, makespan and pieces need none."""
    first, second = Schedule.of_rows("ABC", ROWS[:3]), Schedule.of_rows("ABC", ROWS[3:])
    joined, plain = Schedule.joined([first, second]), Schedule.of_rows("ABC", ROWS)
    assert (len(joined), joined.makespan) == (4, 8.0)
    assert joined.cut([3, 1]) == (first, second)
    for schedule in (joined, plain):
        assert [piece.end.tolist() for piece in schedule.cut([1, 0, 3])] == [[2], [], [5, 8, 6]]
    for name in COLUMNS:
        column = getattr(joined, name)
        assert column.tolist() == getattr(plain, name).tolist()
        assert column is getattr(joined, name)
        assert not column.flags.writeable
    with pytest.raises(AttributeError, match="no attribute 'begin'"):
        joined.begin  # noqa: B018
    again = pickle.loads(pickle.dumps(joined))
    assert again.parts == ()
    assert list(again.records()) == list(plain.records())
