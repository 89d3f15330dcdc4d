"""Progress: one line on stderr, and not for what is done at once."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator

import click
import pytest

from makespan.cli import progress
from makespan.cli.parameters import QUIET, print_text
from makespan.cli.progress import ProgressLine, known, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(terminal: Terminal, text: str) -> bool:
    """Whether a text appears within ten seconds."""
    end = time.monotonic() + 10
    while text not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.02)
    return text in terminal.getvalue()


@pytest.fixture(autouse=True)
def context() -> Iterator[click.Context]:
    with click.Context(click.Command("solve")) as entered:
        yield entered


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Let stderr be a terminal, inside a test: between tests pytest puts its own there."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    return terminal


def test_there_is_no_progress_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file or a pipe gets no progress."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", file := io.StringIO())
    with working("solving") as line:
        line.progress(10.0, 9.0, 1.0)
        time.sleep(0.2)
    assert file.getvalue() == ""


def test_a_log_of_many_solves_says_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line every now and then, each time what is said now; with --quiet there is none."""
    monkeypatch.setattr(progress, "LOGGED", 0.02)
    monkeypatch.setattr(sys, "stderr", file := Terminal())
    monkeypatch.setattr(file, "isatty", lambda: False)
    with ProgressLine("solving", logged=True).shown() as line:
        line.say("1 of 2 solves")
        assert shown(file, "1 of 2 solves, 0 s\n")
        line.say("2 of 2 solves")
        assert shown(file, "2 of 2 solves, 0 s\n")
    monkeypatch.setattr(sys, "stderr", file := io.StringIO())
    click.get_current_context().meta[QUIET] = True
    with ProgressLine("solving", logged=True).shown():
        time.sleep(0.1)
    assert file.getvalue() == ""


def test_progress_is_shown_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done at once shows nothing; after that the best value stands there, and the time."""
    terminal = terminal_of(monkeypatch)
    with working("solving") as line:
        line.progress(10.0, 9.0, 0.1)
        assert terminal.getvalue() == ""
        assert shown(terminal, "best 10, bound 9, gap 10 %, ")


def test_what_is_quiet_shows_none(monkeypatch: pytest.MonkeyPatch, context: click.Context) -> None:
    """With --quiet nothing is shown, however long it takes."""
    terminal = terminal_of(monkeypatch)
    context.meta[QUIET] = True
    with working("solving"):
        time.sleep(0.2)
    assert terminal.getvalue() == ""


def test_the_line_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed does not run into the line."""
    terminal = terminal_of(monkeypatch)
    with working("solving") as line:
        assert shown(terminal, "solving, ")
        print_text("done")
        assert line._status is None


def test_the_line_says_what_is_known() -> None:
    """Without a plan, without a bound, and at zero, the line is still right."""
    assert known(None, None) == "no plan yet"
    assert known(None, 2.0) == "no plan yet, bound 2"
    assert known(0.0, 0.0) == "best 0, bound 0"
