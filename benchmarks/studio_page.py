"""The studio's page: from what is pasted or changed to the plan on screen."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import time
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.studio import SERVE, WARMING, graph, star
from benchmarks.table import Table
from tests.browser import chromium

REPEAT = 10
CALM = 3.0  # seconds after which pictures and steps are there, too
UNTIL_DRAWN = """
  while (makespan.plans[0] === before) await new Promise((done) => setTimeout(done, 2));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return (performance.now() - start) / 1000;
}"""
PASTE = (
    """async (text) => {
  const box = document.getElementById('toml');
  const [start, before] = [performance.now(), makespan.plans[0]];
  box.value = text;
  box.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste' }));"""
    + UNTIL_DRAWN
)
CHANGE = (
    """async ([label, text]) => {
  const box = document.querySelector(`#editor input[aria-label="${label}"]`);
  const [start, before] = [performance.now(), makespan.plans[0]];
  box.value = text;
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));"""
    + UNTIL_DRAWN
)


def main() -> None:
    """Print and write the table."""
    rng = random.Random(1)
    heft = {"options": {"method": "heft"}}
    small, large = graph(rng, 30, 4) | heft, graph(rng, 100, 8)
    table = Table(
        "studio_page",
        "The studio's page",
        f"Seconds from what is done in the page to its plan on screen, in Chromium on one machine. "
        f"{REPEAT} times each, with a server that is warm.",
        ("what is done", "median", "longest"),
        clock="wall time",
    )
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        address = next(word for word in words if word.startswith("http://"))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(address)
            time.sleep(WARMING)
            table.add("30 tasks pasted, HEFT", *pasted(page, small))
            work, compute = "work, tasks 3", "computing, s/unit, workers 3"
            table.add("one of 100 tasks changed, HEFT", *changed(page, large | heft, work))
            table.add("one of 100 tasks changed", *changed(page, large, work))
            table.add("one of 100 workers changed", *changed(page, star(rng, 100, 0.0), compute))
            browser.close()
        process.terminate()
    table.write()


def pasted(page: Page, problem: dict[str, Any]) -> tuple[float, float]:
    """Return the median and the longest time from a paste to the plan."""
    times = []
    for repetition in range(REPEAT + 2):  # both processes once before
        times.append(page.evaluate(PASTE, json.dumps(problem) + " " * repetition))
        time.sleep(CALM)
    return statistics.median(times[2:]), max(times[2:])


def changed(page: Page, problem: dict[str, Any], label: str) -> tuple[float, float]:
    """Return the same from a change of one field to the plan."""
    page.evaluate(PASTE, json.dumps(problem))
    time.sleep(CALM)
    times = []
    for repetition in range(REPEAT + 2):
        times.append(page.evaluate(CHANGE, [label, str(2 + repetition)]))
        time.sleep(CALM)
    return statistics.median(times[2:]), max(times[2:])


if __name__ == "__main__":
    main()
