"""The page about pipelines."""

import doctest
from pathlib import Path

from makespan import methods

PAGE = Path(__file__).parents[2] / "docs" / "pipeline.md"


def test_the_examples_are_true():
    """What the page shows is what happens."""
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_every_method_is_in_the_table():
    """The table names the methods that are registered, and no others."""
    text = PAGE.read_text().partition("## Methods")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == [
        verdict.name for verdict in methods("pipeline")
    ]
