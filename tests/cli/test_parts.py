"""Options that stand for what a problem's file lacks: machines, limits, any other key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import makespan
from makespan.cli.main import run

DOT = (
    "digraph g { a [weight=2]; b [weight=3]; c [weight=3]; a -> b [weight=1]; a -> c [weight=4]; }"
)
WORKFLOW = {
    "workflow": {
        "tasks": [
            {"name": "a", "runtimeInSeconds": 2.0, "parents": [], "files": []},
            {"name": "b", "runtimeInSeconds": 3.0, "parents": ["a"], "files": []},
        ]
    }
}
NETWORK = """
[network]
rate = 2
machines = [{ name = "fast", speed = 2 }, { name = "slow" }]
"""
CSV = "gpu,joules,seconds,items\na,5,1,1\na,6,2,2\nb,7,1,1\nb,4,3,2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.dot").write_text(DOT)
    (tmp_path / "w.json").write_text(json.dumps(WORKFLOW))
    (tmp_path / "net.toml").write_text(NETWORK)
    (tmp_path / "costs.csv").write_text(CSV)
    problem = makespan.read_problem("g.dot")
    makespan.save(problem, "own.toml")
    return tmp_path


def solved(*arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["solve", *arguments, "--json"]) in (0, 3)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("file", ["g.dot", "w.json", "own.toml"])
def test_machines_of_graphs(file: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many, of which speeds, or those of a file: with each the notes say what was assumed."""
    two = solved(file, "--machines", "2", capsys=capsys)
    assert two["schedule"]["machines"] == ["M1", "M2"]
    speeds = solved(file, "--speeds", "1,4,1", capsys=capsys)
    assert [x.get("speed", 1) for x in speeds["problem"]["network"]["machines"]] == [1, 4, 1]
    given = solved(file, "--network", "net.toml", capsys=capsys)
    assert given["schedule"]["machines"] == ["fast", "slow"]
    assert not any("the file names no" in note for note in given["notes"])
    if file != "own.toml":
        assert any(note.startswith("the file names no links") for note in two["notes"])
        plain = solved(file, capsys=capsys)
        assert any(note.startswith("the file names no machines: 4") for note in plain["notes"])


def test_other_keys_and_limits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Deadline, objective and whatever else a file may hold, also inside a table."""
    assert solved("g.dot", "--deadline", "4", capsys=capsys)["status"] == "infeasible"
    ports = solved("g.dot", "--set", "contention=ports", capsys=capsys)
    assert ports["problem"]["contention"] == "ports"
    faster = solved("own.toml", "--set", "network.rate=8", capsys=capsys)
    assert faster["problem"]["network"]["rate"] == 8
    cheap = solved("costs.csv", "--tasks", "3", "--objective", "energy", capsys=capsys)
    assert cheap["answer"]["counts"] == {"a": 1, "b": 2}
    late = ["--tasks", "3", "--objective", "energy", "--deadline", "2"]
    assert solved("costs.csv", *late, capsys=capsys)["answer"]["counts"] == {"a": 2, "b": 1}


def test_assumed_machines_are_said_where_people_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Below a comparison, in the summary of several, after an experiment, in a report."""
    assert run(["compare", "g.dot", "--methods", "heft"]) == 0
    out = capsys.readouterr().out
    assert "\nnote: the file names no machines: 4 of speed 1" in out
    assert out.count("the file names no machines") == 1
    said = "2 instances name no machines: equal ones were assumed; --machines or --network"
    assert run(["compare", "g.dot", "w.json", "--methods", "heft,peft"]) == 0
    assert said in capsys.readouterr().out
    (folder / "w.json").rename("deep.json")
    assert run(["compare", ".", "--methods", "heft", "--seeds", "1", "-o", "t.csv"]) == 0
    assert said in capsys.readouterr().err
    assert run(["report", "t.csv", "-o", "r.html"]) == 0
    assert said in capsys.readouterr().out
    assert said in (folder / "r.html").read_text()


def test_files_of_several_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``-o`` writes each file that it names: results, pictures; ``-`` is JSON on stdout."""
    outputs = ["-o", "plan.json", "-o", "plan.csv", "-o", "plan.svg"]
    assert run(["solve", "g.dot", *outputs]) == 0
    said = capsys.readouterr().out
    for name in ("plan.json", "plan.csv", "plan.svg"):
        assert (folder / name).stat().st_size
        assert f"{name} written" in said
    assert run(["convert", "g.dot", "two.toml", "--machines", "2"]) == 0
    assert len(makespan.read_problem("two.toml").machines) == 2
    assert run(["compare", "two.toml", "--methods", "heft", "-o", "c.csv", "-o", "c.json"]) == 0
    assert {path.name for path in folder.glob("c.*")} == {"c.csv", "c.json"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["g.dot", "--speeds", "1,x"], "'1,x' is not a list of numbers such as 1,1,2.5"),
        (["g.dot", "--speeds", "1,2", "--network", "none.toml"], "none.toml: there is no such"),
        (["g.dot", "--network", "costs.csv"], "costs.csv"),
        (["g.dot", "--network", "empty.toml"], "holds no network; it is a table with machines"),
        (["g.dot", "--set", "contenton=ports"], "did you mean 'contention'?"),
        (["w.json", "--tasks", "3"], "tasks: can't be given beside a graph"),
        (["own.toml", "--machines", "3", "--speeds", "1,2"], "speeds: holds 2 for 3 machines"),
        (["own.toml", "--set", "kind.rate=3"], "kind.rate: kind is not a table"),
        (["own.toml", "--set", "contention"], "is not of the form name=value"),
        (["costs.csv"], "so say how many tasks there are: --tasks 4096, in Python tasks=4096"),
        (["g.dot", "-o", "plan.doc"], "can't write .doc here"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each mistake names the option, what was found and what is allowed."""
    (folder / "empty.toml").write_text("rate = 3\n")
    assert run(["solve", *arguments]) == 2
    assert says in capsys.readouterr().err
