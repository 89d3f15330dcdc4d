"""The studio in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser import Browser, chromium

REFUSALS = "Failed to load resource"  # what a browser says of each answer that is a mistake
INSIDE = ("about:", "data:", "blob:")


@pytest.fixture(scope="session")
def opened() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no Chromium found; install one to test pages (chromium)")
    with Browser() as browser:
        yield browser


def forget(browser: Browser, address: str) -> None:
    """Let the browser forget what earlier pages of this address have kept."""

    def act(page: Page) -> None:
        session = page.context.new_cdp_session(page)
        kept = {"origin": address, "storageTypes": "local_storage"}
        session.send("Storage.clearDataForOrigin", kept)
        session.detach()

    browser.do(act)


@pytest.fixture
def browser(opened: Browser, address: str) -> Iterator[Browser]:
    """The studio with its first plan; no script fails, and no request leaves the machine."""
    opened.errors.clear()
    opened.requests.clear()
    opened.do(lambda page: page.goto("about:blank"))
    forget(opened, address)
    opened.open(address)
    opened.wait("makespan.plans.length > 0")
    yield opened
    assert [error for error in opened.errors if not error.startswith(REFUSALS)] == []
    assert [one for one in opened.requests if not one.startswith((address, *INSIDE))] == []
