"""The page of the docs does what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from makespan.core.registry import methods_of

PAGE = Path(__file__).parents[2] / "docs" / "reduction.md"


def test_the_examples_on_the_page_run() -> None:
    """Every example gives what is printed below it."""
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert (outcome.attempted > 3, outcome.failed) == (True, 0)


def test_the_table_names_every_method() -> None:
    """No method is missing from the page, and none is there that does not exist."""
    text = PAGE.read_text().split("## Methods")[1].split("##")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`.]+)`", row)}
    assert named == {method.name for method in methods_of("reduction")}
