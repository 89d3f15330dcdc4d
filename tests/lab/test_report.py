"""What is said of the rows of experiments, against reckoning by hand and by SciPy."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from makespan import Experiment, Grid, Overview, Record, experiment, report, save
from makespan.cli.main import run
from makespan.core.errors import FileError, InputError
from makespan.lab.pictures import groups, image_of
from makespan.lab.statistics import critical_difference, mean_ranks
from tests.thorough import examples, few


def row(
    instance: str = "a/x.toml", method: str = "heft", makespan: float | None = 1.0, seed: int = 0,
    *, gap: float | None = None, status: str = "feasible", seconds: float | None = 0.5,
    size: int | None = None,
) -> Record:  # fmt: skip
    """A row of a table."""
    return Record(
        instance, method, "", seed, 10.0, "0.1.0", "here", status, kind="taskgraph", size=size,
        makespan=makespan, gap=gap, wall_time=seconds,
    )  # fmt: skip


ROWS = [
    row("a/x.toml", "heft", 2.0, gap=0.5, size=3),
    row("a/x.toml", "peft", 1.0, gap=0.0, status="optimal", size=3),
    row("a/y.toml", "heft", 4.0, gap=0.2, size=5),
    row("a/y.toml", "peft", 4.0 * (1 + 1e-12), size=5),
    row("b/z.toml", "heft", 3.0, size=9),
    row("b/z.toml", "peft", None, status="refused", seconds=None, size=9),
]


def test_lines_are_what_the_rows_say() -> None:
    """Over all cases and for each family; values that are the same share the first place."""
    found = {(line.family, line.method): line for line in report(ROWS).lines}
    heft, peft = found["all", "heft"], found["all", "peft"]
    assert (heft.solves, heft.plans, heft.proved, heft.wins) == (3, 3, 0, 2)
    assert heft.mean_ratio == pytest.approx(2.0 ** (1 / 3))
    assert heft.worst_ratio == 2.0
    assert (heft.mean_gap, heft.worst_gap) == (pytest.approx(0.35), 0.5)
    assert (peft.solves, peft.plans, peft.proved, peft.wins) == (3, 2, 1, 2)
    assert (peft.mean_ratio, peft.seconds) == (1.0, 1.0)
    assert found["a", "heft"].wins == 1
    assert found["b", "peft"].plans == 0
    assert math.isnan(found["b", "peft"].mean_ratio)
    assert report(ROWS).worst == (
        ("a/x.toml", 0, "heft", 2.0, 0.5), ("a/y.toml", 0, "heft", 4.0, 0.2),
    )  # fmt: skip
    assert "peft: 1 refused" in report(ROWS)._notes()


def test_ranks_count_a_missing_plan_as_last() -> None:
    """And leave out what not all methods were tried on."""
    more = [*ROWS, row("b/w.toml", "heft", 1.0)]
    assert report(more).ranks == {"heft": pytest.approx((2 + 1.5 + 1) / 3), "peft": 1.5}


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(1, 12), st.integers(0, 10**6))
def test_ranks_are_those_of_scipy(methods: int, cases: int, seed: int) -> None:
    """With ties and infinities."""
    values = np.random.default_rng(seed).choice([1.0, 2.0, 3.0, math.inf], (cases, methods))
    assert mean_ranks(values) == pytest.approx(stats.rankdata(values, axis=1).mean(axis=0))


@pytest.mark.parametrize(("methods", "cases"), [(2, 5), (5, 30), (17, 1000), (60, 12)])
def test_the_critical_difference_is_that_of_scipy(methods: int, cases: int) -> None:
    """Over the quantile of the studentized range."""
    quantile = stats.studentized_range.ppf(0.95, methods, np.inf) / math.sqrt(2)
    wanted = quantile * math.sqrt(methods * (methods + 1) / (6 * cases))
    assert critical_difference(methods, cases) == pytest.approx(wanted, rel=1e-6)


def test_rows_that_come_again_replace_the_first() -> None:
    """And are counted."""
    again = report(ROWS, [row("a/x.toml", "heft", 1.0)])
    assert {line.method: line.wins for line in again.lines if line.family == "all"}["heft"] == 3
    assert "1 row replaced by later ones of the same solve" in again._notes()


def test_a_plan_that_takes_no_time_is_a_plan() -> None:
    """And the best."""
    (line,) = report([row(makespan=0.0)]).lines
    assert (line.plans, line.wins, line.mean_ratio) == (1, 1, 1.0)


def test_profiles_are_shares_of_all_cases() -> None:
    """A case without a plan counts as far; what is near the best counts from its time on."""
    shares = dict(report(ROWS).profile().shares)
    assert shares["heft"] == (2 / 3,) * 6 + (2 / 3,)
    assert shares["peft"] == (2 / 3,) * 7
    by_time, by_size = report(ROWS).curves()
    assert [line.y.max() for line in by_time.lines] == pytest.approx([200 / 3, 200 / 3])
    assert by_size.lines[0].x.tolist() == [3.0, 5.0, 9.0]


def test_few_instances_of_many_sizes_share_bins() -> None:
    """One alone says little of its size; of many instances each size has a point of its own."""
    rows = [row(f"a/{size}.toml", "heft", 1.0, size=size) for size in range(10, 22)]
    *_, by_size = report(rows).curves()
    assert len(by_size.lines[0].x) <= 6
    many = [row(f"a/{at}.toml", "heft", 1.0, size=10 + at % 12) for at in range(36)]
    *_, by_size = report(many).curves()
    assert by_size.lines[0].x.tolist() == list(range(10, 22))


def test_what_all_methods_did_is_said_once() -> None:
    """And methods that did the same stand together."""
    refused = [row("b/w.toml", method, None, status="refused") for method in ("heft", "peft")]
    assert "each method: 1 refused" in report([*refused, row()])._notes()
    more = [row("b/w.toml", "mcp", 2.0)]
    assert "heft, peft: 1 refused" in report([*refused, *more])._notes()


def test_a_page_has_its_pictures_for_each_screen() -> None:
    """In the colours of the page, broad and slim."""
    page = str(image_of(report(ROWS), ".html"))
    widths = Counter(map(int, re.findall(r'<svg [^>]*?width="(\d+)"', page)))
    assert widths == {900: 2, 760: 2, 360: 4}
    assert "#FFFFFF" not in page.partition("<body>")[2]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of an experiment with several families and methods."""
    path = tmp_path_factory.mktemp("report") / "t.csv"
    grid = Grid("independent", options={"tasks": [6, 9], "machines": [2, 3]}, seeds=4)
    experiment(Experiment(grid, methods=["lpt", "multifit", "interchange"]), output=path)
    return path


