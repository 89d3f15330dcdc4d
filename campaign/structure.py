"""Structure-aware inputs: problems and plans, changed where a reader may not expect it."""

from __future__ import annotations

import json
import random
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from campaign import corpus, documents, schemas
from campaign.part import Part, Trial
from campaign.planning import drawn, planned, small
from campaign.reading import read
from makespan import InputError, InvalidSchedule, Result, Schedule

READABLE_DIGITS = 4300
PLANNED = 0.3  # of what is read
LARGE = 1_000  # activities
LARGE_DRAWN = 0.05  # of the plans that are large, for the time that one takes


def attempt(trial: Trial) -> None:
    """Read a changed document; plan and draw some of what is read."""
    name, content = trial.given or made(trial.random("make"))
    if b"samples" in content:
        (trial.folder / corpus.SAMPLES).write_bytes((corpus.FOLDER / corpus.SAMPLES).read_bytes())
    found = read(trial, trial.holds(name, content))
    trial.count("inputs")
    judged(trial, found)


def judged(trial: Trial, found: Any) -> None:
    """Plan, referee and draw a share of the problems; draw a share of the plans."""
    rng = trial.random("judge")
    if found is None or rng.random() > PLANNED:
        return
    if not isinstance(found, (Result, Schedule)):
        found = planned(trial, found) if small(found) else None
        if _is_drawn(found, rng):
            drawn(trial, found)
    elif _is_drawn(found, rng):
        with suppress(InputError, InvalidSchedule):  # a plan made elsewhere may not fit its problem
            drawn(trial, found)


def _is_drawn(found: Result | Schedule | None, rng: random.Random) -> bool:
    """Whether there is a plan, and it is small or one of the few large ones that are drawn."""
    schedule = found.schedule if isinstance(found, Result) else found
    if schedule is None:
        return False
    return len(schedule.kind) <= LARGE or rng.random() < LARGE_DRAWN


def made(rng: random.Random) -> tuple[str, bytes]:
    """Return the name and the content of a file."""
    pick = rng.random()
    if pick < 0.25:
        document = schemas.document(rng.choice(corpus.schemas()), rng)
    else:
        document = rng.choice(corpus.plans() if pick < 0.4 else corpus.problems())
    if pick > 0.02:
        document = documents.changed(document, rng, corpus.problems(), _keys())
    if rng.random() < 0.2:
        return "input.toml", as_toml(document)
    return "input.json", as_json(document)


@cache
def _keys() -> list[str]:
    return documents.keys_of([*corpus.problems(), *corpus.plans(), *corpus.schemas()])


def as_json(document: Any) -> bytes:
    """Return a document as JSON, whatever it holds: dates as texts, any number of digits."""
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(document, default=str).encode()
    finally:
        sys.set_int_max_str_digits(READABLE_DIGITS)


def as_toml(document: Any) -> bytes:
    """Return a document as TOML, which has no null."""
    import tomli_w

    sys.set_int_max_str_digits(0)
    try:
        return tomli_w.dumps(_without_null(document)).encode(errors="replace")
    finally:
        sys.set_int_max_str_digits(READABLE_DIGITS)


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_null(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_null(part) for part in value if part is not None]
    return value


PART = Part(
    name="structure",
    promise="A document with our keys and any values is read, and then written and read again the "
    "same, or refused with its place; what is read is planned, refereed and drawn.",
    attempt=attempt,
    goals={"inputs": 1_000_000, "drawn": 100_000},
    share=4.0,
    prepare=_keys,
)
