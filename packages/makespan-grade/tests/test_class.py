"""A whole class, of which a third is broken or hostile."""

from __future__ import annotations

from pathlib import Path

from conftest import HOSTILE
from makespan_grade import grade, read_exercise


def test_a_class_gets_its_points_and_no_harm_is_done(exercise: Path, submissions: Path) -> None:
    """Thirty submissions: the honest ones get theirs, hostile ones nothing, and reach nothing."""
    files = sorted(submissions.iterdir())
    assert len(files) == 30
    grades = {each.name: each for each in grade(read_exercise(exercise), files)}
    assert len(grades) == 30
    for name, found in grades.items():
        if name in (*HOSTILE, "broken"):
            assert found.points == 0, name
        else:
            best = name.startswith("Ada") or name in ("rows1", "rows3")
            assert found.points == (100 if best else 85), name
    assert (exercise.parent / "victim.txt").read_text() == "yours"
    words = {name: " ".join(found.feedback) for name, found in grades.items()}
    assert "no answer within 2 s" in words["endless"]
    assert "no answer within 2 s" in words["asleep"]
    assert "MemoryError" in words["huge"]
    assert "longer than" in words["long"]
    for name in ("network", "writing", "starting", "killing"):
        assert "out of reach" in words[name], words[name]
    assert "no answer" in words["forged"] or "not a plan" in words["forged"]
    assert "can't be read" in words["broken"]
