"""Failing cases: kept in a folder each, with the seed and the input, to be tried again."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path

from campaign.part import Skipped, Trial, part_named
from campaign.worker import Failure, failure_of

FOLDER = Path(__file__).resolve().parent / "cases"


def key_of(failure: Failure) -> str:
    """Return a name for what failed: the part, where, and the message without its numbers."""
    what = re.sub(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\d.,e+-]*", "#", failure.what)[:60]
    digest = hashlib.sha256(f"{failure.place}|{what}".encode()).hexdigest()[:8]
    return f"{failure.part}-{digest}"


def keep(failure: Failure, version: str) -> str:
    """Write a failing case to the folder of cases; return its name."""
    end = hashlib.sha256(failure.seed.encode()).hexdigest()[:6]
    name = f"{key_of(failure)}-{end}"
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "part": failure.part,
        "seed": failure.seed,
        "version": version,
        "what": failure.what,
        "place": failure.place,
        "input": failure.input and failure.input[0],
    }
    (folder / "case.json").write_text(json.dumps(data, indent=1) + "\n")
    (folder / "traceback.txt").write_text(failure.trace, errors="backslashreplace")
    if failure.input is not None:
        (folder / failure.input[0]).write_bytes(failure.input[1])
    return name


def replay(case: str, content: bytes | None = None) -> Failure | None:
    """Try a kept case again, or another input in its place; return how it fails, None if not."""
    folder = Path(case) if Path(case).is_dir() else FOLDER / case
    data = json.loads((folder / "case.json").read_text())
    given = None
    if data["input"]:
        kept = (folder / data["input"]).read_bytes()
        given = (data["input"], kept if content is None else content)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(data["seed"], Path(scratch), given)
        try:
            part_named(data["part"]).attempt(trial)
        except Skipped:
            return None
        except Exception as error:
            return failure_of(data["part"], trial, error)
    return None
