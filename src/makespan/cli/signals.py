"""SIGTERM as Ctrl-C: the best plan so far, then the end."""

from __future__ import annotations

import signal
import sys

from makespan.cli.codes import INTERRUPTED, TERMINATED
from makespan.core.system import interrupts


def listen() -> None:
    """Take SIGTERM as Ctrl-C from now on."""
    if sys.platform != "win32" and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, interrupts.terminate)


def interrupted_code() -> int:
    """Return the exit code of a run that was interrupted: 130, and 143 by SIGTERM."""
    return TERMINATED if signal.SIGTERM in interrupts.received else INTERRUPTED


def is_interrupt(error: BaseException | None) -> bool:
    """Whether ``error`` is Ctrl-C, or what an import that Ctrl-C broke off made of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def leave_alone() -> None:
    """Let signals end the process at once: all is said, only the interpreter's end is left.

    CPython ends a module by SIGINT where the last text that it executed was interrupted, as that of
    a named tuple is during imports, whatever the exit code; so the last one is empty.
    """
    exec("")
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
