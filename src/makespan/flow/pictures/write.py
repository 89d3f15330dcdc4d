"""result or schedule → a file with its picture."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from makespan.core.errors import FileError
from makespan.core.inputs.files import write_whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem
from makespan.core.schedule import Schedule
from makespan.flow.pictures.page import html, trace_events
from makespan.flow.pictures.plot import png, svg

if TYPE_CHECKING:
    from makespan.flow.result import Result


def write_picture(
    result_or_schedule: Result | Schedule,
    path: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
) -> None:
    """Write a picture of a plan to a file, whole or not at all.

    Parameters
    ----------
    result_or_schedule
        A result, or a schedule alone.
    path
        ``.svg``, ``.png``, ``.html`` or ``.trace.json``.
    problem
        The problem of a schedule that comes alone.
    beside
        A second plan for a page.

    Raises
    ------
    FileError
        If the suffix is another, or the file can't be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        write_whole(path, svg(result_or_schedule, problem=problem))
    elif suffix == ".png":
        write_whole(path, png(result_or_schedule, problem=problem))
    elif suffix == ".html":
        write_whole(path, html(result_or_schedule, problem=problem, beside=beside))
    elif Path(path).name.lower().endswith(".trace.json"):
        events = trace_events(result_or_schedule, problem=problem)
        write_whole(path, json.dumps(events, allow_nan=False, separators=(",", ":")))
    else:
        hint = did_you_mean(suffix, (".svg", ".png", ".html", ".trace.json"))
        raise FileError(f"{os.fspath(path)}: {suffix!r} is not a suffix of a picture{hint}")
