"""Ctrl-C and, where it is taken as such, SIGTERM."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

received: list[int] = []  # the signals that asked this process to stop, as they arrived


def terminate(number: int, _frame: Any) -> None:
    """A handler for SIGTERM that does what Python does at Ctrl-C."""
    received.append(number)
    raise KeyboardInterrupt


INTERRUPTING = (signal.default_int_handler, terminate)


@contextmanager
def noted(note: Callable[[], None]) -> Iterator[None]:
    """Let the first signal call ``note`` inside the block; the second interrupts as usual.

    Outside the main thread, and where the caller handles the signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if (handler := signal.getsignal(number)) in INTERRUPTING
    }

    def as_usual() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    def first(number: int, _frame: Any) -> None:
        received.append(number)
        as_usual()
        note()

    try:
        for number in usual:
            signal.signal(number, first)
        yield
    finally:
        as_usual()
