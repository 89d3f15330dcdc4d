"""The command map, inside this process; workers are processes of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from makespan.cli.main import run

WORK = """
def half(item):
    return item / 2

def first(row):
    return row["name"]

def odd(item):
    if item % 2:
        raise ValueError("odd")
    return item
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with functions and items, where the command is called."""
    (tmp_path / "pool_work.py").write_text(WORK)
    (tmp_path / "items.json").write_text(json.dumps(list(range(40))))
    rows = [{"name": letter, "size": place} for place, letter in enumerate("abc")]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_items_are_mapped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results, a report and a page are written; items a worker are printed."""
    written = ["--results", "out.json", "-o", "run.json", "--plot", "run.html"]
    assert run(["map", "pool_work:half", "items.json", "-j", "2", *written]) == 0
    assert json.loads((folder / "out.json").read_text()) == [item / 2 for item in range(40)]
    told = json.loads((folder / "run.json").read_text())
    assert sum(worker["items"] for worker in told["workers"]) == 40
    assert "compute" in (folder / "run.html").read_text()
    out = capsys.readouterr().out
    assert "items a worker: " in out
    assert "out.json written" in out


def test_a_field_says_what_items_take(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The longest is begun first; results keep their order."""
    asked = ["--expected", "size", "--json", "-j", "1", "--results", "out.json"]
    assert run(["map", "pool_work:first", "rows.json", *asked]) == 0
    assert json.loads((folder / "out.json").read_text()) == ["a", "b", "c"]
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "makespan.map/1"
    assert told["schedule"]["activities"][0]["amount"] == 2.0


def test_items_that_fail_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others' results are written."""
    asked = ["map", "pool_work:odd", "items.json", "-j", "1", "--results", "out.json"]
    assert run(asked) == 2
    assert "item 1: ValueError: odd" in capsys.readouterr().err
    assert run([*asked, "--keep-going"]) == 0
    found = json.loads((folder / "out.json").read_text())
    assert found == [None if item % 2 else item for item in range(40)]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--on", "here"], "--on: 'here' is not local, ray, mpi, dask, or an address"),
        (["--on", "ray", "-j", "2"], "--jobs: is for --on local"),
        (["-j", "0"], "0 is not in the range"),
        (["--expected", "size"], "expected: 'size' gives no seconds"),
    ],
)
def test_what_is_wrong_is_named(
    folder: Path, asked: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["map", "pool_work:half", "items.json", *asked]) == 2
    assert said in capsys.readouterr().err
