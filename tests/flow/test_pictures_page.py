"""The page on pictures: its examples run as they stand there, its pictures exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from makespan import read_problem, save, solve
from makespan.cli.main import COMMANDS, run
from makespan.flow.kinds import generate

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")
FILES = (DOCS / "files.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"^makespan (.*?)(?:  #.*)?$", re.MULTILINE)


def commands(page):
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in COMMAND.findall(block)]


def test_python_examples_run(tmp_path, monkeypatch):
    """Each example in Python runs, in order, and writes what it says."""
    import matplotlib as mpl

    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    for example in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        exec(example, found)
    assert (tmp_path / "plan.html").exists()
    assert (tmp_path / "plan.trace.json").exists()
    assert found["ax"].get_xlabel() == "time (s)"


@pytest.mark.thorough
def test_commands_run(tmp_path, monkeypatch, capsys):
    """The commands of both pages run one after another, beside the files that they name."""
    monkeypatch.chdir(tmp_path)
    for topology in ("star", "bus", "tree"):
        problem = generate("divisible", options={"workers": 4, "topology": topology})
        save(problem, f"{topology}.toml")
    Path("graphs").mkdir()
    save(generate("taskgraph", options={"size": 4}), "graphs/layered.toml")
    save(generate("taskgraph", options={"size": 4}), "graph.toml")
    for name in ("reduction.json", "collective.json"):
        save(solve(generate("reduction", options={"machines": 3})), name)
    Path("gpus.csv").write_text("resource,count,time\na,1,1.0\na,99999,2.0\nb,1,1.0\nb,90000,3.0\n")
    result = solve(read_problem("star.toml"))
    save(result, "measured.json")
    save(result.schedule, "schedule.json")
    lines = commands(PAGE) + commands(FILES)
    assert len(lines) > 10
    for line in lines:
        arguments = shlex.split(line.partition("|")[0].partition(">")[0])
        if "-o" in arguments and arguments[0] == "generate":
            arguments[-1] = "other.toml"  # star.toml is what the schedule belongs to
        assert arguments[0] in COMMANDS
        assert run(arguments) == 0, (line, capsys.readouterr().err)


def test_steps_are_printed_as_shown(monkeypatch, capsys):
    """What stands below a prompt is how the command begins."""
    monkeypatch.chdir(DOCS.parent)
    (shown,) = re.findall(r"^```text\n\$ makespan (.*?)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert run(shlex.split(shown[0])) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert printed[: len(shown[1].splitlines())] == shown[1].splitlines()


@pytest.mark.parametrize("image", re.findall(r"!\[.*?\]\((.*?)\)", PAGE))
def test_pictures_exist(image):
    """Each picture is there, and small."""
    assert 1000 < (DOCS / image.partition("#")[0]).stat().st_size < 100_000
