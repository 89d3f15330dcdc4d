"""How far a measurement, a search or a run is: told to a function, or by a bar on a terminal.

Whatever takes ``progress`` takes the same: True, the default, draws a bar on stderr where that is
a terminal; a function is called with the share done, from 0 to 1, and what is done now; False
shows nothing. On MPI rank 0 alone tells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[float, str], object]  # takes the share done, and what is done now

Progress = bool | Tell


def silent(share: float, what: str) -> None:
    """Show nothing."""


@contextmanager
def teller(progress: Progress) -> Iterator[Tell]:
    """Give the function that is told: the one given, that of a bar, or a silent one."""
    if callable(progress) or not progress or not sys.stderr.isatty():
        yield progress if callable(progress) else silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("starting", total=1.0)
        yield lambda share, what: drawn.update(task, completed=share, description=what)
