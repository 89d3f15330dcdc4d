"""Progress: one line on stderr, on a terminal, and not for what is done at once."""

from __future__ import annotations

import io
import sys

import pytest

from makespan.cli.progress import progress_bar, progress_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_there_is_no_progress_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file or a pipe gets no progress."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar() as progress:
        assert progress is None


def test_progress_is_shown_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes less than half a second shows nothing; after that the best value stands there."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar() as progress:
        assert progress is not None
        progress(10.0, 9.0, 0.1)
        assert terminal.getvalue() == ""
        progress(10.0, 9.0, 1.0)
    assert "best 10, bound 9, gap 10 %, 1 s" in terminal.getvalue()


def test_the_line_says_what_is_known() -> None:
    """Without a plan, without a bound, and at zero, the line is still right."""
    assert progress_line(None, None, 3.0) == "no plan yet, 3 s"
    assert progress_line(None, 2.0, 3.0) == "no plan yet, bound 2, 3 s"
    assert progress_line(0.0, 0.0, 3.0) == "best 0, bound 0, 3 s"
