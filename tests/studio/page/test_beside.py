"""Beside the plan: other methods, one more machine, a front to click, what is taken away."""

from __future__ import annotations

import json
import tomllib

import pytest

from tests.browser import started
from tests.studio.page.test_play import CALM, begin, fill, planned, press

FRONT = """kind = "partition"
tasks = 4
objective = "pareto"
resources = [
  { name = "fast", costs = [0, 1, 2, 3, 4], energy = [0, 5, 10, 15, 20] },
  { name = "slow", costs = [0, 2, 4, 6, 8], energy = [0, 1, 2, 3, 4] },
]"""


def test_methods_under_each_other(browser):
    """Two methods have a chart each, on one axis, with a row of what they reached."""
    begin(browser, "independent")
    for _ in range(2):
        press(browser, "Add one to: Tasks")
    press(browser, "Compare…")
    for name in ("lpt", "list-scheduling"):
        browser.do(lambda page, name=name: page.get_by_label(name, exact=True).check())
    browser.wait("makespan.plans.length === 2")
    rows = browser.value("document.querySelectorAll('#verdict tr').length")
    assert rows == 3
    assert browser.value("makespan.panels[0].left === makespan.panels[1].left")


def test_one_more_machine(browser):
    """What one more would bring is tried, and kept on request."""
    begin(browser, "independent")
    press(browser, "Add one to: Tasks")
    planned(browser, 2)
    press(browser, "What if…")
    browser.wait("document.querySelectorAll('#whatif td').length >= 3")
    assert "−50.00 %" in browser.value("document.getElementById('whatif').textContent")
    press(browser, "Keep one more like the others")
    planned(browser, 1)
    assert browser.value("makespan.state.problem.machines") == 2


def test_the_front_is_clicked(browser):
    """A point of the front shows its plan."""
    browser.do(lambda page: page.fill("#toml", FRONT))
    browser.wait(f"document.querySelectorAll('[data-point][tabindex]').length > 2 && {CALM}")
    before = browser.value("makespan.plans[0].busy")
    browser.do(lambda page: page.locator("[data-point][tabindex]").last.dispatch_event("click"))
    browser.settle()
    assert browser.value("makespan.plans[0].busy") != before


def test_steps_are_played(browser):
    """The player of the page of a plan goes through the steps."""
    browser.do(lambda page: page.select_option("#kind", "taskgraph"))
    browser.wait(f"makespan.plans[0].steps.length > 1 && {CALM}")
    browser.do(lambda page: page.locator("body").press("ArrowRight"))
    assert browser.value("makespan.plans[0].player.at") == 1


def test_a_link_carries_the_problem(browser, address):
    """In its fragment, which is sent to nobody."""
    begin(browser, "divisible")
    fill(browser, "Load, units", "17")
    link = browser.value(
        "import('/studio/link.js').then(({ linkOf }) => linkOf(makespan.state.problem))"
    )
    browser.do(lambda page: page.goto("about:blank"))
    browser.open(link)
    browser.wait("makespan.state.problem?.load === 17")
    planned(browser, 34)
    assert all("17" not in one.partition("#")[0].removeprefix(address) for one in browser.requests)


def test_files_to_take_away(browser):
    """Each is saved under a name of its kind."""
    begin(browser, "independent")
    planned(browser, 1)
    press(browser, "Take away…")

    def saved(page, name):
        with page.expect_download() as download:
            page.locator("#away button", has_text=name).first.click()
        return download.value.suggested_filename, download.value.path().read_bytes()

    name, content = browser.do(lambda page: saved(page, "TOML"))
    assert (name, tomllib.loads(content.decode())["kind"]) == ("problem.toml", "independent")
    name, content = browser.do(lambda page: saved(page, "JSON"))
    assert (name, json.loads(content)["makespan"]) == ("result.json", 1)


@pytest.mark.parametrize("dark", [False, True])
def test_narrow(address, opened, dark):
    """Nothing is wider than a narrow screen, by day and by night."""
    with started(size=(400, 800), dark=dark) as browser:
        browser.open(address)
        for kind in ("divisible", "taskgraph", "partition", "independent"):
            browser.do(lambda page, kind=kind: page.select_option("#kind", kind))
            browser.wait(f"makespan.outcome.result?.kind === '{kind}'")
            assert browser.value("document.documentElement.scrollWidth") <= 400
        browser.do(lambda page: page.click("#exercise-tab"))
        browser.wait("document.querySelector('.board') !== null")
        assert browser.value("document.documentElement.scrollWidth") <= 400
