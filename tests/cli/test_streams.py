"""Closed streams, full disks, signals and permissions: what a shell and an operator do."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import makespan
from makespan.cli.main import run
from makespan.cli.process import DONE, INTERRUPTED, TERMINATED, USAGE, is_interrupt
from makespan.core.inputs.files import write_whole
from tests.privileges import unprivileged

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="of POSIX systems")
START = f"{sys.executable} -m makespan"
TASKS = "kind = 'independent'\nmachines = 3\ndurations = [4, 4, 4, 4, 3, 2]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.toml"
    path.write_text(TASKS)
    return path


def shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", line], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(file: Path, closed: str) -> None:
    """A result is written whole, and nothing that was meant for a stream ends in it."""
    result = file.with_suffix(".json")
    ended = shell(f"{START} solve {file} -o {result} {closed}")
    assert (ended.returncode, ended.stderr) == (DONE, "")
    assert run(["check", str(result)]) == DONE


def test_closed_standard_input_is_empty(file: Path) -> None:
    """'-' then holds nothing, which is said."""
    ended = shell(f"{START} solve - <&-")
    assert ended.returncode == USAGE
    assert ended.stderr.startswith("error: standard input")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["solve {}", "solve {} --json", "methods {}", "--help"])
def test_a_full_disk_behind_a_stream_is_said(file: Path, command: str) -> None:
    """What could not be written is an error, not a silence."""
    ended = shell(f"{START} {command.format(file)} > /dev/full")
    assert ended.returncode == USAGE
    assert ended.stderr.startswith("error: standard output: can't be written: No space left")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)]
)
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("after", [0.08, 0.3])
def test_signals_while_it_starts(file: Path, number: int, code: int, after: float) -> None:
    """A signal during imports ends the command with a word; a later one changes nothing."""
    with subprocess.Popen(
        [sys.executable, "-m", "makespan", "solve", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(after)
        process.send_signal(number)
        out, error = process.communicate(timeout=120)
    ours = str(Path(makespan.__file__).parent)
    if process.returncode == -number or (process.returncode == 1 and ours not in error):
        return  # before the command's own time, in Python's, or after it
    assert process.returncode in (code, DONE)
    assert "Traceback" not in error
    assert out or error.strip() == "interrupted"


@pytest.mark.slow
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)]
)
def test_signals_leave_the_best_plan(tmp_path: Path, number: int, code: int) -> None:
    """In the middle of a search the best plan so far is printed, and the code says why it ended."""
    path = tmp_path / "hard.toml"
    durations = [(37 * index * index) % 991 + 0.1 * index for index in range(90)]
    path.write_text(f"kind = 'independent'\nmachines = 9\ndurations = {durations}\n")
    with subprocess.Popen(
        [sys.executable, "-m", "makespan", "solve", str(path), "--time-limit", "60"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(8)
        process.send_signal(number)
        out, _ = process.communicate(timeout=120)
    assert process.returncode == code
    assert out.startswith("feasible")
    assert "interrupted: this is the best plan found so far" in out


def test_what_an_import_makes_of_an_interrupt_is_one() -> None:
    """Libraries turn what stops their import into errors of their own."""
    error = ImportError("numpy's own words")
    error.__cause__ = ValueError()
    error.__cause__.__context__ = KeyboardInterrupt()
    assert is_interrupt(error)
    assert not is_interrupt(ImportError())
    assert not is_interrupt(None)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_of_a_file_are_kept(tmp_path: Path, mode: int) -> None:
    """A new content is never readable for others than the old one was."""
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(mode)
    seen = []
    replace = os.replace

    def watching(source: os.PathLike[str], target: os.PathLike[str]) -> None:
        seen.append(stat.S_IMODE(os.stat(source).st_mode))
        replace(source, target)

    before = os.umask(0)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", watching)
            write_whole(path, "new")
    finally:
        os.umask(before)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert seen == [mode]


def test_what_may_not_be_written_is_left_alone(tmp_path: Path) -> None:
    """A file without the permission to write is not replaced."""
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o400)

    def act() -> None:
        with pytest.raises(Exception, match="no permission"):
            write_whole(path, "new")

    unprivileged(act)
    assert path.read_text() == "old"


def test_a_file_is_not_written_onto_its_source(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by its name nor by a link to it."""
    problem = file.with_suffix(".json")
    assert run(["convert", str(file), str(problem)]) == DONE
    link = file.parent / "link.json"
    link.symlink_to(problem)
    before = problem.read_text()
    for target in (problem, link):
        for command in ("solve {} -o {}", "convert {} {}"):
            assert run(command.format(problem, target).split()) == USAGE
            assert "is the file that is read" in capsys.readouterr().err
    assert problem.read_text() == before
