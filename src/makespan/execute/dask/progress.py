"""A bar on stderr, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def silent(share: float, what: str) -> None:
    """Show nothing."""


@contextmanager
def bar() -> Iterator[Callable[[float, str], None]]:
    """Give a function of the share done and what is done now; it draws a bar on a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=1.0)
        yield lambda share, what: shown.update(task, completed=share, description=what)
