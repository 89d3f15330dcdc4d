"""What is kept, and what follows from it for jobs that have run, and for others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from snakemake_scheduler_plugin_makespan import durations as module
from snakemake_scheduler_plugin_makespan.durations import Durations, benchmark_seconds


def known(*rows: tuple[str, str, int | None, float]) -> Durations:
    durations = Durations()
    for row in rows:
        durations.record(*row)
    return durations


def test_nothing_known() -> None:
    """All jobs alike."""
    assert not Durations()
    assert Durations().estimate("map", "w=1") == 1.0


def test_its_own_run_then_its_rule_then_all() -> None:
    """The mean of all is that of the rules' means, however often each ran."""
    durations = known(("map", "w=1", None, 2.0), ("map", "w=2", None, 4.0), ("sort", "", None, 9.0))
    assert durations
    assert durations.estimate("map", "w=1") == 2.0
    assert durations.estimate("map", "w=3") == 3.0
    assert durations.estimate("new", "") == 6.0


def test_a_later_run_replaces_the_one_before() -> None:
    durations = known(("map", "w=1", None, 2.0))
    assert durations.estimate("map", "w=2") == 2.0
    durations.record("map", "w=1", None, 5.0)
    assert (durations.estimate("map", "w=1"), durations.estimate("map", "w=2")) == (5.0, 5.0)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_what_is_not_a_duration_is_not_kept(seconds: float) -> None:
    assert not known(("map", "", None, seconds))


def test_a_line_over_input_sizes() -> None:
    """Seconds that grow with the input: new jobs by the line, old ones scaled where they grew."""
    durations = known(*(("map", f"w={size}", size, 1.0 + size / 100) for size in (100, 200, 400)))
    assert durations.grows("map")
    assert durations.estimate("map", "w=new", 300) == pytest.approx(4.0)
    assert durations.estimate("map", "w=new") == pytest.approx((2 + 3 + 5) / 3)
    assert durations.estimate("map", "w=new", 10**9) == 10.0, "twice the longest seen"
    assert durations.estimate("map", "w=new", 0) == 1.0, "half the shortest seen"
    assert durations.estimate("map", "w=200", 205) == 3.0
    assert durations.estimate("map", "w=200", 400) == pytest.approx(5.0)


def test_sizes_that_explain_nothing() -> None:
    """No line where durations are scattered, equal, or fall."""
    scattered = [(100, 1.0), (200, 9.0), (300, 2.0), (400, 8.0), (500, 1.0)]
    falling = [(100, 3.0), (200, 2.0), (300, 1.0)]
    for rows in (scattered, [(size, 2.0) for size, _ in scattered], falling, scattered[:2]):
        durations = known(*(("map", f"w={size}", size, took) for size, took in rows))
        assert not durations.grows("map")
        mean = sum(took for _, took in rows) / len(rows)
        assert durations.estimate("map", "w=new", 250) == pytest.approx(mean)


def test_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    durations = known(*(("map", f"w={number}", None, float(number)) for number in (1, 2, 1, 3)))
    assert list(durations.rules["map"]) == ["w=1", "w=3"]


def test_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "new" / "makespan.json"
    durations = known(("map", "w=1", 7, 2.0), ("sort", "", None, 3.0))
    durations.save(path)
    again = Durations()
    again.load(path)
    assert again.rules == durations.rules
    assert [each.name for each in path.parent.iterdir()] == [path.name], "no draft is left"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", '{"version": 2, "rules": {"map": {"": [1, 2.0]}}}']
    + [f'{{"version": 1, "rules": {rules}}}' for rules in ("3", '{"a": 1}', '{"a": {"": [1]}}')]
    + ['{"version": 1, "rules": {"a": {"": [1, "x"]}}}', '{"version": 1}', "\x00"],
)
def test_a_file_of_something_else_is_nothing_known(tmp_path: Path, text: str) -> None:
    path = tmp_path / "makespan.json"
    path.write_text(text)
    durations = Durations()
    durations.load(path)
    assert not durations
    assert durations.estimate("map", "") == 1.0


def test_benchmark_files(tmp_path: Path) -> None:
    """Repeats are added up; the newer format is a JSON object a line."""
    table, lines = tmp_path / "b.tsv", tmp_path / "b.jsonl"
    table.write_text("s\th:m:s\tmax_rss\n1.5\t0:00:01\t-\n2.0\t0:00:02\tNA\n")
    lines.write_text('{"s": 1.5, "jobid": 1}\n{"s": 2.5, "jobid": 1}\n')
    assert benchmark_seconds(str(table)) == 3.5
    assert benchmark_seconds(str(lines)) == 4.0
    os.utime(table, (100, 100))
    assert benchmark_seconds(str(table), since=200) is None


@pytest.mark.parametrize("text", ["", "s\n", "s\th\nNA\t1\n", "x\ty\n1\t2\n", "\xff"])
def test_a_benchmark_file_without_seconds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.tsv"
    path.write_bytes(text.encode("latin-1"))
    assert benchmark_seconds(str(path)) is None
    assert benchmark_seconds(str(tmp_path / "none.tsv")) is None
