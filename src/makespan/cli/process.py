"""What the process does whatever the command: exit codes, streams, signals, lean short runs."""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence

from makespan.core.system import interrupts

DONE = 0
INTERNAL = 1
USAGE = 2
INFEASIBLE = 3
NOTHING_FOUND = 4
CHECK_FAILED = 5
INTERRUPTED = 130
TERMINATED = 143

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
OBJECTS = 50_000  # between two searches for garbage in circles; imports make no such garbage
WITH_FUNCTIONS = ("run", "calibrate")  # they call functions of the user, who may multiply matrices


def open_closed_streams() -> None:
    """Let closed standard streams read and write nothing.

    Otherwise the next file that is opened would get the number of a closed stream, and what is
    meant for the stream would end in the file.
    """
    for number, (name, mode) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def forget_stdout() -> None:
    """Let the interpreter's last flush of a stream that can't be written go nowhere."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def be_lean(arguments: Sequence[str]) -> None:
    """Search seldom for garbage, leave what is there at the end to the system, start no threads.

    NumPy's linear algebra starts a thread for each core when it is loaded, which takes more time
    than reading a problem; nothing here multiplies large matrices.
    """
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)
    if not set(arguments).intersection(WITH_FUNCTIONS):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def listen_for_sigterm() -> None:
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


def leave_signals_alone() -> None:
    """Let signals end the process at once: all is said, only the interpreter's end is left.

    CPython ends a module by SIGINT where the last text that it executed was interrupted, as that of
    a named tuple is during imports, whatever the exit code; so the last one is empty.
    """
    exec("")
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
