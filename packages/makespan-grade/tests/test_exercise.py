"""What an exercise may say, and what it is worth."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import BEST, EXERCISE, LIST, SEVEN, rows
from makespan_grade import exercise_in, grade, points
from makespan_grade.command import command

from makespan import InputError, solve


def test_points_follow_the_scale() -> None:
    """Between two pairs they are linear, beyond the last one they stay."""
    scale = "scale = [[0.0, 1.0], [0.1, 0.5], [0.3, 0.0]]\n"
    exercise = exercise_in(EXERCISE.replace("step = 5\n", "step = 1\n" + scale))
    assert [exercise.share(gap) for gap in (0.0, 0.05, 0.1, 0.2, 0.3, 2.0)] == pytest.approx(
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    )
    assert points(exercise, rows(SEVEN)) == 33.0  # 7 is 1/6 above 6


def test_points_are_rounded_down_to_steps() -> None:
    """6/7 of 100 are 85 in steps of 5, and 85.7 in steps of a tenth."""
    assert points(exercise_in(EXERCISE), rows(SEVEN)) == 85.0
    fine = exercise_in(EXERCISE.replace("step = 5", "step = 0.1"))
    assert points(fine, rows(SEVEN)) == pytest.approx(85.7)


def test_mistakes_of_an_exercise_are_named() -> None:
    """A table of grading with an unknown key, and a scale that falls back."""
    with pytest.raises(InputError, match="grading"):
        exercise_in(EXERCISE.replace("step = 5", "stepp = 5"))
    with pytest.raises(InputError, match="rise"):
        exercise_in(EXERCISE.replace("step = 5", "scale = [[0.1, 1.0], [0.0, 0.0]]"))


def test_plans_of_every_form_get_the_same_points() -> None:
    """A result, its schedule, what its file holds, rows, and a function."""
    exercise = exercise_in(EXERCISE)
    result = solve(exercise.problems[0], method="bin-completion")
    forms = (result, result.schedule, result.to_dict(), rows(BEST), lambda problem: rows(BEST))
    assert [points(exercise, each) for each in forms] == [100.0] * 5


def test_claims_count_for_nothing() -> None:
    """Only activities are read: neither makespans nor points, nor another problem."""
    exercise = exercise_in(EXERCISE)
    plan = solve(exercise.problems[0], method="lpt").to_dict()
    plan |= {"makespan": 0.0, "details": {"points": 100}}
    plan["problem"]["durations"] = [0, 0, 0, 0, 0]
    assert points(exercise, plan) == 85.0
    assert points(exercise, {"points": 100, "schedule": {"activities": []}}) == 0.0
    assert points(exercise, "a" * 100) == 0.0
    assert points(exercise, [{"task": "T9", "machine": "M1", "start": 0, "end": 3}]) == 0.0
    short = [row | {"start": 0, "end": 1} for row in rows(BEST)]
    assert points(exercise, short) == 0.0


def test_a_function_is_tried_on_all_problems(tmp_path: Path) -> None:
    """Its points are the mean; a plan is of the first problem alone."""
    more = '[[grading.problems]]\ngenerate = "independent"\noptions = { tasks = 6, machines = 3 }\n'
    exercise = exercise_in(EXERCISE + more)
    file = tmp_path / "lpt.py"
    file.write_text(LIST.format(key="-each[1]"))
    (found,) = grade(exercise, [file])
    assert len(found.makespans) == 2
    assert all(found.makespans)
    assert found.feedback[1].startswith("Problem 2: The referee accepts")
    assert points(exercise, rows(BEST)) == 100.0


def test_feedback_is_in_words_of_the_referee(tmp_path: Path, exercise: Path) -> None:
    """Each broken rule is told; the page names nobody where it is anonymous."""
    plan = tmp_path / "ada.csv"
    plan.write_text("task,machine,start,end\nT1,M1,0,3\nT2,M1,1,4\n")
    page, table = tmp_path / "class.html", tmp_path / "grades.csv"
    asked = [str(exercise), str(plan), "--csv", str(table), "--page", str(page), "--anonymous"]
    done = CliRunner().invoke(command, asked)
    assert done.exit_code == 0, done.output
    assert "refuses" in table.read_text()
    assert "M1 starts task T2 at 1.0, but runs task T1 until 3.0" in table.read_text()
    assert "ada" in table.read_text()
    assert "ada" not in page.read_text()
    assert "Plan 1" in page.read_text()


def test_a_folder_with_two_answers_is_not_graded(tmp_path: Path) -> None:
    """Which of them counts is not guessed."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}")
    (found,) = grade(exercise_in(EXERCISE), [tmp_path])
    assert found.points == 0.0
    assert "2 files" in found.feedback[0]
