"""Names of others reach no terminal and no spreadsheet as commands."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, strategies as st

from makespan import Dag, Network, ProblemError, TaskGraph, check, solve
from makespan.core.plain import FORMULA, STEERING, plain
from makespan.flow.files.files import as_text

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
