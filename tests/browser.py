"""A page in a headless Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from playwright.sync_api import ConsoleMessage, Error, Page, Playwright, sync_playwright

Found = TypeVar("Found")

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TURNING = "turned = new Promise(done => addEventListener('wheel', done, {once: true})); 0"
PATIENCE = 60.0
LAUNCHES = 4
ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-back-forward-cache",  # a page that was left is not kept
    "--disable-site-isolation-trials",  # and the next one takes its process
    "--process-per-site",
    "--renderer-process-limit=1",
)
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def chromium() -> str | None:
    """Return the path of a Chromium, or None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def _launched(playwright: Playwright) -> Any:
    """Start Chromium, which on a busy machine may take more than one try."""

    def launch() -> Any:
        return playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)

    for _ in range(LAUNCHES - 1):
        with suppress(Error):
            return launch()
        time.sleep(1.0)
    try:
        return launch()
    except Error:
        playwright.stop()
        raise


class Browser:
    """One page in a browser of its own; what it complains of is kept in ``errors``.

    Playwright runs an event loop in the thread that calls it; a thread of its own leaves those of
    others alone. What acts on the page waits until that is drawn.
    """

    def __init__(self, *, size: tuple[int, int] = (1280, 860), dark: bool = False) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._playwright, self.page = self._do(lambda: self._start(size, dark))

    def _start(self, size: tuple[int, int], dark: bool) -> tuple[Playwright, Page]:
        playwright = sync_playwright().start()
        browser = _launched(playwright)
        width, height = size
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)
        page.on("request", lambda request: self.requests.append(request.url))
        return playwright, page

    def _stop(self) -> None:
        if self.page.context.browser is not None:
            self.page.context.browser.close()
        self._playwright.stop()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _do(self, act: Callable[[], Found]) -> Found:
        return self._thread.submit(act).result()

    def _act(self, act: Callable[[], object]) -> None:
        self._do(lambda: (act(), self.page.evaluate(DRAWN)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._thread:
            self._do(self._stop)

    def open(self, place: Path | str) -> None:
        """Load a page, of a file or of an address, and wait until its script has run."""
        address = place if isinstance(place, str) else place.resolve().as_uri()
        self._do(lambda: self.page.goto(address))
        self.wait("globalThis.makespan !== undefined")
        self.settle()

    def do(self, act: Callable[[Page], Found]) -> Found:
        """Return what is done with Playwright's own page, in its thread."""
        return self._do(lambda: act(self.page))

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        return self._do(lambda: self.page.evaluate(expression))

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true; Playwright's own way is not let by a page."""
        until = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > until:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until what has changed is drawn."""
        self._act(lambda: None)

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._act(lambda: self.page.mouse.move(x, y))

    def click(self, x: float, y: float) -> None:
        """Click at a point of the window."""
        self._act(lambda: self.page.mouse.click(x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one point to another."""
        mouse = self.page.mouse
        self.move(*start)
        self._act(mouse.down)
        self._act(lambda: mouse.move(*end, steps=2))
        self._act(mouse.up)

    def wheel(self, x: float, y: float, down: float) -> None:
        """Turn the wheel over a point; negative is up."""
        self.move(x, y)
        self.value(TURNING)
        self._do(lambda: self.page.mouse.wheel(0, down))
        self._act(lambda: self.page.evaluate("turned.then(() => 0)"))

    def key(self, key: str) -> None:
        """Press a key or keys held together, as Playwright names them: ``Shift+ArrowLeft``."""
        self._act(lambda: self.page.keyboard.press(key))

    def type(self, text: str) -> None:
        """Type text into what has the focus."""
        self._act(lambda: self.page.keyboard.insert_text(text))

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, as a PNG image."""
        self._do(lambda: self.page.screenshot(path=path, full_page=whole))
