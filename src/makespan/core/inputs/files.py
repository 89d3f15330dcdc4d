"""Files read within bounds, and written whole or not at all."""

import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

from makespan.core.errors import FileError

LARGEST = 512 * 2**20  # bytes, the most that is read from one file
AT_ONCE = 2**20  # bytes that are asked for at a time, where it is not known how many there are

PathLike = str | os.PathLike[str]

_closed = False


def close_files() -> None:
    """Read and write no file from now on: for processes that work for strangers."""
    global _closed  # noqa: PLW0603
    _closed = True


def _refuse_closed(name: PathLike) -> None:
    if _closed:
        raise FileError(f"{name}: files are neither read nor written here")


def read_text(path: PathLike, *, pipes: bool = False) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark; ``"-"`` is standard
    input.

    ``pipes``: a pipe may be read, too, as a path of the user's can be one (``/dev/stdin``, process
    substitution). Devices and sockets are never read. Raises FileError naming the file.
    """
    name, data = shown_path(path), read_bytes(path, LARGEST, pipes=pipes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise FileError(f"{name}: is UTF-16 text; save it as UTF-8") from None
        line = data.count(b"\n", 0, error.start) + 1
        where = f"line {line}: byte 0x{data[error.start]:02x}"
        raise FileError(f"{name}: {where} is not UTF-8 text; save it as UTF-8") from None


def read_bytes(path: PathLike, largest: int, *, pipes: bool = False) -> bytes:
    """Return the bytes of a file of at most ``largest`` bytes; see :func:`read_text`."""
    name = shown_path(path)
    _refuse_closed(name)
    try:
        if str(path) == "-":
            return _bounded(sys.stdin.buffer, name, largest)
        _refuse_special(os.stat(path).st_mode, name, pipes)
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            _refuse_special(found.st_mode, name, pipes)  # it may be another by now
            if stat.S_ISREG(found.st_mode) and found.st_size > largest:
                raise _too_large(name, largest)
            return _bounded(file, name, largest, found.st_size)
    except (OSError, ValueError, MemoryError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{name}: {file_fault(error, 'read')}") from error


def file_beneath(folder: Path, name: str, within: PathLike | None = None) -> Path:
    """Return the path of a file that is named in a file of ``folder``, and lies beneath it.

    ``within`` is another folder beneath which it may lie, as the caller allows it. Raises FileError
    if it leads out of the folder, by its name or by a link, or is not a regular file.
    """
    _refuse_closed(name)
    path = folder / name
    try:
        allowed = map(os.path.realpath, (folder, folder if within is None else within))
        if not any(map(Path(os.path.realpath(path)).is_relative_to, allowed)):
            raise FileError(f"{name}: leads out of the folder of the file that names it")
        _refuse_special(os.stat(path).st_mode, str(path), pipes=False)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: {file_fault(error, 'read')}") from error
    return path


def shown_path(path: PathLike) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _refuse_special(mode: int, name: str, pipes: bool) -> None:
    if stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)):
        return
    what = next((word for is_it, word in SPECIAL if is_it(mode)), "something else")
    raise FileError(f"{name}: is {what}, not a file")


SPECIAL = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "a device"),
)


def _bounded(file: BinaryIO, name: str, largest: int, expected: int = 0) -> bytes:
    """Read all; room is taken for what is ``expected`` to come, not for the ``largest``."""
    parts, count = [], 0
    while part := file.read(max(expected + 1, AT_ONCE)):
        count += len(part)
        if count > largest:
            raise _too_large(name, largest)
        parts.append(part)
    return b"".join(parts)


def _too_large(name: str, largest: int) -> FileError:
    return FileError(f"{name}: is larger than {largest // 2**20} MiB, the most that is read")


def write_whole(path: PathLike, content: str | bytes) -> None:
    """Write a file so that nobody ever sees half of it: a temporary file beside it, then a rename.

    A link is followed; what is not a regular file (a pipe, a device) is written to as it is. Raises
    FileError if the file can't be written; whatever was there before is then still there.
    """
    _refuse_closed(path)
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
    """Write ``data`` beside ``target``, and then in its place, with its permissions.

    Nobody who may not read the old content can read the new one, at no time.
    """
    kept = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if kept is not None and not os.access(target, os.W_OK):
        raise PermissionError
    temporary = target.parent / f".makespan-{os.getpid()}-{os.urandom(4).hex()}.tmp"
    mode = 0o666 if kept is None else kept & 0o600
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            os.chmod(temporary, kept)
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
    if isinstance(error, MemoryError):
        return f"can't be {done}: there is not enough memory"
    return f"can't be {done}: {getattr(error, 'strerror', None) or error}"
