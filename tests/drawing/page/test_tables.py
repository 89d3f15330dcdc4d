"""Answers of any shape as tables."""

import math

from makespan.drawing.page.tables import answer_tables


def shapes(answer):
    return [(table.caption, table.names, table.columns) for table in answer_tables(answer)]


def test_single_values_stand_together():
    """Numbers, words and short lists of words share one table of names and values."""
    found = shapes({"rounds": 1, "order": ["B", "A"], "none": [], "share": 0.5})
    assert found == [("", ("", ""), (("rounds", "order", "none", "share"), (1, "B, A", "", 0.5)))]


def test_tables_of_the_same_keys_join():
    """Start and end of the same tasks stand beside each other; others stand alone."""
    found = shapes({"start": {"a": 0, "b": 1}, "end": {"a": 1, "b": 2}, "counts": {"x": 3}})
    assert found == [
        ("", ("", "start", "end"), (("a", "b"), (0, 1), (1, 2))),
        ("", ("", "counts"), (("x",), (3,))),
    ]


def test_lists_are_counted():
    """Lists of one length join under an index; what is not a number is written out."""
    found = shapes({"machine_of": [1, 0], "start": [0.0, math.inf], "sets": [[1, 2], {"a": 1}]})
    assert found == [
        (
            "",
            ("index", "machine_of", "start", "sets"),
            ((0, 1), (1, 0), (0.0, "inf"), ("1, 2", "a: 1")),
        )
    ]


def test_records_become_rows():
    """A list of tables has a column for each key that occurs."""
    found = shapes({"chunks": [{"worker": "A", "amount": 1.0}, {"worker": "B", "round": 2}]})
    names, columns = ("worker", "amount", "round"), (("A", "B"), (1.0, None), (None, 2))
    assert found == [("chunks", names, columns)]


def test_nothing_gives_no_table():
    """An empty answer has no table."""
    assert answer_tables({}) == ()
