"""The page of the docs does what it says."""

from __future__ import annotations

import doctest
from pathlib import Path

from makespan.core.registry import methods_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "partition.md"


def test_the_examples_on_the_page_run(monkeypatch):
    """Every example gives what is printed below it."""
    monkeypatch.chdir(ROOT)
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_the_table_names_every_method():
    """No method is missing from the page, and none is there that does not exist."""
    text = PAGE.read_text().split("## Methods")[1].split("##")[0]
    named = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert named == {method.name for method in methods_of("partition")}
