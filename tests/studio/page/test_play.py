"""Play: problems made by mouse and by keys, the file in step, the plan behind every change."""

from __future__ import annotations

import json

import pytest

from makespan import read_problem, save
from makespan.flow.kinds import generate
from makespan.studio.exercises import examples
from tests.browser import Browser
from tests.thorough import few

NEW = "makespan.outcome.result?.kind === %s && !document.body.classList.contains('waiting')"
OPTIMAL = "document.getElementById('verdict').textContent.startsWith('Optimal')"
CALM = "!makespan.outcome.busy"  # no other plan will take the place of that on screen
DROP = """([text, cell]) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const how = { clipboardData: data, bubbles: true, cancelable: true };
  cell.dispatchEvent(new ClipboardEvent('paste', how));
}"""


def begin(browser: Browser, kind: str) -> None:
    """Choose a kind, and the empty problem to begin with."""
    browser.do(lambda page: page.select_option("#kind", kind))
    browser.wait(f"makespan.state.problem.kind === '{kind}'")
    browser.do(lambda page: page.select_option("#example", "empty"))
    browser.wait(NEW % json.dumps(kind))


def problem(browser: Browser):
    return browser.value("makespan.state.problem")


def planned(browser: Browser, makespan: float) -> None:
    browser.wait(f"Math.abs(makespan.outcome.result?.makespan - {makespan}) < 1e-6 && {OPTIMAL}")
    browser.wait("makespan.plans.length === 1 && makespan.plans[0].count > 0")


def fill(browser: Browser, label: str, text: str) -> None:
    browser.do(lambda page: page.locator("#editor").get_by_label(label, exact=True).fill(text))


def press(browser: Browser, name: str) -> None:
    browser.do(lambda page: page.get_by_role("button", name=name, exact=True).click())


def paste(browser: Browser, label: str, text: str) -> None:
    def act(page):
        cell = page.get_by_label(label, exact=True).element_handle()
        page.evaluate(DROP, [text, cell])

    browser.do(act)


def walk(browser: Browser, label: str) -> None:
    """Go on by the tabulator key until a field of this label has the focus."""
    own = "(document.activeElement.labels?.[0]?.textContent.trim() ?? '')"
    named = "document.activeElement.getAttribute('aria-label')"
    for _ in range(80):
        browser.do(lambda page: page.keyboard.press("Tab"))
        if browser.value(f"{own} === {json.dumps(label)} || {named} === {json.dumps(label)}"):
            return
    raise AssertionError(f"no way to {label}")


def keys(browser: Browser, *pressed: str) -> None:
    for key in pressed:
        browser.do(lambda page, key=key: page.keyboard.press(key))


def write(browser: Browser, text: str) -> None:
    keys(browser, "Control+a")
    browser.do(lambda page: page.keyboard.type(text))


def reload(browser: Browser) -> None:
    browser.do(lambda page: page.reload())
    browser.wait("globalThis.makespan !== undefined")


def test_divisible_by_mouse(browser):
    """Two workers: the shares of the plan end at the same time."""
    begin(browser, "divisible")
    fill(browser, "Load, units", "3")
    press(browser, "Add one to: Workers")
    fill(browser, "computing, s/unit, workers 2", "2")
    # a sends 1 and computes 1 a unit, b 1 and 2: a + a = a + 3 (3 - a)
    planned(browser, 2 * 9 / 4)
    assert [one["name"] for one in problem(browser)["platform"]["workers"]] == ["P1", "P2"]


@pytest.mark.thorough
def test_partition_by_mouse(browser):
    """A table that a spreadsheet copied, with names and counts, takes the place of all."""
    begin(browser, "partition")
    fill(browser, "Tasks", "4")
    paste(browser, "count, seconds of counts 1", "n\tcpu\tgpu\n0\t0\t0\n2\t3\t1\n4\t7\t5")
    planned(browser, 3)
    assert problem(browser)["resources"][1] == {
        "name": "gpu",
        "counts": [0, 2, 4],
        "time": [0, 1, 5],
    }


