"""Pages of plans with odd names, opened in a browser."""

from __future__ import annotations

import json
from functools import cache
from multiprocessing.util import Finalize

from campaign import corpus
from campaign.names import oddly_named
from campaign.part import Defect, Part, Skipped, Trial
from campaign.structure import as_json
from makespan import InputError, MethodError, solve
from makespan.flow.files.files import problem_of
from makespan.flow.plot import html
from tests.browser import Browser, chromium


def attempt(trial: Trial) -> None:
    """Open one page: its drawing is there, its scripts run without errors and ask nobody."""
    if chromium() is None:
        raise Skipped("no Chromium is installed")
    rng = trial.random("make")
    content = trial.given[1] if trial.given else as_json(oddly_named(rng))
    trial.input = ("input.json", content)
    try:
        result = solve(problem_of(json.loads(content)), time_limit=0.05)
        page = html(result)
    except (InputError, MethodError):
        return
    path = trial.folder / "page.html"
    path.write_text(page, encoding="utf-8")
    browser = _browser()
    browser.errors.clear()
    browser.requests.clear()
    browser.open(path)
    if browser.errors:
        raise Defect(f"a page has an error: {browser.errors[0]}")
    if any(not request.startswith(("file:", "data:", "blob:")) for request in browser.requests):
        raise Defect(f"a page asks for {browser.requests[-1]}")
    if not browser.value("document.querySelectorAll('svg, canvas').length"):
        raise Defect("a page without a drawing")
    trial.count("pages opened")


@cache
def _browser() -> Browser:
    browser = Browser()
    Finalize(None, browser.__exit__, exitpriority=10)  # a worker runs no handlers of atexit
    return browser


PART = Part(
    name="pages",
    promise="A page opens in Chromium with its drawing, without an error and without asking "
    "anybody, whatever the names in it.",
    attempt=attempt,
    goals={"pages opened": 500},
    share=0.3,
    patience=90.0,
    memory=None,
    prepare=corpus.sound,
)
