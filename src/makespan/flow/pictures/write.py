"""result, schedule or problem → a file with its picture."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from makespan.core.errors import FileError, InputError
from makespan.core.inputs.files import write_whole
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem, is_problem
from makespan.core.schedule import Schedule
from makespan.drawing.figure import FORMS
from makespan.flow.pictures.page import html, problem_page, trace_events
from makespan.flow.pictures.plot import image, svg

if TYPE_CHECKING:
    from makespan.flow.result import Result


def write_picture(
    thing: Result | Schedule | Problem,
    path: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
    view: str | None = None,
    by: str | None = None,
    fold: bool = False,
) -> None:
    """Write a picture of a plan or a problem to a file, whole or not at all.

    Parameters
    ----------
    thing
        A result, a schedule alone, or a problem.
    path
        ``.svg``, ``.png``, ``.pdf`` or ``.html``; for plans also ``.trace.json``.
    problem
        The problem of a schedule that comes alone.
    beside
        A second plan for a page.
    view, by, fold
        Those of :func:`makespan.plot`; a page has all views.

    Raises
    ------
    FileError
        If the suffix is another, or the file can't be written.
    InputError
        If there is no such picture.
    """
    suffix = Path(path).suffix.lower()
    plan = cast("Result | Schedule", thing)
    if suffix == ".svg":
        write_whole(path, svg(thing, problem=problem, view=view, by=by, fold=fold))
    elif suffix in FORMS:
        write_whole(path, image(thing, suffix, problem=problem, view=view, by=by, fold=fold))
    elif view is not None or by is not None or fold:
        raise InputError(f"view, by, fold: are for pictures (.svg, .png, .pdf), not for {suffix}")
    elif suffix == ".html":
        if is_problem(thing):
            write_whole(path, problem_page(thing))
        else:
            write_whole(path, html(plan, problem=problem, beside=beside))
    elif not is_problem(thing) and Path(path).name.lower().endswith(".trace.json"):
        events = trace_events(plan, problem=problem)
        write_whole(path, json.dumps(events, allow_nan=False, separators=(",", ":")))
    else:
        hint = did_you_mean(suffix, (".svg", ".png", ".pdf", ".html", ".trace.json"))
        raise FileError(f"{os.fspath(path)}: {suffix!r} is not a suffix of a picture{hint}")
