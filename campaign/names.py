"""Names of every script, with escapes and markup, in every output."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import sys
from typing import Any
from xml.etree import ElementTree

from campaign import corpus, odd
from campaign.part import Defect, Part, Trial
from campaign.relations import replaced, tables
from campaign.structure import as_json
from makespan import InputError, MethodError, Result, solve
from makespan.cli.main import run
from makespan.flow.files.files import as_text, problem_of
from makespan.flow.plot import html, svg, trace_events

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORMULA = re.compile("[=+@\t\r]")


def attempt(trial: Trial) -> None:
    """Give the machines and tasks of a problem odd names, and look at every output."""
    rng = trial.random("make")
    name, content = trial.given or ("input.json", as_json(oddly_named(rng)))
    path = trial.holds(name, content)
    code, shown = _printed(["solve", str(path), "--time-limit", "0.05"])
    if CONTROLS.search(shown):
        raise Defect(f"a terminal gets {CONTROLS.search(shown)!r}")
    if code == 1:
        raise Defect(f"an internal error: {shown[:200]}")
    trial.count("problems")
    try:
        result = solve(problem_of(json.loads(content)), time_limit=0.05)
    except (InputError, MethodError):
        return
    if result.schedule is not None:
        _looked_through(result)
        trial.count("plans in every output")


def oddly_named(rng: random.Random) -> dict[str, Any]:
    """Return a problem of the corpus with other names."""
    document = rng.choice([each for each in corpus.sound() if "kind" in each])
    names = {part["name"] for part in tables(document) if isinstance(part.get("name"), str)}
    new = {name: f"{odd.name(rng)}{index or ''}" for index, name in enumerate(sorted(names))}
    changed = replaced({key: part for key, part in document.items() if key != "kind"}, new)
    return {**changed, "kind": document["kind"]}


def _printed(arguments: list[str]) -> tuple[int, str]:
    """Run the command line in this process; return its code and what it printed."""
    text = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = text
    try:
        code = run(arguments)
        text.flush()
    finally:
        sys.stdout, sys.stderr = before
    binary = text.buffer
    assert isinstance(binary, io.BytesIO)
    return code, binary.getvalue().decode()


def _looked_through(result: Result) -> None:
    """Hold each output against what its readers take."""
    if CONTROLS.search(str(result)):
        raise Defect("the summary has control characters")
    picture, page = svg(result), html(result)
    ElementTree.fromstring(picture)
    if re.search(r"<script>alert", picture) or page.count("<script>alert"):
        raise Defect("a name became markup")
    json.dumps(trace_events(result), allow_nan=False)
    for row in csv.reader(io.StringIO(as_text(result, ".csv"))):
        for cell in row[1:3]:
            if FORMULA.match(cell) or CONTROLS.search(cell):
                raise Defect(f"a cell that a spreadsheet takes for a formula: {cell!r}")


PART = Part(
    name="names",
    promise="Names of any script and with any characters show as themselves: no control "
    "characters on terminals, no markup in pictures and pages, no formulas in tables.",
    attempt=attempt,
    goals={"problems": 5_000},
    share=0.4,
    prepare=corpus.sound,
)
