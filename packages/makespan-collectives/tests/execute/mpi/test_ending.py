"""What ends one rank ends all: exceptions, Ctrl-C, a kill."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.execute.mpi.launch import launch, started
from tests.thorough import few


def ended(process):
    """Whether a process is gone."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


PROGRAMS = Path(__file__).parent


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("how", "told"),
    few(
        [
            ("raise", ["rank 1 failed; all ranks end", "LookupError: on purpose"]),
            ("kill", []),
            ("wait", ["interrupted; all ranks end"]),
        ],
        1,
    ),
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


@pytest.mark.thorough
def test_what_a_collective_raises_ends_all():
    """An exception in the midst of one, on one rank, is told with its rank."""
    done = launch(3, PROGRAMS / "failing.py", timeout=60)
    assert done.returncode != 0
    assert "rank 1 failed; all ranks end" in done.stderr
    assert "ZeroDivisionError: on purpose" in done.stderr


@pytest.mark.parametrize(
    ("how", "calls"), few([("exit", "5 calls"), ("shared", "5 calls"), ("skip", "9 calls")], 1)
)
def test_a_rank_that_leaves_is_not_waited_for(how, calls):
    """By ``sys.exit``, or at the program's end after a call less: who waits names it."""
    done = launch(3, PROGRAMS / "leaving.py", how, timeout=60)
    assert done.returncode != 0
    assert f"rank 1 has ended after {calls}; rank " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_ranks_may_end_one_after_another():
    """Whoever has made all calls is waited for by nobody."""
    done = launch(3, PROGRAMS / "leaving.py", "normal", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
