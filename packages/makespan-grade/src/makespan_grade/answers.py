"""An answer, as students give it → a schedule of the exercise's problem."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from makespan import FileError, InputError, Result, Schedule
from makespan.core.errors import Mistake
from makespan.core.problem import Problem
from makespan.flow.files.files import as_dict
from makespan.flow.files.results import schedule_of
from makespan.flow.kinds import kind_of

LARGEST = 20_000_000  # bytes of a file
COLUMNS = ("kind", "machine", "peer", "item", "amount", "start", "end")
NEEDED = ("machine", "start", "end")


def read_answer(path: Path) -> tuple[Any, str]:
    """Return what stands in a file, data or the text of a module, and its author's name."""
    if path.stat().st_size > LARGEST:
        raise FileError(f"is larger than {LARGEST / 1e6:g} MB")
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".json":
            data = json.loads(text)
            details = data.get("details") if isinstance(data, dict) else None
            name = details.get("name") if isinstance(details, dict) else None
            return data, name if isinstance(name, str) and name.strip() else path.stem
        if path.suffix == ".csv":
            return list(csv.DictReader(io.StringIO(text))), path.stem
    except (UnicodeDecodeError, ValueError, RecursionError, csv.Error) as error:
        raise FileError(f"can't be read: {error}") from None
    return text, path.stem


def schedule_from(answer: Any, problem: Problem, best: Result) -> Schedule:
    """Return the schedule in an answer; whatever else it claims is left aside.

    An answer is a schedule, a result, or what their files hold, of the studio's hand-in, too; or
    rows with ``task`` (or ``item``), ``machine``, ``start`` and ``end``. Amounts that are left out
    are those of the ``best`` plan.

    Raises
    ------
    InputError
        If there is no schedule in it, with every mistake found.
    """
    if isinstance(answer, Result):
        answer = answer.schedule
    if isinstance(answer, Schedule):
        answer = as_dict(answer)
    if isinstance(answer, Mapping) and "activities" not in answer and "schedule" in answer:
        _refuse_other_problem(answer, problem)
        answer = answer["schedule"]
    if isinstance(answer, Mapping):
        return schedule_of({key: answer[key] for key in answer if key != "earliest"}, "", problem)
    if isinstance(answer, list) and all(isinstance(row, Mapping) for row in answer):
        return schedule_of({"activities": _activities(answer, problem, best)}, "", problem)
    raise InputError(f"a {type(answer).__name__} is not a schedule, a result or a list of rows")


def _refuse_other_problem(answer: Mapping[str, Any], problem: Problem) -> None:
    """Refuse a plan of another problem, which the referee would only call wrong in many words."""
    stated = answer.get("problem")
    if isinstance(stated, Mapping):
        own = json.loads(json.dumps(as_dict(problem), default=lambda each: each.tolist()))
        if stated.get("kind", problem.kind) != own["kind"]:
            raise InputError(f"is a plan of another kind of problem, {stated.get('kind')!r}")


def _activities(
    rows: list[Mapping[str, Any]], problem: Problem, best: Result
) -> list[dict[str, Any]]:
    """Return rows as the activities of a file."""
    names = kind_of(problem).tasks(problem)
    index = {name: number for number, name in enumerate(names or ())}
    known = {(each["kind"], each["item"]): each["amount"] for each in _rows_of(best)}
    mistakes, found = [], []
    for number, row in enumerate(rows):
        given = {key: value for key, value in row.items() if value not in (None, "")}
        lacking = [name for name in NEEDED if name not in given]
        if lacking:
            mistakes.append(Mistake(f"row {number + 1}", f"has no {' and no '.join(lacking)}"))
            continue
        item = given.get("item", given.get("task", 0))
        kind = given.get("kind", "compute")
        try:
            item = index.get(str(item), item)
            item = int(item)
            amount = float(given.get("amount", known.get((kind, item), 0.0)))
            start, end = float(given["start"]), float(given["end"])
        except (TypeError, ValueError, OverflowError):
            what = {key: given[key] for key in ("task", "item", "start", "end") if key in given}
            mistakes.append(Mistake(f"row {number + 1}", f"is not of tasks and times: {what}"))
            continue
        found.append(
            {"kind": kind, "machine": str(given["machine"]), "peer": given.get("peer")}
            | {"item": item, "amount": amount, "start": start, "end": end}
        )
    if mistakes:
        raise InputError(mistakes)
    return found


def _rows_of(best: Result) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = as_dict(best.schedule)["activities"] if best.schedule else []
    return rows
