"""The page about task graphs, and the pictures on it."""

import doctest
import os
import re
from pathlib import Path

import pytest

from makespan import read_problem, solve
from tests.oracles.taskgraph_rules import broken_rule

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "taskgraph.md"
PAGES = [PAGE, ROOT / "docs" / "taskgraph_lecture.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_are_true(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page shows is what happens."""
    monkeypatch.chdir(ROOT)
    outcome = doctest.testfile(str(page), module_relative=False)
    assert (outcome.attempted > 3, outcome.failed) == (True, 0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pictures_and_examples_exist(page: Path) -> None:
    """Every picture that the page shows and every example that it names is there."""
    text = page.read_text(encoding="utf-8")
    for image in re.findall(r"\]\((images/[^)]+)\)", text):
        assert (page.parent / image).is_file()
    for example in re.findall(r"examples/[\w./-]+", text):
        assert os.path.exists(ROOT / example)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples" / "lecture").glob("*.toml")), ids=lambda path: path.stem
)
def test_the_lecture_files_are_solved(path: Path) -> None:
    """The plans of the example files keep to the slow twin of the referee's rules."""
    problem = read_problem(path)
    assert broken_rule(problem, solve(problem).schedule) == ""
