"""The HTML page in a headless Chromium: facts, zoom, moves, filters, keys."""

from collections.abc import Iterator

import numpy as np
import pytest

from makespan import (
    Dag,
    DivisibleLoad,
    IndependentTasks,
    Network,
    Star,
    TaskGraph,
    Worker,
    save,
    solve,
)
from tests.browser import Browser, chromium

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium found; install one to test pages (chromium)"
)
ODD = "</script><b>"
PLACE = """(() => {
  const panel = makespan.panels[%d];
  const place = panel.placeOf(%d);
  const box = panel.canvas.getBoundingClientRect();
  return [box.left + place.left + place.width / 2, box.top + place.top + place.height / 2];
})()"""


def problem():
    workers = [Worker(name=name, send=1.0 + i, compute=3.0) for i, name in enumerate(("A1", ODD))]
    return DivisibleLoad(load=7.0, platform=Star(workers))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture
def page(browser, tmp_path) -> Iterator[Browser]:
    """A plan of two workers, above one by another method; no error and no request may occur."""
    plan = solve(problem())
    save(plan, tmp_path / "plan.html", beside=solve(problem(), method="equal-split"))
    browser.errors.clear()
    browser.requests.clear()
    browser.open(tmp_path / "plan.html")
    yield browser
    assert browser.errors == []
    assert browser.requests == [(tmp_path / "plan.html").as_uri()]


def seen(browser):
    return browser.value("[makespan.view.from, makespan.view.to]")


def rows(browser):
    return browser.value(
        "makespan.panels[0].plan.rowsShown.map(r => makespan.plans[0].rows[r.row])"
    )


def tip(browser):
    return browser.value("document.getElementById('tip').innerText")


def tip_hidden(browser):
    return browser.value("document.getElementById('tip').hidden")


def test_shows_plan_and_answer(page):
    """The title, the facts, the rows of both plans and the answer's tables stand on the page."""
    text = page.value("document.body.innerText")
    for part in ("divisible, star", "divisible, equal-split", "lower bound", "optimal", ODD):
        assert part in text
    assert rows(page) == ["P0", "A1", ODD]
    assert page.value("document.querySelectorAll('canvas').length") == 2
    assert page.value("document.querySelectorAll('.table td').length") > 10
    inked = "new Set(makespan.panels[0].context.getImageData(0, 0, 900, 150).data).size"
    assert page.value(inked) > 10


def test_hovering_shows_facts(page):
    """Over a bar, all facts of its activity show; beside it, none."""
    x, y = page.value(PLACE % (0, 0))
    page.move(x, y)
    found = tip(page)
    chunk = solve(problem()).schedule
    assert not tip_hidden(page)
    assert "send A1" in found
    for name in ("machine", "to", "item", "amount", "start", "end", "duration"):
        assert name in found
    assert f"{chunk.amount[0]:.8g}" in found
    assert "in plan 2" in found
    page.move(5, 5)
    assert tip_hidden(page)


def test_wheel_and_buttons_zoom_around_the_pointer(page):
    """The wheel narrows the range and keeps the time under the pointer; buttons undo it."""
    x, y = page.value(PLACE % (0, 0))
    whole = seen(page)
    left = "document.querySelector('canvas').getBoundingClientRect().left"
    time = f"makespan.panels[0].time({x} - {left})"
    before = page.value(time)
    page.wheel(x, y, -300)
    narrow = seen(page)
    assert narrow[1] - narrow[0] < 0.7 * (whole[1] - whole[0])
    assert page.value(time) == pytest.approx(before, abs=0.02 * whole[1])
    page.value("document.getElementById('out').click()")
    page.value("document.getElementById('whole').click()")
    assert seen(page) == whole
    page.value("document.getElementById('in').click()")
    assert seen(page)[1] - seen(page)[0] < whole[1] - whole[0]


def test_dragging_moves_in_time(page):
    """Dragging to the left shows what is later, and is no click."""
    x, y = page.value(PLACE % (0, 0))
    page.wheel(x, y, -300)
    before = seen(page)
    page.drag((700, y), (500, y))
    after = seen(page)
    assert after[0] > before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])
    assert page.value("makespan.view.held") is None


def test_filters_hide_rows_and_kinds(page):
    """A filter by machine leaves the rows that match; a kind that is switched off goes."""
    page.key("/")
    page.type("a1, nothing")
    assert rows(page) == ["A1"]
    page.value("(f => { f.value = ''; f.dispatchEvent(new Event('input')); })(filter)")
    bars = page.value("makespan.plans[0].shown.length")
    page.value("document.querySelector('#kinds input').click()")
    page.settle()
    assert page.value("makespan.plans[0].shown.length") == bars - 2
    assert page.value("makespan.panels[0].placeOf(0)") is None


