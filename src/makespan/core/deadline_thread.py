"""Work in a thread of its own, while this one watches the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from makespan.core.control import Control

POLL_SECONDS = 0.05

Value = TypeVar("Value")


def watched(work: Callable[[], Value], look: Callable[[], None], stop: Callable[[], None]) -> Value:
    """Return what ``work`` returns, which doesn't hold the interpreter, or raise what it raises.

    Parameters
    ----------
    work
        What is done in another thread.
    look
        Called now and then meanwhile; limits and Ctrl-C reach this thread.
    stop
        Asks the work to end soon; called again until it has.
    """
    results: list[Value] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="makespan", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_SECONDS)
            look()
    finally:
        while thread.is_alive():
            stop()
            thread.join(POLL_SECONDS)
    if failures:
        raise failures[0]
    return results[0]


def stoppable(
    control: Control | None, loop: Callable[..., Any], *arguments: Any, long: bool
) -> Any:
    """Run a loop, one that is compiled and ``long`` until the time is up; return what it returns.

    The loop gets an array after its arguments and stops soon after its entry is no longer 0. One
    that is not long is not worth a thread: it is run to its end.
    """
    flag = np.zeros(1, dtype=np.int64)
    if control is None or not long:
        return loop(*arguments, flag)

    def stop() -> None:
        flag[0] = 1

    def look() -> None:
        if control.expired():
            stop()

    return watched(lambda: loop(*arguments, flag), look, stop)
