"""The page about independent tasks."""

import doctest
from pathlib import Path

from makespan import methods

PAGE = Path(__file__).parents[2] / "docs" / "independent.md"


def test_the_examples_are_true():
    """What the page shows is what happens."""
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_every_method_is_in_the_table():
    """The table names the methods that are registered, and no others."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == [
        verdict.name for verdict in methods("independent")
    ]
