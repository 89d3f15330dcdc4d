"""What the campaign has counted so far, in a file that a later run goes on from."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaign import cases
from campaign.part import Part
from campaign.version import commit, version
from campaign.worker import Failure, Report
from makespan.core.inputs.files import write_whole

KEPT_PER_DEFECT = 3


class OtherVersion(Exception):
    """The state's counts are about another source."""


@dataclass(slots=True)
class State:
    """Counts by part, and the defects found, of one version of the source."""

    path: Path | None
    seed: int
    version: str
    commit: str
    slices: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    defects: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def begin(cls, path: Path | None, seed: int, *, closed: bool = False) -> State:
        """Return a new state, or the one that stands in the file; ``closed``: to count no further.

        Raises
        ------
        OtherVersion
            If the file's counts are about another source, and it is to count on.
        """
        current = version()
        if path is None or not path.exists():
            return cls(path=path, seed=seed, version=current, commit=commit())
        data = json.loads(path.read_text())
        if data["version"] != current and not closed:
            raise OtherVersion(
                f"{path} counts tries of version {data['version']}; this is {current}. "
                "Name another file, or remove it."
            )
        return cls(
            path=path,
            seed=data["seed"],
            version=data["version"],
            commit=data["commit"],
            slices=data["slices"],
            seconds=data["seconds"],
            tries=Counter(data["tries"]),
            counts={part: Counter(found) for part, found in data["counts"].items()},
            skipped=data["skipped"],
            defects=data["defects"],
        )

    def save(self) -> None:
        if self.path is not None:
            data = {name: getattr(self, name) for name in self.__slots__ if name != "path"}
            write_whole(self.path, json.dumps(data, indent=1) + "\n")

    def next_seed(self, part: str) -> str:
        """Return the seed of the next slice; no two slices of a campaign have the same."""
        self.slices += 1
        return f"{self.seed}/{part}/{self.slices}"

    def note(self, report: Report) -> None:
        self.seconds[report.part] = self.seconds.get(report.part, 0.0) + report.seconds
        self.tries[report.part] += report.tries
        self.counts.setdefault(report.part, Counter()).update(report.counts)
        if report.skipped is not None:
            self.skipped[report.part] = report.skipped
        for failure in report.failures:
            self.note_failure(failure)

    def note_failure(self, failure: Failure) -> None:
        """Count a failure under what it looks like, and keep the first few of each as cases."""
        key = cases.key_of(failure)
        entry = self.defects.setdefault(
            key, {"what": failure.what, "place": failure.place, "times": 0, "cases": []}
        )
        entry["times"] += 1
        if len(entry["cases"]) < KEPT_PER_DEFECT:
            entry["cases"].append(cases.keep(failure, self.version))

    def try_defects_again(self) -> None:
        """Replay the cases of every defect on the source as it is; note which are mended."""
        for entry in self.defects.values():
            still = any(cases.replay(case) is not None for case in entry["cases"])
            entry["mended in"] = "" if still else commit() or f"source {version()}"

    def open_defects(self, part: str) -> int:
        """Return how many of the part's defects are not known to be mended."""
        found = (entry for key, entry in self.defects.items() if key.startswith(f"{part}-"))
        return sum(not entry.get("mended in") for entry in found)

    def open(self, part: Part) -> tuple[str, ...]:
        """Return what the part has not counted as often as it must."""
        found = self.counts.get(part.name, Counter())
        return tuple(what for what, goal in part.goals.items() if found[what] < goal)

    def line(self) -> str:
        """Return how far it is, in a line."""
        tried = ", ".join(f"{part} {count:,}" for part, count in self.tries.items())
        found = sum(entry["times"] for entry in self.defects.values())
        return f"{tried}; {len(self.defects)} defects ({found} times)"
