"""Pipelines in files: what is written reads back; every mistake is named with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from makespan import Interconnect, Pipeline, Stage, read_problem
from makespan.core.errors import ProblemError
from makespan.pipeline.file import read, write
from tests.oracles.pipeline_random import mixed

TOML = """
kind = "pipeline"
objective = "latency"
stages = [{ name = "embed", work = 2.0, data = 1.0, memory = 3.0 }, { name = "head", work = 4.0 }]
machines = [{ name = "laptop", speed = 2.0, memory = 8.0 }, { name = "tower", price = 1.0 }]
network = { rate = 5.0, latency = 0.1 }
"""


@pytest.mark.parametrize("seed", range(40))
def test_round_trip(seed: int) -> None:
    """What is written is read as an equal problem."""
    problem = mixed(seed)
    assert read(write(problem)) == problem


def test_toml(tmp_path: Path) -> None:
    """A file as people write it."""
    (tmp_path / "layers.toml").write_text(TOML)
    problem = read_problem(tmp_path / "layers.toml")
    assert problem.machines == ("laptop", "tower")
    assert list(problem.stages.names) == ["embed", "head"]
    assert problem.table.tolist() == [[1.0, 2.0], [2.0, 4.0]]
    assert problem.memory.tolist() == [8.0, np.inf]


def test_columns() -> None:
    """More than 1000 stages are written as columns."""
    problem = Pipeline(np.arange(1.0, 1500.0), machines=3)
    assert "columns" in write(problem)
    assert read(write(problem)) == problem


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stages": [{"work": -1.0}]}, "stages[0].work: -1.0 is negative"),
        ({"stages": [{"work": 1.0, "durations": [1.0]}]}, "stages[0]: a stage has either work or"),
        ({"stages": []}, "stages: is empty"),
        ({"machines": 0}, "machines: 0 is below 1"),
        ({"machines": [{"speed": 0.0}]}, "machines[0].speed: 0.0 is zero"),
        ({"objective": "speed"}, "objective: 'speed' is not allowed"),
        ({"items": 0}, "items: 0 is below 1"),
        ({"network": {"topology": "bus"}}, "network: several pairs of machines share the bus"),
        ({"period_limit": -2.0}, "period_limit: -2.0 is negative"),
        ({"colunms": {}}, "unknown key 'colunms'; did you mean 'columns'?"),
    ],
)  # fmt: skip
def test_mistakes(changes: dict[str, object], said: str) -> None:
    """Bad files are refused with the place, what was found, and what is allowed."""
    data = {"kind": "pipeline", "stages": [{"work": 1.0}, {"work": 2.0}], "machines": 3} | changes
    with pytest.raises(ProblemError) as error:
        read(data)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Pipeline([1.0, Stage(2.0)], 2), "stages[0]: 1.0 is not a Stage"),
        (lambda: Pipeline([Stage()], 2), "stages[0]: has either work or durations"),
        (lambda: Pipeline([Stage(durations=[1.0])], 2), "durations: has 1 entries; there are 2"),
        (lambda: Pipeline([Stage(durations=[np.inf] * 2)], 2), "is infinite everywhere"),
        (lambda: Pipeline([Stage(1.0), Stage(durations=[1.0, 1.0])], 2), "stages[0].durations"),
        (lambda: Pipeline("abc", 2), "stages: 'abc' is not a list of stages"),
        (lambda: Pipeline({"wrk": [1.0], "work": [1.0]}, 2), "stages.wrk: is not a column"),
        (lambda: Pipeline({"work": [1.0], "data": [1.0, 2.0]}, 2), "stages.data: has 2 entries"),
        (lambda: Pipeline([1.0], ["a", "a"]), "machines[1].name: 'a' is also the name"),
        (lambda: Pipeline([1.0], []), "machines: is empty"),
        (lambda: Pipeline([1.0], 2, price=[1.0]), "price: has 1 entries; there are 2 machines"),
        (lambda: Pipeline([1.0], 2, overlap=1), "overlap: 1 is not true or false"),
        (lambda: Pipeline([1.0], Interconnect(2, topology="links")), "there is no way from"),
    ],
)  # fmt: skip
def test_mistakes_of_objects(make: object, said: str) -> None:
    """The same of objects."""
    with pytest.raises(ProblemError) as error:
        make()
    assert said in str(error.value)
