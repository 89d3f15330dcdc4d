"""The contents of a result's file → the result, with every mistake in it."""

from collections.abc import Callable, Iterator, Mapping
from math import inf, isnan
from typing import Any

import numpy as np

from makespan.core.errors import FileError, InputError, Mistake
from makespan.core.inputs.rules import Mistakes, Rule, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import index_by_name
from makespan.core.problem import Problem
from makespan.core.schedule import COLUMNS, WORDS, Schedule
from makespan.core.solution import Objective, Status
from makespan.core.steps import Step, step_of
from makespan.flow.result import Result

SHOWN = 20
KEYS = (
    *("format", "kind", "method", "status", "makespan", "lower_bound", "gap", "runtime", "seed"),
    *("notes", "objective", "options", "answer", "schedule", "problem", "details", "log"),
    "steps",
)
TYPES = {str: "a text", dict: "a table of keys and values", int: "a whole number or null"}
SCHEDULE_KEYS = ("format", "machines", "activities")
NEEDED = tuple(name for name in COLUMNS if name != "peer")
NUMBERS = ("amount", "start", "end")
ANY_NUMBER = Rule(low=-inf, any_magnitude=True)


def result_of(data: Mapping[str, Any], problem_of: Callable[[Any], Problem]) -> Result:
    """Return the result in a file's contents, or raise InputError with every mistake found."""
    mistakes = Mistakes()
    _known_keys(mistakes, "", data, KEYS)
    problem = _problem(mistakes, data, problem_of)
    schedule = None
    if data.get("schedule") is not None:
        try:
            schedule = schedule_of(data["schedule"], "schedule", problem)
        except InputError as error:
            mistakes.extend(error.mistakes)
    elif "status" not in data:
        mistakes.add("schedule", "is missing; a problem and a schedule, or a whole result, is read")
    end = schedule.makespan if schedule is not None else None
    fields: dict[str, Any] = {
        "lower_bound": _number(mistakes, "lower_bound", data.get("lower_bound"), -inf),
        "gap": _number(mistakes, "gap", data.get("gap"), -inf),
        "runtime": _number(mistakes, "runtime", data.get("runtime")) or 0.0,
        "makespan": _number(mistakes, "makespan", data["makespan"]) if "makespan" in data else end,
        "status": _status(mistakes, data),
        "method": _typed(mistakes, data, "method", str) or "made elsewhere",
        "options": _typed(mistakes, data, "options", dict) or {},
        "seed": _typed(mistakes, data, "seed", int),
        "notes": _texts(mistakes, data, "notes"),
        "objective": _objective(mistakes, data.get("objective")),
        "details": _typed(mistakes, data, "details", dict) or {},
        "log": _texts(mistakes, data, "log"),
        "steps": _steps(mistakes, data.get("steps", [])),
    }
    mistakes.raise_if_any(FileError)
    assert problem is not None
    return Result(problem=problem, schedule=schedule, **fields)


def _known_keys(mistakes: Mistakes, place: str, data: Mapping[str, Any], known: Any) -> None:
    for key in data:
        if key not in known:
            mistakes.add(place, f"unknown key {quoted(key)}{did_you_mean(key, known)}")


def _problem(
    mistakes: Mistakes, data: Mapping[str, Any], problem_of: Callable[[Any], Problem]
) -> Problem | None:
    if not isinstance(data.get("problem"), dict):
        given = "problem" in data
        mistakes.add("problem", "is not a table of keys and values" if given else "is missing")
        return None
    try:
        problem = problem_of(data["problem"])
    except InputError as error:
        mistakes.extend(tuple(_below("problem", mistake) for mistake in error.mistakes))
        return None
    if "kind" in data and data["kind"] != problem.kind:
        mistakes.add("kind", f"{quoted(data['kind'])} differs from the problem's {problem.kind!r}")
    return problem


def _below(place: str, mistake: Mistake) -> Mistake:
    return Mistake(f"{place}.{mistake.place}" if mistake.place else place, mistake.message)


def _number(mistakes: Mistakes, name: str, value: Any, low: float = 0.0) -> float | None:
    if value is None:
        return None
    found = mistakes.number(name, value, Rule("it is a number or null", low, any_magnitude=True))
    return None if isnan(found) else found


