"""The first calls after an installation, as real processes: a plan each time, no broken cache."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from makespan import save
from makespan.core.numeric.jit import compiles
from makespan.flow.kinds import generate

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not compiles() or os.name != "posix", reason="nothing is compiled beside"),
]

FEW_BYTES = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
sys.argv[0] = "makespan"
runpy.run_module("makespan", run_name="__main__")
"""
"""The command where no file can get larger, as on a full disk."""


class Machine:
    """A problem whose search is compiled, and an empty cache."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.file = folder / "kernels", folder / "problem.toml"
        options = {"size": 50, "contention": "ports"}
        save(generate("taskgraph", options=options), self.file)

    def start(self, *before: str, limit: float = 1.0, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, *(before or ("-m", "makespan")), "solve", str(self.file)),
                *("--time-limit", str(limit), "--json"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **{**os.environ, "MAKESPAN_COMPILE": "beside"},
                **{"NUMBA_CACHE_DIR": str(self.cache), **environment},
            },
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )

    def beside(self) -> int | None:
        """Return the process that fills the cache."""
        with suppress(OSError, ValueError):
            return int((self.cache / "makespan.lock").read_text())
        return None

    def wait_for_beside(self) -> int:
        until = time.monotonic() + 60
        while (found := self.beside()) is None:
            assert time.monotonic() < until, "nothing compiles beside"
            time.sleep(0.02)
        return found


def answer(process: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """Return the result and the messages of a command, which has a plan and no traceback."""
    out, messages = process.communicate(timeout=120)
    assert "Traceback" not in messages, messages
    assert process.returncode in (0, 130), messages
    found = json.loads(out)
    assert found["makespan"] > 0
    return found, messages


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    if (process := machine.beside()) is not None:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_interrupted(machine: Machine) -> None:
    """Ctrl-C ends the first call with the best plan so far; what compiles beside goes on."""
    process = machine.start(limit=60.0)
    beside = machine.wait_for_beside()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    found, _ = answer(process)
    assert found["status"] == "feasible"
    os.kill(beside, 0)  # which is not of the terminal's group


def test_killed(machine: Machine) -> None:
    """Call and compiler are killed in the midst of it: the next calls have plans and kernels."""
    process = machine.start(limit=60.0)
    beside = machine.wait_for_beside()
    while not list(machine.cache.rglob("*.nbc")):
        time.sleep(0.02)
    for each in (process.pid, beside):
        os.kill(each, signal.SIGKILL)
    process.communicate()
    answer(machine.start())
    answer(machine.start(MAKESPAN_COMPILE="now"))  # which reads what is there


def test_a_full_disk(machine: Machine) -> None:
    """No kernel can be kept: there is a plan; when there is room again, kernels are kept."""
    save(generate("divisible", options={"workers": 300, "latency": 0.2}), machine.file)
    answer(machine.start("-c", FEW_BYTES))
    answer(machine.start("-c", FEW_BYTES, MAKESPAN_COMPILE="now"))
    answer(machine.start(MAKESPAN_COMPILE="now"))
    assert list(machine.cache.rglob("*.nbc"))


def test_a_cache_that_is_no_folder(machine: Machine) -> None:
    """A cache that can't be written, for the owner of everything neither, is said once."""
    machine.cache.write_text("")
    _, messages = answer(machine.start())
    assert messages.count("can't be written") == 1


def test_two_at_once(machine: Machine) -> None:
    """Both have a plan; one process compiles for both, and for the next call."""
    both = [machine.start(), machine.start()]
    said = [messages for _, messages in map(answer, both)]
    assert sum("compiled beside" in messages for messages in said) == 1
    _, messages = answer(machine.start())
    assert "compiled beside" not in messages  # that process is at it, or has just been
