"""The command simulate."""

from __future__ import annotations

import json

import pytest

from makespan import DivisibleLoad, Star, Worker, save, solve
from makespan.cli.main import run


@pytest.fixture
def result(tmp_path):
    star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    path = tmp_path / "result.json"
    save(solve(DivisibleLoad(load=10.0, platform=star)), path)
    return str(path)


def test_text(result, capsys):
    """The distribution is printed for people."""
    assert run(["simulate", result, "--error", "0.2", "--repetitions", "50"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("50 repetitions, normal error of 20 % per activity")
    assert "planned   28" in text


def test_json(result, capsys):
    """With --json one object is printed; without errors every makespan is the planned one."""
    options = ["--error", "0", "--repetitions", "7", "--distribution", "gamma", "--json"]
    assert run(["simulate", result, *options]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["format"] == "makespan.simulation/1"
    assert data["nominal"] == data["mean"] == data["most"] == 28.0
    assert data["noise"] == {"distribution": "gamma", "error": 0.0, "per": "activity"}


def test_refusals(result, capsys):
    """Errors that no distribution can have are refused with exit code 2."""
    assert run(["simulate", result, "--error", "0.9"]) == 2
    assert "widest normal error" in capsys.readouterr().err
    assert run(["simulate", result, "--policy", "factory"]) == 2
    assert "no policy 'factory'" in capsys.readouterr().err


def test_a_file_of_noise(result, tmp_path, capsys):
    """Errors by name are read from a table; options come before it."""
    path = tmp_path / "noise.toml"
    path.write_text('distribution = "gamma"\nerror = 0.0\n[machines]\nP2 = 0.5\n')
    options = ["--noise", str(path), "--transfers", "0.25", "--repetitions", "9", "--json"]
    assert run(["simulate", result, *options]) == 0
    data = json.loads(capsys.readouterr().out)
    expected = {"distribution": "gamma", "error": 0.0, "transfers": 0.25, "per": "activity"}
    assert data["noise"] == {**expected, "machines": {"P2": 0.5}}
    path.write_text("[machines]\nP7 = 0.5\n")
    assert run(["simulate", result, "--noise", str(path)]) == 2
    assert "noise.machines.P7: there is no machine 'P7'" in capsys.readouterr().err
