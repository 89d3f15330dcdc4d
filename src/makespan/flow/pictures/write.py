"""result, schedule or problem → a file with its picture."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
    thing: Result | Schedule | Problem, path: str | os.PathLike[str], **asked: Any
) -> None:
    """Write a picture to a file, whole or not at all; see :func:`picture_file`."""
    write_whole(path, picture_file(thing, path, **asked))


def picture_file(
    thing: Result | Schedule | Problem,
    path: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    beside: Result | Schedule | None = None,
    view: str | None = None,
    by: str | None = None,
    fold: bool = False,
) -> str | bytes:
    """Return what stands in the file of a picture of a plan or a problem.

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
        If the suffix is another.
    InputError
        If there is no such picture.
    """
    suffix = Path(path).suffix.lower()
    plan = cast("Result | Schedule", thing)
    if suffix == ".svg":
        return svg(thing, problem=problem, view=view, by=by, fold=fold)
    if suffix in FORMS:
        return image(thing, suffix, problem=problem, view=view, by=by, fold=fold)
    if view is not None or by is not None or fold:
        raise InputError(f"view, by, fold: are for pictures (.svg, .png, .pdf), not for {suffix}")
    if suffix == ".html":
        if is_problem(thing):
            return problem_page(thing)
        return html(plan, problem=problem, beside=beside)
    if not is_problem(thing) and Path(path).name.lower().endswith(".trace.json"):
        events = trace_events(plan, problem=problem)
        return json.dumps(events, allow_nan=False, separators=(",", ":"))
    hint = did_you_mean(suffix, (".svg", ".png", ".pdf", ".html", ".trace.json"))
    raise FileError(f"{os.fspath(path)}: {suffix!r} is not a suffix of a picture{hint}")
