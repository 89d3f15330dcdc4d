"""The workers: who does what next, and what becomes of those that die or hang."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from campaign.part import Part
from campaign.state import State
from campaign.worker import Failure, Report, Slice, work

SLICE = 2.0
BATCH = 20  # tries of a slice, where tries are counted
MEMORY = Path("/dev/shm")
START = 120.0  # seconds that a worker may take to start and to prepare a part


class _Hand:
    """One worker process, and what it was asked for."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.now: Any = context.RawArray("d", 2)
        memory = MEMORY if MEMORY.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="campaign-", dir=memory))
        self.pipe: Connection
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, self.now, self.folder))
        self.process.start()
        theirs.close()
        self.asked: Slice | None = None
        self.since = 0.0

    def ask(self, asked: Slice) -> None:
        self.now[1] = 0.0
        self.asked, self.since = asked, time.monotonic()
        self.pipe.send(asked)

    def overdue(self, patience: float) -> bool:
        """Whether a try takes too long, for a machine on which so many programs wait their turn."""
        if self.asked is None:
            return False
        begun = float(self.now[1])
        if begun:
            waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
            return time.monotonic() - begun > patience * max(1.0, waiting)
        return time.monotonic() - self.since > START

    def failure(self, what: str) -> Failure:
        assert self.asked is not None
        seed = f"{self.asked.seed}/{int(self.now[0])}"
        inputs = sorted(self.folder.glob("input.*"), key=lambda path: path.stat().st_mtime_ns)
        last = (inputs[-1].name, inputs[-1].read_bytes()) if inputs else None
        return Failure(self.asked.part, seed, what, "", "", last)

    def end(self) -> None:
        """Close the pipe, on which a worker that listens ends; kill one that does not."""
        self.pipe.close()
        self.process.join(10.0)
        self.kill()

    def kill(self) -> None:
        """Kill the process and whatever it started."""
        if self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join()
        shutil.rmtree(self.folder, ignore_errors=True)


class Turns:
    """Whose turn it is: what each part has had for its share, and how many tries it still gets."""

    def __init__(self, parts: Sequence[Part], state: State, tries: int | None = None) -> None:
        self.named = {part.name: part for part in parts}
        self.state, self.counted = state, tries is not None
        self.spent = dict.fromkeys(self.named, 0.0)
        self.left: dict[str, float] = dict.fromkeys(
            self.named, math.inf if tries is None else tries
        )

    def next(self, seconds: float) -> Slice | None:
        """Return what to do next, None where every part has had its tries.

        The part is the one that has had least for its share, of those whose goals are open.
        Where tries are counted, the same seed makes the same ones, however long they take.
        """
        wanting = [name for name in self.spent if self.left[name] > 0]
        if not wanting:
            return None
        unfinished = [name for name in wanting if self.state.open(self.named[name])] or wanting
        name = min(unfinished, key=lambda name: self.spent[name])
        self.spent[name] += SLICE / self.named[name].share
        tries = None
        if self.counted:
            tries, seconds = int(min(BATCH, self.left[name])), math.inf
            self.left[name] -= tries
        todo = self.state.open(self.named[name])
        return Slice(name, self.state.next_seed(name), seconds, todo, tries)

    def note(self, asked: Slice, tries: int, seconds: float, *, skipped: bool = False) -> None:
        """Take down what a slice was: what it left of its tries is to do."""
        if asked.tries is None:
            self.spent[asked.part] += (seconds - SLICE) / self.named[asked.part].share
        else:
            self.left[asked.part] += asked.tries - tries
        if skipped:
            self.left[asked.part] = 0


def run(
    parts: Sequence[Part],
    state: State,
    *,
    minutes: float = math.inf,
    tries: int | None = None,
    jobs: int,
    tell: Callable[[str], None],
) -> None:
    """Make tries of ``parts`` for ``minutes``, or so many of each; note in ``state`` what came."""
    until = time.monotonic() + 60 * minutes
    turns = Turns(parts, state, tries)
    told = time.monotonic()
    crew = [_Hand() for _ in range(jobs)]
    try:
        while time.monotonic() < until:
            for hand in crew:
                if hand.asked is None:
                    asked = turns.next(min(SLICE, max(0.1, until - time.monotonic())))
                    if asked is None:
                        break
                    hand.ask(asked)
            if all(hand.asked is None for hand in crew):
                break
            wait([hand.pipe for hand in crew], timeout=0.5)
            crew = [_heard(hand, turns) for hand in crew]
            if time.monotonic() - told > 30:
                told = time.monotonic()
                state.save()
                tell(state.line())
        for hand in crew:
            _finish(hand, turns)
    finally:
        for hand in crew:
            hand.end()
        state.save()


def _heard(hand: _Hand, turns: Turns) -> _Hand:
    """Take a worker's report, if there is one; replace a worker that died or hangs."""
    if hand.asked is None:
        return hand
    patience = turns.named[hand.asked.part].patience
    try:
        if hand.pipe.poll():
            report: Report = hand.pipe.recv()
            turns.state.note(report)
            turns.note(hand.asked, report.tries, report.seconds, skipped=report.skipped is not None)
            hand.asked = None
            return hand
    except (EOFError, ConnectionResetError):
        hand.process.join()
        code = hand.process.exitcode or 0
        died = f"died of signal {-code}" if code < 0 else f"ended with code {code}"
        return _replaced(hand, turns, f"the process {died}")
    if hand.overdue(patience):
        return _replaced(hand, turns, f"hangs: over {patience:g} s")
    return hand


def _replaced(hand: _Hand, turns: Turns, what: str) -> _Hand:
    """Keep the try that a worker was lost with, and start another worker."""
    assert hand.asked is not None
    turns.state.note_failure(hand.failure(what))
    turns.note(hand.asked, 1 + int(hand.now[0]), time.monotonic() - hand.since)
    hand.kill()
    return _Hand()


def _finish(hand: _Hand, turns: Turns) -> None:
    """Wait for what a worker is doing, as long as a try may take."""
    while hand.asked is not None:
        wait([hand.pipe], timeout=0.5)
        if _heard(hand, turns) is not hand:
            return
