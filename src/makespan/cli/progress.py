"""Progress on stderr: what is done now, and for how long already.

On a terminal one line changes; the log of many solves has a new one every now and then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import wraps
from threading import Event, Thread, Timer
from typing import TYPE_CHECKING, Any, cast

import click

from makespan.cli.parameters import LINE, Function, is_quiet
from makespan.core.system import startup

if TYPE_CHECKING:
    from rich.status import Status


PATIENCE = 0.5  # seconds before anything is shown
LOGGED = 30.0  # seconds between two lines of a log


class ProgressLine:
    """A line that says what is done now, with the seconds since it began.

    ``logged``: off a terminal it is written now and then; otherwise it is on a terminal alone.
    """

    def __init__(self, text: str, *, logged: bool = False) -> None:
        self._text, self._is_logged = text, logged
        self._compiling: str | None = None
        self._begin = time.monotonic()
        self._status: Status | None = None

    def __str__(self) -> str:
        elapsed = int(time.monotonic() - self._begin)
        return f"{self._compiling or self._text}, {elapsed} s"

    def __rich__(self) -> str:
        from rich.markup import escape

        return escape(str(self))

    def say(self, text: str) -> None:
        """Change what the line says."""
        self._text = text

    def progress(self, incumbent: float | None, bound: float | None, elapsed: float) -> None:
        """Say what is known so far, as ``solve`` reports it."""
        self.say(known(incumbent, bound))

    @contextmanager
    def shown(self) -> Iterator[ProgressLine]:
        """Show the line, and what is compiled first, while something runs."""
        if is_quiet() or not sys.stderr.isatty():
            with self._log() if self._is_logged and not is_quiet() else nullcontext():
                yield self
            return
        click.get_current_context().meta[LINE] = self
        timer = Timer(PATIENCE, self._show)
        timer.daemon = True
        timer.start()
        try:
            with startup.watched(self._compile):
                yield self
        finally:
            timer.cancel()
            timer.join()
            self.hide()

    @contextmanager
    def _log(self) -> Iterator[None]:
        ended = Event()

        def tell() -> None:
            with suppress(OSError, ValueError):  # nobody reads any more
                while not ended.wait(LOGGED):
                    click.echo(str(self), err=True)

        telling = Thread(target=tell, daemon=True)
        telling.start()
        try:
            yield
        finally:
            ended.set()
            telling.join()

    def hide(self) -> None:
        """Make room for what is printed."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _compile(self, what: str | None) -> None:
        self._compiling = what

    def _show(self) -> None:
        from rich.console import Console

        self._status = Console(stderr=True).status(self)
        self._status.start()


def working(text: str) -> AbstractContextManager[ProgressLine]:
    """Show a line of its own while something is done."""
    return ProgressLine(text).shown()


def meanwhile(text: str) -> Callable[[Function], Function]:
    """Return a decorator of commands that shows a line until something is printed."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def called(**arguments: Any) -> Any:
            with working(text):
                return function(**arguments)

        return cast(Function, called)

    return decorate


def known(incumbent: float | None, bound: float | None) -> str:
    """Return what is known so far in one line.

    >>> known(10.0, 9.0)
    'best 10, bound 9, gap 10 %'
    """
    parts = ["no plan yet" if incumbent is None else f"best {incumbent:.8g}"]
    if bound is not None:
        parts.append(f"bound {bound:.8g}")
        if incumbent:
            parts.append(f"gap {100 * (incumbent - bound) / incumbent:.3g} %")
    return ", ".join(parts)
