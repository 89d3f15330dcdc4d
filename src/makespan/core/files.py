"""Files written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from makespan.core.errors import FileError


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it: a temporary file beside it, then a rename.

    A link is followed; what is no regular file (a pipe, a device) is written to as it is.

    Raises
    ------
    FileError
        If the file can't be written; whatever was there before is then still there.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            target.write_bytes(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: {file_fault(error, 'written')}") from error


def _replace(target: Path, data: bytes) -> None:
    temporary = target.parent / f".makespan-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def file_fault(error: Exception, done: str) -> str:
    """Say why a file can't be ``done`` (``"read"``, ``"written"``)."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file" if done == "read" else "there is no such folder"
    if isinstance(error, NotADirectoryError):
        return "a part of the path is a file, not a folder"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, PermissionError):
        return f"can't be {done}: no permission"
    return f"can't be {done}: {getattr(error, 'strerror', None) or error}"
