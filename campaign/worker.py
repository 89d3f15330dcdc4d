"""A process that makes tries of one part after another, for a slice of time each."""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from campaign.part import Defect, Part, Skipped, Trial, part_named

KEPT_PER_SLICE = 20
LINES = 30


class Slice(NamedTuple):
    """What a worker is asked for: tries of a part until the time is over, or so many.

    ``open`` names the goals that are not reached yet.
    """

    part: str
    seed: str
    seconds: float
    open: tuple[str, ...] = ()
    tries: int | None = None


class Failure(NamedTuple):
    """A try that went wrong."""

    part: str
    seed: str
    what: str
    place: str
    trace: str
    input: tuple[str, bytes] | None


class Report(NamedTuple):
    """What came of a slice."""

    part: str
    tries: int
    seconds: float
    counts: Counter[str]
    failures: list[Failure]
    skipped: str | None


def work(pipe: Connection, now: Any, folder: Path) -> None:
    """Serve slices until the pipe is closed.

    ``now`` is shared with the parent: the index of the try under way and when it began, so that a
    try which kills or hangs its process is known by its seed. Inputs are written to ``folder``.
    """
    os.setsid()
    warnings.simplefilter("ignore")
    silence = open(os.devnull, "w")  # noqa: SIM115
    sys.stdout = silence
    parts: dict[str, Part] = {}
    try:
        while True:
            asked: Slice = pipe.recv()
            if asked.part not in parts:
                parts[asked.part] = part_named(asked.part)
                parts[asked.part].prepare()
            limit_memory(parts[asked.part].memory)
            pipe.send(_serve(parts[asked.part], asked, folder, now))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        shutil.rmtree(folder, ignore_errors=True)  # who asked may have been killed


def _serve(part: Part, asked: Slice, folder: Path, now: Any) -> Report:
    counts: Counter[str] = Counter()
    failures: list[Failure] = []
    skipped, tries, begun = None, 0, time.monotonic()
    while (left := asked.seconds - (time.monotonic() - begun)) > 0 or not tries:
        now[0], now[1] = tries, time.monotonic()
        trial = Trial(f"{asked.seed}/{tries}", folder, open=asked.open)
        try:
            part.attempt(trial)
        except Skipped as reason:
            skipped = str(reason)
            break
        except Exception as error:
            failures.append(failure_of(part.name, trial, error))
        counts.update(trial.counts)
        tries += 1
        if len(failures) >= KEPT_PER_SLICE or left < 0 or tries == asked.tries:
            break
    now[1] = 0.0
    return Report(part.name, tries, time.monotonic() - begun, counts, failures, skipped)


def failure_of(part: str, trial: Trial, error: Exception) -> Failure:
    """Return what is kept of a try that went wrong; its place is where makespan last was."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "makespan/" in frame.filename]
    place = ""
    if ours and not isinstance(error, Defect):
        place = f"{ours[-1].filename.rpartition('makespan/')[2]}:{ours[-1].name}"
    name = "" if isinstance(error, Defect) else f"{type(error).__name__}: "
    lines = traceback.format_exception(error)
    trace = "".join(lines)[-LINES * 100 :]
    return Failure(part, trial.seed, f"{name}{_shown(error)}", place, trace, trial.input)


def _shown(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:297]}..."


def limit_memory(more: int | None) -> None:
    """Let the process take ``more`` bytes of addresses than it has; None lifts the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard
    if more is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        soft = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