@pytest.mark.thorough
def test_independent_by_mouse(browser):
    """Tasks are added, weighed and taken away."""
    begin(browser, "independent")
    for duration in ("3", "2", "2"):
        press(browser, "Add one to: Tasks")
        count = len(problem(browser)["durations"])
        fill(browser, f"duration, s, tasks {count}", duration)
    press(browser, "Remove T1")
    fill(browser, "Machines", "2")
    planned(browser, 4)


@pytest.mark.thorough
def test_reduction_by_mouse(browser):
    """Three machines reduce one segment: the sends into the root follow each other."""
    begin(browser, "reduction")
    fill(browser, "Machines", "3")
    fill(browser, "Message of a segment, s", "2")
    planned(browser, 5)


@pytest.mark.parametrize(
    ("kind", "label", "text", "makespan"),
    [
        ("partition", "R1, seconds of counts 2", "3", 3),
        pytest.param("divisible", "Load, units", "5", 10, marks=pytest.mark.thorough),
        pytest.param("taskgraph", "speed, machines 1", "0.5", 2, marks=pytest.mark.thorough),
        pytest.param("independent", "duration, s, tasks 1", "7", 7, marks=pytest.mark.thorough),
        pytest.param("reduction", "Message of a segment, s", "4", 5, marks=pytest.mark.thorough),
    ],
)
def test_by_keys_alone(browser, kind, label, text, makespan):
    """From the kind over the empty problem to the plan without a mouse."""
    words = {
        "divisible": "Div",
        "taskgraph": "Task",
        "partition": "Part",
        "independent": "Ind",
        "reduction": "Coll",
    }
    walk(browser, "Kind")
    browser.do(lambda page: page.keyboard.type(words[kind]))
    browser.wait(f"makespan.state.problem.kind === '{kind}'")
    walk(browser, "Example")
    keys(browser, "Home", "ArrowDown")
    browser.wait(NEW % json.dumps(kind))
    walk(browser, label)
    write(browser, text)
    planned(browser, makespan)


@pytest.mark.thorough
def test_the_graph_of_the_lecture_drawn_by_hand(browser):
    """Tasks by double clicks, arrows by dragging from their dots; then weighed, and solved."""
    works = {"1": 1, "2": 1, "3": 2, "4": 1, "5": 2, "6": 1}
    sizes = {"12": 1, "24": 3, "46": 1, "13": 2, "35": 4, "56": 2}
    begin(browser, "taskgraph")
    for place in range(5):
        browser.do(
            lambda page, place=place: page.dblclick(
                ".graph svg", position={"x": 100 + 60 * (place % 3), "y": 20 + 55 * (place % 2)}
            )
        )
        browser.wait(f"makespan.state.problem.tasks.length === {place + 2}")

    def draw(page, ends):
        start = page.locator(f'.graph .task[data-name="{ends[0]}"] .out').bounding_box()
        goal = page.locator(f'.graph .task[data-name="{ends[1]}"]').bounding_box()
        page.mouse.move(start["x"] + 7, start["y"] + 7)
        page.mouse.down()
        page.mouse.move(goal["x"] + 20, goal["y"] + 28, steps=3)
        page.mouse.up()

    def spread(page, name, x, y):
        page.evaluate("document.querySelector('.graph').scrollIntoView()")
        sheet = page.locator(".graph svg").bounding_box()
        box = page.locator(f'.graph .task[data-name="{name}"]').bounding_box()
        page.mouse.move(box["x"] + 8, box["y"] + 8)
        page.mouse.down()
        page.mouse.move(sheet["x"] + x + 8, sheet["y"] + y + 8, steps=3)
        page.mouse.up()

    spots = {"6": (330, 60), "5": (250, 90), "4": (250, 10), "3": (120, 90), "2": (120, 10)}
    for name, (x, y) in spots.items():
        browser.do(lambda page, name=name, x=x, y=y: spread(page, name, x, y))
    for ends, size in sizes.items():
        browser.do(lambda page, ends=ends: draw(page, ends))
        browser.wait(
            f"document.querySelector('.chosen strong')?.textContent === '{' → '.join(ends)}'"
        )
        fill(browser, "Data", str(size))
    for name, work in works.items():
        browser.do(
            lambda page, name=name: page.click(
                f'.graph .task[data-name="{name}"]', position={"x": 12, "y": 12}
            )
        )
        fill(browser, "Work", str(work))
    press(browser, "Add one to: Machines")
    browser.do(lambda page: page.get_by_label("A machine").select_option("waits (blocking)"))
    browser.wait("[...document.getElementById('method').options].length > 5")
    browser.do(lambda page: page.select_option("#method", "list-scheduling"))
    browser.wait("makespan.outcome.result?.method === 'list-scheduling'")
    planned(browser, 7)
    found = problem(browser)
    assert {task["name"]: task["work"] for task in found["tasks"]} == works
    assert {e["from"] + e["to"]: e["size"] for e in found["edges"]} == sizes
    assert found["communication"] == "blocking"
    browser.wait("makespan.plans[0].steps.length === 6")


