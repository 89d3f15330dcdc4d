"""Beside the plan: other methods, one more machine, a front to click, what is taken away."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from PIL import Image

from makespan import check, read_problem, read_result
from tests.browser import Browser
from tests.studio.page.test_play import CALM, begin, fill, planned, press
from tests.thorough import few

pytestmark = pytest.mark.thorough
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
    planned(browser, 3)
    shown = browser.value("makespan.outcome.result.method")
    press(browser, "Compare…")
    browser.wait(f"String(makespan.outcome.methods) === {json.dumps(shown)}")  # ticked already
    other = "lpt" if shown != "lpt" else "list-scheduling"
    browser.do(lambda page: page.get_by_label(other, exact=True).check())
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


def test_rates_of_costs(browser):
    """A star: the load of a second more, and a worker more like each."""
    begin(browser, "divisible")
    fill(browser, "Load, units", "3")
    planned(browser, 6)
    press(browser, "What if…")
    browser.wait("document.querySelector('#whatif .table tbody tr') !== null")
    rates = browser.value(
        "[...document.querySelectorAll('#whatif .table tbody tr')].map((row) => row.textContent)"
    )
    assert rates[0] == "the problem+2"  # a unit is sent and computed in a second each
    assert rates[1].startswith("P1")
    press(browser, "Keep one more like P1")
    browser.wait("makespan.state.problem.platform.workers.length === 2")
    planned(browser, 4)  # a + a = 3 + b and a + b = 3


def test_files_to_take_away(browser, tmp_path):
    """Each is saved under a name of its kind, and opens as what it is."""
    begin(browser, "independent")
    planned(browser, 1)
    browser.wait(CALM)
    press(browser, "Take away…")

    def saved(page, name):
        with page.expect_download() as download:
            page.locator("#away").get_by_role("button", name=name, exact=True).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path

    def taken(title):
        return browser.do(lambda page: saved(page, title))

    assert read_problem(taken("TOML")).machines == ("M1",)
    assert check(read_result(taken("JSON"))).makespan == 1
    svg = taken("SVG")
    assert (svg.name, ElementTree.parse(svg).getroot().tag) == (
        "plan.svg",
        "{http://www.w3.org/2000/svg}svg",
    )
    with Image.open(taken("PNG")) as image:
        assert image.format == "PNG"
        assert min(image.size) > 100
    pdf = taken("PDF").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"%%EOF" in pdf[-20:]
    rows = list(csv.DictReader(taken("CSV").read_text().splitlines()))
    assert [row["machine"] for row in rows] == ["M1"]
    page = taken("A page that needs nothing but a browser")
    with Browser() as other:
        other.open(page)
        assert other.value("makespan.plans[0].count") == 1
        assert other.errors == []


def test_lines_to_take_away(browser, tmp_path, address):
    """The lines of Python run as they stand, and the link opens what it carries."""
    begin(browser, "independent")
    planned(browser, 1)
    press(browser, "Take away…")
    shown = "(document.querySelector('#shown textarea')?.value ?? '')"
    press(browser, "Python that solves this problem")
    browser.wait(f"{shown}.includes('solve(')")
    (tmp_path / "again.py").write_text(browser.value(shown))
    told = subprocess.run(
        [sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "makespan" in told.stdout
    assert (tmp_path / "plan.html").exists()
    press(browser, "A link that carries the problem")
    browser.wait(f"{shown}.startsWith('{address}')")
    link = browser.value(shown)
    browser.do(lambda page: page.goto("about:blank"))
    browser.open(link)
    browser.wait("makespan.state.problem?.kind === 'independent'")
    planned(browser, 1)


@pytest.mark.parametrize("dark", few([True, False], 1))
def test_narrow(address, opened, dark):
    """Nothing is wider than a narrow screen, by day and by night."""
    with Browser(size=(400, 800), dark=dark) as browser:
        browser.open(address)
        for kind in ("divisible", "taskgraph", "partition", "independent"):
            browser.do(lambda page, kind=kind: page.select_option("#kind", kind))
            browser.wait(f"makespan.outcome.result?.kind === '{kind}'")
            assert browser.value("document.documentElement.scrollWidth") <= 400
        browser.do(lambda page: page.click("#exercise-tab"))
        browser.wait("document.querySelector('.board') !== null")
        assert browser.value("document.documentElement.scrollWidth") <= 400
