"""The compiled twins of the loops that large inputs need."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.jit import kernel
from makespan.reduction.circulating import circulate, receive
from makespan.reduction.columns import advance
from makespan.reduction.rules import commit
from makespan.reduction.spreading import spread
from makespan.reduction.timing import find_before, settle_once

commit_compiled = kernel(commit)
find_before_compiled = kernel(find_before)
settle_once_compiled = kernel(settle_once)
advance_compiled = kernel(advance)
receive_compiled = kernel(receive)
circulate_compiled = kernel(circulate)
spread_compiled = kernel(spread)

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

    thread = threading.Thread(target=run, name="reduction", daemon=True)
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
