"""The commands around files: generate, convert, schema, and plot with a second plan."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from makespan import Reduction, read_problem, read_result, save, solve
from makespan.cli.main import run

STAR = """
kind = "divisible"
load = 10.0
[platform]
topology = "star"
workers = [{ send = 1.0, compute = 3.0 }, { send = 2.0, compute = 5.0 }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "star.toml").write_text(STAR)
    result = solve(read_problem(tmp_path / "star.toml"))
    save(result, tmp_path / "result.json")
    save(result.schedule, tmp_path / "schedule.json")
    return tmp_path


def test_generate_writes_and_prints_the_same(folder, capsys):
    """One seed gives one problem, in a file of either form and on the standard output."""
    command = ["generate", "divisible", "-O", "workers=3", "-O", "latency=0.1", "--seed", "7"]
    for name in ("a.toml", "b.json"):
        assert run([*command, "-o", str(folder / name)]) == 0
        assert capsys.readouterr().out == f"{folder / name} written\n"
    assert run(command) == 0
    (folder / "c").write_text(capsys.readouterr().out)
    problems = [read_problem(folder / name) for name in ("a.toml", "b.json", "c")]
    assert problems[0] == problems[1] == problems[2]
    assert len(problems[0].platform) == 3
    assert run([*command[:-1], "8", "-o", str(folder / "d.toml")]) == 0
    assert read_problem(folder / "d.toml") != problems[0]


def test_generate_lists_kinds_and_options(capsys):
    """Without a kind, what can be generated is listed with its options."""
    assert run(["generate"]) == 0
    out = capsys.readouterr().out
    assert "divisible\n" in out
    assert "  -O workers=8\n" in out
    assert "independent\n" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["generate", "divisibl"], "did you mean 'divisible'"),
        (["generate", "divisible", "-O", "worker=3"], "did you mean 'workers'"),
        (
            ["generate", "divisible", "-O", "workers=0"],
            "workers: 0 is below 1; workers are a whole number from 1",
        ),
        (["generate", "divisible", "-o", "plan.svg"], "allowed are .json, .toml"),
        (["convert", "star.toml", "-"], "--to says what to write"),
        (["convert", "star.toml", "plan.csv"], "allowed are .json, .toml"),
        (["convert", "result.json", "plan.toml"], "can't write .toml here"),
        (["convert", "-", "a.json", "--problem", "-"], "only one of the two"),
        (["plot", "result.json", "plan.svg", "--beside", "result.json"], "allowed are .html"),
        (["plot", "result.json", "plan.html", "--beside", "star.json"], "is a problem"),
        (["schema", "divisibl"], "did you mean 'divisible'"),
    ],
)
def test_refusals(folder, arguments, said, capsys, monkeypatch):
    """What can't be done is said in one message, with exit code 2 and nothing written."""
    monkeypatch.chdir(folder)
    save(read_problem("star.toml"), "star.json")
    before = sorted(folder.iterdir())
    assert run(arguments) == 2
    assert said in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_convert_problem_between_forms(folder, capsys):
    """TOML becomes JSON and back, in files and through the standard output."""
    assert run(["convert", str(folder / "star.toml"), str(folder / "star.json")]) == 0
    assert json.loads((folder / "star.json").read_text())["kind"] == "divisible"
    capsys.readouterr()
    assert run(["convert", str(folder / "star.json"), "-", "--to", "toml"]) == 0
    (folder / "again.toml").write_text(capsys.readouterr().out)
    problems = [read_problem(folder / name) for name in ("star.toml", "star.json", "again.toml")]
    assert problems[0] == problems[1] == problems[2]


