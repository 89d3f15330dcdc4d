"""The built site: no page is long, and none is wider than a telephone.

Pages of one form that are made from the code, as of every name, take turns: a third of them a day.
"""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from tests.browser import Browser, chromium

SITE = Path(os.environ.get("SITE", Path(__file__).parents[1] / "build" / "site"))
TURNS, TODAY = 3, date.today().toordinal()
PAGES = [
    page
    for number, page in enumerate(sorted(SITE.rglob("*.html")))
    if page.name != "404.html"
    and (
        page.relative_to(SITE).parts[0] not in ("reference", "figures")
        or (number + TODAY) % TURNS == 0
    )
]
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


def resized(browser: Browser, size: tuple[int, int]) -> None:
    room = {"width": size[0], "height": size[1]}
    browser.do(lambda tab: tab.set_viewport_size(room))


def test_pages_end_and_fit() -> None:
    """In 12,000 pixels where the window is wide; nothing sticks out at the side of any."""
    wrong = []
    with Browser(size=WIDE) as browser:
        for page in PAGES:
            address = page.as_uri()
            resized(browser, WIDE)  # before the page is there: its drawer slides when it gets room
            browser.do(lambda tab, address=address: tab.goto(address))
            for width, height in (WIDE, NARROW):
                resized(browser, (width, height))
                wide, room, high = browser.value(SIZES)
                if wide > room or (width == WIDE[0] and high > LONGEST):
                    wrong.append(f"{page.relative_to(SITE)}: {wide} of {room} wide, {high} high")
    assert not wrong, "\n".join(wrong)