def test_a_graph_by_keys(browser):
    """The keys add tasks and arrows, and remove them."""
    begin(browser, "taskgraph")
    browser.do(lambda page: page.focus(".graph .task"))
    keys(browser, "+")
    browser.wait("makespan.state.problem.tasks.length === 2")
    browser.do(lambda page: page.get_by_label("Arrow from 2 to", exact=True).select_option("1"))
    press(browser, "Add an arrow from 2 to the task in the list")
    assert problem(browser)["edges"] == [{"from": "2", "to": "1", "size": 1}]
    planned(browser, 2)
    browser.do(lambda page: page.focus(".graph .arrow"))
    keys(browser, "Delete")
    browser.wait("makespan.state.problem.edges.length === 0")


@pytest.mark.thorough
def test_thirty_tasks_pasted(browser, tmp_path):
    """The text of a file with its method is on screen as a plan, and its steps with it."""
    save(generate("taskgraph", seed=4, options={"size": 30, "machines": 3}), tmp_path / "30.toml")
    text = (tmp_path / "30.toml").read_text() + '\n[options]\nmethod = "heft"\n'
    browser.do(lambda page: page.fill("#toml", text))
    browser.wait("makespan.outcome.result?.method === 'heft'")
    assert browser.value("makespan.plans[0].rows.length") == 3
    browser.wait("makespan.plans[0].steps.length === 30")  # a first answer may be cut by its limit
    assert browser.value("document.querySelectorAll('.graph .task').length") == 30


@pytest.mark.thorough
def test_edges_pasted_bring_their_tasks(browser):
    """Columns from, to and size of a spreadsheet make a graph."""
    begin(browser, "taskgraph")
    browser.do(lambda page: page.click("text=Tasks and edges as tables"))
    press(browser, "Add one to: Edges")
    paste(browser, "from, edges 1", "from\tto\tsize\n1\ta\t2\na\tb\t3")
    found = problem(browser)
    assert [task["name"] for task in found["tasks"]] == ["1", "a", "b"]
    assert {"from": "a", "to": "b", "size": 3} in found["edges"]


@pytest.mark.parametrize(
    "example", few(examples(), 1, thorough=len(examples())), ids=lambda example: example["name"]
)
def test_the_file_says_what_the_form_has(browser, tmp_path, example):
    """What the page writes is read back as the same problem."""
    browser.do(lambda page: page.fill("#toml", example["toml"]))
    kind = example["kind"]
    browser.wait(
        f"makespan.state.problem.kind === '{kind}' && document.activeElement.id === 'toml'"
    )
    (tmp_path / "given.toml").write_text(example["toml"])
    browser.do(lambda page: page.locator("#form select").first.focus())
    written = browser.value(
        "import('/studio/toml.js').then(({ toml }) => toml(makespan.state.problem))"
    )
    (tmp_path / "written.toml").write_text(written)
    one, other = (read_problem(tmp_path / name) for name in ("given.toml", "written.toml"))
    save(one, tmp_path / "one.json")
    save(other, tmp_path / "other.json")
    assert (tmp_path / "one.json").read_text() == (tmp_path / "other.json").read_text()


