"""The studio in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import Browser, chromium

REFUSALS = "Failed to load resource"  # what a browser says of each answer that is a mistake
INSIDE = ("about:", "data:", "blob:")


@pytest.fixture(scope="session")
def opened() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no Chromium found; install one to test pages (chromium)")
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(opened: Browser, address: str) -> Iterator[Browser]:
    """The studio with its first plan; no script fails, and no request leaves the machine."""
    opened.errors.clear()
    opened.requests.clear()
    opened.do(lambda page: page.goto("about:blank"))
    opened.open(address)
    opened.wait("makespan.plans.length > 0")
    yield opened
    assert [error for error in opened.errors if not error.startswith(REFUSALS)] == []
    assert [one for one in opened.requests if not one.startswith((address, *INSIDE))] == []
