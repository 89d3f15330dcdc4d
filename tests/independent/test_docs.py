"""The page about independent tasks."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "independent.md"


def test_the_examples_are_true():
    """What the page shows is what happens."""
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
