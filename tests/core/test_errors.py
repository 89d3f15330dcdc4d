"""Messages: all mistakes together, as many as anybody would read."""

from __future__ import annotations

from makespan.core.errors import LONGEST_LINE, LONGEST_LIST, InputError, Mistake


def test_a_long_list_is_cut_short() -> None:
    """The message shows mistakes until it is enough; the error holds all."""
    mistakes = [Mistake(f"row[{index}]", "x" * 500) for index in range(1_000)]
    error = InputError(mistakes, "file.csv")
    text = str(error)
    assert text.startswith("file.csv: 1000 mistakes\n  row[0]: ")
    assert len(text) < 1.1 * LONGEST_LIST
    shown = text.count("row[")
    assert text.endswith(f"\n  and {1_000 - shown} more")
    assert len(error.mistakes) == 1_000


def test_a_long_mistake_loses_its_middle() -> None:
    """What was found begins a message, and what is allowed ends it."""
    text = str(InputError([Mistake("x" * 50_000, "is unknown; known are a, b")]))
    assert text.startswith("xxx")
    assert text.endswith("is unknown; known are a, b")
    assert len(text) <= LONGEST_LINE + 3


def test_few_mistakes_are_told_in_full() -> None:
    """Nothing is lost where there is little."""
    text = str(InputError([Mistake("a", "is 1"), Mistake("", "b")], "here"))
    assert text == "here: 2 mistakes\n  a: is 1\n  b"
