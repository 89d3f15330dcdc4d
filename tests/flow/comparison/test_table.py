"""Performance profiles, and folders of problems."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from makespan import IndependentTasks, ProblemError, save, solve
from makespan.cli.main import run
from makespan.core.errors import FileError
from makespan.drawing.comparison import SHADES, profile_axes
from makespan.flow.comparison.several import MAX_RANKINGS, Comparisons, profile_of
from makespan.flow.comparison.table import THRESHOLDS, Comparison, Row, profile, profile_table
from makespan.flow.files.reading import problems_in

TASKS = IndependentTasks(machines=2, durations=[4, 3, 2])


def compared(**values: float | None) -> Comparison:
    """Return a comparison of methods that reached the given values; None: no plan."""
    best = min(value for value in values.values() if value is not None)
    rows = [
        Row(method=name, status="feasible" if value else "failed", value=value, best=value == best)
        for name, value in values.items()
    ]
    return Comparison(problem=TASKS, rows=tuple(rows), results={})


FOUR = [
    compared(a=10.0, b=10.05, c=None),
    compared(a=10.0, b=11.0, c=16.0),
    compared(a=12.0, b=10.0, c=10.2),
    compared(a=10.0, b=10.4, c=10.0),
]


def test_shares_are_counted() -> None:
    """A share is the number of problems within the threshold over all problems."""
    found = {row.method: row.shares for row in profile(FOUR)}
    assert THRESHOLDS == (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    assert found["a"] == (0.75, 0.75, 0.75, 0.75, 0.75, 1.0, 1.0)
    assert found["b"] == (0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 1.0)
    assert found["c"] == (0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5)
    assert [row.method for row in profile(FOUR)] == ["a", "b", "c"]


def test_table_of_shares() -> None:
    """The table has a line a method and a column a threshold."""
    head, first, *_ = str(profile_table(profile(FOUR))).splitlines()
    assert head.split()[-4:] == ["20", "%", "50", "%"]
    assert first.split()[1::2] == ["75"] * 5 + ["100"] * 2


def test_axes_show_shares() -> None:
    """The segments of a method's bar end at its shares."""
    ax = profile_axes(profile_of(FOUR), Figure().add_subplot())
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends[0::3] == [75.0, 75.0, 75.0, 75.0, 75.0, 100.0, 100.0]


def test_svg_shows_shares(tmp_path: Path) -> None:
    """Of many problems the profile alone is drawn, its bars as long as the shares."""
    path = tmp_path / "profile.svg"
    many = {str(number): FOUR[number % 4] for number in range(MAX_RANKINGS + 4)}
    save(Comparisons(by_name=many), path)
    tree = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    bars = [node for node in tree.iter() if node.tag.endswith("rect") and len(node)]
    widths = {(bar.get("fill"), bar[0].text): float(bar.get("width", 0)) for bar in bars}
    assert widths[SHADES[0], "a: best: 75 %"] == pytest.approx(
        3 * widths[SHADES[0], "b: best: 25 %"], rel=1e-3
    )
    assert "on 24 problems" in path.read_text(encoding="utf-8")


def folder_with(tmp_path: Path, count: int) -> Path:
    folder = tmp_path / "problems"
    folder.mkdir()
    for number in range(count):
        durations = [4.0, 3.0, 2.0, 1.0 + number]
        save(IndependentTasks(machines=2, durations=durations), folder / f"{number}.toml")
    return folder


def test_a_folder_stands_for_its_problems(tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    """All problem files of a folder are compared in order; what is none is named and left out."""
    folder = folder_with(tmp_path, 3)
    save(solve(TASKS), folder / "result.json")
    (folder / "notes.txt").write_text("no problem")
    assert run(["compare", str(folder), "--methods", "lpt,multifit", "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert [Path(part["file"]).name for part in data["comparisons"]] == [
        "0.toml", "1.toml", "2.toml",
    ]  # fmt: skip
    assert {row["method"] for row in data["profile"]} == {"lpt", "multifit"}
    assert all(row["within_percent"]["50"] == 1.0 for row in data["profile"])
    assert "left out" in err
    assert "result.json" in err
    assert run(["compare", str(folder), "--methods", "lpt,multifit"]) == 0
    assert "within … of the best" in capsys.readouterr().out


def test_folders_without_problems_are_refused(tmp_path: Path) -> None:
    """An empty folder and a broken problem are mistakes."""
    with pytest.raises(FileError, match="holds no problem"):
        problems_in(tmp_path)
    (tmp_path / "broken.toml").write_text('kind = "independent"\nmachines = 0\ndurations = [1]')
    with pytest.raises(ProblemError, match="broken"):
        problems_in(tmp_path)
