"""Result → what programs read."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.display import Table
from makespan.core.errors import plain
from makespan.core.problem import Problem
from makespan.core.schedule import COLUMNS, Schedule
from makespan.flow.kinds import kind_of

RESULT_FORMAT = "makespan.result/1"
SCHEDULE_FORMAT = "makespan.schedule/1"
MAX_IDLE_NAMES = 100_000
FEW = 4  # values that stand in one cell


def result_as_dict(result: Any, *, columns: bool = False) -> dict[str, Any]:
    """Return a :class:`Result` as it stands in a file; see the page on files.

    With ``columns`` the schedule is columns, and the answer, which follows from it, left out.
    """
    kind = kind_of(result.problem)
    data: dict[str, Any] = {
        "format": RESULT_FORMAT,
        "kind": kind.name,
        "method": result.method,
        "status": str(result.status),
        "makespan": result.makespan,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "runtime": result.runtime,
        "seed": result.seed,
        "notes": list(result.notes),
    }
    if result.objective is not None:
        data["objective"] = {**result.objective.as_dict(), "maximise": result.objective.maximise}
    if result.options:
        data["options"] = dict(result.options)
    if not columns:
        data["answer"] = result.answer
    plan = result.schedule
    data["schedule"] = None if plan is None else schedule_as_dict(plan, columns=columns)
    data["problem"] = kind.file.write(result.problem)
    data["details"] = dict(result.details)
    if result.log:
        data["log"] = list(result.log)
    if any(step.is_told for step in result.steps):
        data["steps"] = [step.as_dict() for step in result.steps]
    return data


def problem_tables(problem: Problem) -> tuple[Table, ...]:
    """Return what a problem consists of as tables, from its form in files."""
    from makespan.drawing.page.tables import answer_tables

    data = kind_of(problem).file.write(problem)
    del data["format"]
    return answer_tables(_flat(data))


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """Return a form without tables that hold lists or tables: their keys stand beside its own."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict) and any(isinstance(v, (dict, list)) for v in value.values()):
            found.update(_flat(value))
        elif isinstance(value, dict) and len(value) <= FEW:
            found[key] = ", ".join(f"{name} {part}" for name, part in value.items())
        else:
            found[key] = value
    return found


def schedule_as_dict(schedule: Schedule, *, columns: bool = False) -> dict[str, Any]:
    """Return a schedule as in a file, of many machines those in use; ``columns`` hold codes."""
    names = schedule.machines
    if columns:
        table = {name: getattr(schedule, name) for name in COLUMNS}
        return {"format": SCHEDULE_FORMAT, "machines": list(names), "activities": table}
    if len(names) > MAX_IDLE_NAMES:
        used = np.unique(np.concatenate([schedule.machine, schedule.peer[schedule.peer >= 0]]))
        names = [names[index] for index in used.tolist()]
    return {
        "format": SCHEDULE_FORMAT,
        "machines": list(names),
        "activities": list(schedule.records()),
    }


def as_json(data: Mapping[str, Any]) -> str:
    """Return ``data`` as JSON in one line, with null for what JSON can't hold."""
    try:
        return plain(json.dumps(data, allow_nan=False, ensure_ascii=False))
    except (TypeError, ValueError):
        return plain(json.dumps(jsonable(data), allow_nan=False, ensure_ascii=False))


def jsonable(value: Any) -> Any:
    """Return ``value`` as JSON can hold it: arrays as lists, null for what isn't finite."""
    if isinstance(value, dict):
        return {str(key): jsonable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(part) for part in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return jsonable(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if hasattr(value, "as_dict"):
        return jsonable(value.as_dict())
    return str(value)
