"""The site: works that are cited are among the references, what is built is whole, search runs."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import makespan
from tests.browser import Browser, chromium

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs" / "site"
CITING = (
    "src/makespan/**/*.py",
    "packages/*/src/makespan/**/*.py",
    "docs/*.md",
    "docs/benchmarks/*.md",
    "docs/notebooks/*.py",
)
CITED = re.compile(r"\b([A-ZÀ-Ž][\w'’-]+)(?: et al\.)?,? \(?((?:19|20)\d\d)\b(?!-\d)")
"""The name before a year: the last author's, or that of the place where it was published."""
STANDARDS = {("CIE", "1976")}
WORKER = """
importScripts("./more.js").then(() => postMessage(more));
addEventListener("message", event => postMessage(event.data + more));
"""
TEXTS = re.compile(r">([^<>]+)</text>")
PAGE = """<body><script src="iframe-worker.js"></script><script>
globalThis.got = [];
const worker = new Worker("at/worker.js");
worker.addEventListener("message", event => {
  if (got.push(event.data) === 1) worker.postMessage(40);
});
globalThis.makespan = {};
</script></body>"""


def references() -> list[str]:
    text = (ROOT / "docs" / "references.md").read_text("utf-8")
    return [" ".join(entry.split()) for entry in text.split("\n- ")[1:]]


def _plain(name: str) -> str:
    """Return a name without accents and capitals."""
    return unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()


def cited() -> dict[tuple[str, str], str]:
    """Return each name and year that is cited, with a place that does."""
    found = {}
    for path in (path for place in CITING for path in ROOT.glob(place)):
        if path.name != "references.md":
            text = re.sub(r"\"?\s*\n[\s#*\"]*", " ", path.read_text("utf-8"))
            for match in CITED.finditer(text):
                said = text[max(0, match.start() - 50) : match.end()]
                found[match[1], match[2]] = f"{path.relative_to(ROOT)}: {said}"
    return found


def test_every_work_that_is_cited_is_among_the_references() -> None:
    """By the name before its year."""
    known = references()
    missing = [
        said
        for (name, year), said in sorted(cited().items())
        if (name, year) not in STANDARDS
        and not any(name in entry and year in entry for entry in known)
    ]
    assert not missing, "\n".join(("add to docs/references.md what these cite", *missing))


def test_references_are_in_order_and_none_stands_twice() -> None:
    """By their short forms; a digital object identifier is well formed."""
    names = [re.match(r"\*\*(.+?)\.\*\*", entry) for entry in references()]
    assert all(names)
    short = [name[1] for name in names if name]
    assert len(set(short)) == len(short) > 100
    assert short == sorted(short, key=_plain)
    for entry in references():
        assert "doi:" not in entry or re.search(r" doi:10\.\d{4,9}/\S+[^.\s]$", entry), entry


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def checks() -> ModuleType:
    pytest.importorskip("mkdocs")
    return module("checks")


