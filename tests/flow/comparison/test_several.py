"""Comparisons as pictures and summaries."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from makespan import DivisibleLoad, IndependentTasks, Star, Worker, compare, save
from makespan.cli.main import run
from makespan.core.errors import FileError
from makespan.drawing.colours import PAPER
from makespan.drawing.comparison import BEST, OTHERS
from makespan.flow.comparison.several import Comparisons, ranking
from makespan.flow.comparison.table import Comparison, Row, summarise, summary_table
from makespan.flow.kinds import kind_of

TASKS = IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2])
ODD = "<b>&$x$"


@pytest.fixture(scope="module")
def comparison():
    return compare(TASKS)


def rows(**values):
    """A comparison of methods that reached the given values; None: no plan."""
    best = min(value for value in values.values() if value is not None)
    made = [
        Row(
            method=name,
            status="failed" if value is None else "optimal" if value == best else "feasible",
            value=value,
            gap=None if value is None else (value - best) / value if value else 0.0,
            runtime=None if value is None else 0.5,
            best=value == best,
        )
        for name, value in values.items()
    ]
    return Comparison(problem=TASKS, rows=tuple(made), results={}, lower_bound=best)


def test_ranking_says_what_was_reached(comparison):
    """Each method has its value, the best are marked, the bound is that of the comparison."""
    shown = ranking(comparison)
    assert [entry.name for entry in shown.entries] == [row.method for row in comparison.rows]
    assert [entry.best for entry in shown.entries] == [row.best for row in comparison.rows]
    assert shown.bound == comparison.lower_bound
    assert shown.what == "makespan (s)"


def test_axes_show_bars_and_bound(comparison):
    """Matplotlib axes go in and come out, with a bar a method and a line at the bound."""
    ax = Figure().add_subplot()
    assert comparison.plot(ax) is ax
    assert [bar.get_width() for bar in ax.patches] == [row.value for row in comparison.rows]
    assert [line.get_xdata()[0] for line in ax.lines] == [comparison.lower_bound]


def test_objectives_that_are_maximised():
    """Of the load by a deadline, the values and the bound are loads."""
    star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    shown = ranking(compare(DivisibleLoad(platform=star, deadline=10.0), methods=["star"]))
    (entry,) = shown.entries
    assert shown.what == "load"
    assert entry.value == pytest.approx(shown.bound)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".html"])
def test_pictures_of_several_comparisons(comparison, suffix, tmp_path):
    """Named comparisons stand below each other; odd names and failures are shown as they are."""
    path = tmp_path / f"methods{suffix}"
    save(Comparisons(by_name={ODD: comparison, "other": rows(lpt=2.0, other=None)}), path)
    data = path.read_bytes()
    if suffix == ".png":
        assert data.startswith(b"\x89PNG")
    elif suffix == ".pdf":
        assert data.startswith(b"%PDF")
    else:
        text = data.decode()
        assert ODD not in text
        assert "&lt;b&gt;&amp;$x$" in text
        assert "failed" in text
    if suffix == ".svg":
        drawn = [r for r in ElementTree.fromstring(data).iter() if r.tag.endswith("rect")]
        bars = [float(r.get("width")) for r in drawn if r.get("fill") in (BEST, OTHERS)]
        papers = [float(r.get("width")) for r in drawn if r.get("fill") == PAPER]
        assert (len(papers), len(bars)) == (3, len(comparison.rows) + 1)  # two problems, over all
        assert max(bars) < min(papers)
    if suffix == ".html":
        assert text.count("<table>") == 4  # two problems, their summary, their profile
        assert "<script" not in text


def test_other_suffixes_are_refused(comparison, tmp_path):
    """A comparison is no plan: it has no page to zoom in and no trace."""
    with pytest.raises(FileError, match="allowed are"):
        save(comparison, tmp_path / "methods.trace.json")


def test_summary_over_problems():
    """Best counts, ratios to the best, gaps and times are those of the rows."""
    one, two = rows(a=1.0, b=2.0, c=None), rows(a=9.0, b=3.0)
    a, b, c = (
        next(s for s in summarise([one, two]) if s.method == name) for name in ("a", "b", "c")
    )
    assert (a.problems, a.best, a.proved) == (2, 1, 1)
    assert a.max_ratio == 3.0
    assert a.mean_ratio == pytest.approx(3.0**0.5)
    assert b.mean_ratio == pytest.approx(2.0**0.5)
    assert b.mean_gap == pytest.approx(0.25)
    assert b.runtime == 1.0
    assert (c.problems, c.mean_ratio, c.max_ratio, c.mean_gap) == (0, None, None, None)
    assert [s.method for s in summarise([one, two])] == ["b", "a", "c"]
    assert str(summary_table(summarise([one, two]))).splitlines()[1].split()[:4] == [
        "b",
        "2",
        "1",
        "1",
    ]


def test_best_of_zero():
    """Where the best is 0, another value is infinitely worse, and 0 is as good."""
    (first, second) = summarise([rows(a=0.0, b=1.0)])
    assert (first.max_ratio, second.max_ratio) == (1.0, float("inf"))


def test_command_draws_and_summarises(tmp_path, capsys):
    """Of several files, a summary follows the tables, is in the JSON, and a picture is written."""
    files = []
    for number in (1, 2):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(kind_of(TASKS).file.write(TASKS)))
        files.append(str(path))
    picture = tmp_path / "methods.svg"
    command = ["compare", *files, "--methods", "lpt,multifit"]
    assert run([*command, "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "2 problems\nmethod" in out
    assert f"{picture} written" in out
    assert all(file in picture.read_text() for file in files)
    assert run([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {one["method"]: one["problems"] for one in data["summary"]} == {"lpt": 2, "multifit": 2}
    assert run([*command[:2], "--json", "--methods", "lpt"]) == 0
    assert "summary" not in json.loads(capsys.readouterr().out)
    assert run([*command, "--plot", "methods.json"]) == 2
