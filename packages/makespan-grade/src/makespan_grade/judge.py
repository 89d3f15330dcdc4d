"""An exercise and an answer → points, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from makespan import InputError, MakespanError, check
from makespan.core.errors import FileError
from makespan.flow.files.files import as_dict
from makespan_grade.answers import read_answer, schedule_from
from makespan_grade.exercise import Exercise
from makespan_grade.sandbox import Failed, called

TOLD = 5  # violations that feedback names
SUFFIXES = (".json", ".csv", ".py")


@dataclass(frozen=True, kw_only=True)
class Grade:
    """What an answer is worth, and why.

    Parameters
    ----------
    name
        Of the student.
    points, most
        What was reached, and what can be.
    makespans, bests
        Of the plans that the referee accepted (None where it did not), and of the best ones known.
    feedback
        Sentences for the student.
    seconds
        What grading took.
    """

    name: str
    points: float
    most: float
    makespans: tuple[float | None, ...]
    bests: tuple[float, ...]
    feedback: tuple[str, ...]
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the grade as data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def points(exercise: Exercise, answer: Any) -> float:
    """Return the points of an answer: a plan in any form, or a function in this process.

    The call for notebooks: as the last line of a cell it gives nbgrader its points. A function is
    called here, as the notebook's runner isolates it.
    """
    return _judged(
        exercise, "", lambda number: _here(exercise, answer, number), callable(answer)
    ).points


def _here(exercise: Exercise, answer: Any, number: int) -> Any:
    if not callable(answer):
        return answer
    try:
        return answer(as_dict(exercise.problems[number]))
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


def grade(
    exercise: Exercise,
    submissions: Sequence[Path],
    *,
    jobs: int = 2,
    trusted: bool = False,
) -> list[Grade]:
    """Return the grade of each file: plans as JSON or CSV, and functions as Python.

    Parameters
    ----------
    exercise
        What is asked.
    submissions
        Files, and folders that hold one each.
    jobs
        How many are graded at a time.
    trusted
        Whether functions run without limits of the system.
    """
    for number in range(len(exercise.problems)):
        exercise.best(number)
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda path: graded(exercise, path, trusted), submissions))


def graded(exercise: Exercise, path: Path, trusted: bool = False) -> Grade:
    """Return the grade of one submission."""
    began, name = time.monotonic(), path.stem
    try:
        file = _file_of(path)
        answer, name = read_answer(file)
        name = path.name if path.is_dir() and name == file.stem else name
    except (MakespanError, OSError) as error:
        return _nothing(exercise, name, f"The file can't be graded: {error}.", began)
    if file.suffix != ".py":
        return _judged(exercise, name, lambda _: answer, False, began)
    rules = exercise.rules

    def call(number: int) -> Any:
        data = as_dict(exercise.problems[number])
        plain = _plain(data)
        return called(
            answer, rules.function, plain,
            seconds=rules.time_limit, memory=rules.memory, trusted=trusted,
        )  # fmt: skip

    return _judged(exercise, name, call, True, began)


def _plain(data: Any) -> Any:
    """Return data without arrays."""
    if isinstance(data, dict):
        return {key: _plain(each) for key, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(each) for each in data]
    return data.tolist() if hasattr(data, "tolist") else data


def _file_of(path: Path) -> Path:
    """Return the file of a submission; of a folder, the only one in it. Links lead elsewhere."""
    files = [path]
    if path.is_dir() and not path.is_symlink():
        files = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES)
        if len(files) != 1:
            raise FileError(f"there are {len(files)} files {', '.join(SUFFIXES)}; one is graded")
    if files[0].suffix not in SUFFIXES or files[0].is_symlink() or not files[0].is_file():
        raise FileError(f"{files[0].name} is not a file {', '.join(SUFFIXES)}")
    return files[0]


def _nothing(exercise: Exercise, name: str, why: str, began: float) -> Grade:
    return Grade(
        name=name, points=0.0, most=exercise.rules.points, makespans=(), bests=(),
        feedback=(why,), seconds=time.monotonic() - began,
    )  # fmt: skip


def _judged(
    exercise: Exercise,
    name: str,
    answer_to: Callable[[int], Any],
    every: bool,
    began: float | None = None,
) -> Grade:
    """Return the grade of what answers a problem by its number; of ``every`` one, or the first."""
    start = time.monotonic() if began is None else began
    shares, makespans, bests, feedback = [], [], [], []
    count = len(exercise.problems) if every else 1
    for number in range(count):
        best = exercise.best(number)
        assert best.makespan is not None
        try:
            makespan, words = _refereed(exercise, number, answer_to(number))
        except Failed as error:
            makespan, words = None, [f"The function gave no answer: {error}."]
        except InputError as error:
            makespan, words = None, [f"This is not a plan of the problem: {error}."]
        except Exception as error:  # one answer must not end the class
            makespan, words = None, [f"The answer can't be judged: {type(error).__name__}."]
        least = best.makespan if makespan is None else min(makespan, best.makespan)
        gap = (
            0.0 if makespan is None or makespan == least else makespan / least - 1 if least else 1e9
        )
        shares.append(0.0 if makespan is None else exercise.share(gap))
        makespans.append(makespan)
        bests.append(least)
        start_of = f"Problem {number + 1}: " if count > 1 else ""
        feedback += [start_of + each for each in words]
    return Grade(
        name=name,
        points=exercise.points(sum(shares) / count),
        most=exercise.rules.points,
        makespans=tuple(makespans),
        bests=tuple(bests),
        feedback=tuple(feedback),
        seconds=time.monotonic() - start,
    )


def _refereed(exercise: Exercise, number: int, answer: Any) -> tuple[float | None, list[str]]:
    """Return the makespan of an answer that the referee accepts, else None; and the words."""
    problem, best = exercise.problems[number], exercise.best(number)
    assert best.makespan is not None
    schedule = schedule_from(answer, problem, best)
    report = check(problem, schedule)
    if not report.ok:
        told = [each.message for each in report.violations[:TOLD]]
        more = len(report.violations) - len(told)
        words = ["The referee refuses this plan:", *(f"- {each}." for each in told)]
        return None, [*words, *([f"- and {more} more."] if more > 0 else [])]
    makespan, proved = float(schedule.makespan), str(best.status) == "optimal"
    if makespan <= best.makespan * (1 + 1e-9):
        end = "no plan ends earlier" if proved else "no better plan is known"
    else:
        end = f"the best {'' if proved else 'known '}plan ends at {best.makespan:.6g} s"
    return makespan, [f"The referee accepts this plan. It ends at {makespan:.6g} s; {end}."]
