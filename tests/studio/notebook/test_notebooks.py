"""A board in JupyterLab and in marimo: place, drag, play, read back."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.thorough


def test_what_is_placed_is_read_back(notebook):
    """By dragging, by keys and by the table; the referee's words stand on the board."""
    notebook.wait(0, "#verdict", "Place something")

    def drag(frame):
        task = frame.locator('.board [data-item="0"]')
        lane = frame.locator(".board .lane").nth(1)
        task.scroll_into_view_if_needed()
        box, goal = task.bounding_box(), lane.bounding_box()
        mouse = notebook.browser.page.mouse
        mouse.move(box["x"] + 4, box["y"] + 8)
        mouse.down()
        mouse.move(goal["x"] + 94, goal["y"] + 10, steps=4)
        mouse.up()

    notebook.board(0, drag)
    notebook.wait(0, "#verdict", "Nothing wrong so far. Still to place: T2, T3, T4, T5.")

    def table(frame):
        frame.get_by_label("machine of T2", exact=True).select_option("M2")
        frame.get_by_label("start, s of T2", exact=True).fill("1")

    notebook.board(0, table)
    notebook.wait(0, "#verdict", "M2 starts task T2 at 1.0, but runs task T1 until 3.0")
    for item, machine in ((1, "1"), (2, "2"), (3, "1"), (4, "2")):
        notebook.board(0, lambda frame, i=item: frame.locator(f'.board [data-item="{i}"]').focus())
        notebook.browser.do(lambda page, m=machine: page.keyboard.press(m))
    notebook.wait(0, "#verdict", "The referee accepts your plan. It ends at 7 s.")
    makespan, gap = notebook.read_back()
    assert makespan == 7.0
    assert gap == pytest.approx(1 / 7)


def test_a_given_plan_is_played(notebook):
    """Its steps are those of its method, and it lies on the board."""
    notebook.wait(1, ".player .number", "5 steps")
    notebook.board(1, lambda frame: frame.get_by_role("button", name="Next step (→)").click())
    notebook.wait(1, ".player .number", "1 of 5")
    notebook.wait(1, ".said", "T1")
    placed = notebook.board(
        1, lambda frame: frame.locator('.board [data-item="0"]').get_attribute("aria-label")
    )
    assert placed == "Task T1 on M1 at 0"
