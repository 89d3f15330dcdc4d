"""Take the pictures of pages anew, light and dark: ``python docs/site/screens.py``.

Needs a Chromium of the system, and the extras ``serve`` and ``test``; for ``board`` JupyterLab, and
the root of the repository on the path.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from play import html
from playwright.sync_api import Page, sync_playwright

import makespan
from makespan.flow.kinds import generate

IMAGES = Path(__file__).parents[1] / "images"
COLOURS = 128
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
SERVE = (sys.executable, "-m", "makespan", "serve", "--no-browser", "--port", "0")
PLACED = ((0, "1"), (2, "1"), (1, "2"), (4, "1"), (3, "2"))
"""Tasks of the first exercise, and the keys of their machines."""


def player(page: Page, folder: Path) -> None:
    """HEFT, at a step that puts a task into a gap."""
    for seed in count():
        problem = generate("taskgraph", seed=seed, options={"size": 12, "machines": 2})
        result = makespan.solve(problem, method="heft", log=True)
        found = [at for at, step in enumerate(result.steps) if "in the gap" in step.text]
        if found:
            break
    makespan.save(result, folder / "page.html")
    _open(page, (folder / "page.html").as_uri(), "plans.length")
    page.evaluate(f"makespan.view.player.go({found[0]})")


def above(page: Page, folder: Path) -> None:
    """A plan above another one of the same problem."""
    problem = generate("taskgraph", seed=3, options={"size": 14, "machines": 3})
    one, other = (makespan.solve(problem, method=name) for name in ("peft", "min-min"))
    makespan.save(one, folder / "page.html", beside=other)
    _open(page, (folder / "page.html").as_uri(), "plans.length === 2")


def studio(page: Page, folder: Path) -> None:
    """The first exercise, with five of its six tasks on the board."""
    with _served() as address:
        page.goto(f"{address}#exercise=1")
        page.wait_for_selector(".board [data-item]")
        for item, machine in PLACED:
            page.focus(f'.board [data-item="{item}"]')
            page.keyboard.press(machine)
        page.wait_for_selector("#charts canvas")
        page.wait_for_timeout(1000)


def board(page: Page, folder: Path) -> None:
    """A notebook of JupyterLab with a board, on which four of five tasks stand."""
    from tests.notebooks import READY, lab, running

    with TemporaryDirectory() as own, lab(Path(own)) as address:
        page.goto(address)
        page.wait_for_function(READY)
        if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches"):
            page.evaluate(
                "jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
            )
        page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
        page.evaluate(running(0))
        frame = page.frame_locator("iframe[title=Board]")
        frame.get_by_text("The problem in numbers").click()
        for item, machine in ((0, "1"), (2, "2"), (1, "1"), (3, "2")):
            frame.locator(f'.board [data-item="{item}"]').focus()
            page.keyboard.press(machine)
        frame.locator("#charts canvas").wait_for()
        page.wait_for_timeout(1500)
        page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTop = 0")
        page.wait_for_timeout(500)


def play(page: Page, folder: Path) -> None:
    """The page of the site that plans by itself, with a task moved by hand."""
    (folder / "play.html").write_text(html(), "utf-8")
    _open(page, (folder / "play.html").as_uri(), "state")
    page.focus('.board [data-item="6"]')
    page.keyboard.press("3")
    page.wait_for_timeout(500)


SCREENS: dict[str, Callable[[Page, Path], None]] = {
    "player": player,
    "page": above,
    "studio": studio,
    "board": board,
    "try": play,
}


def _open(page: Page, address: str, ready: str) -> None:
    page.goto(address)
    page.wait_for_function(f"globalThis.makespan?.{ready}")
    page.wait_for_timeout(500)


@contextmanager
def _served() -> Iterator[str]:
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            process.terminate()


if __name__ == "__main__":
    browser = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as playwright, TemporaryDirectory() as place:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name in sys.argv[1:] or SCREENS:
            for scheme, suffix in (("light", ""), ("dark", "-dark")):
                shown = opened.new_page(
                    viewport={"width": 1180, "height": 820},
                    color_scheme="dark" if scheme == "dark" else "light",
                )
                SCREENS[name](shown, Path(place))
                path = IMAGES / f"{name}{suffix}.png"
                shown.screenshot(path=path)
                with Image.open(path) as image:
                    few = image.quantize(COLOURS)
                few.save(path, optimize=True)
                shown.close()
        opened.close()
