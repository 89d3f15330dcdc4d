"""The command serve: where it listens, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from makespan.studio.serving import _listening
from tests.studio.conftest import SERVE, address_of
from tests.studio.test_service import HARD
from tests.thorough import few

QUIET = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def failed(*options: str) -> str:
    done = subprocess.run(
        [*SERVE, *options], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    return done.stderr


def test_a_port_in_use_is_said() -> None:
    """With the exit code of bad input, and what helps."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = failed("--port", str(port))
    assert found == (
        f"error: --port {port}: is in use by another program; --port 0 takes one that is free\n"
    )


def test_other_machines_need_a_token() -> None:
    """Said before anything listens."""
    assert "--host 0.0.0.0: lets other machines in" in failed("--host", "0.0.0.0")
    assert "can't be listened at" in failed("--host", "no.such.host.invalid", "--token", "a")


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], 1))
def test_it_ends_cleanly(number: signal.Signals) -> None:
    """With its processes, though it is at work, and without a word."""
    answers: list[httpx.Response] = []
    call = [*SERVE, "--host", "0.0.0.0", "--token", "secret"]
    with subprocess.Popen(call, **QUIET) as process:  # type: ignore[call-overload]
        port = address_of(process).rpartition(":")[2]
        address = f"http://127.0.0.1:{port}"
        own = {"authorization": "Bearer secret"}
        assert httpx.post(f"{address}/api/methods", json={}).status_code == 401
        asked = {"kind": "independent"}
        found = httpx.post(f"{address}/api/methods", json=asked, headers=own, timeout=60)
        assert found.status_code == 200
        hard = {"problem": HARD, "time_limit": 100}
        at_work = threading.Thread(
            target=lambda: answers.append(
                httpx.post(f"{address}/api/solve", json=hard, headers=own, timeout=60)
            )
        )
        at_work.start()
        time.sleep(1.0)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        pids = children.read_text().split() if children.exists() else []
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    at_work.join(20)
    assert answers[0].json() == {"error": "the server is ending"}
    end = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_leaves_a_job_in_the_background_alone() -> None:
    """A shell lets such jobs ignore Ctrl-C; SIGTERM ends them as always."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with subprocess.Popen(SERVE, **QUIET) as process:  # type: ignore[call-overload]
        address = address_of(process)
        assert httpx.get(address, timeout=60).status_code == 200
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)  # in which the server would end
        assert httpx.get(address, timeout=60).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_a_free_port_is_taken() -> None:
    """Port 0."""
    with _listening("127.0.0.1", 0) as found:
        assert found.getsockname()[1] > 0
