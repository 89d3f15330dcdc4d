"""Notebooks in a browser: JupyterLab and marimo, each with a board, where they are installed."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from tests.browser import Browser

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0
BOARD = "IndependentTasks(2, [3, 3, 2, 2, 2])"
CELLS = (
    f"import makespan\nboard = makespan.board(makespan.{BOARD})\nboard",
    "print('read back:', board.result.makespan, board.result.gap)",
    f"other = makespan.board(makespan.solve(makespan.{BOARD}, method='lpt', log=True))\nother",
)
MARIMO = f"""\
import marimo
app = marimo.App(width="medium")

@app.cell
def _():
    import marimo as mo
    import makespan
    board = mo.ui.anywidget(makespan.board(makespan.{BOARD}))
    board
    return board, makespan, mo

@app.cell
def _(board, mo):
    board.value
    result = board.widget.result
    mo.md("read back: " + (f"{{result.makespan}} {{result.gap}}" if result else "nothing"))
    return

@app.cell
def _(makespan, mo):
    mo.ui.anywidget(makespan.board(makespan.solve(makespan.{BOARD}, method="lpt", log=True)))
    return
"""


def environment(folder):
    """The makespan of this checkout for the kernels; settings of the folder, without news."""
    settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = '{"fetchNews": "false", "checkForUpdates": false}'
    (settings / "notification.jupyterlab-settings").write_text(quiet, encoding="utf-8")
    own = {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "JUPYTER_CONFIG_DIR": str(folder)}
    return {
        **os.environ,
        **own,
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def serving(command, folder, address):
    """A server that answers at an address, until it is no longer needed."""
    log = folder / "log.txt"
    with (
        log.open("w") as lines,
        subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdout=lines, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                        address
                    ).close()
                    break
                except OSError:
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < until, log.read_text()
                    time.sleep(0.3)
            yield address
        finally:
            process.terminate()


class Notebook:
    """A notebook that is open: its boards, and what its cells print."""

    def __init__(self, browser, run):
        self.browser, self.run = browser, run

    def board(self, number, act):
        """Do something with the page inside of a board."""
        return self.browser.do(
            lambda page: act(page.frame_locator("iframe[title=Board]").nth(number))
        )

    def wait(self, number, what, text):
        """Wait until a part of a board says a text."""
        until = time.monotonic() + PATIENCE
        while text not in (
            said := self.board(number, lambda frame: frame.locator(what).inner_text())
        ):
            assert time.monotonic() < until, said
            time.sleep(0.1)

    def read_back(self):
        """Return the makespan and the gap that the notebook has."""
        self.run()
        until = time.monotonic() + PATIENCE
        while True:
            text = self.browser.do(lambda page: page.locator("body").inner_text())
            found = re.findall(r"read back: ([\d.]+) ([\d.]+)", text)
            if found:
                return tuple(map(float, found[-1]))
            assert time.monotonic() < until, text
            time.sleep(0.1)


READY = """globalThis.jupyterapp?.shell?.currentWidget?.context?.isReady === true
  && jupyterapp.shell.currentWidget.sessionContext.session?.kernel != null"""
"""That JupyterLab has opened a notebook, and its kernel runs."""


def running(cell):
    """The line of JavaScript that runs a cell of JupyterLab."""
    return (
        "{const one = jupyterapp.shell.currentWidget.content;"
        f"one.activeCellIndex = {cell}; one.deselectAll();}}"
        "jupyterapp.commands.execute('notebook:run-cell')"
    )


@contextmanager
def lab(folder):
    """The address of a notebook in JupyterLab, whose application a page can reach."""
    import nbformat

    port = free_port()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "board.ipynb")
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"),
        *("--expose-app-in-browser", "--IdentityProvider.token=", "--ServerApp.password="),
    ]
    with serving(command, folder, f"http://127.0.0.1:{port}/lab/tree/board.ipynb") as address:
        yield address


@contextmanager
def in_lab(folder, *, dark=False):
    with lab(folder) as address, Browser(size=(1300, 1500), dark=dark) as browser:
        browser.do(lambda page: page.goto(address))
        browser.wait(READY)
        for cell in (0, 2):
            browser.value(running(cell))
        yield Notebook(browser, lambda: browser.value(running(1)))


@contextmanager
def in_marimo(folder, *, dark=False):
    port = free_port()
    (folder / "board.py").write_text(MARIMO, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "marimo", "run", "--headless", "--no-token", f"--port={port}"),
        "board.py",
    ]
    here = f"http://127.0.0.1:{port}/"
    with serving(command, folder, here), Browser(size=(1300, 1500), dark=dark) as browser:
        browser.do(lambda page: page.goto(here))
        yield Notebook(browser, lambda: None)
