"""The pages that people read first: short sentences, and pages that end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WHOLE = [ROOT / "README.md", DOCS / "index.md", DOCS / "install.md", DOCS / "service.md"]
WHOLE += sorted((DOCS / "stories").glob("*.md"))
LISTS = {"architecture.md", "files.md"}  # whose first screens list folders and formats
FIRST = [page for page in sorted(DOCS.glob("*.md")) if page.name not in LISTS]
LONGEST, MOST_LINES = 30, 400
MARK = re.compile(r"```.*?```|<[^>]*>|!\[[^]]*\]\([^)]*\)|\^\[.*?\]|`[^`]*`", re.DOTALL)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def sentences(text: str) -> list[str]:
    """The sentences of a page: of paragraphs, entries of lists, and cells of tables."""
    text = LINK.sub(r"\1", MARK.sub(" code ", text))
    rows = [line for line in text.split("\n") if line.startswith("|")]
    prose = "\n".join("" if line.startswith(("|", "#")) else line for line in text.split("\n"))
    blocks = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", prose)
    blocks += [cell for row in rows for cell in row.split("|")]
    return [
        " ".join(part.split())
        for block in blocks
        for part in re.split(r"(?<=[.:;?!·])\s", block)
        if part.strip()
    ]


def test_sentences_are_told_apart() -> None:
    """A paragraph, a list and a table, without code and addresses."""
    text = "One `a b c`. Two\nlines.\n\n- three\n- [four](http://x.y/z)\n\n| five | six |\n"
    found = sentences(text)
    assert found[:2] == ["One code .", "Two lines."]
    assert {"- three", "four", "five", "six"} <= set(found)


@pytest.mark.parametrize("page", WHOLE, ids=lambda page: page.name)
def test_no_sentence_is_long(page: Path) -> None:
    """At most 30 words, wherever a reader begins."""
    for sentence in sentences(page.read_text("utf-8")):
        assert len(sentence.split()) <= LONGEST, sentence


@pytest.mark.parametrize("page", FIRST, ids=lambda page: page.name)
def test_no_sentence_of_a_first_screen_is_long(page: Path) -> None:
    """At most 30 words above the first heading of a section."""
    for sentence in sentences(page.read_text("utf-8").partition("\n## ")[0]):
        assert len(sentence.split()) <= LONGEST, sentence


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_pages_end(page: Path) -> None:
    """At most 400 lines of source."""
    assert len(page.read_text("utf-8").splitlines()) <= MOST_LINES


def test_what_no_index_has_is_not_installed_from_one() -> None:
    """Until it is published, makespan is installed from its clone."""
    pages = [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("stories/*.md")]
    for page in [*pages, *ROOT.glob("src/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")]:
        assert not re.search(r"pip install '?makespan\b", page.read_text("utf-8")), page.name


def test_the_lecture_and_the_notebook_are_named_in_footnotes() -> None:
    """The pages say once whose model it is, at their foot."""
    for name in ("taskgraph.md", "reduction.md", "stories/lecturer.md"):
        text = (DOCS / name).read_text("utf-8")
        notes = re.findall(r"^\[\^(\w+)\]: ", text, re.MULTILINE)
        assert len(notes) == 1
        assert text.count(f"[^{notes[0]}]") == 2
