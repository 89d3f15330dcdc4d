"""A function of a student → what it returned, from a process that can do no harm."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from makespan import ExecutionError

LONGEST = 20_000_000  # bytes of an answer
START = 5.0  # seconds for the interpreter, beside the limit
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Failed(Exception):
    """A function gave no answer; the text says why."""


def is_isolated() -> bool:
    """Whether functions can be run here without trust: on Linux, x86-64 or ARM."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


def called(
    source: str,
    function: str,
    problem: dict[str, Any],
    *,
    seconds: float,
    memory: float,
    trusted: bool = False,
) -> Any:
    """Call a function of a source text with a problem, and return its answer.

    The process has no network, starts no other, writes no file, reads those of Python alone, and
    has so many ``seconds`` and so much ``memory`` (MB). ``trusted`` leaves limits alone. What it
    returns is data: nothing that it says of makespans or points is believed.

    Raises
    ------
    Failed
        If there is no answer, with why.
    ExecutionError
        If the system can't isolate it, and it is not trusted.
    """
    if not (trusted or is_isolated()):
        raise ExecutionError(
            "functions can be isolated on Linux alone (x86-64, ARM); --trusted runs them anyway"
        )
    asked: dict[str, Any] = {"source": source, "function": function, "problem": problem}
    asked |= {"seconds": seconds, "memory": memory, "trusted": trusted}
    read, write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="makespan-grade-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).with_name("child.py")), str(write)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write,),
            cwd=folder,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        os.close(write)
        try:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:
                process.stdin.write(json.dumps(asked).encode())
            data = _received(read, seconds + START, seconds)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)
        finally:
            os.close(read)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    if not data and -code in (signal.SIGKILL, signal.SIGXCPU):
        raise Failed(f"no answer within {seconds:g} s")
    try:
        answer = json.loads(data)
        if not isinstance(answer, dict) or not {"answer", "error"} & set(answer):
            raise ValueError
    except (ValueError, RecursionError):
        raise Failed("its process ended without an answer") from None
    if "error" in answer:
        raise Failed(str(answer["error"]))
    return answer["answer"]


def _received(pipe: int, patience: float, limit: float) -> bytes:
    """Return what comes by a pipe until it is closed, in time and not too much."""
    parts: list[bytes] = []
    ends, size = time.monotonic() + patience, 0
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while True:
            if not ready.select(max(0.0, ends - time.monotonic())):
                raise Failed(f"no answer within {limit:g} s")
            part = os.read(pipe, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
            if size > LONGEST:
                raise Failed(f"its answer is longer than {LONGEST / 1e6:g} MB")
