"""Files → whatever they hold."""

from __future__ import annotations

from pathlib import Path

from makespan.core.errors import FileError, InputError
from makespan.core.problem import Problem
from makespan.core.result import Result
from makespan.core.schedule import Schedule
from makespan.flow._documents import parsed
from makespan.flow._files import PathLike, problem_of, read_problem
from makespan.flow._results import result_of, schedule_of


def read_any(path: PathLike, problem: Problem | None = None) -> Result | Problem | Schedule:
    """Read a problem, a result or a schedule, whichever the file holds.

    A schedule alone is matched with ``problem``, where there is one.

    Raises
    ------
    FileError
        If the file can't be read; with every mistake found.
    ProblemError
        If a problem breaks its own statement.
    """
    if str(path) != "-" and Path(path).suffix.lower() != ".json":
        return read_problem(path)
    data = parsed(path)
    try:
        if "activities" in data:
            return schedule_of(data, "", problem)
        if "problem" in data or "schedule" in data:
            return result_of(data, problem_of)
        if str(path) == "-":
            return problem_of(data)
    except InputError as error:
        shown = "standard input" if str(path) == "-" else str(path)
        raise type(error)(error.mistakes, heading=shown) from None
    return read_problem(path)


def read_plan(path: PathLike, problem: Problem) -> Result | Schedule:
    """Read a result, or a schedule of ``problem``, whichever the file holds.

    Raises
    ------
    FileError, ProblemError
        As :func:`read_any` does, and if the file holds a problem.
    """
    found = read_any(path, problem)
    if not isinstance(found, (Result, Schedule)):
        raise FileError(f"{path}: is a problem; a result or a schedule is needed here")
    return found
