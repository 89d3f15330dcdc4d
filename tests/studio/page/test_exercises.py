"""Exercises: files of lecturers, plans of students, what the referee says to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from makespan import solve
from makespan.core.errors import FileError, ProblemError
from makespan.flow.files.files import problem_of
from makespan.studio.exercises import exercises, read_exercise

OWN = """title = "Two tasks"
question = "Where?"
hints = ["On both machines."]
problem = { kind = "independent", machines = 2, durations = [4, 4] }
"""


@pytest.mark.parametrize(
    ("exercise", "makespan"),
    list(zip(exercises(), (7, 6, 200, 5.5, 6, 4), strict=True)),
    ids=lambda value: value["title"] if isinstance(value, dict) else "",
)
def test_what_is_revealed_is_optimal(exercise, makespan):
    """By the method that the exercise is about."""
    stated = dict(exercise["problem"])
    options = stated.pop("options", {})
    result = solve(problem_of(stated), method=exercise["method"], **options)
    assert (result.status, result.makespan) == ("optimal", pytest.approx(makespan))


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


def test_a_wrong_placement_is_explained(browser):
    """Before all is placed, and when it is; the plan of the lecture is accepted."""
    enter(browser, 0)
    place(browser, "1", "M1", 0)
    wait_for(browser, "Still to place: 2, 3, 4, 5, 6.")
    place(browser, "2", "M2", 1)
    wait_for(browser, "1 → 2 leaves before 1 has ended")
    for name, machine, start in (("2", "M2", 2), ("3", "M1", 1), ("5", "M1", 3), ("4", "M2", 3)):
        place(browser, name, machine, start)
    place(browser, "6", "M1", 6)
    wait_for(browser, "The referee accepts your plan. It ends at 7 s.")
    assert browser.value("makespan.plans[0].busy") == 7
    place(browser, "6", "M1", 4)
    wait_for(browser, "M1 has 5 and 6 at the same time")


def test_placed_by_dragging_and_by_keys(browser):
    """A task is dragged onto a machine, another is moved there by arrow keys."""
    enter(browser, 4)

    def drag(page):
        task = page.locator('.board [data-item="0"]').bounding_box()
        lane = page.locator(".board .lane").nth(1).bounding_box()
        page.mouse.move(task["x"] + 4, task["y"] + 8)
        page.mouse.down()
        page.mouse.move(lane["x"] + 4, lane["y"] + 10, steps=4)
        page.mouse.up()

    browser.do(drag)
    label = "document.querySelector('.board [data-item=\"%d\"]').getAttribute('aria-label')"
    assert browser.value(label % 0) == "Task T1 on M2 at 0"
    browser.do(lambda page: page.focus('.board [data-item="1"]'))
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        browser.do(lambda page, key=key: page.keyboard.press(key))
    assert browser.value(label % 1) == "Task T2 on M2 at 0.5"
    wait_for(browser, "M2 ")
    assert "rule is broken" in said(browser)


def test_the_best_plan_is_revealed_on_request(browser):
    """With its steps; hints come one by one before."""
    enter(browser, 1)
    browser.do(lambda page: page.get_by_role("button", name="A hint").click())
    assert browser.value("document.querySelectorAll('.hints li').length") == 1
    browser.do(lambda page: page.get_by_role("button", name="Reveal the best plan").click())
    wait_for(browser, "Optimal makespan 6 s")
    assert browser.value("makespan.plans[0].steps.length") > 3


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
    wait_for(browser, f"The referee accepts your plan. It ends at {end}")


def test_an_own_exercise(browser, tmp_path):
    """The file of a lecturer becomes the page; one with a mistake says which."""
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    enter(browser, 0)
    browser.do(lambda page: page.set_input_files("#exercise input[type=file]", path))
    browser.wait("document.querySelector('#exercise h2').textContent === 'Two tasks'")
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
