"""Exercises: files of lecturers, plans of students, what the referee says to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from makespan import check, read_result, solve
from makespan.core.errors import FileError, ProblemError
from makespan.flow.files.files import problem_of
from makespan.studio.exercises import exercises, read_exercise

OWN = """title = "Two tasks"
question = "Where?"
hints = ["On both machines."]
problem = { kind = "independent", machines = 2, durations = [4, 4] }
"""


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: exercise["title"])
def test_what_is_revealed_is_optimal(exercise):
    """By the method that the exercise is about; where it ends is stored."""
    stated = dict(exercise["problem"])
    options = stated.pop("options", {})
    result = solve(problem_of(stated), method=exercise["method"], **options)
    assert (result.status, result.makespan) == ("optimal", pytest.approx(exercise["best"]))


def test_there_is_one_of_each_kind():
    kinds = {exercise["problem"]["kind"] for exercise in exercises()}
    assert kinds == {"divisible", "independent", "partition", "reduction", "taskgraph"}


def test_mistakes_of_an_exercise():
    """Each is told at its place."""
    with pytest.raises(FileError, match="the exercise is not TOML"):
        read_exercise("title = ")
    with pytest.raises(ProblemError) as caught:
        read_exercise(OWN.replace("title", "titel"))
    assert "titel" in str(caught.value)
    with pytest.raises(ProblemError, match=r"problem\.machines: "):
        read_exercise(OWN.replace("machines = 2", "machines = -2"))


ACCEPTED = "The referee accepts your plan."
LABEL = "document.querySelector('.board [data-item=\"%d\"]').getAttribute('aria-label')"


def said(browser):
    return browser.value("document.getElementById('verdict').textContent")


def wait_for(browser, text):
    browser.wait(f"document.getElementById('verdict').textContent.includes({text!r})")


def enter(browser, number):
    browser.do(lambda page: page.click("#exercise-tab"))
    browser.wait("document.getElementById('exercises') !== null")
    browser.do(lambda page: page.select_option("#exercises", str(number)))
    wait_for(browser, "Place something")


def place(browser, name, machine, start):
    def act(page):
        page.get_by_label(f"machine of {name}", exact=True).select_option(machine)
        page.get_by_label(f"start, s of {name}", exact=True).fill(str(start))

    browser.do(act)


@pytest.mark.thorough
def test_a_wrong_placement_is_explained(browser):
    """Before all is placed, and when it is; the plan of the lecture is accepted."""
    enter(browser, 0)
    place(browser, "1", "M1", 0)
    wait_for(browser, "Still to place: 2, 3, 4, 5, 6.")
    place(browser, "2", "M2", 1)
    wait_for(browser, "One rule is broken:2 starts before the data of 1 → 2 are there")
    for name, machine, start in (("2", "M2", 2), ("3", "M1", 1), ("5", "M1", 3), ("4", "M2", 3)):
        place(browser, name, machine, start)
    place(browser, "6", "M1", 6)
    wait_for(browser, f"{ACCEPTED} It ends at 7 s; no plan ends earlier. 100 of 100 points.")
    assert browser.value("makespan.plans[0].busy") == 7
    place(browser, "6", "M1", 4)
    wait_for(browser, "M1 has 5 and 6 at the same time")


def press(browser, item, *keys):
    browser.do(lambda page: page.focus(f'.board [data-item="{item}"]'))
    for key in keys:
        browser.key(key)


def drag(browser, item, row, across, *, exact=False):
    """Drag a task onto the lane of a machine, so many pixels into it."""

    def act(page):
        task = page.locator(f'.board [data-item="{item}"]').bounding_box()
        lane = page.locator(".board .lane").nth(row).bounding_box()
        page.mouse.move(task["x"] + 4, task["y"] + 8)
        page.mouse.down()
        page.mouse.move(lane["x"] + across + 4, lane["y"] + 10, steps=4)
        if exact:
            page.keyboard.down("Shift")
        page.mouse.up()
        page.keyboard.up("Shift")

    browser.do(act)


@pytest.mark.thorough
def test_placed_by_dragging_and_by_keys(browser):
    """Each starts as early as it can where it is put; with Shift it goes where it is dropped."""
    enter(browser, 4)
    drag(browser, 0, 1, 90)
    assert browser.value(LABEL % 0) == "Task T1 on M2 at 0"
    press(browser, 1, "ArrowRight", "ArrowDown")
    assert browser.value(LABEL % 1) == "Task T2 on M2 at 3"
    press(browser, 1, "ArrowRight")
    assert browser.value(LABEL % 1) == "Task T2 on M2 at 4"
    press(browser, 1, "ArrowLeft", "ArrowLeft")
    assert browser.value(LABEL % 1) == "Task T2 on M2 at 3"
    press(browser, 2, "1")
    assert browser.value(LABEL % 2) == "Task T3 on M1 at 0"
    drag(browser, 1, 1, 20, exact=True)
    wait_for(browser, "M2 ")
    assert "rule is broken" in said(browser)


@pytest.mark.thorough
def test_a_task_waits_for_its_data_and_its_machine(browser):
    """The six tasks of the lecture by keys alone, as list scheduling places them."""
    enter(browser, 0)
    starts = [(0, 1, 0), (2, 1, 1), (1, 2, 2), (4, 1, 3), (3, 2, 3), (5, 1, 6)]
    for item, machine, start in starts:
        press(browser, item, str(machine))
        assert browser.value(LABEL % item).endswith(f" on M{machine} at {start}")
    wait_for(browser, "100 of 100 points")


@pytest.mark.thorough
def test_a_move_is_taken_back_and_made_again(browser):
    """By its own buttons and by keys; what was changed in Play stays."""
    before = browser.value("makespan.state.problem")
    enter(browser, 4)
    both = """document.querySelectorAll('#exercise :is([title^="Undo"], [title^="Redo"])')"""
    disabled = f"Array.from({both}, (button) => button.disabled)"
    assert browser.value(disabled) == [True, True]
    press(browser, 0, "1", "ArrowDown", "Control+z")
    assert browser.value(LABEL % 0) == "Task T1 on M1 at 0"
    assert browser.value(disabled) == [False, False]
    browser.key("Control+y")
    assert browser.value(LABEL % 0) == "Task T1 on M2 at 0"
    for _ in range(3):
        browser.key("Control+z")
    assert browser.value(disabled) == [True, False]
    assert browser.value("makespan.state.problem") == before


@pytest.mark.thorough
def test_moves_are_kept_over_a_reload(browser, address):
    """The address names the exercise, which is there again with what was placed."""
    enter(browser, 4)
    press(browser, 0, "2")
    browser.wait("location.hash === '#exercise=5'")
    browser.do(lambda page: page.reload())
    browser.wait("document.querySelector('.board [data-item]') !== null")
    assert browser.value(LABEL % 0) == "Task T1 on M2 at 0"


@pytest.mark.thorough
def test_a_link_to_no_exercise(browser, address):
    """It says so, and how many there are."""
    browser.do(lambda page: page.goto("about:blank"))
    browser.open(f"{address}/#exercise=99")
    said = "document.getElementById('notice').textContent"
    browser.wait(f"{said} === 'There is no exercise 99; there are 1 to {len(exercises())}.'")


@pytest.mark.thorough
def test_an_accepted_plan_is_judged_and_handed_in(browser, tmp_path):
    """What it lacks to the best is said; the file is one that the referee reads."""
    enter(browser, 4)
    hand = "document.getElementById('hand-in').disabled"
    for item, machine in enumerate("12121"):
        assert browser.value(hand)
        press(browser, item, machine)
    wait_for(browser, f"{ACCEPTED} It ends at 7 s; the best ends at 6 s. 86 of 100 points.")
    path = tmp_path / "handed-in.json"

    def act(page):
        page.get_by_label("Your name", exact=False).fill("Jana")
        with page.expect_download() as download:
            page.click("#hand-in")
        download.value.save_as(path)
        return download.value.suggested_filename

    assert browser.do(act) == "longest-first-or-better-jana.json"
    result = read_result(path)
    assert (result.method, result.makespan, check(result).ok) == ("by hand", 7, True)
    assert result.details["points"] == 86


@pytest.mark.thorough
def test_the_graph_stands_beside_the_board(browser):
    """With how long each task takes, before anything is placed."""
    enter(browser, 0)
    boxes = browser.value("[...document.querySelectorAll('.sketch .task')].map(b => b.textContent)")
    assert boxes == ["11 s", "21 s", "32 s", "41 s", "52 s", "61 s"]


@pytest.mark.thorough
def test_the_best_plan_is_revealed_on_request(browser):
    """With its steps; hints come one by one before."""
    enter(browser, 1)
    browser.do(lambda page: page.get_by_role("button", name="A hint").click())
    assert browser.value("document.querySelectorAll('.hints li').length") == 1
    browser.do(lambda page: page.get_by_role("button", name="Reveal the best plan").click())
    wait_for(browser, "Optimal makespan 6 s")
    assert browser.value("makespan.plans[0].steps.length") > 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "fields", "end"),
    [
        (2, {"units of 1": 50, "units of 2": 25, "units of 3": 25}, "200 s"),
        (3, {"tasks of CPU": 2, "tasks of GPU": 6, "tasks of FPGA": 2}, "5.5 s"),
    ],
)
def test_placed_by_numbers(browser, number, fields, end):
    """Loads and counts: what follows from them is filled in."""
    enter(browser, number)
    for label, value in fields.items():
        browser.do(
            lambda page, label=label, value=value: page.get_by_label(label, exact=True).fill(
                str(value)
            )
        )
    wait_for(browser, f"{ACCEPTED} It ends at {end}; no plan ends earlier.")


@pytest.mark.thorough
def test_an_own_exercise(browser, tmp_path):
    """The file of a lecturer becomes the page; one with a mistake says which."""
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    enter(browser, 0)
    browser.do(lambda page: page.set_input_files("#exercise input[type=file]", path))
    browser.wait("document.querySelector('#exercise h2').textContent === 'Two tasks'")
    browser.wait("location.hash.startsWith('#exercise=') && location.hash.length > 60")
    browser.do(lambda page: page.reload())
    browser.wait("document.querySelector('#exercise h2')?.textContent === 'Two tasks'")
    path.write_text(OWN.replace("durations = [4, 4]", "durations = [4, -4]"))
    browser.do(lambda page: page.set_input_files("#exercise input[type=file]", path))
    wait_for(browser, "problem.durations[1]")


def test_the_exercise_of_the_docs():
    """It is read, and its hint is true."""
    docs = (Path(__file__).parents[3] / "docs" / "studio.md").read_text("utf-8")
    found = re.search(r'```toml\n(format = "makespan\.exercise.*?)```', docs, re.DOTALL)
    exercise = read_exercise(found[1])
    assert exercise["method"] == "lpt"
    assert sum(exercise["problem"]["durations"]) == 12
