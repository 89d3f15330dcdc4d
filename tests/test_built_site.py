"""The built site: no page is long, and none is wider than a telephone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, chromium

SITE = Path(os.environ.get("SITE", Path(__file__).parents[1] / "build" / "site"))
PAGES = sorted(page for page in SITE.rglob("*.html") if page.name != "404.html")
WIDE, NARROW = (1280, 900), (400, 900)
LONGEST = 12_000
"""Pixels of a page in a window of 1280."""
SIZES = """["scrollWidth", "clientWidth", "scrollHeight"].map(
    name => document.documentElement[name])"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PAGES, reason="the site is not built"),
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium"),
]


@pytest.fixture(scope="module", params=[WIDE, NARROW], ids=["wide", "narrow"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with Browser(size=request.param) as opened:
        yield opened


def test_pages_end_and_fit(browser: Browser) -> None:
    """In 12,000 pixels where the window is wide; nothing sticks out at the side of any."""
    wrong = []
    for page in PAGES:
        address = page.as_uri()
        browser.do(lambda tab, address=address: tab.goto(address))
        width, room, height = browser.value(SIZES)
        if width > room or (room > NARROW[0] and height > LONGEST):
            wrong.append(f"{page.relative_to(SITE)}: {width} of {room} wide, {height} high")
    assert not wrong, "\n".join(wrong)
