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


def environment():
    """The makespan of this checkout for the kernels."""
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def serving(command, folder, address):
    """A server that answers at an address, until it is no longer needed."""
    log = folder / "log.txt"
    with log.open("w") as lines, subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=lines, stderr=subprocess.STDOUT
    ) as process:
        try:
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address).close()
                    break
                except OSError:
                    assert process.poll() is None and time.monotonic() < until, log.read_text()
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
        return self.browser.do(lambda page: act(page.frame_locator("iframe[title=Board]").nth(number)))

    def wait(self, number, what, text):
        """Wait until a part of a board says a text."""
        until = time.monotonic() + PATIENCE
        while text not in (said := self.board(number, lambda frame: frame.locator(what).inner_text())):
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


@contextmanager
def in_lab(folder, *, dark=False):
    import nbformat

    port = free_port()
    cells = [nbformat.v4.new_code_cell(text) for text in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "board.ipynb")
    command = [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"),
        *("--expose-app-in-browser", "--IdentityProvider.token=", "--ServerApp.password="),
        *("--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    with serving(command, folder, f"http://127.0.0.1:{port}/lab/tree/board.ipynb") as address:
        with Browser(size=(1300, 1500), dark=dark) as browser:
            browser.do(lambda page: page.goto(address))
            browser.wait("globalThis.jupyterapp?.shell?.currentWidget?.context?.isReady === true")
            browser.wait("jupyterapp.shell.currentWidget.sessionContext.session?.kernel != null")

            def run(cell):
                browser.value(
                    "{const one = jupyterapp.shell.currentWidget.content;"
                    f"one.activeCellIndex = {cell}; one.deselectAll();}}"
                    "jupyterapp.commands.execute('notebook:run-cell')"
                )

            run(0)
            run(2)
            yield Notebook(browser, lambda: run(1))


@contextmanager
def in_marimo(folder, *, dark=False):
    port = free_port()
    (folder / "board.py").write_text(MARIMO, encoding="utf-8")
    command = [
        *(sys.executable, "-m", "marimo", "run", "--headless", "--no-token", f"--port={port}"),
        "board.py",
    ]
    with serving(command, folder, f"http://127.0.0.1:{port}/") as address:
        with Browser(size=(1300, 1500), dark=dark) as browser:
            browser.do(lambda page: page.goto(address))
            yield Notebook(browser, lambda: None)
