"""How far a run is: told to a function, or by a bar on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Tell = Callable[[float, str], None]
"""Takes the share done, and what is done now."""


def silent(share: float, what: str) -> None:
    """Show nothing."""


def shown(progress: bool | Tell | None) -> AbstractContextManager[Tell]:
    """Give the function that is told: the one given, a bar's (True), or a silent one."""
    if callable(progress):
        return nullcontext(progress)
    return bar() if progress else nullcontext(silent)


@contextmanager
def bar() -> Iterator[Tell]:
    """Give a function of the share done and what is done now; it draws a bar on a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("starting", total=1.0)
        yield lambda share, what: drawn.update(task, completed=share, description=what)