@pytest.mark.thorough
def test_pictures_are_what_is_drawn_today(tmp_path: Path) -> None:
    """What they say, that is; those which a clock has a part in are not among them."""
    for draw in module("images").SURE:
        draw(tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 8
    for path in drawn:
        kept = ROOT / "docs" / "images" / path.name
        assert TEXTS.findall(path.read_text("utf-8")) == TEXTS.findall(kept.read_text("utf-8"))


def test_every_public_name_has_a_page() -> None:
    """Of its own, also where names of files are told apart without regard to capitals."""
    pytest.importorskip("mkdocs")
    reference = module("reference")
    pages = [page for group in reference.in_nav()[1:] for each in group.values() for page in each]
    paths = [path for page in pages for path in page.values()]
    names = {name for page in pages for name in page}
    assert set(makespan.__all__) - {"__version__"} <= names
    assert {"map", "calibrate", "tuned", "fractions", "graphs"} <= names
    assert len({path.lower() for path in paths}) == len(paths) > 80


@pytest.mark.thorough
def test_what_examples_make_is_drawn() -> None:
    """The code beside a picture of the reference makes it."""
    pytest.importorskip("mkdocs")
    reference = module("reference")
    for name in reference.DRAWN:
        code, drawn = reference._drawn("makespan", name)
        assert code.startswith("makespan.save(")
        assert drawn.startswith(b"<svg")


def test_each_table_is_in_an_area() -> None:
    """And in one only."""
    pytest.importorskip("mkdocs")
    generate = module("generate")
    found = [path.stem for paths in generate._areas().values() for path in paths]
    assert sorted(found) == sorted(path.stem for path in generate.TABLES)


def test_what_stands_behind_sections_of_a_docstring_is_told_before() -> None:
    """Its complexity and its source; an example comes last, with the words that lead to it."""
    pytest.importorskip("griffe")
    arranged = module("docstrings").arranged
    sections = "Parameters\n----------\nn\n    One.\n\n    More.\n\nRaises\n------\nE\n    Never."
    example = "As in:\n\n>>> 1\n1\n\nor\n\n>>> 2\n2"
    assert arranged(f"Do it.\n\n{sections}\n\nO(1).\n\n{example}") == (
        f"Do it.\n\nO(1).\n\n{sections}\n\nExamples\n--------\n{example}"
    )
    assert arranged("Alone.") == "Alone."
    headed = "Do it.\n\nExamples\n--------\nOf one:\n\n>>> 1\n1"
    assert arranged(headed) == headed


def test_cached_properties_are_shown_as_properties() -> None:
    """Though the reference knows Python's own only."""
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions(module("docstrings").Docstrings())
    paths = [ROOT / "src"]
    loaded = griffe.load("makespan.flow.result", search_paths=paths, extensions=extensions)
    shown = loaded["Result.answer"]
    assert shown.is_attribute
    assert "property" in shown.labels
    assert str(shown.annotation) == "dict[str, Any]"


def test_several_names_are_told_one_by_one() -> None:
    """As each has a type of its own; without a section they are a list."""
    pytest.importorskip("griffe")
    arranged = module("docstrings").arranged
    said = "Do it.\n\nParameters\n----------\na, *b\n    One.\nc\n    Two."
    assert arranged(said).endswith("\na\n    One.\n*b\n    One.\nc\n    Two.")
    assert arranged("Of:\n\na, b\n    One\n    two.\nc\n    Three.") == (
        "Of:\n\n- `a`, `b`: One two.\n- `c`: Three."
    )


def test_names_of_docstrings_lead_to_their_entries() -> None:
    """Those of the reference; others are set as code."""
    pytest.importorskip("griffe")
    docstrings = module("docstrings")
    linked = docstrings.ROLE.sub(docstrings._linked, ":func:`makespan.solve`, :data:`NONE`")
    assert linked == "[`solve`][makespan.flow.solve.solve], `NONE`"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('<a href="other.html#there">', ""),
        ('<a href="#here" id="here">', ""),
        ('<a href="https://elsewhere.org/page#any">', ""),
        ('<img src="data:image/png;base64,AA">', ""),
        ('<link rel="canonical" href="https://elsewhere.org/">', ""),
        ('<a href="none.html">', "none.html: there is no such file"),
        ('<a href="../outside.html">', "../outside.html: there is no such file"),
        ('<a href="other.html#nowhere">', "other.html#nowhere: there is no such place"),
        ('<img src="none.svg">', "none.svg: there is no such file"),
        ('<script src="https://elsewhere.org/a.js"></script>', "loads https://elsewhere.org/a.js"),
        ('<script src="//elsewhere.org/a.js"></script>', "loads //elsewhere.org/a.js"),
        (
            '<link rel="stylesheet" href="https://elsewhere.org/a.css">',
            "https://elsewhere.org/a.css",
        ),
        ('<p style="background: url(https://elsewhere.org/a.png)">', "https://elsewhere.org/a.png"),
    ],
)
def test_links_of_the_built_site(
    checks: ModuleType, tmp_path: Path, written: str, said: str
) -> None:
    """What leads nowhere, and what is loaded from elsewhere, is found; nothing else is."""
    (tmp_path / "site").mkdir()
    (tmp_path / "outside.html").write_text("<p>")
    (tmp_path / "site" / "other.html").write_text('<h2 id="there">There</h2>')
    (tmp_path / "site" / "index.html").write_text(written)
    found = list(checks.mistakes(tmp_path / "site"))
    assert len(found) == bool(said)
    assert said in "".join(found)


def test_styles_load_nothing_from_elsewhere(checks: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "site.css").write_text("p { background: url('https://elsewhere.org/a.png') }")
    assert list(checks.mistakes(tmp_path)) == ["site.css: loads https://elsewhere.org/a.png"]


@pytest.mark.thorough
@pytest.mark.skipif(chromium() is None, reason="needs a Chromium")
def test_search_runs_where_a_site_is_opened_as_files(tmp_path: Path) -> None:
    """A worker's script runs in a frame: it loads others, gets messages and answers them."""
    (tmp_path / "at").mkdir()
    (tmp_path / "at" / "worker.js").write_text(WORKER)
    (tmp_path / "at" / "more.js").write_text("var more = 2;")
    (tmp_path / "iframe-worker.js").write_bytes((SITE / "iframe-worker.js").read_bytes())
    (tmp_path / "page.html").write_text(PAGE)
    with Browser() as browser:
        browser.open(tmp_path / "page.html")
        browser.wait("got.length === 2")
        assert browser.value("got") == [2, 42]
        assert not browser.errors


def test_the_file_to_copy_is_offered_as_it_is() -> None:
    """Byte by byte, and the page leads to it."""
    pytest.importorskip("mkdocs")
    hook = module("generate")
    source = ROOT / "src" / "makespan" / "balance.py"
    assert hook.downloads() == {"balance.py": source.read_bytes()}
    page = SimpleNamespace(file=SimpleNamespace(src_uri="balance.md"), meta={})
    text = (ROOT / "docs" / "balance.md").read_text("utf-8")
    assert "[balance.py](balance.py)" in hook.on_page_markdown(text, page, None, None)
