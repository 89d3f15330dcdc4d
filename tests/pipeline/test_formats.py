"""Layers from tables, and mappings as options of systems that run models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from makespan import Pipeline, read_problem, save, solve
from makespan.cli.main import cli
from makespan.core.errors import FileError, InputError, ProblemError
from makespan.pipeline import options_for, read_layers
from makespan.pipeline.mapping import Mapping
from makespan.pipeline.timing import scheduled

TABLE = """layer, gpu, cpu, bytes, memory
embed, 1.0, 2.0, 8, 3
block, 2.0, , 8, 5
head, 0.5, 1.5, 0, 1
"""
PROBLEM = Pipeline({"work": [1.0] * 5, "names": ["a", "b", "c", "d", "e"]}, ["x", "y", "z"])
PLAN = scheduled(PROBLEM, Mapping.of([0, 2, 5], [2, 0]))


def test_layers(tmp_path: Path) -> None:
    """Columns of seconds are machines; an empty entry forbids the layer there."""
    (tmp_path / "layers.csv").write_text(TABLE)
    columns, machines = read_layers(tmp_path / "layers.csv")
    problem = Pipeline(columns, machines)
    assert problem.machines == ("gpu", "cpu")
    assert problem.table.tolist() == [[1.0, 2.0], [2.0, np.inf], [0.5, 1.5]]
    assert list(problem.stages.names) == ["embed", "block", "head"]
    assert problem.stages.data.tolist() == [8.0, 8.0, 0.0]
    (tmp_path / "p.toml").write_text('kind = "pipeline"\nstages = "layers.csv"\nmachines = 2\n')
    assert read_problem(tmp_path / "p.toml") == problem


def test_works(tmp_path: Path) -> None:
    """A table of works names no machines."""
    (tmp_path / "layers.csv").write_text("layer,work\na,1\nb,2\n")
    assert read_layers(tmp_path / "layers.csv") == ({"names": ["a", "b"], "work": [1.0, 2.0]}, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("layer,bytes\na,1\n", "line 1: has either a column 'work', or a column of seconds"),
        ("layer,work,gpu\na,1,2\n", "line 1: has either"),
        ("layer,work,work\na,1,2\n", "line 1: names a column twice"),
        ("layer,work\na,1,2\n", "line 2: has 3 entries; the first line has 2"),
        ("layer,work\na,fast\n", "line 2: work: 'fast' is not a number"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, text: str, said: str) -> None:
    """Mistakes are named with their lines."""
    (tmp_path / "layers.csv").write_text(text)
    with pytest.raises(FileError) as error:
        read_layers(tmp_path / "layers.csv")
    assert said in str(error.value)


def test_machines_of_another_table(tmp_path: Path) -> None:
    """The machines of a file must be those of its table."""
    (tmp_path / "layers.csv").write_text(TABLE)
    text = 'kind = "pipeline"\nstages = "layers.csv"\nmachines = [{ name = "a" }, { name = "b" }]\n'
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(ProblemError, match=r"machines: are not those of layers\.csv"):
        read_problem(tmp_path / "p.toml")


def test_options() -> None:
    """Two layers on z, then three on x."""
    assert options_for("vllm", PROBLEM, PLAN) == (
        "VLLM_PP_LAYER_PARTITION=2,3 --pipeline-parallel-size 2"
    )
    assert options_for("llama.cpp", PROBLEM, PLAN) == (
        "--split-mode layer --device z,x --tensor-split 2,3"
    )
    assert json.loads(options_for("exo", PROBLEM, PLAN)) == {
        "z": {"start_layer": 0, "end_layer": 2, "n_layers": 5},
        "x": {"start_layer": 2, "end_layer": 5, "n_layers": 5},
    }
    assert options_for("torch", PROBLEM, PLAN) == 'split_spec = {"c": SplitPoint.BEGINNING}'


def test_what_they_cannot_say() -> None:
    """An unknown system, and a deal."""
    with pytest.raises(InputError, match="did you mean 'vllm'"):
        options_for("vlm", PROBLEM, PLAN)
    dealt = Pipeline([1.0], ["x", "y"], replicas=2)
    with pytest.raises(InputError, match="can't deal an interval"):
        options_for("exo", dealt, scheduled(dealt, Mapping((0, 1), ((0, 1),))))


def test_command(tmp_path: Path) -> None:
    """The command line prints them from a result."""
    path = str(tmp_path / "plan.json")
    save(solve(PROBLEM), path)
    done = CliRunner().invoke(cli, ["convert", path, "-", "--for", "vllm"])
    assert done.output == "VLLM_PP_LAYER_PARTITION=1,2,2 --pipeline-parallel-size 3\n" or (
        sorted(done.output.split("=")[1].split()[0].split(",")) == ["1", "2", "2"]
    )
    wrong = CliRunner().invoke(cli, ["convert", path, str(tmp_path / "o.csv"), "--for", "vllm"])
    assert wrong.exit_code == 2
