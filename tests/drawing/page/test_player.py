"""Steps on a page, gone through with the keyboard; a plan and its graph light up together."""

from collections.abc import Iterator

import pytest

from makespan import Network, Partition, Reduction, Result, TaskGraph, save, solve
from makespan.core.steps import number
from makespan.taskgraph.generate.graphs import layered
from tests.browser import Browser, chromium

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium found; install one to test pages (chromium)"
)
STATES = "(state) => document.querySelectorAll(`.diagram:not([hidden]) [data-state='${state}']`)"
BOX = """(() => {
  const box = document.querySelector(".diagram:not([hidden]) [data-task='%d'] rect");
  const { left, top, width, height } = box.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
})()"""
BAR = """(() => {
  const plan = makespan.plans[0];
  const bar = [...plan.bars.activity].indexOf(%d);
  const place = makespan.panels[0].placeOf(bar);
  const box = makespan.panels[0].canvas.getBoundingClientRect();
  return [box.left + place.left + place.width / 2, box.top + place.top + place.height / 2];
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(size=(1400, 1800)) as opened:
        yield opened


@pytest.fixture(scope="module")
def problem() -> TaskGraph:
    return TaskGraph(layered(30, rng=2), Network([1.0, 1.5, 2.0], rate=2.0))


def opened(browser: Browser, result: Result, folder) -> Browser:
    save(result, folder / "plan.html")
    browser.errors.clear()
    browser.open(folder / "plan.html")
    return browser


def count(browser: Browser, state: str) -> int:
    return browser.value(f"({STATES})('{state}').length")


def bars(browser: Browser) -> int:
    """How many computing bars the player lets through."""
    return browser.value(
        "[...makespan.plans[0].activities.kind.keys()].filter((activity) =>"
        " makespan.plans[0].activities.peer[activity] < 0 &&"
        " makespan.plans[0].player.sees(activity)).length"
    )


def said(browser: Browser) -> str:
    return browser.value("document.querySelector('.said').innerText")


@pytest.mark.thorough
def test_heft_of_thirty_tasks_to_its_end_with_the_keyboard(browser, problem, tmp_path):
    """Each key press places one task, in the chart and in the graph, and says why."""
    result = solve(problem, method="heft", log=True)
    page = opened(browser, result, tmp_path)
    assert bars(page) == 30
    assert count(page, "placed") == 0
    page.key("Home")
    assert bars(page) == 0
    for index, step in enumerate(result.steps):
        page.key("ArrowRight")
        assert bars(page) == index + 1
        assert said(page) == step.text
        assert count(page, "chosen") == 1
        assert count(page, "placed") == index
        if index % 5:
            continue
        tables = page.value("document.querySelector('.choices').innerText")
        assert "on the machines" in tables
        so_far = max(one.slots[-1].end for one in result.steps[: index + 1])
        assert f"makespan so far\n{number(so_far)}" in tables
    assert page.value("document.querySelector('.player .number').textContent") == "30 of 30"
    page.key("ArrowRight")
    page.key("ArrowLeft")
    assert bars(page) == 29
    page.key("End")
    assert bars(page) == 30
    page.key("Escape")
    assert count(page, "placed") == count(page, "chosen") == 0
    assert page.errors == []


def test_playing_goes_to_the_end(browser, tmp_path):
    """The key p plays all steps, from the first on."""
    small = TaskGraph(layered(6, rng=1), Network([1.0, 2.0]))
    page = opened(browser, solve(small, method="etf", log=True), tmp_path)
    page.value("document.querySelector('.player button').click()")
    page.value("{ const own = setInterval; globalThis.setInterval = (act) => own(act, 5); }")
    page.key("p")
    page.wait("document.querySelector('.player .number').textContent === '6 of 6'")
    assert "Play" in page.value("document.querySelector('.player').innerText")


@pytest.mark.thorough
def test_clusters_grow_and_edges_are_refused(browser, problem, tmp_path):
    """A clustering colours its clusters, and tells zeroed edges from refused ones."""
    result = solve(problem, method="edge-zeroing", log=True)
    page = opened(browser, result, tmp_path)
    decided = [place for place, step in enumerate(result.details["log"]) if "zeroed" in step]
    page.key("End")
    for _ in range(len(result.details["log"]) - 1 - decided[-1]):
        page.key("ArrowLeft")
    classes = "(name) => document.querySelectorAll(`.diagram:not([hidden]) .${name}`).length"
    clusters = [cluster for cluster in result.details["clusters"] if len(cluster) > 1]
    assert page.value(f"({classes})('grouped')") == sum(map(len, clusters))
    tried = [step for step in result.details["log"] if step.get("zeroed") is False]
    assert page.value(f"({classes})('edge.refused')") == len(tried)
    assert bars(page) == 0
    assert page.errors == []


def test_hovering_links_chart_and_graph(browser, problem, tmp_path):
    """The box of the bar under the pointer lights up with its edges, and the other way."""
    result = solve(problem, method="heft")
    page = opened(browser, result, tmp_path)
    lit = "[...document.querySelectorAll('.node.lit')].map(node => node.dataset.task)"
    assert page.value(lit) == []
    page.move(*page.value(BAR % 8))
    assert page.value(lit) == ["8"]
    dag = problem.dag
    touching = [e for e in range(len(dag.source)) if 8 in (dag.source[e], dag.target[e])]
    edges = "[...document.querySelectorAll('.edge.lit')].map(edge => +edge.dataset.edge)"
    assert sorted(page.value(edges)) == touching
    page.move(5, 5)
    assert page.value(lit) == []
    page.move(*page.value(BOX % 11))
    assert page.value("makespan.plans[0].bars.activity[makespan.view.over.bar]") == 11
    assert dag.names[11] in page.value("document.getElementById('tip').innerText")
    assert page.errors == []


def test_clicking_through_a_front(browser, tmp_path):
    """Each point of a Pareto front shows its plan on the chart, with the mouse and with arrows."""
    costs = [[0, 2, 4, 6, 8], [0, 3, 6, 9, 12]]
    energy = [[0, 9, 18, 27, 36], [0, 1, 3, 6, 10]]
    result = solve(Partition(tasks=4, costs=costs, energy=energy, objective="pareto"))
    front = sorted(result.details["front"], key=lambda point: point["time"])
    assert len(front) > 2
    page = opened(browser, result, tmp_path)
    assert page.value("document.querySelectorAll('[data-point]').length") == len(front)
    amounts = "[...makespan.panels[0].plan.activities.amount]"
    page.value("document.querySelector('[data-point=\"1\"]').dispatchEvent(new Event('click'))")
    for place in (1, 2):
        page.settle()
        counts = [count for count in front[place]["counts"].values() if count]
        assert page.value(amounts) == counts
        text = page.value("document.querySelector('.diagrams .said').innerText")
        shares = [
            f"{name} {count} ({100 * count / 4:g} %)"
            for name, count in front[place]["counts"].items()
            if count
        ]
        point = f"time {front[place]['time']:g}, energy {front[place]['energy']:g}"
        assert text == f"{point}: {', '.join(shares)}"
        assert page.value("document.querySelectorAll('.picked').length") == 1
        page.key("ArrowRight")
    slider = "document.querySelector('.diagrams input[type=range]')"
    page.value(f"{slider}.focus()")
    page.key("Home")
    told = page.value("document.querySelector('.diagrams .said').innerText")
    assert told.startswith(f"time {front[0]['time']:g}, energy {front[0]['energy']:g}: ")
    assert page.value(f"{slider}.getAttribute('aria-valuetext')") == told
    assert page.value(amounts) == [count for count in front[0]["counts"].values() if count]
    page.key("End")
    assert page.value(amounts) == [count for count in front[-1]["counts"].values() if count]
    assert page.errors == []


@pytest.mark.parametrize("method", ["two-tree", "rarest-first"])
def test_sends_appear_as_they_are_decided(browser, tmp_path, method):
    """Forwards in time, or backwards where a method plans so: no send before its step."""
    problem = Reduction(machines=5, segments=4, latency=0.0, transfer=1.0, reduce=0.5)
    result = solve(problem, method=method, log=True)
    page = opened(browser, result, tmp_path)
    times = "makespan.plans[0].activities.start.filter((_, a) => makespan.plans[0].player.sees(a))"
    page.key("Home")
    assert page.value(times) == []
    for step in result.steps[:5]:
        page.key("ArrowRight")
        seen = page.value(times)
        if method == "two-tree":
            assert max(seen) == step.time
        else:
            assert min(seen) == step.since
    page.key("End")
    assert len(page.value(times)) == len(result.schedule)
    assert page.errors == []


@pytest.mark.thorough
def test_boxes_that_stand_for_many_tasks(browser, tmp_path):
    """In a thinned graph a box is placed once all its tasks are."""
    many = TaskGraph(layered(600, width=60, density=0.05, rng=1), Network([1.0, 2.0]))
    page = opened(browser, solve(many, method="heft", log=True), tmp_path)
    boxes = page.value("document.querySelectorAll('.diagram:not([hidden]) .node').length")
    assert boxes < 200
    page.value("makespan.plans[0].player.go(300)")
    assert count(page, "some") + count(page, "ready") > 0
    assert count(page, "chosen") == 1
    page.key("End")
    assert count(page, "placed") + count(page, "chosen") == boxes
    assert page.errors == []


def test_hovering_links_sends_and_who_sends_to_whom(browser, tmp_path):
    """The line of a send lights up with its bar, and the other way."""
    problem = Reduction(machines=4, segments=1, latency=0.0, transfer=1.0, reduce=0.5)
    page = opened(browser, solve(problem, method="binomial"), tmp_path)
    lit = "[...document.querySelectorAll('.edge.lit')].map(edge => edge.dataset.activity)"
    page.move(*page.value(BAR % 1))
    assert page.value(lit) == ["1"]
    page.move(5, 5)
    assert page.value(lit) == []
    line = "document.querySelector('[data-activity=\"1\"] path')"
    page.value(f"{line}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    page.settle()
    assert page.value("makespan.plans[0].bars.activity[makespan.view.over.bar]") == 1
    assert page.errors == []
