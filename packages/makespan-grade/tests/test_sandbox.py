"""What a function can and can't do in its process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from conftest import EXERCISE
from makespan_grade import exercise_in, grade, sandbox

pytestmark = pytest.mark.skipif(not sandbox.is_isolated(), reason="no isolation on this system")


def tried(body: str, **more: Any) -> Any:
    """Return what a function of this body gives."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    limits = {"seconds": 5.0, "memory": 1024.0} | more
    return sandbox.called(f"def plan(problem):\n{lines}", "plan", {"machines": 2}, **limits)


def test_it_computes() -> None:
    """With the problem, the standard library, threads and NumPy."""
    assert tried("return problem['machines'] + 1") == 3
    pytest.importorskip("numpy")
    assert tried("import numpy as np\nreturn float(np.linalg.norm(np.ones(4)))") == 2.0
    threads = "import threading\nfound = []\nt = threading.Thread(target=found.append, args=(1,))\n"
    assert tried(threads + "t.start()\nt.join()\nreturn found") == [1]


@pytest.mark.parametrize(
    "body",
    [
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "import socket\nsocket.socketpair()",
        "import os\nos.fork()",
        "import os\nos.execv('/bin/sh', ['sh'])",
        "import os\nos.kill(os.getppid(), 0)",
        "import os\nos.kill(-1, 0)",
        "open('mine.txt', 'w')",
        "import os\nos.mkdir('mine')",
        "import os\nos.memfd_create('mine')",
        "import tempfile\ntempfile.TemporaryFile('w', dir='.')",
        "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\nif l.unshare(0x10000000) < 0:\n"
        "    raise PermissionError(ctypes.get_errno())",
    ],
)
def test_it_reaches_nothing(body: str) -> None:
    """Sockets, processes, signals, files, new namespaces: the system refuses each."""
    with pytest.raises(sandbox.Failed, match=r"out of reach|unable|No usable"):
        tried(body)


def test_it_reads_no_other_files(tmp_path: Path) -> None:
    """Neither those of the grader nor of the system, where the kernel has Landlock."""
    from makespan_grade.child import libc

    if libc().syscall(444, None, 0, 1) < 1:
        pytest.skip("this kernel has no Landlock")
    (tmp_path / "solution.json").write_text("{}")
    for file in (tmp_path / "solution.json", Path("/etc/passwd"), Path("/proc/self/environ")):
        with pytest.raises(sandbox.Failed, match="out of reach"):
            tried(f"return open({str(file)!r}).read()")


def test_its_end_is_told() -> None:
    """No answer, an error with its line, no such function, too deep an answer."""
    with pytest.raises(sandbox.Failed, match="ended without an answer"):
        tried("import os\nos._exit(0)")
    with pytest.raises(sandbox.Failed, match=r"ZeroDivisionError: division by zero \(line 3\)"):
        tried("x = 0\nreturn 1 / x")
    with pytest.raises(sandbox.Failed, match="there is no function 'other'"):
        sandbox.called("x = 1", "other", {}, seconds=5, memory=512)
    with pytest.raises(sandbox.Failed, match="SystemExit"):
        tried("raise SystemExit(0)")
    with pytest.raises(sandbox.Failed, match="RecursionError"):
        tried("a = []\nfor _ in range(10**5): a = [a]\nreturn a")


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    """A submission is a plain file."""
    (tmp_path / "elsewhere.csv").write_text("task,machine,start,end\n")
    os.symlink(tmp_path / "elsewhere.csv", tmp_path / "link.csv")
    os.mkfifo(tmp_path / "pipe.json")
    for found in grade(exercise_in(EXERCISE), [tmp_path / "link.csv", tmp_path / "pipe.json"]):
        assert found.points == 0
        assert "is not a file" in found.feedback[0]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" + "0" * 400, "-1"])
def test_numbers_that_are_none_get_no_points(number: str, tmp_path: Path) -> None:
    """In rows and in schedules."""
    file = tmp_path / "plan.json"
    row = f'{{"machine": "M1", "item": 0, "start": {number}, "end": 3, "kind": "compute"'
    for text in (f"[{row}}}]", f'{{"activities": [{row}, "peer": null, "amount": 3}}]}}'):
        file.write_text(text)
        (found,) = grade(exercise_in(EXERCISE), [file])
        assert found.points == 0