@pytest.mark.parametrize("suffix", Overview.SUFFIXES)
def test_every_form_is_written(suffix: str, table: Path) -> None:
    """As large as what it holds, and of the form that its name says."""
    path = table.with_name(f"report{suffix}")
    save(report(table), path)
    data = path.read_bytes()
    begins = {
        ".html": b"<!DOCTYPE html>", ".svg": b"<svg ", ".png": b"\x89PNG", ".pdf": b"%PDF",
        ".tex": b"\\begin{tabular}", ".csv": b"family,method,solves",
    }  # fmt: skip
    assert data.startswith(begins[suffix])
    if suffix not in (".png", ".pdf"):
        assert all(name in data.decode() for name in ("lpt", "multifit", "interchange"))
    if suffix == ".csv":
        assert data.count(b"\n") == 1 + 3 * 5


def test_hostile_names_stay_text() -> None:
    """In pages and in LaTeX."""
    bad = report([row("<script>/$a_b", "<b>&%", 1.0, gap=0.5), row("<script>/$c", "m", 2.0)])
    page, tex = bad._in_form(".html"), bad._in_form(".tex")
    assert isinstance(page, str)
    assert isinstance(tex, str)
    assert "<script>" not in page
    assert "<b>" not in page
    assert r"<b>\&\%" in tex


