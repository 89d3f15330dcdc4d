"""What must become of a problem: a plan that the referee accepts, in time, and its pictures."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from xml.etree import ElementTree

from campaign.part import Defect, Trial
from campaign.reading import comparable
from makespan import InputError, MethodError, Result, Schedule, check, solve
from makespan.core.problem import Problem
from makespan.flow.files.files import as_text, problem_of
from makespan.flow.files.results import result_of
from makespan.flow.plot import html, svg, trace_events

LIMIT = 0.05
ALLOWED = 1.2 * LIMIT + 0.5
ALLOWED_FOR_AN_ACTIVITY = 5e-7  # to write it down, time it and referee it, whatever the limit
DOUBTED = re.compile(r"not believed|contradict|above the plan|is dropped|disproved")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def planned(trial: Trial, problem: Problem, **options: Any) -> Result | None:
    """Solve a problem with a small limit; None where no method applies.

    Raises
    ------
    Defect
        If the plan is invalid, its claims contradict one another, or the limit is overrun.
    """
    try:
        result, took = _timed(problem, options)
        if took > _allowed(result):  # the first time, kernels may have been compiled
            result, took = _timed(problem, options)
    except MethodError:
        trial.count("no method applies")
        return None
    except InputError as error:
        raise Defect(f"solve refuses what was read: {error}") from error
    if took > _allowed(result):
        raise Defect(f"{result.method} takes {took:.2f} s with a limit of {LIMIT} s")
    report = check(result)
    if not report.ok:
        raise Defect(f"{result.method}: {report}")
    for note in result.notes:
        if DOUBTED.search(note):
            raise Defect(f"{result.method}: {note}")
    trial.count("planned and refereed" if result.schedule is not None else f"{result.status}")
    return result


def _timed(problem: Problem, options: dict[str, Any]) -> tuple[Result, float]:
    """Return the result and how long it took, on the clock that says less."""
    wall, processor = time.monotonic(), time.process_time()
    result = solve(problem, time_limit=LIMIT, **options)
    took = min(time.monotonic() - wall, time.process_time() - processor)
    return result, took


def _allowed(result: Result) -> float:
    activities = 0 if result.schedule is None else len(result.schedule.kind)
    return ALLOWED + ALLOWED_FOR_AN_ACTIVITY * activities


def drawn(trial: Trial, found: Result | Schedule) -> None:
    """Draw a plan in every way, and read its file again.

    Raises
    ------
    Defect
        If a picture is not well-formed, or the file is read differently.
    """
    for picture in (svg(found), _embedded(html(found))):
        _well_formed(picture)
    json.dumps(trace_events(found), allow_nan=False)
    as_text(found, ".csv")
    if isinstance(found, Result):
        if CONTROLS.search(str(found)):
            raise Defect("a summary with control characters")
        text = as_text(found, ".json")
        again = result_of(json.loads(text), problem_of)
        if comparable(json.loads(as_text(again, ".json"))) != comparable(json.loads(text)):
            raise Defect("a result that was written is read differently")
    trial.count("drawn")


def _well_formed(picture: str) -> None:
    try:
        ElementTree.fromstring(picture)
    except ElementTree.ParseError as error:
        raise Defect(f"a picture that is not well-formed: {error}") from error


def _embedded(page: str) -> str:
    """Return the drawing that stands in a page."""
    begin, end = page.find("<svg"), page.rfind("</svg>")
    return page[begin : end + 6] if 0 <= begin < end else "<svg/>"


def small(problem: Problem) -> bool:
    """Whether a problem is so small that a plan of it is quickly drawn."""
    return len(problem.machines) <= 40
