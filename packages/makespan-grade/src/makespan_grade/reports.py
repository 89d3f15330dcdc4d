"""Grades → files of Gradescope, otter and teachers, and a page for the class."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from makespan.core.display import Table, as_csv
from makespan.drawing.page.tables import html_table, still_page
from makespan_grade.exercise import Exercise
from makespan_grade.judge import Grade


def gradescope(exercise: Exercise, grade: Grade) -> str:
    """Return ``results.json`` of one submission, as Gradescope's autograder reads it."""
    test = {"name": exercise.title, "score": grade.points, "max_score": grade.most}
    words = "\n".join(grade.feedback)
    data: dict[str, Any] = {
        "score": grade.points,
        "execution_time": round(grade.seconds),
        "output": words,
        "tests": [{**test, "output": words, "visibility": "visible"}],
    }
    return json.dumps(data, indent=1) + "\n"


def table(grades: Sequence[Grade]) -> str:
    """Return grades as CSV, for a teacher."""
    return as_csv(
        {
            "name": [grade.name for grade in grades],
            "points": [grade.points for grade in grades],
            "of": [grade.most for grade in grades],
            "makespans": [_values(grade.makespans) for grade in grades],
            "best": [_values(grade.bests) for grade in grades],
            "feedback": [" ".join(grade.feedback) for grade in grades],
        }
    )


def _values(values: Sequence[float | None]) -> str:
    return " ".join("none" if each is None else f"{each:.6g}" for each in values)


def page(exercise: Exercise, grades: Sequence[Grade], *, anonymous: bool = False) -> str:
    """Return a page for the class: who found what, best first; numbers in place of names."""
    ranked = sorted(grades, key=lambda each: (-each.points, each.name))
    names = [f"Plan {number}" if anonymous else g.name for number, g in enumerate(ranked, 1)]
    columns = {
        "plan": names,
        "points": [f"{grade.points:g}" for grade in ranked],
        "makespan (s)": [_values(grade.makespans) for grade in ranked],
        "best (s)": [_values(grade.bests) for grade in ranked],
    }
    question = f"<p>{html.escape(exercise.question)}</p>"
    return still_page(exercise.title, [question, html_table(Table.of(columns))])


OTTER = """OK_FORMAT = False

import makespan_grade
from otter.test_files import test_case

name = {name!r}
points = None

exercise = makespan_grade.exercise_in({text!r})
reached = []


def share(answer, least):
    if not reached:
        reached.append(makespan_grade.points(exercise, answer))
    assert reached[0] >= least - 1e-9, f"{{reached[0]:g}} points; this part takes {{least:g}}"

"""
CASE = """
@test_case(points={points!r}, hidden=False)
def part_{number}(env):
    share(env[{variable!r}], {least!r})

"""


def otter(exercise: Exercise, path: Path, variable: str) -> str:
    """Return a test file of otter, which has a part for each step of the points.

    otter knows only passed and failed: an answer passes as many parts as it has steps. ``variable``
    is what the notebook calls the answer, a plan or a function.
    """
    step, most = exercise.rules.step, exercise.rules.points
    text = OTTER.format(name=exercise.title, text=path.read_text(encoding="utf-8"))
    for number in range(1, round(most / step) + 1):
        text += CASE.format(points=step, number=number, variable=variable, least=number * step)
    return text