def test_the_command(table: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Prints the tables, writes a file; other files are refused by name."""
    assert run(["report", str(table), "-o", str(tmp_path / "r.html")]) == 0
    text = capsys.readouterr().out
    assert "independent machines=2 tasks=6\n" in text
    assert "r.html written" in text
    assert run(["report", str(table), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["format"] == "makespan.overview/1"
    assert len(data["lines"]) == 15
    (tmp_path / "x.csv").write_text("a,b\n")
    (tmp_path / "x.json").write_text("[]")
    (tmp_path / "x.parquet").write_text("no")
    for name in ("x.csv", "x.json", "x.parquet", "none.csv", "x.txt"):
        assert run(["report", str(tmp_path / name)]) == 2
        assert name in capsys.readouterr().err
    assert run(["report", str(table), "-o", "r.docx"]) == 2
    assert ".html" in capsys.readouterr().err
    (tmp_path / "x.jsonl").write_text("")
    assert run(["report", str(tmp_path / "x.jsonl")]) == 2
    assert "there is no row to report on" in capsys.readouterr().err


def test_no_rows_and_no_tables_are_errors(tmp_path: Path) -> None:
    """They say which."""
    with pytest.raises(InputError, match="there is no row"):
        report()
    with pytest.raises(FileError, match="no such file"):
        report(tmp_path / "none.csv")


def test_plans_of_any_length_are_ranked() -> None:
    """Ratios near the largest number are no reason to warn."""
    overview = report([row("a", "p", 1e299), row("a", "q", 1.0)])
    assert list(overview.ranks) == ["q", "p"]


@examples(12)
@given(st.data())
def test_any_rows_have_a_report(data: st.DataObject) -> None:
    """Whatever is missing: text, page, picture and LaTeX are made."""
    values = st.one_of(st.none(), st.floats(0, 1e300), st.just(math.inf))
    found = [
        row(
            instance, method, data.draw(values), gap=data.draw(values), seconds=data.draw(values),
            size=data.draw(st.one_of(st.none(), st.integers(0, 10**9))),
            status=data.draw(st.sampled_from(["optimal", "feasible", "limit", "crashed"])),
        )
        for instance, method in itertools.product(["a", "b/c", "taskgraph x=1 seed=2"], "pqr")
        if data.draw(st.booleans())
    ]  # fmt: skip
    if found:
        overview = report(found)
        assert str(overview)
        assert overview._repr_html_()
        for suffix in (".html", ".svg", ".tex", ".csv"):
            assert overview._in_form(suffix)


NAMES = "profile", "ranks", "critical-difference", "data-profile", "times"
PANELS = [
    *itertools.product(NAMES[:1], [".pdf", ".svg", ".png"]),
    *itertools.product(NAMES[1:], [".svg"]),
    *itertools.product(NAMES[1:], [".pdf", ".png"]),
]


@pytest.mark.parametrize(("name", "suffix"), few(PANELS, 4, thorough=len(PANELS)))
def test_a_panel_is_drawn_alone(
    name: str, suffix: str, table: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One picture as wide as a column of a paper, the same bytes every time."""
    out = tmp_path / f"figure{suffix}"
    call = ["report", str(table), "--panel", name, "--width", "3.3in", "-o", str(out)]
    assert run(call) == 0
    first = out.read_bytes()
    assert run(call) == 0
    assert out.read_bytes() == first
    if suffix == ".pdf":
        assert b"/MediaBox [ 0 0 237.6 " in first
    if suffix == ".svg":
        assert b'width="237.6pt"' in first
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--panel", "rank", "-o", "x.pdf"], "there is no 'rank'; did you mean 'ranks'?"),
        (["--panel", "profile", "--width", "3", "-o", "x.pdf"], "'3' is not a width such as"),
        (["--panel", "profile", "--width", "99in", "-o", "x.pdf"], "a width is 1.5 to 30 inches"),
        (["--panel", "profile", "-o", "x.html"], "can't write .html here"),
        (["--width", "3in", "-o", "x.pdf"], "--width is that of one panel"),
    ],
)
def test_mistakes_about_panels(
    arguments: list[str], says: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unknown panels, widths that are none, and forms that no panel has."""
    assert run(["report", str(table), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_panel_without_anything_to_show_is_refused() -> None:
    """One method has no ranks to compare."""
    with pytest.raises(InputError, match="nothing to show as critical-difference"):
        report([row()]).panel("critical-difference")


def test_groups_join_methods_that_are_alike() -> None:
    """The longest runs of ranks nearer than the difference, none within another."""
    ranks = {"a": 1.0, "b": 1.5, "c": 2.2, "d": 4.0}
    for difference in (0.1, 0.6, 1.25, 2.0, 9.0):
        values = sorted(ranks.values())
        alike = [
            (i, j) for i in range(4) for j in range(i + 1, 4) if values[j] - values[i] < difference
        ]
        longest = [
            (i, j)
            for i, j in alike
            if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in alike)
        ]
        assert groups(ranks, difference) == longest


def test_curves_end_together_and_sizes_are_binned() -> None:
    """Every data profile runs to the longest time; many sizes become few points."""
    rows = [
        row(f"a/{n}.toml", m, 1.0, seconds=0.1 + n, size=n + 1) for n in range(60) for m in "pq"
    ]
    profile, sizes = report(rows).curves()
    assert {float(line.x[-1]) for line in profile.lines} == {59.1}
    assert all(float(line.y[-1]) == 100.0 for line in profile.lines)
    assert all(2 <= len(line.x) <= 12 for line in sizes.lines)
