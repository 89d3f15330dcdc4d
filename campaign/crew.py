"""The workers: who does what next, and what becomes of those that die or hang."""

from __future__ import annotations

import contextlib
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
        if self.asked is None:
            return False
        begun = float(self.now[1])
        if begun:
            return time.monotonic() - begun > patience
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


def run(
    parts: Sequence[Part], state: State, *, minutes: float, jobs: int, tell: Callable[[str], None]
) -> None:
    """Make tries of ``parts`` for ``minutes``, and note in ``state`` what came of them."""
    until = time.monotonic() + 60 * minutes
    spent = {part.name: 0.0 for part in parts}
    named = {part.name: part for part in parts}
    told = time.monotonic()
    crew = [_Hand() for _ in range(jobs)]
    try:
        while time.monotonic() < until and spent:
            for hand in crew:
                if hand.asked is None:
                    chosen = _next(named, spent, state)
                    spent[chosen] += SLICE / named[chosen].share
                    seconds = min(SLICE, max(0.1, until - time.monotonic()))
                    seed, todo = state.next_seed(chosen), state.open(named[chosen])
                    hand.ask(Slice(chosen, seed, seconds, todo))
            wait([hand.pipe for hand in crew], timeout=0.5)
            crew = [_heard(hand, named, spent, state) for hand in crew]
            if time.monotonic() - told > 30:
                told = time.monotonic()
                state.save()
                tell(state.line())
        for hand in crew:
            _finish(hand, named, spent, state)
    finally:
        for hand in crew:
            hand.end()
        state.save()


def _next(named: dict[str, Part], spent: dict[str, float], state: State) -> str:
    """Return the part that has had least for its share, of those whose goals are open."""
    unfinished = [name for name in spent if state.open(named[name])] or list(spent)
    return min(unfinished, key=lambda name: spent[name])


def _heard(hand: _Hand, named: dict[str, Part], spent: dict[str, float], state: State) -> _Hand:
    """Take a worker's report, if there is one; replace a worker that died or hangs."""
    if hand.asked is None:
        return hand
    part = named[hand.asked.part]
    try:
        if hand.pipe.poll():
            report: Report = hand.pipe.recv()
            state.note(report)
            spent[part.name] += (report.seconds - SLICE) / part.share
            if report.skipped is not None:
                spent.pop(part.name, None)
            hand.asked = None
            return hand
    except (EOFError, ConnectionResetError):
        hand.process.join()
        code = hand.process.exitcode or 0
        died = f"died of signal {-code}" if code < 0 else f"ended with code {code}"
        state.note_failure(hand.failure(f"the process {died}"))
        hand.kill()
        return _Hand()
    if hand.overdue(part.patience):
        state.note_failure(hand.failure(f"hangs: over {part.patience:g} s"))
        hand.kill()
        return _Hand()
    return hand


def _finish(hand: _Hand, named: dict[str, Part], spent: dict[str, float], state: State) -> None:
    """Wait for what a worker is doing, as long as a try may take."""
    while hand.asked is not None:
        wait([hand.pipe], timeout=0.5)
        if _heard(hand, named, spent, state) is not hand:
            return
