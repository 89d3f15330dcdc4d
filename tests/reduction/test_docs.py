"""The page of the docs does what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

from makespan import Reduction
from makespan.core.registry import applicability, find_method
from makespan.reduction.methods import AUTO

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "reduction.md"
SOURCE = DOCS.parent / "src" / "makespan" / "reduction"


def test_the_examples_on_the_page_run() -> None:
    """Every example gives what is printed below it."""
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert (outcome.attempted > 3, outcome.failed) == (True, 0)


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of all tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_on_all_reduces_names_what_auto_has_for_them() -> None:
    """Each method that applies to some all-reduce has a row, and no other one has."""
    text = (DOCS / "allreduce.md").read_text().split("## Which")[0]
    named = [row[0] for row in rows_of(text)[2:]]
    open_count: dict[str, Any] = {"segments": "auto", "bytes": 8.0, "transfer_per_byte": 1}
    counted = {"segments": 3, "transfer": 1}
    given = [
        Reduction(machines=4, collective="all-reduce", **fields)
        for fields in (counted, open_count | {"message_overhead": 1, "reduce_per_byte": 1})
    ]
    able = [
        name
        for name in dict.fromkeys(AUTO)
        if any(applicability(find_method("reduction", name), each).applies for each in given)
    ]
    assert sorted(named) == sorted(able)


def test_the_page_on_all_reduces_has_the_measured_table() -> None:
    """Its counts are those of the benchmark, and who made no plan is said to."""
    page = (DOCS / "allreduce.md").read_text()
    part = page.split("## Which")[1].split("\n## ")[0]
    measured = rows_of((DOCS / "benchmarks" / "allreduce_methods.md").read_text())
    assert rows_of(part) == measured
    never = {row[0] for row in measured if row[-2] == "0"}
    (said,) = re.findall(r"^(.*) made none of these plans", part, re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", said)) == never


def test_the_rooms_on_the_page_are_those_of_the_source() -> None:
    """Each is there; where files of it are named, all of them are."""
    rows = rows_of((DOCS / "allreduce.md").read_text().split("## Where")[1])[2:]
    for room, what in rows:
        folder = SOURCE.parent / room
        assert folder.is_dir()
        named = set(re.findall(r"`([a-z_]+)`", what))
        found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        lacking = sorted(named ^ found)
        assert not named or not lacking, f"the page, or {room}, lacks {lacking}"


def test_no_planner_finds_a_method_by_its_name() -> None:
    """Methods call planners as functions; segment-count alone takes names, from its option."""
    found = {path.name for path in SOURCE.rglob("*.py") if "find_method" in path.read_text()}
    assert found == {"segment_count.py"}
