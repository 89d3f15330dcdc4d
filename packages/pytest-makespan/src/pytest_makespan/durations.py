"""What tests and their shared fixtures took in earlier runs, and what a new test may take."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

KEPT = "makespan/durations"  # in .pytest_cache
NEWEST = 0.5  # the weight of the newest run
DIGITS = 6  # of seconds that are kept


class Estimate(NamedTuple):
    """Seconds that a test may take, and whether its own runs, or those of siblings, say so."""

    seconds: float
    sure: bool


class Durations:
    """Seconds by node id, without shared fixtures, and seconds of shared fixtures by name."""

    def __init__(self, tests: dict[str, float] | None = None) -> None:
        self.tests = dict(tests or {})
        self.fixtures: dict[str, float] = {}
        self.uses: dict[str, list[str]] = {}
        self.beside: dict[str, float] = {}  # read from a file, by node id or as JUnit calls tests
        self.now: dict[str, float] = {}  # of this run
        self.made: dict[str, float] = {}  # shared fixtures of this run
        self.apart: dict[str, float] = {}  # of shared fixtures, by the test they came before
        self.failed: set[str] = set()

    def record(self, test: str, seconds: float) -> None:
        """Keep what a test took; of one that failed only where nothing is known."""
        own = max(0.0, seconds - self.apart.get(test, 0.0))
        self.now[test] = own
        old = self.tests.get(test)
        if old is None:
            self.tests[test] = own
        elif test not in self.failed:
            self.tests[test] = old + NEWEST * (own - old)

    def record_fixtures(self, test: str, made: dict[str, float], uses: list[str]) -> None:
        """Keep what the shared fixtures took that were made for a test, and which it uses."""
        self.made.update(made)
        self.fixtures.update(made)
        self.apart[test] = math.fsum(made.values())
        if uses:
            self.uses[test] = uses
        else:
            self.uses.pop(test, None)

    def fixtures_of(self, test: str) -> frozenset[str]:
        return frozenset(each for each in self.uses.get(test, ()) if each in self.fixtures)

    def estimates(self, tests: Iterable[str]) -> dict[str, Estimate | None]:
        """Estimate each test by its runs, its function, its file, else all; None: nothing known."""
        names = list(tests)
        known = {name: found for name in names if (found := self._known(name)) is not None}
        functions: dict[str, list[float]] = {}
        files: dict[str, list[float]] = {}
        for name, took in (known or self.tests).items():
            functions.setdefault(function_of(name), []).append(took)
            files.setdefault(file_of(name), []).append(took)
        middle = {key: median(values) for key, values in files.items()}
        every = [took for values in files.values() for took in values]
        overall = median(every) if every else None
        estimates: dict[str, Estimate | None] = {}
        for name in names:
            function = function_of(name)
            seconds = middle.get(file_of(name), overall)
            if name in known:
                estimates[name] = Estimate(known[name], True)
            elif function in functions:
                estimates[name] = Estimate(median(functions[function]), True)
            else:
                estimates[name] = None if seconds is None else Estimate(seconds, False)
        return estimates

    def _known(self, test: str) -> float | None:
        for seconds in (self.tests.get(test), self.beside.get(test)):
            if seconds is not None:
                return seconds
        return self.beside.get(junit_name(test)) if self.beside else None

    def read(self, path: str) -> None:
        """Read ``.test_durations`` of pytest-split, JUnit XML, or CSV with name and seconds."""
        from makespan.core.errors import InputError
        from makespan.flow.timings import read

        try:
            report = read(Path(path).read_text("utf-8"))
        except (OSError, ValueError, InputError) as error:
            raise pytest.UsageError(f"--makespan-durations: {path}: {error}") from None
        for names, seconds in report.timings:
            name = names["case"].removeprefix(f"{names['file']}::")
            self.beside[f"{names['class']}::{name}"] = self.beside[names["case"]] = seconds

    def load(self, config: pytest.Config) -> None:
        """Read what earlier runs left in ``.pytest_cache``; anything else there is left alone."""
        cache = getattr(config, "cache", None)
        kept: Any = cache.get(KEPT, None) if cache else None
        if isinstance(kept, dict) and kept.keys() == {"tests", "fixtures", "uses"}:
            self.tests, self.fixtures, self.uses = kept["tests"], kept["fixtures"], kept["uses"]

    def save(self, config: pytest.Config) -> None:
        """Write to ``.pytest_cache`` what there are files of."""
        cache = getattr(config, "cache", None)
        if not cache or not self.now:
            return
        there = {file: (config.rootpath / file).exists() for file in map(file_of, self.tests)}
        tests = {
            name: round(seconds, DIGITS)
            for name, seconds in self.tests.items()
            if there[file_of(name)]
        }
        uses = {name: used for name, used in self.uses.items() if name in tests}
        needed = {fixture for used in uses.values() for fixture in used}
        fixtures = {
            name: round(seconds, DIGITS)
            for name, seconds in self.fixtures.items()
            if name in needed
        }
        cache.set(KEPT, {"tests": tests, "fixtures": fixtures, "uses": uses})


def median(values: list[float]) -> float:
    """Return the upper median; the module statistics takes long to be imported."""
    return sorted(values)[len(values) // 2]


def file_of(test: str) -> str:
    return test.partition("::")[0]


def function_of(test: str) -> str:
    """Return the node id without parameters."""
    return test.partition("[")[0]


def class_of(test: str) -> str:
    """Return the class of a test, or the file where it has none."""
    return function_of(test).rpartition("::")[0] or test


def junit_name(test: str) -> str:
    """Return what JUnit XML of pytest calls a test: modules and classes with dots."""
    path, bracket, parameters = test.partition("[")
    file, *names = path.split("::")
    group = ".".join([file.replace("/", ".").removesuffix(".py"), *names[:-1]])
    return f"{group}::{names[-1] if names else ''}{bracket}{parameters}"
