"""Accessibility by axe: every page of the built site, pages of results, and the studio.

``npm pack axe-core``, unpacked, has what the variable names::

    mkdocs build && AXE=package/axe.min.js pytest -m slow -n 2 tests/test_axe.py
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from makespan import (
    Experiment,
    Grid,
    Partition,
    compare,
    experiment,
    landscape,
    report,
    save,
    solve,
)
from makespan.flow.kinds import KINDS, generate
from tests.browser import DRAWN, Browser, chromium

AXE = os.environ.get("AXE", "")
SITE = Path(os.environ.get("SITE", Path(__file__).parents[1] / "build" / "site"))
PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html")) if AXE else []
PAGES = [page for page in PAGES if page != "404.html"]  # its links begin at the root of the site
SHAPES = ((1280, 900), (400, 900))
SERVE = ("makespan", "serve", "--no-browser", "--port", "0")
RUN = """async () => {
    await Promise.all(document.getAnimations().map((one) => one.finished));
    const whole = {exclude: [".md-code__nav"]}; // buttons to copy, which the theme calls alike
    return (await axe.run(whole, {resultTypes: ["violations"]})).violations.map(
    ({id, impact, nodes}) => [id, impact, nodes.length, nodes[0].target.flat().join(" "),
        nodes[0].any.concat(nodes[0].all, nodes[0].none).map(one => one.message).join("; ")]);
}"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not AXE, reason="AXE does not name axe.min.js"),
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium"),
]


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with Browser(dark=request.param == "dark") as opened:
        yield opened


def found(browser: Browser, address: str, ready: str = "body", key: str = "") -> list[Any]:
    """What axe finds on a page, wide and narrow, when an element is there and a key was pressed."""

    def asked(page: Any) -> list[Any]:
        mistakes = []
        page.goto(address)
        page.wait_for_selector(ready, state="attached")
        if key:
            page.keyboard.press(key)
        page.evaluate(Path(AXE).read_text("utf-8"))
        for width, height in SHAPES:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(DRAWN)
            mistakes += [[f"{width} px", *each] for each in page.evaluate(RUN)]
        return mistakes

    return browser.do(asked)


@pytest.mark.parametrize("name", PAGES)
def test_site(browser: Browser, name: str) -> None:
    """As it was built."""
    assert not found(browser, (SITE / name).resolve().as_uri())


@pytest.mark.parametrize("kind", KINDS)
def test_page_of_a_result(browser: Browser, kind: str, tmp_path: Path) -> None:
    """With its steps, where its methods log some."""
    save(solve(generate(kind, seed=1), log=True, time_limit=5), tmp_path / "page.html")
    assert not found(browser, (tmp_path / "page.html").as_uri(), "canvas", "ArrowRight")


def test_page_of_a_front(browser: Browser, tmp_path: Path) -> None:
    """With its slider and its points."""
    costs, energy = [[0, 2, 4, 6, 8], [0, 3, 6, 9, 12]], [[0, 9, 18, 27, 36], [0, 1, 3, 6, 10]]
    front = Partition(tasks=4, costs=costs, energy=energy, objective="pareto")
    save(solve(front), tmp_path / "page.html")
    assert not found(browser, (tmp_path / "page.html").as_uri(), ".diagrams [type=range]")


def test_pages_without_scripts(browser: Browser, tmp_path: Path) -> None:
    """A problem, methods on one and on several, an experiment, a map of instances."""
    grid, methods = Grid("taskgraph", options={"size": [8, 12]}, seeds=3), ["heft", "cpop"]
    rows = experiment(Experiment(grid, methods=methods))
    problems = {str(seed): generate("taskgraph", seed=seed) for seed in range(2)}
    shown = {
        "problem": problems["0"],
        "one": compare(problems["0"], methods=methods),
        "several": compare(problems, methods=methods),
        "report": report(rows),
        "map": landscape(rows),
    }
    for name, thing in shown.items():
        save(thing, tmp_path / f"{name}.html")
        assert not found(browser, (tmp_path / f"{name}.html").as_uri()), name


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http://"))
        process.terminate()


@pytest.mark.parametrize("place", ["", *(f"#exercise={number}" for number in range(1, 10))])
def test_studio(browser: Browser, server: str, place: str) -> None:
    """Its first page, and each exercise."""
    browser.do(lambda page: page.goto("about:blank"))
    assert not found(browser, f"{server}{place}", "#exercise h2" if place else "#charts canvas")
