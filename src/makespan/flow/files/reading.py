"""Files → whatever they hold."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from makespan.core.errors import FileError, MissingExtra, headed
from makespan.core.inputs.files import PathLike, read_text, shown_path
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.flow.files.documents import MSCCL, format_of, is_arrays, parsed, parsed_text
from makespan.flow.files.files import PROBLEMS, problem_in, problem_of, read_problem, stated
from makespan.flow.files.results import result_of, schedule_of
from makespan.flow.result import Result


def read_any(
    path: PathLike, problem: Problem | None = None, **parts: Any
) -> Result | Problem | Schedule:
    """Read a problem, a result or a schedule, whichever the file holds.

    A schedule alone is matched with ``problem``, where there is one; ``parts`` are those of a
    problem that its file lacks, see ``read_problem``. Raises FileError if the file can't be read;
    with every mistake found. Raises ProblemError if a problem breaks its own statement.
    """
    if Path(path).suffix.lower() == ".csv":
        return read_problem(path, **parts)
    if is_arrays(path):
        text, data = "", parsed(path)
    else:
        text = read_text(path, pipes=True)
        suffix = format_of(path, text)
        data = parsed_text(text, path, suffix, problem) if suffix in (".json", MSCCL) else {}
    if parts and ("activities" in data or "problem" in data or "schedule" in data):
        raise FileError(f"{path}: {', '.join(parts)}: are for problems; this is a plan")
    with headed(shown_path(path)):
        if "activities" in data:
            return schedule_of(data, "", problem)
        if "problem" in data or "schedule" in data:
            return result_of(data, problem_of)
    return stated(data, path, parts) if is_arrays(path) else problem_in(text, path, parts)


def read_plan(path: PathLike, problem: Problem) -> Result | Schedule:
    """Read a result, or a schedule of ``problem``, or raise as :func:`read_any` does."""
    found = read_any(path, problem)
    if not isinstance(found, (Result, Schedule)):
        raise FileError(f"{path}: is a problem; a result or a schedule is needed here")
    return found


def problem_files(folder: PathLike) -> list[Path]:
    """Return the files of a folder that may hold problems, in order, or raise FileError."""
    try:
        files = filter(Path.is_file, Path(folder).iterdir())
        return sorted(path for path in files if path.suffix.lower() in PROBLEMS)
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}") from None


def problems_in(
    folder: PathLike, parts: Mapping[str, Any] = MappingProxyType({})
) -> tuple[dict[str, Problem], tuple[str, ...]]:
    """Read the problem files of a folder, in the order of their names, with parts of problems.

    Returns the problems by path, and a line for each file that holds none: a result, say, or a file
    named by another problem. Raises FileError if no file holds one; ProblemError if one breaks its
    statement.
    """
    problems: dict[str, Problem] = {}
    others = []
    for path in problem_files(folder):
        try:
            problems[str(path)] = read_problem(path, **parts)
        except (FileError, MissingExtra) as error:
            others.append(" ".join(str(error).split()))
    if not problems:
        raise FileError(f"{folder}: holds no problem; their files end with {', '.join(PROBLEMS)}")
    return problems, tuple(others)