def _status(mistakes: Mistakes, data: Mapping[str, Any]) -> Status:
    found = data.get("status", "feasible")
    mistakes.choice("status", found, tuple(map(str, Status)))
    if found not in tuple(Status):
        return Status.FEASIBLE
    status = Status(found)
    has_plan = status in (Status.OPTIMAL, Status.FEASIBLE)
    if "status" in data and has_plan != (data.get("schedule") is not None):
        wrong = "needs a schedule" if has_plan else "can't have a schedule"
        mistakes.add("status", f"a result that is {str(status)!r} {wrong}")
    return status


def _typed(mistakes: Mistakes, data: Mapping[str, Any], name: str, kind: type) -> Any:
    """Return an entry of a type, and None where it is missing or of another."""
    value = data.get(name)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    mistakes.add(name, f"{quoted(value)} is not {TYPES[kind]}")
    return None


def _texts(mistakes: Mistakes, data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        mistakes.add(name, f"{quoted(value)} is not a list of texts")
        return ()
    return tuple(value)


def _steps(mistakes: Mistakes, data: Any) -> tuple[Step, ...]:
    if not isinstance(data, list):
        mistakes.add("steps", f"{quoted(data)} is not a list of steps")
        return ()
    found = []
    for index, each in enumerate(data):
        try:
            found.append(step_of(each))
        except ValueError as error:
            mistakes.add(f"steps[{index}]", str(error))
            break
    return tuple(found)


def _objective(mistakes: Mistakes, data: Any) -> Objective | None:
    if data is None:
        return None
    if not isinstance(data, dict):
        mistakes.add("objective", f"{quoted(data)} is not a table of keys and values")
        return None
    _known_keys(mistakes, "objective", data, ("name", "value", "bound", "maximise"))
    value = _number(mistakes, "objective.value", data.get("value"), -np.inf)
    bound = _number(mistakes, "objective.bound", data.get("bound"), -np.inf)
    name = data.get("name")
    maximise = data.get("maximise", False)
    if value is None or not isinstance(name, str) or not isinstance(maximise, bool):
        mistakes.add("objective", "is not complete; it has a name, a value and a bound")
        return None
    return Objective(name=name, value=value, bound=bound, maximise=maximise)


def schedule_of(data: Any, place: str, problem: Problem | None) -> Schedule:
    """Return the schedule that stands at ``place`` of a file, over the problem's machines.

    Without a problem, or where an activity is on a machine that the problem lacks, the machines are
    those that the file names: the referee then says what is wrong. Raises FileError with every
    mistake found, such as ``schedule.activities[3].start``.
    """
    mistakes = Mistakes()
    start = f"{place}." if place else ""
    if not isinstance(data, dict):
        raise FileError(
            [Mistake(place, f"{quoted(data)} is not a schedule, {{machines, activities}}")]
        )
    _known_keys(mistakes, place, data, SCHEDULE_KEYS)
    rows = data.get("activities")
    if not isinstance(rows, (dict, list)):
        mistakes.add(f"{start}activities", "is missing" if rows is None else "is not a list")
    names = _machine_names(mistakes, f"{start}machines", data.get("machines"), rows)
    columns: Any = None
    if isinstance(rows, dict):
        columns = _stored(mistakes, f"{start}activities", rows, len(names))
    elif not mistakes:
        columns = _columns(rows, index_by_name(names))  # type: ignore[arg-type]
        if columns is None:
            _explain(mistakes, f"{start}activities", rows, names)  # type: ignore[arg-type]
    mistakes.raise_if_any(FileError)
    schedule = Schedule.of_columns(names, **columns)
    try:
        return schedule if problem is None else schedule.renamed(problem.machines)
    except KeyError:
        return schedule


def _stored(
    mistakes: Mistakes, place: str, table: Mapping[str, Any], machines: int
) -> dict[str, Any]:
    """Return columns of activities as they stand in a file of arrays, each of the right range."""
    _known_keys(mistakes, place, table, COLUMNS)
    ranges = {"kind": (0, len(WORDS)), "machine": (0, machines), "peer": (-1, machines)}
    lengths = {len(column) for column in table.values() if np.ndim(column) == 1}
    for name in COLUMNS:
        column = table.get(name)
        if not isinstance(column, np.ndarray) or column.ndim != 1 or len(lengths) != 1:
            mistakes.add(f"{place}.{name}", "is not a column as long as the others, in an array")
        elif name in NUMBERS:
            wrong = np.flatnonzero(~np.isfinite(column))
            if len(wrong):
                mistakes.add(f"{place}.{name}[{wrong[0]}]", f"{column[wrong[0]]} is not finite")
        elif column.dtype.kind not in "iu":
            mistakes.add(f"{place}.{name}", f"holds {column.dtype}; it holds whole numbers")
        elif name in ranges:
            low, high = ranges[name]
            wrong = np.flatnonzero((column < low) | (column >= high))
            if len(wrong):
                text = f"{column[wrong[0]]} is not allowed; it is from {low} to {high - 1}"
                mistakes.add(f"{place}.{name}[{wrong[0]}]", text)
    return dict(table)


def _machine_names(mistakes: Mistakes, place: str, names: Any, rows: Any) -> tuple[str, ...]:
    """Return the machines that the file names, or those of its activities where it names none."""
    if names is None and isinstance(rows, list):
        ends = (
            row.get(end) for row in rows if isinstance(row, dict) for end in ("machine", "peer")
        )
        return tuple(dict.fromkeys(name for name in ends if isinstance(name, str)))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        mistakes.add(place, f"{quoted(names)} is not a list of names")
        return ()
    seen: set[str] = set()
    for name in names:
        if name in seen:
            mistakes.add(place, f"{name!r} stands twice; names are unique")
            break
        seen.add(name)
    return tuple(names)


def _columns(rows: list[Any], position: dict[str, int]) -> dict[str, Any] | None:
    """Return the columns of the activities, or None where anything is wrong with them."""
    codes = {word: code for code, word in enumerate(WORDS)}
    try:
        if not set().union(*rows) <= set(COLUMNS) or not all(type(row) is dict for row in rows):
            return None
        columns: dict[str, Any] = {
            "kind": [codes[row["kind"]] for row in rows],
            "machine": [position[row["machine"]] for row in rows],
            "peer": [-1 if (p := row.get("peer")) is None else position[p] for row in rows],
            **{name: [row[name] for row in rows] for name in ("item", *NUMBERS)},
        }
        if not set(map(type, columns["item"])) <= {int}:
            return None
        if not all(set(map(type, columns[name])) <= {int, float} for name in NUMBERS):
            return None
        arrays = {name: np.array(columns[name], dtype=np.float64) for name in NUMBERS}
        arrays["item"] = np.array(columns["item"], dtype=np.int64)
    except (KeyError, TypeError, OverflowError):
        return None
    if not all(np.isfinite(arrays[name]).all() for name in NUMBERS):
        return None
    return {**columns, **arrays}


def _explain(mistakes: Mistakes, place: str, rows: list[Any], names: Any) -> None:
    """Note what is wrong with the activities, up to a number of them."""
    known = set(names)
    wrong = 0
    for index, row in enumerate(rows):
        faults = list(_row_faults(row, known))
        wrong += bool(faults)
        if wrong <= SHOWN:
            for key, fault in faults:
                mistakes.add(f"{place}[{index}]{key}", fault)
    if wrong > SHOWN:
        mistakes.add(place, f"and {wrong - SHOWN} more activities have mistakes")


def _row_faults(row: Any, machines: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one activity: the key it stands at, and what."""
    if not isinstance(row, dict):
        yield "", f"{quoted(row)} is not a table of keys and values"
        return
    for key in row:
        if key not in COLUMNS:
            yield "", f"unknown key {quoted(key)}{did_you_mean(key, COLUMNS)}"
    for key in NEEDED:
        if key not in row:
            yield f".{key}", "is missing"
    if "kind" in row and row["kind"] not in WORDS:
        hint = did_you_mean(row["kind"], WORDS)
        yield ".kind", f"{quoted(row['kind'])} is not a kind of activity{hint}"
    for key in ("machine", "peer"):
        name = row.get(key)
        if key not in row or (name is None and key == "peer"):
            continue
        if not isinstance(name, str) or name not in machines:
            hint = did_you_mean(name, sorted(machines)[:200])
            yield f".{key}", f"{quoted(name)} is not a machine of the schedule{hint}"
    item = row.get("item", -1)
    if isinstance(item, bool) or not isinstance(item, int) or not abs(item) < 2**63:
        yield ".item", f"{quoted(item)} is not a whole number"
    for key in NUMBERS:
        fault = ANY_NUMBER.fault(row.get(key, 0.0))
        if fault is not None:
            yield f".{key}", f"{quoted(row[key])} {fault}"
