"""Progress on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from makespan.core.system import startup

if TYPE_CHECKING:
    from rich.status import Status

    from makespan.core.control import Progress

PATIENCE = 0.5  # seconds before anything is shown


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Give a callback that shows the best value and bound so far; None off a terminal.

    What is compiled at the first use is shown, too.
    """
    if not sys.stderr.isatty():
        yield None
        return
    shown: list[Status] = []

    def show(line: str) -> None:
        if not shown:
            from rich.console import Console

            shown.append(Console(stderr=True).status("solving"))
            shown[0].start()
        shown[0].update(line)

    def progress(incumbent: float | None, bound: float | None, elapsed: float) -> None:
        if elapsed >= PATIENCE:
            show(progress_line(incumbent, bound, elapsed))

    try:
        with startup.watched(lambda what: show(what or "solving")):
            yield progress
    finally:
        for status in shown:
            status.stop()


def progress_line(incumbent: float | None, bound: float | None, elapsed: float) -> str:
    """Return what is known so far in one line.

    >>> progress_line(10.0, 9.0, 2.5)
    'best 10, bound 9, gap 10 %, 2 s'
    """
    parts = ["no plan yet" if incumbent is None else f"best {incumbent:.8g}"]
    if bound is not None:
        parts.append(f"bound {bound:.8g}")
        if incumbent:
            parts.append(f"gap {100 * (incumbent - bound) / incumbent:.3g} %")
    return ", ".join([*parts, f"{int(elapsed)} s"])
