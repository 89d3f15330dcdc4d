"""The register: a method is found by the name of its file, and its file alone is imported."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from makespan import MethodError
from makespan.core.registry import _modules, find_method, methods_of
from makespan.flow.kinds import KINDS

DOCS = Path(__file__).parents[2] / "docs"
TABLE = re.compile(r"^\| (?:method|name) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
LOADED = """
import sys
from makespan.core.registry import find_method
find_method("independent", "lpt")
print(*(name for name in sys.modules if ".methods." in name))
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_holds_the_method_of_its_name(kind: str) -> None:
    """From a method's name to its file is no search; those that are alike share one."""
    assert {method.name for method in methods_of(kind)} == set(_modules(kind))
    for method in methods_of(kind):
        assert method.run.__module__ == _modules(kind)[method.name]


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_up_names_methods(kind: str) -> None:
    """Every name in ``AUTO`` has a file, and none is kept for comparison only."""
    line_up = KINDS[kind].methods.AUTO
    assert set(line_up) <= set(_modules(kind))
    assert not [name for name in line_up if find_method(kind, name).published]


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_has_a_row_in_the_docs(kind: str) -> None:
    """On a page of its kind, in a table whose first column is named method, or name."""
    pages = [path.read_text("utf-8") for path in DOCS.glob(f"{kind}*.md")]
    rows = [row for text in pages for table in TABLE.findall(text) for row in table.splitlines()]
    told = {name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row.split("|")[1])}
    known = {method.name for method in methods_of(kind)}
    lacking, gone = sorted(known - told), sorted(told - known)
    assert not lacking, f"add a row to the table of methods in docs/{kind}.md for each: {lacking}"
    assert not gone, f"docs/{kind}*.md has rows for methods that are not registered: {gone}"


def test_one_method_loads_no_other() -> None:
    """A method that is asked for by name is the only one imported."""
    found = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["makespan.independent.methods.list_scheduling"]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """Names are suggested without importing anything."""
    with pytest.raises(MethodError, match="no method 'heftt' for taskgraph problems; did you mean"):
        find_method("taskgraph", "heftt")
