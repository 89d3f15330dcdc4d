"""What jobs took in earlier runs, and what a job may take."""

from __future__ import annotations

import csv
import json
import math
import os
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

VERSION = 1
KEPT = 10_000  # jobs of a rule that are kept, the newest
EXPLAINED = 0.5  # the share of the variance from which on input sizes explain durations
ALIKE = 0.1  # how far an input may have grown or shrunk before its old duration is scaled
DIGITS = 4  # of seconds that are kept


class Record(NamedTuple):
    """The bytes that a job read, where they are known, and the seconds that it took."""

    size: int | None
    seconds: float


class Model(NamedTuple):
    """A rule's mean, and its line over input sizes where that explains the durations."""

    mean: float
    slope: float | None = None
    intercept: float = 0.0
    least: float = 0.0
    most: float = math.inf

    def at(self, size: int) -> float:
        """Return the seconds at an input size, at most twice beyond what was seen."""
        assert self.slope is not None
        return min(max(self.intercept + self.slope * size, self.least / 2), 2 * self.most)


class Durations:
    """Records by rule and by the wildcards of a job."""

    def __init__(self) -> None:
        self.rules: dict[str, dict[str, Record]] = {}
        self._models: dict[str, Model] = {}
        self._overall: float | None = None

    def __bool__(self) -> bool:
        return bool(self.rules)

    def record(self, rule: str, key: str, size: int | None, seconds: float) -> None:
        """Keep what a job took, in place of what it took before."""
        if not (math.isfinite(seconds) and seconds >= 0.0):
            return
        records = self.rules.setdefault(rule, {})
        records.pop(key, None)  # the newest stand last
        records[key] = Record(size, seconds)
        while len(records) > KEPT:
            del records[next(iter(records))]
        self._models.pop(rule, None)
        self._overall = None

    def found(self, rule: str, key: str) -> Record | None:
        """Return what is kept of the same job."""
        return self.rules.get(rule, {}).get(key)

    def estimate(self, rule: str, key: str, size: int | None = None) -> float:
        """Return the seconds of a job by its own runs, its input size, its rule, else all."""
        records = self.rules.get(rule)
        if not records:
            return self.overall()
        record, model = records.get(key), self.model(rule)
        if record is None:
            return model.mean if size is None or model.slope is None else model.at(size)
        if size is None or record.size is None or model.slope is None:
            return record.seconds
        if abs(size - record.size) <= ALIKE * record.size:
            return record.seconds
        before = model.at(record.size)
        return record.seconds * model.at(size) / before if before > 0.0 else model.at(size)

    def grows(self, rule: str) -> bool:
        """Return whether input sizes explain the durations of a rule."""
        return rule in self.rules and self.model(rule).slope is not None

    def overall(self) -> float:
        """Return the mean of all rules, or one second where nothing is known."""
        if self._overall is None:
            means = [self.model(rule).mean for rule in self.rules]
            self._overall = math.fsum(means) / len(means) if means else 1.0
        return self._overall

    def model(self, rule: str) -> Model:
        """Return the mean of a rule, with a line by least squares where that explains."""
        model = self._models.get(rule)
        if model is None:
            model = self._models[rule] = _fitted(self.rules[rule].values())
        return model

    def load(self, path: Path) -> None:
        """Read what earlier runs kept; anything else there is left alone."""
        try:
            kept = json.loads(path.read_text("utf-8"))
            rules = kept["rules"] if kept["version"] == VERSION else {}
            for rule, records in rules.items():
                for key, (size, seconds) in records.items():
                    self.record(rule, key, None if size is None else int(size), float(seconds))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            self.__init__()  # type: ignore[misc]

    def save(self, path: Path) -> None:
        """Write at once, so that a run that is cut off leaves the old file."""
        rules = {
            rule: {key: [size, round(seconds, DIGITS)] for key, (size, seconds) in records.items()}
            for rule, records in self.rules.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(json.dumps({"version": VERSION, "rules": rules}), "utf-8")
        draft.replace(path)


def benchmark_seconds(path: str, since: float = 0.0) -> float | None:
    """Return the seconds in a file of Snakemake's ``benchmark:``, all repeats together.

    None where there is no such file, it is older than ``since``, or it holds something else.
    """
    try:
        if os.stat(path).st_mtime < since:
            return None
        with open(path, encoding="utf-8", newline="") as file:
            if path.endswith(".jsonl"):
                rows: list[dict[str, Any]] = [json.loads(line) for line in file if line.strip()]
            else:
                rows = list(csv.DictReader(file, delimiter="\t"))
        return math.fsum(float(row["s"]) for row in rows) if rows else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _fitted(records: Iterable[Record]) -> Model:
    seconds = [record.seconds for record in records]
    mean = math.fsum(seconds) / len(seconds)
    sized = [record for record in records if record.size is not None]
    sizes = [float(record.size or 0) for record in sized]
    if len(set(sizes)) < 3:
        return Model(mean)
    took = [record.seconds for record in sized]
    if min(took) == max(took) or statistics.correlation(sizes, took) ** 2 < EXPLAINED:
        return Model(mean)
    slope, intercept = statistics.linear_regression(sizes, took)
    return Model(mean, slope, intercept, min(took), max(took)) if slope > 0.0 else Model(mean)