def test_mistakes_stand_at_their_fields(browser):
    """The library's sentence is at the field; it goes when the mistake goes."""
    begin(browser, "divisible")
    fill(browser, "link, s/unit, workers 1", "-2")
    browser.wait("document.querySelector('td .mistake') !== null")
    told = browser.value("document.querySelector('td .mistake').textContent")
    assert told == "-2 is negative; a cost per unit is 0 or more seconds"
    cell = browser.value("document.querySelector('[aria-invalid]').getAttribute('aria-label')")
    assert cell == "link, s/unit, workers 1"
    fill(browser, "link, s/unit, workers 1", "2")
    browser.wait("document.querySelector('.mistake') === null")
    browser.do(lambda page: page.fill("#toml", 'kind = "divisible"\nlode = 3'))
    browser.wait("document.getElementById('typed').textContent.includes(\"'load'\")")
    dimmed = "Number(getComputedStyle(document.getElementById('%s')).opacity) < 1"
    assert browser.value(f"{dimmed % 'charts'} && {dimmed % 'verdict'}")
    browser.do(lambda page: page.fill("#toml", 'kind = "divisible"'))
    browser.wait("document.getElementById('typed').textContent.includes('platform')")


@pytest.mark.thorough
def test_undo(browser):
    """A change is taken back, and made again."""
    begin(browser, "independent")
    fill(browser, "duration, s, tasks 1", "5")
    planned(browser, 5)
    press(browser, "Undo")
    planned(browser, 1)
    press(browser, "Redo")
    planned(browser, 5)


@pytest.mark.thorough
def test_the_page_is_kept_over_a_reload(browser):
    """In the address; what is too long for one, by the browser."""
    begin(browser, "independent")
    fill(browser, "duration, s, tasks 1", "5")
    browser.wait("location.hash.startsWith('#problem=')")
    reload(browser)
    planned(browser, 5)
    many = list(range(1000, 5000))
    write_all = f"import('/studio/state.js').then((s) => s.edit((p) => (p.durations = {many})))"
    browser.value(write_all)
    browser.wait("location.hash === ''")
    reload(browser)
    browser.wait("makespan.state.problem.durations.length === 4000")


@pytest.mark.thorough
def test_the_way_back_leads_to_the_example_before(browser):
    """Another kind is a place of its own; a change of a field is none."""
    browser.wait("location.hash.length > 60")
    begin(browser, "independent")
    written = "import('/studio/link.js').then(({ linked }) => linked())"
    browser.wait(f"{written}.then(({{ problem }}) => problem?.kind === 'independent')")
    before = browser.value("location.hash")
    browser.do(lambda page: page.select_option("#kind", "partition"))
    browser.wait(f"location.hash !== {json.dumps(before)}")
    browser.do(lambda page: page.go_back())
    browser.wait("makespan.state.problem.kind === 'independent'")


@pytest.mark.thorough
def test_a_link_that_is_cut_off(browser, address):
    """It says so, and an example is there instead."""
    browser.wait("location.hash.length > 60")
    link = browser.value("location.href")
    browser.do(lambda page: page.goto("about:blank"))
    browser.open(link[:-30])
    assert "cut off" in browser.value("document.getElementById('notice').textContent")
    browser.wait("makespan.plans.length > 0")


