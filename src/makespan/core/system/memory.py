"""Asking for memory before it is taken, and how much was."""

import math
import os
import sys
from pathlib import Path

from makespan.core.errors import MethodError, TooLarge

USUAL_LIMIT = 2 * 2**30  # bytes
NEVER_ASKED = 2**20  # bytes; for less, finding out what is free would take longer than the work
VARIABLE = "MAKESPAN_MEMORY"


def claim(wanted: float, what: str) -> None:
    """Refuse what would take more memory than makespan may take here.

    ``wanted``: bytes that are about to be taken, estimated from the sizes of the input. ``what``:
    what takes them, for the message: ``"the distances between 50,000 machines"``. Raises TooLarge
    if that is more than :func:`allowed`.

    >>> claim(1e15, "the table of all pairs")
    Traceback (most recent call last):
    makespan.core.errors.TooLarge: the table of all pairs would take 1,000,000 GB of memory; ...
    """
    if wanted <= NEVER_ASKED:
        return
    limit = allowed()
    if wanted > limit:
        raise TooLarge(
            f"{what} would take {_gigabytes(wanted)} of memory; makespan takes at most "
            f"{_gigabytes(limit)} for one thing here ({VARIABLE} sets another limit, in GB)"
        )


def allowed() -> float:
    """Return how many bytes one thing may take: 2 GiB, or half of what is free if that is less.

    The environment variable ``MAKESPAN_MEMORY`` sets another limit, in GB.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        return min(float(USUAL_LIMIT), available() / 2)
    try:
        limit = float(text) * 1e9
    except ValueError:
        limit = math.nan
    if not limit > 0:
        raise MethodError(f"{VARIABLE}: {text!r} is not a number of GB above 0")
    return limit


def available() -> float:
    """Return the bytes that this process can still take, as far as the system tells."""
    return min(_free_on_the_machine(), _free_in_the_group(), _free_of_the_process())


def _told(file: str, word: str) -> int | None:
    """Return the bytes behind a word in a file of the system, None where it is not there."""
    try:
        lines = (line.split() for line in Path(file).read_text().splitlines())
        return next((int(line[1]) * 1024 for line in lines if line[:1] == [word]), None)
    except (OSError, ValueError, IndexError):
        return None


def _free_on_the_machine() -> float:
    free = _told("/proc/meminfo", "MemAvailable:")
    if free is not None:
        return float(free)
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _free_in_the_group() -> float:
    """What the control group (of a container, of a job) leaves."""
    folder = Path("/sys/fs/cgroup")
    try:
        most = float((folder / "memory.max").read_text())
        return max(0.0, most - float((folder / "memory.current").read_text()))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return math.inf


def _free_of_the_process() -> float:
    """What a limit on the address space leaves."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return math.inf
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        return max(0.0, float(most - used))
    except (ImportError, OSError, ValueError):
        return math.inf


def _gigabytes(number: float) -> str:
    return f"{number / 1e9:,.1f} GB" if number < 1e12 else f"{number / 1e9:,.0f} GB"


def forget_peak() -> None:
    """Let :func:`peak` count from now on, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # another system, or no permission
        return


def peak() -> int | None:
    """Return the most bytes that this process has held; None where the system does not tell."""
    most = _told("/proc/self/status", "VmHWM:")
    if most is not None:
        return most
    try:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
    except ImportError:
        return None


def held_by(process: int) -> int:
    """Return the bytes that another process holds now; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
