"""Files under faults: killed while saving, no room left, several writers, narrow permissions."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from campaign.part import Defect, Part, Trial
from makespan import InputError
from makespan.core.inputs.files import write_whole

OLD, NEW = b"old " * 20_000, b"new " * 50_000
LEFTOVER = ".makespan-*"
ROOM = 64 * 1024


def attempt(trial: Trial) -> None:
    """Write a file while something goes wrong; it holds what it held, or all that is new."""
    rng = trial.random("make")
    name = rng.choice(list(FAULTS))
    folder = trial.folder / f"saving{rng.getrandbits(40)}"
    folder.mkdir()
    try:
        FAULTS[name](folder, rng)
    finally:
        shutil.rmtree(folder)
    trial.count(name)
    trial.count("saves")


def _killed(folder: Path, rng: random.Random) -> None:
    target = folder / "plan.json"
    target.write_bytes(OLD)

    def write_for_ever() -> None:
        while True:
            write_whole(target, NEW)
            write_whole(target, OLD)

    child = _forked(write_for_ever)
    time.sleep(rng.uniform(0.0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _is_whole(target)
    write_whole(target, NEW)  # what is left over hinders nobody
    _is_whole(target, NEW)


def _no_room(folder: Path, rng: random.Random) -> None:
    target = folder / "plan.json"
    target.write_bytes(OLD)
    room = rng.randrange(len(NEW))

    def write_once() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        try:
            write_whole(target, NEW)
        except InputError:
            os._exit(3)

    if _ended(_forked(write_once)) != 3:
        raise Defect("a file that is too large is no error")
    _is_whole(target, OLD)
    _nothing_left(folder)


def _full(folder: Path, rng: random.Random) -> None:
    with _mounted(folder) as disk:
        if disk is None:
            return
        target = disk / "plan.json"
        target.write_bytes(b"old")
        (disk / "other").write_bytes(bytes(rng.randrange(ROOM - 8192)))
        with contextlib.suppress(InputError):
            write_whole(target, NEW)
            raise Defect("a full disk is no error")
        _is_whole(target, b"old")
        _nothing_left(disk)


@contextlib.contextmanager
def _mounted(folder: Path) -> Iterator[Path | None]:
    """Mount a small disk, where that is allowed."""
    disk = folder / "disk"
    disk.mkdir()
    size = f"size={ROOM}"
    mount = ["mount", "-t", "tmpfs", "-o", size, "none", str(disk)]
    done = subprocess.run(mount, capture_output=True, check=False)
    if done.returncode:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def _together(folder: Path, rng: random.Random) -> None:
    target = folder / "plan.json"
    contents = [bytes([65 + writer]) * rng.randrange(1, 300_000) for writer in range(3)]

    def writer_of(content: bytes) -> Callable[[], None]:
        def write_often() -> None:
            for _ in range(5):
                write_whole(target, content)

        return write_often

    children = [_forked(writer_of(content)) for content in contents]
    if any(_ended(child) for child in children):
        raise Defect("a writer failed beside others")
    if target.read_bytes() not in contents:
        raise Defect("several writers made a mixture")
    _nothing_left(folder)


def _narrow(folder: Path, rng: random.Random) -> None:
    mask = rng.choice((0o000, 0o022, 0o027, 0o077, 0o177))
    new, old = folder / "new.json", folder / "old.json"
    old.write_bytes(OLD)
    mode = rng.choice((0o600, 0o640, 0o644, 0o400))
    old.chmod(mode)
    before = os.umask(mask)
    try:
        write_whole(new, NEW)
        write_whole(old, NEW)
    finally:
        os.umask(before)
    for path, expected in ((new, 0o666 & ~mask), (old, mode)):
        found = stat.S_IMODE(path.stat().st_mode)
        if found != expected:
            raise Defect(f"{path.name} has permissions {found:o}, not {expected:o}")


FAULTS: dict[str, Callable[[Path, random.Random], None]] = {
    "killed while saving": _killed,
    "a file that may not grow": _no_room,
    "a full disk": _full,
    "several writers at once": _together,
    "permissions": _narrow,
}


def _forked(action: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        action()
        os._exit(0)
    except BaseException:
        os._exit(9)


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _is_whole(target: Path, *allowed: bytes) -> None:
    if target.read_bytes() not in (allowed or (OLD, NEW)):
        raise Defect(f"{target.name} is neither old nor new: {target.stat().st_size} bytes")


def _nothing_left(folder: Path) -> None:
    left = list(folder.glob(LEFTOVER))
    if left:
        raise Defect(f"leftovers: {left[0].name}")


PART = Part(
    name="files",
    promise="A file that is being saved is old or new, never half, whatever happens: kill -9, a "
    "full disk, other writers; permissions are kept, and nothing is left lying about.",
    attempt=attempt,
    goals={"saves": 5_000},
    share=0.3,
    memory=None,
)
