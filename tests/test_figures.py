"""The figures that are told first are those of the tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import headlines, table
from benchmarks.__main__ import ALONE, main

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LINKED = re.compile(r"\[([^\]]*\d[^\]]*)\]\((?:\.\./)?(?:docs/)?benchmarks/(\w+)\.md\)")


CODE = re.compile(r"^```.*?^```|`[^`]*`|\[[^\]]*\]\([^)]*\)", re.DOTALL | re.MULTILINE)
"""What is no prose: code, and links with what they say."""
MEASURED = re.compile(r"\d[\d.,]*\s?(?:%|×|times\b|[mµ]?s\b|seconds?\b|minutes?\b|[kMG]B\b)")
STORIES = sorted((ROOT / "docs" / "stories").glob("*.md"))


def told() -> list[tuple[str, str, str]]:
    """Return each figure that a page tells: the page, what it says, the table that it names."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *STORIES]
    return [
        (page.name, said, name)
        for page in pages
        for said, name in LINKED.findall(page.read_text("utf-8").replace("\n", " "))
    ]


@pytest.mark.parametrize(("page", "said", "name"), told())
def test_a_figure_in_the_docs_is_in_the_table_it_names(page: str, said: str, name: str) -> None:
    """Measured anew, a table tells which sentences are to be written anew."""
    found = [one.found for one in headlines.headlines() if one.page == name]
    known = set(
        NUMBER.findall(" ".join([(table.FOLDER / f"{name}.md").read_text("utf-8"), *found]))
    )
    missing = set(NUMBER.findall(said)) - known
    assert not missing, f"{page}: {said}: not in docs/benchmarks/{name}.md: {', '.join(missing)}"


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_a_story_tells_figures_by_links_alone(page: Path) -> None:
    """Or as what a command prints, which is run: nothing else would hold them."""
    assert not MEASURED.findall(CODE.sub("", page.read_text("utf-8")))


def test_every_table_gives_its_figure() -> None:
    """None is left out, each has a number."""
    found = list(headlines.headlines())
    assert len(found) == len(headlines.HEADLINES)
    assert all(any(letter.isdigit() for letter in one.found) for one in found)


def test_a_figure_follows_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another table, another sentence; without a table, none."""
    monkeypatch.setattr(headlines, "FOLDER", tmp_path)
    monkeypatch.setattr(table, "FOLDER", tmp_path)
    page = table.Table("auckland", "A set", "Of graphs.", ("proved", "longer"))
    page.add("7 of 9", 1)
    page.add("1,000 of 1,001", 0)
    page.write()
    (one,) = headlines.headlines()
    assert one.found == "1,007 of 1,010 proved in 5 s, 1 plans longer than published"


def test_benchmarks_that_are_named_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that run alone exist; what fails is named."""
    folder = Path(table.__file__).parent
    assert all((folder / f"{name}.py").exists() for name in ALONE)
    assert main(["no_such"]) == 1
    assert "failed: no_such" in capsys.readouterr().err
