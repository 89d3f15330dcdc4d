"""Reports of test runners → the seconds of each test."""

import csv
import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from makespan.core.errors import InputError, Mistake
from makespan.core.inputs.documents import local, root_of, table_in


class Timing(NamedTuple):
    """What one test took, and what it is called by ``case``, ``class`` and ``file``."""

    names: dict[str, str]
    seconds: float


class Report(NamedTuple):
    """What a file holds; ``by`` is what its runner can be told to run."""

    timings: list[Timing]
    by: str


def read(text: str) -> Report:
    """Return the times in a report, whose form is told by its content, or raise InputError."""
    start = text.lstrip("\ufeff \t\r\n")
    first = start.partition("\n")[0]
    if start.startswith("<"):
        found, by = _junit(start), "case"
    elif not start.startswith("{"):
        found, by = _table(start), "case"
    elif '"Action"' in first:
        found, by = _go(start), "case"
    else:
        data = table_in(start, "content", ".json")
        if "testResults" in data:
            found, by = _vitest(data), "file"
        elif "suites" in data:
            found, by = _playwright(data["suites"], "suites"), "file"
        else:
            found, by = _durations(data), "case"
    timings = list(found)
    if not timings:
        raise InputError("holds no times of tests")
    return Report(timings, by)


def _seconds(value: Any, place: str, unit: float = 1.0) -> float:
    try:
        seconds = math.nan if isinstance(value, bool) else float(value) / unit
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        message = f"{value!r} is not allowed; it is a number from 0 on"
        raise InputError([Mistake(place, message)])
    return seconds


def _of(value: Any, kind: type, place: str) -> Any:
    if not isinstance(value, kind) or value == "":
        words: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
        raise InputError([Mistake(place, f"{value!r} is not allowed; it is {words[kind]}")])
    return value


def _timing(case: str, seconds: float, file: str, group: str = "") -> Timing:
    return Timing({"case": case, "class": group or file, "file": file}, seconds)


def _junit(text: str) -> Iterator[Timing]:
    tag = "testsuite" if "<testsuites" not in text else "testsuites"
    cases = [each for each in root_of(text, tag, "JUnit XML").iter() if local(each) == "testcase"]
    for index, each in enumerate(cases):
        place = f"testcase[{index}]"
        case, group = _of(each.get("name"), str, f"{place}.name"), each.get("classname", "")
        file = each.get("file") or group or case
        seconds = _seconds((each.get("time") or "0").replace(",", ""), f"{place}.time")
        yield _timing(f"{file}::{case}", seconds, file, group)


def _durations(data: dict[str, Any]) -> Iterator[Timing]:
    for node, value in data.items():
        file, _, rest = node.partition("::")
        group = f"{file}::{rest.rpartition('::')[0]}" if "::" in rest else file
        yield _timing(node, _seconds(value, node), file, group)


def _go(text: str) -> Iterator[Timing]:
    """Of tests, not of what they run within themselves: ``-run`` names them alone."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            data = _of(json.loads(line), dict, place)
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError([Mistake(place, "is not an object in JSON")]) from None
        if data.get("Action") in ("pass", "fail") and data.get("Test"):
            test = _of(data["Test"], str, f"{place}.Test")
            if "/" not in test:
                package = _of(data.get("Package", "."), str, f"{place}.Package")
                yield _timing(test, _seconds(data.get("Elapsed", 0), f"{place}.Elapsed"), package)


def _vitest(data: dict[str, Any]) -> Iterator[Timing]:
    for index, each in enumerate(_of(data["testResults"], list, "testResults")):
        place = f"testResults[{index}]"
        file = _of(_of(each, dict, place).get("name"), str, f"{place}.name")
        tests = _of(each.get("assertionResults"), list, f"{place}.assertionResults")
        for count, test in enumerate(tests):
            at = f"{place}.assertionResults[{count}]"
            title = _of(_of(test, dict, at).get("fullName"), str, f"{at}.fullName")
            seconds = _seconds(test.get("duration") or 0, f"{at}.duration", 1000)
            yield _timing(f"{file}::{title}", seconds, file)


def _playwright(suites: Any, place: str) -> Iterator[Timing]:
    for index, suite in enumerate(_of(suites, list, place)):
        at = f"{place}[{index}]"
        _of(suite, dict, at)
        yield from _playwright(suite.get("suites", []), f"{at}.suites")
        for count, spec in enumerate(_of(suite.get("specs", []), list, f"{at}.specs")):
            here = f"{at}.specs[{count}]"
            file = _of(_of(spec, dict, here).get("file"), str, f"{here}.file")
            seconds = 0.0
            for test in _of(spec.get("tests"), list, f"{here}.tests"):
                results = _of(test, dict, f"{here}.tests").get("results")
                for result in _of(results, list, f"{here}.results"):
                    taken = _of(result, dict, f"{here}.results").get("duration")
                    seconds += _seconds(taken, f"{here}.duration", 1000)
            yield _timing(f"{file}:{spec.get('line', 1)}", seconds, file)


def _table(text: str) -> Iterator[Timing]:
    try:
        rows = list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}") from None
    if not rows or [each.strip() for each in rows[0]] != ["name", "seconds"]:
        allowed = "name,seconds, or JUnit XML, or JSON of a test runner"
        raise InputError([Mistake("line 1", f"is not allowed; it is {allowed}")])
    for number, row in enumerate(rows[1:], 2):
        if row:
            if len(row) != 2 or not row[0]:
                raise InputError([Mistake(f"line {number}", "must hold a name and seconds")])
            file = row[0].partition("::")[0]
            yield _timing(row[0], _seconds(row[1], f"line {number}.seconds"), file)
