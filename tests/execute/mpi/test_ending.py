"""What ends one rank ends all: exceptions, Ctrl-C, a kill."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import pytest

from tests.execute.mpi.launch import PROGRAMS, launch, started


def ended(process):
    """Whether a process is gone."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("raise", ["rank 1 failed; all ranks end", "LookupError: on purpose"]),
        ("kill", []),
        ("wait", ["interrupted; all ranks end"]),
    ],
)
def test_one_rank_ends_all(how, told):
    """All processes are gone soon after, and what rank it was, and why, is said."""
    with started(3, PROGRAMS / "ending.py", how) as running:
        assert running.stdout is not None
        processes = json.loads(running.stdout.readline())
        if how == "wait":
            running.send_signal(signal.SIGINT)
        stderr = running.communicate(timeout=60)[1]
    assert running.returncode != 0
    assert all(line in stderr for line in told), stderr
    assert ("Traceback" in stderr) == (how == "raise")
    until = time.monotonic() + 20
    while not all(map(ended, processes)):
        assert time.monotonic() < until, f"left over: {processes}"
        time.sleep(0.05)


def test_what_a_collective_raises_ends_all():
    """An exception in the midst of one, on one rank, is told with its rank."""
    done = launch(3, PROGRAMS / "failing.py", timeout=60)
    assert done.returncode != 0
    assert "rank 1 failed; all ranks end" in done.stderr
    assert "ZeroDivisionError: on purpose" in done.stderr
