"""The studio, served for the tests, in a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.browser import Browser, chromium, started

SERVE = [sys.executable, "-m", "makespan", "serve", "--no-browser", "--port", "0"]
REFUSALS = "Failed to load resource"  # what a browser says of each answer that is a mistake


@pytest.fixture(scope="session")
def studio() -> Iterator[str]:
    """The address of a server."""
    if chromium() is None:
        pytest.skip("no Chromium found; install one to test pages (chromium)")
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        yield next(word for word in words if word.startswith("http://"))
        process.terminate()


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    if chromium() is None:
        pytest.skip("no Chromium found; install one to test pages (chromium)")
    with started() as browser:
        browser.do(lambda page: page.set_default_timeout(20_000))
        yield browser


@pytest.fixture
def browser(opened: Browser, studio: str) -> Iterator[Browser]:
    """The studio with its first plan; no script fails, and no request leaves the machine."""
    opened.errors.clear()
    opened.requests.clear()
    opened.do(lambda page: page.goto("about:blank"))
    opened.open(studio)
    opened.wait("makespan.plans.length > 0")
    yield opened
    assert [error for error in opened.errors if not error.startswith(REFUSALS)] == []
    outside = ("about:", "data:", "blob:")
    others = [one for one in opened.requests if not one.startswith((studio, *outside))]
    assert others == []
