"""What must become of a file: it is read, written and read again the same, or refused in words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from campaign.part import Defect, Trial
from makespan import InputError, Result, Schedule
from makespan.core.problem import Problem
from makespan.flow.check import check
from makespan.flow.files.files import as_text, problem_of, read_problem
from makespan.flow.files.reading import read_any
from makespan.flow.files.results import result_of, schedule_of

Got = TypeVar("Got")
PATIENCE = 2.0  # seconds of processor time for a file of a few kB
PATIENCE_FOR_A_BYTE = 1e-6
LONGEST = 30_000
TASKS = 6  # to be split by what a CSV file holds
PYTHON = re.compile(
    r"object at 0x|Traceback|NoneType|unhashable|subscriptable|has no attribute|invalid literal"
    r"|unsupported operand|not supported between|expected str|list index|array\(|dtype"
)


def read(trial: Trial, path: Path) -> Problem | Result | Schedule | None:
    """Return what the file holds; None where it was refused as it should be.

    Raises
    ------
    Defect
        If reading takes too long, a refusal doesn't say where or what, or what was read comes back
        different once written.
    """
    found = _in_time(lambda: _read(path), path)
    if found is not None:
        _same_again(found, path)
    trial.count("read and written again" if found is not None else "refused")
    return found


def _read(path: Path) -> Problem | Result | Schedule | None:
    try:
        return read_problem(path, tasks=TASKS) if path.suffix == ".csv" else read_any(path)
    except InputError as error:
        check_refusal(error, path)
        return None


def _in_time(action: Callable[[], Got], path: Path) -> Got:
    begun = time.process_time()
    result = action()
    took = time.process_time() - begun
    size = path.stat().st_size
    if took > PATIENCE + PATIENCE_FOR_A_BYTE * size:
        raise Defect(f"takes {took:.1f} s of processor time for a file of {size:,} bytes")
    return result


def check_refusal(error: InputError, *paths: Path) -> None:
    """Raise Defect if a refusal doesn't say, in words, what is wrong with one of the files."""
    text = str(error)
    if not error.mistakes or not all(mistake.message.strip() for mistake in error.mistakes):
        raise Defect(f"a refusal without a reason: {text[:200]!r}")
    if not text.startswith(tuple(name for path in paths for name in (str(path), path.name))):
        raise Defect(f"a refusal that does not begin with the file: {text[:200]!r}")
    if len(text) > LONGEST:
        raise Defect(f"a refusal of {len(text)} characters")
    own_words = re.sub(r"(?<!\w)'[^']*'|\"[^\"]*\"", "", text)
    if PYTHON.search(own_words):
        raise Defect(f"a refusal in Python's words: {text[:300]!r}")


def _same_again(found: Problem | Result | Schedule, path: Path) -> None:
    if isinstance(found, Result) and not check(found).ok:
        return  # its answer may make no sense
    text = as_text(found, ".json")
    data = json.loads(text)
    again: Any
    if isinstance(found, Result):
        again = result_of(data, problem_of)
    elif isinstance(found, Schedule):
        again = schedule_of(data, "", None)
    else:
        again = problem_of(data, path.parent)
    if comparable(json.loads(as_text(again, ".json"))) != comparable(data):
        raise Defect("what was read and written is read differently")


def comparable(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document in which machines, which activities name, stand in the order of names."""
    schedule = data.get("schedule") if "problem" in data else data
    if isinstance(schedule, dict) and "activities" in schedule:
        schedule["machines"] = sorted(schedule["machines"])
    return data
