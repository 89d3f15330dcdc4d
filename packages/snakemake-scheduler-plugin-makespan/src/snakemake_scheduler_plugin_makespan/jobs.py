"""What is asked of a job beyond the interface of Snakemake, and with what where it has none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

Sizes = Mapping[Any, Any]


def members(job: Any) -> list[Any]:
    """Return the single jobs of a group, or the job itself."""
    jobs = getattr(job, "jobs", None)  # a method in the interface, a property in Snakemake
    if jobs is None:
        return [job]
    return list(jobs() if callable(jobs) else jobs)


def rule_of(job: Any) -> str:
    """Return the name of the rule."""
    return str(getattr(job, "name", ""))


def key_of(job: Any) -> str:
    """Return the wildcards, or the first output of a job that shows none."""
    wildcards = getattr(job, "wildcards_dict", None)
    if wildcards is not None:
        return ",".join(f"{name}={wildcards[name]}" for name in sorted(wildcards))
    return next((str(path) for path in job.output), "")


def size_of(job: Any, sizes: Sizes) -> int | None:
    """Return the bytes of all inputs, or None where one is not known."""
    total = 0
    for path in job.input:
        size = sizes.get(path)
        if size is None:
            return None
        total += size
    return total


def weights_of(job: Any, sizes: Sizes) -> tuple[int, int]:
    """Return the bytes of temporary inputs and of all inputs, as Snakemake's greedy rule does."""
    temporary = total = 0
    for path in job.input:
        size = sizes.get(path) or 0
        total += size
        if path.is_flagged("temp"):
            temporary += size
    return temporary, total


def stated_size(paths: Iterable[Any]) -> int | None:
    """Return the bytes of files on this machine, or None where one is not there."""
    try:
        return sum(os.stat(path).st_size for path in paths)
    except OSError:
        return None


def ended(paths: Iterable[Any], start: float, now: float) -> float:
    """Return when the last output was written: now, where that is not seen in this span."""
    try:
        last = max((os.stat(path).st_mtime for path in paths), default=now)
    except OSError:
        return now
    return last if start <= last <= now else now
