"""Measured times of tests, and how they are split over shards."""

import csv
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from makespan.balance import balance, lower_bound
from makespan.core.errors import InputError, Mistake
from makespan.core.inputs.documents import local, root_of, table_in
from makespan.flow.result import Result
from makespan.flow.solve import solve
from makespan.independent.problem import IndependentTasks


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
        raise InputError([Mistake(place, f"{value!r} is not allowed; it is a number from 0 on")])
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


NEAR = 1e-3  # how far a list schedule may be above the bound


@dataclass(frozen=True)
class Split:
    """The tests of each shard, the seconds of each with its start-up, and a lower bound."""

    tests: list[list[str]]
    seconds: list[float]
    bound: float

    @property
    def gap(self) -> float:
        """How far the longest shard is above the bound, as a share of the bound."""
        return max(self.seconds) / self.bound - 1 if self.bound else 0.0

    def price(self, minute: float) -> float:
        return math.fsum(self.seconds) / 60 * minute

    def as_dict(self) -> dict[str, Any]:
        shards = [
            {"tests": tests, "seconds": seconds}
            for tests, seconds in zip(self.tests, self.seconds, strict=True)
        ]
        return {"shards": shards, "bound": self.bound, "gap": self.gap}


def times_of(report: Report, by: str | None, listed: Sequence[str] | None) -> dict[str, float]:
    """Return the seconds of what is split, sorted by name.

    ``listed``: what there is now. What has no time is estimated by the mean of the same test with
    other parameters, else of its class, its file, or all; what is gone is left out.
    """
    by = by or report.by
    taken: dict[str, float] = {}
    files: dict[str, str] = {}
    for names, seconds in report.timings:
        taken[names[by]] = taken.get(names[by], 0.0) + seconds
        files[names[by]] = names["file"]
    if listed is None:
        return dict(sorted(taken.items()))
    alike: dict[str, list[float]] = {}
    for name, seconds in taken.items():
        for each in {*_groups(name), files[name], ""}:
            alike.setdefault(each, []).append(seconds)
    known = dict(taken)
    for name in listed:
        if name not in known:
            near = next(alike[each] for each in (*_groups(name), "") if each in alike)
            known[name] = math.fsum(near) / len(near)
    return {name: known[name] for name in sorted(set(listed))}


def _groups(name: str) -> tuple[str, ...]:
    """Return what a test is of: its name without parameters, its class or file, its file."""
    file = name.partition("::")[0]
    test, group = name.partition("[")[0], name.rpartition("::")[0]
    return *(each for each in (test, group) if each), file, re.sub(r":\d+$", "", file)


def split(times: dict[str, float], shards: int, counts: Any = None, startup: float = 0.0) -> Split:
    """Return a split over so many shards, each of one test or more, or raise InputError."""
    names, seconds = list(times), list(times.values())
    if not 1 <= shards <= len(names):
        found = f"{shards} is not allowed for {len(names)} tests"
        raise InputError(f"--shards: {found}; a shard without tests might run all of them")
    limits = {"least": 1} if counts is None else counts
    if isinstance(counts, int):
        limits = {"least": 1, "most": counts}
    try:
        groups = balance(seconds, shards, limits)
    except ValueError as error:
        raise InputError(f"--counts: {error}") from None
    least = len(names) // shards if counts == "equal" else 1
    problem = IndependentTasks(shards, seconds)
    other = "multifit" if counts is None else None
    return _made(names, problem, groups, lower_bound(seconds, least, shards), other, startup)


def split_by_speeds(times: dict[str, float], speeds: Sequence[float], startup: float) -> Split:
    """Return a split over shards of these speeds, each of one test or more, or raise InputError.

    A list schedule, longest first, or annealing with a fixed number of moves where that is better:
    every process computes the same.
    """
    names = list(times)
    if len(speeds) > len(names):
        found = f"{len(speeds)} shards are not allowed for {len(names)} tests"
        raise InputError(f"--speeds: {found}; a shard without tests might run all of them")
    problem = IndependentTasks(len(speeds), list(times.values()), speeds=speeds)
    listed = solve(problem, method="uniform-lpt")
    bound = listed.lower_bound or 0.0
    return _made(names, problem, _groups_of(listed, problem), bound, "simulated-annealing", startup)


def _made(
    names: Sequence[str], problem: IndependentTasks, groups: list[list[int]], bound: float,
    other: str | None, startup: float,
) -> Split:  # fmt: skip
    """Return a split into groups, or another method's where these are a thousandth too long."""
    seconds = problem.durations.tolist()
    speeds = [1.0] * len(groups) if problem.speeds is None else problem.speeds.tolist()

    def ends(groups: Sequence[Sequence[int]]) -> list[float]:
        sums = [math.fsum(seconds[item] for item in group) for group in groups]
        return [each / speed for each, speed in zip(sums, speeds, strict=True)]

    if other is not None and max(ends(groups)) > (1 + NEAR) * bound:
        found = solve(problem, method=other)
        groups = min(groups, _groups_of(found, problem), key=lambda each: max(ends(each)))
        bound = max(bound, found.lower_bound or 0.0)
    return Split(
        [[names[item] for item in sorted(group)] for group in groups],
        [startup + end for end in ends(groups)],
        startup + bound,
    )


def _groups_of(result: Result, problem: IndependentTasks) -> list[list[int]]:
    """Return the tests of each shard, one or more."""
    assert result.schedule is not None
    groups: list[list[int]] = [[] for _ in result.schedule.machines]
    seconds = problem.durations
    items, machines = result.schedule.item.tolist(), result.schedule.machine.tolist()
    for item, shard in zip(items, machines, strict=True):
        groups[shard].append(item)
    for group in groups:
        if not group:  # it gets the shortest test of who has most of them
            most = max(groups, key=len)
            group.append(most.pop(most.index(min(most, key=lambda item: seconds[item]))))
    return groups


def split_within(times: dict[str, float], within: float, counts: Any, startup: float) -> Split:
    """Return a split over the fewest shards that were found to end within so many seconds."""
    room = within - startup
    longest = max(times, key=lambda name: times[name], default="")
    if not times or room <= 0 or times[longest] > room:
        raise InputError(f"--within: {within:g} s is too short for {longest!r} and the start-up")
    shards = max(1, math.floor(math.fsum(times.values()) / room))
    if isinstance(counts, int):
        shards = max(shards, -(-len(times) // max(1, counts)))
    while True:
        found = split(times, shards, counts, startup)
        if max(found.seconds) <= within or shards == len(times):
            return found
        shards += 1


def written(tests: Sequence[str], runner: str | None) -> str:
    """Return the tests as a runner takes them: a pattern for go, else one a line.

    Go calls a package passed in which a pattern matches nothing, so other names are refused.
    """
    if runner == "go":
        for name in tests:
            if not name.isidentifier():
                text = "is not the name of a Go test; TIMES of 'go test -json' has these names"
                raise InputError(f"--for go: {name!r} {text}")
        return f"^({'|'.join(map(re.escape, tests))})$"
    return "\n".join(tests)