def test_keys_zoom_move_and_walk(page):
    """Everything can be done from the keyboard: zoom, move, go through activities, let go."""
    page.value("document.querySelector('canvas').focus()")
    whole = seen(page)
    page.key("+")
    page.key("+")
    narrow = seen(page)
    page.key("ArrowRight")
    assert seen(page)[0] > narrow[0]
    page.key("ArrowLeft")
    assert seen(page) == pytest.approx(narrow)
    page.key("0")
    assert seen(page) == whole
    page.key("Shift+ArrowRight")
    assert "send A1" in tip(page)
    page.key("Shift+ArrowRight")
    assert f"send {ODD}" in tip(page)
    assert page.value("document.getElementById('spoken').textContent").startswith("send")
    page.key("Shift+ArrowDown")
    assert "A1" in tip(page)
    page.key("Shift+ArrowUp")
    page.key("Enter")
    assert seen(page)[1] - seen(page)[0] < whole[1] - whole[0]
    page.key("Escape")
    assert tip_hidden(page)


def test_clicking_keeps_the_facts(page):
    """The facts of an activity that was clicked stay when the pointer leaves."""
    page.click(*page.value(PLACE % (0, 0)))
    page.move(5, 5)
    assert "send A1" in tip(page)


def test_light_and_dark(page):
    """The button turns the page dark and back."""
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.value(colour)
    page.value("document.getElementById('theme').click()")
    assert page.value(colour) != light
    page.value("document.getElementById('theme').click()")
    assert page.value(colour) == light


@pytest.mark.thorough
def test_twenty_thousand_activities(browser, tmp_path):
    """A large plan is searched by row and time: few bars are looked at when zoomed in."""
    durations = [1.0 + (index * 7919 % 101) / 50 for index in range(20_000)]
    plan = solve(IndependentTasks(machines=100, durations=durations), method="lpt")
    save(plan, tmp_path / "large.html")
    browser.errors.clear()
    browser.open(tmp_path / "large.html")
    assert browser.value("makespan.plans[0].shown.length") == 20_000
    assert browser.value("document.querySelectorAll('.table tr').length") < 1000
    x, y = browser.value(PLACE % (0, 3))
    for _ in range(4):
        browser.wheel(x, y, -300)
    browser.move(x, y)
    start = plan.schedule.start.tolist()
    facts = dict(line.split("\t") for line in tip(browser).splitlines() if "\t" in line)
    assert facts["machine"] == "M1"
    assert float(facts["start"].removesuffix(" s")) in [pytest.approx(s, abs=1e-5) for s in start]
    browser.value("document.querySelector('.more').click()")
    assert browser.value("document.querySelectorAll('.table tr').length") > 1000
    assert browser.value("[...makespan.plans[0].activities.start]") == start
    assert browser.errors == []


@pytest.mark.thorough
def test_sixty_thousand_activities_in_a_megabyte(browser, tmp_path):
    """A very large plan is packed: times to a two-thousand-millionth of the plan, names too.

    Amounts are kept, and shown, to four digits.
    """
    durations = [1.0137 + (index * 7919 % 101) / 50 for index in range(60_000)]
    plan = solve(IndependentTasks(machines=100, durations=durations), method="lpt")
    save(plan, tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 1e6
    browser.errors.clear()
    browser.open(tmp_path / "large.html")
    for column in ("start", "end"):
        found = np.array(browser.value(f"[...makespan.plans[0].activities.{column}]"))
        assert np.abs(found - getattr(plan.schedule, column)).max() < 1e-9 * plan.makespan
    assert browser.value("[...makespan.plans[0].activities.item]") == plan.schedule.item.tolist()
    amounts = np.array(browser.value("[...makespan.plans[0].activities.amount]"))
    assert amounts == pytest.approx(plan.schedule.amount, rel=6.2e-5)
    x, y = browser.value(PLACE % (0, 3))
    for _ in range(6):
        browser.wheel(x, y, -300)
    browser.move(x, y)
    facts = dict(line.split("\t") for line in tip(browser).splitlines() if "\t" in line)
    said = [f"{amount:.4g}" for amount in set(plan.schedule.amount.tolist())]
    assert facts["amount"] in said
    assert browser.errors == []


def test_names_of_transfers_are_those_of_their_ends(browser, tmp_path):
    """Links between tasks say what a transfer carries."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 1.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]), assignment={"a": "M1", "b": "M2"})
    save(solve(problem), tmp_path / "plan.html")
    browser.open(tmp_path / "plan.html")
    labels = "[0, 1, 2].map((activity) => makespan.plans[0].label(activity))"
    assert browser.value(labels) == ["a", "b", "a→b"]
