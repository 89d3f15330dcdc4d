"""The page of the docs does what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "partition.md"


def test_the_examples_on_the_page_run(monkeypatch):
    """Every example gives what is printed below it."""
    monkeypatch.chdir(ROOT)
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert outcome.attempted > 5
    assert outcome.failed == 0