@pytest.mark.parametrize("source", ["result.json", "schedule.json"])
def test_convert_schedule_to_csv(folder, source, capsys):
    """The activities stand in a table, a line each, as the schedule has them."""
    assert run(["convert", str(folder / source), str(folder / "plan.csv")]) == 0
    with open(folder / "plan.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    records = list(read_result(folder / "result.json").schedule.records())
    assert len(rows) == len(records) == 4
    for row, record in zip(rows, records, strict=True):
        assert (row["kind"], row["machine"]) == (record["kind"], record["machine"])
        assert (row["peer"] or None) == record["peer"]
        assert float(row["start"]) == record["start"]
        assert float(row["amount"]) == record["amount"]
    assert run(["convert", str(folder / source), "-", "--to", "csv"]) == 0
    assert (folder / "plan.csv").read_text() in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html", ".trace.json", ".json"])
def test_convert_schedule_to_pictures(folder, suffix):
    """A result, a schedule, and a schedule with its problem are drawn."""
    sources = (["result.json"], ["schedule.json"], ["schedule.json", "--problem", "star.toml"])
    for number, source in enumerate(sources):
        out = folder / f"plan{number}{suffix}"
        command = ["convert", str(folder / source[0]), str(out)]
        command += [str(folder / part) if "." in part else part for part in source[1:]]
        assert run(command) == 0
        assert out.stat().st_size > 200
    if suffix == ".html":
        assert '["receive","compute"]' in (folder / "plan2.html").read_text()
        assert '["receive","compute"]' not in (folder / "plan1.html").read_text()


def test_convert_without_a_plan(folder, capsys):
    """An infeasible result has nothing to draw, but can be written again."""
    (folder / "none.toml").write_text(STAR.replace("load = 10.0", "load = 10.0\ndeadline = 1.0"))
    assert run(["solve", str(folder / "none.toml"), "-o", str(folder / "none.json")]) == 3
    assert run(["convert", str(folder / "none.json"), str(folder / "none.svg")]) == 3
    assert "infeasible, without a plan" in capsys.readouterr().err
    assert not (folder / "none.svg").exists()
    assert run(["convert", str(folder / "none.json"), str(folder / "again.json")]) == 0


def test_plot_with_a_second_plan(folder):
    """A page shows a result beside another result, or beside a schedule of its problem."""
    page = folder / "plan.html"
    for other in ("result.json", "schedule.json"):
        beside = ["--beside", str(folder / other)]
        assert run(["plot", str(folder / "result.json"), str(page), *beside]) == 0
        assert page.read_text().count('"laneSets"') == 2


GRAPH = """
kind = "taskgraph"
tasks = [{ name = "a", work = 2.0 }, { name = "b", work = 1.0 }]
edges = [{ from = "a", to = "b", size = 4.0 }]
[network]
topology = "complete"
rate = 1.0
machines = [{ name = "M1", speed = 1.0 }, { name = "M2", speed = 2.0 }]
"""


def test_solve_draws_a_page(folder, capsys):
    """Solving writes the page, with the step log if it is asked for."""
    (folder / "graph.toml").write_text(GRAPH)
    page = folder / "plan.html"
    command = ["solve", str(folder / "graph.toml"), "--method", "edge-zeroing"]
    assert run([*command, "--plot", str(page)]) == 0
    assert f"{page} written" in capsys.readouterr().out
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert '"log":[]' in page.read_text()
    assert run([*command, "--plot", str(page), "--log"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert json.dumps(first) in page.read_text().replace("\\u003e", ">")


def test_a_collective_is_converted_for_gpus_and_back(tmp_path, capsys):
    """A plan is the same plan again, with the costs of its problem; another kind's is refused."""
    problem = Reduction(machines=3, segments=3, collective="all-gather", transfer=2, latency=1)
    save(problem, tmp_path / "p.toml")
    save(solve(problem), tmp_path / "plan.json")
    names = [str(tmp_path / name) for name in ("plan.json", "plan.msccl.xml", "again.json")]
    beside = ["--problem", str(tmp_path / "p.toml")]
    assert run(["convert", *names[:2]]) == 0
    assert run(["check", names[1], *beside]) == 0
    assert run(["convert", *names[1:], *beside]) == 0
    assert read_result(names[2]).makespan == read_result(names[0]).makespan
    assert run(["check", names[1]]) == 0
    (tmp_path / "star.toml").write_text(STAR)
    capsys.readouterr()
    assert run(["check", names[1], "--problem", str(tmp_path / "star.toml")]) == 2
    assert "is a plan of a reduction; the problem is of kind divisible" in capsys.readouterr().err