@pytest.mark.thorough
def test_no_arrow_closes_a_cycle(browser):
    """It is refused with the cycle that it would close; a cycle in a file leaves the drawing."""
    text = """kind = "taskgraph"
tasks = [{ name = "a", work = 1 }, { name = "b", work = 1 }, { name = "c", work = 1 }]
edges = [{ from = "a", to = "b", size = 1 }, { from = "b", to = "c", size = 1 }]
network = { machines = [{ name = "M1" }] }"""
    browser.do(lambda page: page.fill("#toml", text))
    browser.wait(f"document.querySelectorAll('.graph .arrow').length === 2 && {CALM}")
    browser.do(lambda page: page.focus('.graph .task[data-name="c"]'))
    browser.do(lambda page: page.get_by_label("Arrow from c to", exact=True).select_option("a"))
    press(browser, "Add an arrow from c to the task in the list")
    said = browser.value("document.querySelector('.chosen .mistake').textContent")
    assert "c → a → b → c" in said
    assert len(problem(browser)["edges"]) == 2
    assert browser.value("document.querySelectorAll('.arrow.refused').length") == 2
    places = """import('/studio/sketch.js').then(({ laidOut }) => laidOut({
      tasks: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
      edges: [['a', 'b'], ['b', 'c'], ['c', 'a']].map(([from, to]) => ({ from, to })),
    })).then((at) => ['a', 'b', 'c'].map((name) => at.get(name).x))"""
    first, second, third = browser.value(places)
    assert first < second < third


def test_hostile_names_stay_text(browser):
    """Markup in a name is shown, nothing of it is run."""
    name = "<img src=x onerror=alert(1)>"
    text = f'''kind = "taskgraph"
tasks = [{{ name = "{name}", work = 2 }}, {{ name = "b", work = 1 }}]
edges = [{{ from = "{name}", to = "b", size = 1 }}]
network = {{ machines = [{{ name = "{name}" }}] }}'''
    browser.do(lambda page: page.fill("#toml", text))
    browser.wait("makespan.outcome.result?.problem.tasks?.length === 2")
    assert browser.value("document.querySelectorAll('img').length") == 0
    assert browser.value("makespan.plans[0].rows[0]") == name
    press(browser, "What if…")
    browser.wait("document.querySelectorAll('#whatif td').length > 1")
    assert name in browser.value("document.getElementById('whatif').textContent")


@pytest.mark.thorough
def test_a_long_search_is_stopped(browser, tmp_path):
    """It tells how far it is; stopped, the best plan so far stays, and a change begins anew."""
    save(generate("taskgraph", seed=1, options={"size": 60, "machines": 4}), tmp_path / "60.toml")
    browser.wait(CALM)  # or what is stopped is the search of the problem before
    browser.do(lambda page: page.fill("#toml", (tmp_path / "60.toml").read_text()))
    browser.wait("!document.getElementById('progress').hidden")
    browser.wait("document.querySelector('#progress span').textContent.includes('of 20 s, best')")
    press(browser, "Stop")
    browser.wait("document.getElementById('progress').hidden && !makespan.outcome.busy")
    assert browser.value("makespan.outcome.result.status") in ("feasible", "optimal")
    assert browser.value("makespan.outcome.result.runtime") < 19


@pytest.mark.thorough
def test_a_search_that_is_left_tells_nothing_any_more(browser, tmp_path):
    """Its best and its bound are of another problem than the one on the page."""
    save(generate("taskgraph", seed=1, options={"size": 60, "machines": 4}), tmp_path / "60.toml")
    browser.do(lambda page: page.set_input_files("#open", tmp_path / "60.toml"))
    browser.wait("document.querySelector('#progress span').textContent.includes('of 20 s, best')")
    begin(browser, "independent")
    assert browser.value("document.getElementById('progress').hidden")


@pytest.mark.thorough
def test_problems_of_exercises_are_examples(browser):
    """They stand below the examples of their kind."""
    browser.do(lambda page: page.select_option("#kind", "partition"))
    browser.do(lambda page: page.select_option("#example", label="Batches on three devices"))
    browser.wait("makespan.state.problem.resources?.length === 3")
    best = browser.value("fetch('/exercises.json').then((answer) => answer.json())")
    found = next(one for one in best if one["title"] == "Batches on three devices")
    assert problem(browser) == found["problem"]
