"""Messages: all mistakes together, as many as anybody would read."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, strategies as st

from makespan import Dag, Network, ProblemError, TaskGraph, check, solve
from makespan.core.display import FORMULA
from makespan.core.errors import LONGEST_LINE, LONGEST_LIST, STEERING, InputError, Mistake, plain
from makespan.flow.files.files import as_text


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


NASTY = st.text(st.sampled_from("ab=+-@\t\r\n \x00\x1b\x7f\x9b\u202e\u2066\u2028,\"'"), min_size=1)


@given(NASTY | st.text(min_size=1), NASTY)
def test_no_output_steers(task: str, machine: str) -> None:
    """Texts, reports, messages, tables and JSON hold no control character; JSON keeps the name."""
    problem = TaskGraph(Dag({task: 1.0}), Network([1.0], names=[machine]))
    result = solve(problem)
    table = as_text(result, ".csv")
    document = as_text(result, ".json")
    wrong = check(problem, result.schedule.take([False]))
    for text in (str(result), str(wrong), table, document):
        assert not STEERING.search(text)
    assert json.loads(document)["problem"]["tasks"][0]["name"] == task
    assert len(str(result).splitlines()) == len(str(solve(PLAIN)).splitlines())
    cells = [row["machine"] for row in csv.DictReader(StringIO(table))]
    assert len(cells) == 1
    assert not cells[0].lstrip().startswith(FORMULA)


PLAIN = TaskGraph(Dag({"a": 1.0}), Network([1.0], names=["M"]))


@given(NASTY)
def test_no_message_steers(name: str) -> None:
    """An error that quotes a name quotes it in one line, without control characters."""
    with pytest.raises(ProblemError) as caught:
        TaskGraph(Dag({name: 1.0, name + "2": 1.0}, _circle(name, name + "2")), Network([1.0]))
    message = str(caught.value)
    assert "form a cycle" in message
    assert not STEERING.search(message)
    assert "\n" not in message


def _circle(a: str, b: str) -> list[Any]:
    return [(a, b), (b, a)]


def test_plain_text_stays() -> None:
    """Scripts of the world, emoji joined by joiners, tabs and line breaks are left alone."""
    text = "žluťoučký\tکاربر می‌رود\n👩‍🚀 ok"
    assert plain(text) == text
