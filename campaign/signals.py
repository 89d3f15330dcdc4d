"""The command line under signals and with streams that are closed, full or broken."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from campaign.part import Defect, Part, Trial
from campaign.version import ROOT
from makespan.flow.files.files import as_dict
from makespan.flow.kinds import generate
from makespan.flow.serialize import as_json

GRACE = 15.0
CODES = {0, 2, 3, 4, 130, 143}
STREAMS = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", "| head -c 1", "| :")
LONG: dict[str, dict[str, Any]] = {
    "independent": {"tasks": 60, "machines": 7},
    "reduction": {"machines": 6, "spread": 0.5},
}


def attempt(trial: Trial) -> None:
    """Run one command, and disturb it once."""
    rng = trial.random("make")
    kind = rng.choice(list(LONG))
    problem = generate(kind, seed=rng.getrandbits(30), options=LONG[kind])
    path = trial.holds("input.json", as_json(as_dict(problem)).encode())
    pick = rng.random()
    if pick < 0.6:
        _signalled(path, rng)
        trial.count("signals")
    elif pick < 0.9:
        _streamed(path, rng)
        trial.count("streams")
    else:
        _starved(path, rng)
        trial.count("memory limits")


def _signalled(path: Path, rng: random.Random) -> None:
    """Send a signal at a random moment, imports included."""
    command = [sys.executable, "-m", "makespan", "solve", str(path), "--time-limit", "3", "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment()
    )
    sent = rng.choice((signal.SIGINT, signal.SIGTERM))
    try:
        process.communicate(timeout=rng.uniform(0.05, 2.5))
        return
    except subprocess.TimeoutExpired:
        process.send_signal(sent)
    try:
        out, err = process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Defect(f"{sent.name}: goes on for {GRACE:g} s") from None
    if "Traceback" in err and "makespan/" in err:
        raise Defect(f"{sent.name}: a traceback: {err[-300:]}")
    if process.returncode not in CODES | {-sent}:
        raise Defect(f"{sent.name}: ends with {process.returncode}: {err[-200:]}")
    if out:
        json.loads(out)


def _streamed(path: Path, rng: random.Random) -> None:
    """Close, fill or break a stream."""
    what = rng.choice(
        ("solve", "solve --json", "methods", "check", "convert -o out.json", "schema")
    )
    file = "" if what == "schema" else str(path)
    streams = rng.choice(STREAMS)
    words = f"{sys.executable} -m makespan {what} {file} {streams}"
    if what.startswith("solve"):
        words = words.replace(file, f"{file} --time-limit 0.3")
    done = _shell(words)
    if "Traceback" in done.stderr or "internal error" in done.stderr:
        raise Defect(f"{what} {streams}: {done.stderr[-300:]}")
    if "|" not in streams and done.returncode not in CODES | {1}:
        raise Defect(f"{what} {streams}: ends with {done.returncode}")


def _starved(path: Path, rng: random.Random) -> None:
    """Give it little memory: it ends with a plan, or in words."""
    most = rng.choice((300_000, 600_000, 1_000_000, 1_500_000))
    words = f"ulimit -v {most}; exec {sys.executable} -m makespan solve {path} --time-limit 0.3"
    done = _shell(words)
    if done.returncode == -signal.SIGSEGV:
        raise Defect(f"ulimit -v {most}: crashes")


def _shell(words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", words],
        capture_output=True,
        text=True,
        env=_environment(),
        timeout=2 * GRACE,
        check=False,
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


PART = Part(
    name="signals",
    promise="A command that is interrupted, at any moment, ends soon with the best plan so far or "
    "in words; so does one whose streams are closed, full or broken.",
    attempt=attempt,
    goals={"signals": 300, "streams": 150},
    share=1.6,
    patience=60.0,
    memory=None,
)
