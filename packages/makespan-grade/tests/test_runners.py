"""The same points by Gradescope's file, and by the runners of otter and nbgrader."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import BEST, LIST, SEVEN, rows
from makespan_grade.command import command

HALF = [{"task": "T1", "machine": "M1", "start": 0, "end": 3}]
ANSWERS = {
    "best": (f"answer = {rows(BEST)!r}", 100.0),
    "seven": (f"answer = {rows(SEVEN)!r}", 85.0),
    "function": (LIST.format(key="-each[1]") + "\nanswer = plan", 85.0),
    "lacking": (f"answer = {HALF!r}", 0.0),
    "raising": ("def answer(problem): raise ValueError", 0.0),
}


def test_gradescope_gets_the_points(exercise: Path, submissions: Path) -> None:
    """Its file holds the points of each submission, also where a folder holds it."""
    results = exercise.parent / "results.json"
    for name, expected in (("rows1.csv", 100.0), ("rows0.csv", 85.0), ("lpt0.py", 85.0)):
        folder = exercise.parent / f"submission-{name}"
        folder.mkdir()
        shutil.copy(submissions / name, folder)
        asked = [str(exercise), str(folder), "--gradescope", str(results)]
        done = CliRunner().invoke(command, asked)
        assert done.exit_code == 0, done.output
        data = json.loads(results.read_text())
        assert data["score"] == data["tests"][0]["score"] == expected
        assert data["tests"][0]["max_score"] == 100
        assert "referee" in data["output"]


def notebook(*cells: tuple[str, dict[str, Any]]) -> str:
    """Return a notebook with cells of code and their metadata of nbgrader."""
    made = [
        {"cell_type": "code", "execution_count": None, "id": f"cell{number}", "outputs": []}
        | {"metadata": {"nbgrader": extra} if extra else {}, "source": source}
        for number, (source, extra) in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    meta = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": meta, "nbformat": 4, "nbformat_minor": 5})


def run(folder: Path, *arguments: str) -> None:
    """Run Python in a folder."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, text=True, check=False,
        capture_output=True,
        env={**os.environ, "JUPYTER_PLATFORM_DIRS": "1", "HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


GRADE = """
import json, pathlib, sys
from otter.api import grade_submission
found = {}
for name in sys.argv[1:]:
    found[name] = grade_submission(name + ".ipynb", "ag.zip", quiet=True).total
pathlib.Path("points.json").write_text(json.dumps(found))
"""


def test_otter_gives_the_same_points(exercise: Path) -> None:
    """Its runner, on the test that the command writes."""
    pytest.importorskip("otter")
    folder = exercise.parent
    (folder / "tests").mkdir()
    asked = [str(exercise), "--otter", str(folder / "tests" / "q1.py")]
    assert CliRunner().invoke(command, asked).exit_code == 0
    run(folder, "-m", "otter", "generate", "-t", "tests", "-o", "ag.zip", "--no-environment")
    for name, (source, _) in ANSWERS.items():
        (folder / f"{name}.ipynb").write_text(notebook((source, {})))
    run(folder, "-c", GRADE, *ANSWERS)
    points = json.loads((folder / "points.json").read_text())
    assert points == {name: expected for name, (_, expected) in ANSWERS.items()}


def test_nbgrader_gives_the_same_points(exercise: Path) -> None:
    """Its runner, on a cell that ends with the call."""
    pytest.importorskip("nbgrader")
    folder = exercise.parent / "course"
    call = f"import makespan_grade\nexercise = makespan_grade.read_exercise({str(exercise)!r})\n"
    call += "makespan_grade.points(exercise, answer)"
    common = {"schema_version": 3, "cell_type": "code", "task": False}
    own = {**common, "grade": False, "grade_id": "own", "locked": False, "solution": True}
    test = {**common, "grade": True, "grade_id": "test", "locked": True, "solution": False}
    test["points"] = 100
    given = folder / "source" / "ps1"
    given.mkdir(parents=True)
    config = "c = get_config()\nc.CourseDirectory.course_id = 'x'\n"
    (folder / "nbgrader_config.py").write_text(config)
    (given / "p.ipynb").write_text(notebook(("answer = None", own), (call, test)))
    run(folder, "-m", "nbgrader", "generate_assignment", "ps1")
    for name, (source, _) in ANSWERS.items():
        handed = folder / "submitted" / name / "ps1"
        handed.mkdir(parents=True)
        (handed / "p.ipynb").write_text(notebook((source, own), (call, test)))
    run(folder, "-m", "nbgrader", "autograde", "ps1")
    run(folder, "-m", "nbgrader", "export")
    with (folder / "grades.csv").open() as file:
        found = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert found == {name: expected for name, (_, expected) in ANSWERS.items()}
