"""Grades plans and schedulers: a referee's word, and points by the gap to the best plan."""

from makespan_grade.exercise import Exercise, exercise_in, read_exercise
from makespan_grade.judge import Grade, grade, points

__all__ = ["Exercise", "Grade", "exercise_in", "grade", "points", "read_exercise"]
