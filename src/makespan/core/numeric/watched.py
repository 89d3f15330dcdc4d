"""Compiled loops that stop at a limit."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from makespan.core.control import Control

POLL_SECONDS = 0.05


def stoppable(control: Control, loop: Any, *arguments: Any) -> Any:
    """Run a compiled loop in a thread while this one watches the clock; return what it returns.

    The loop gets an array after its arguments and stops soon after its entry is no longer 0:
    compiled loops don't hold the interpreter, so that limits and Ctrl-C reach this thread.
    """
    stop = np.zeros(1, dtype=np.int64)
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(loop(*arguments, stop))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="makespan loop", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            if control.expired():
                stop[0] = 1
    finally:
        stop[0] = 1
        thread.join()
    if failures:
        raise failures[0]
    return results[0]
