"""Task graphs in problem files."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, ProblemError, TaskGraph, read_problem, save
from makespan.taskgraph.file import read, schema, write
from makespan.taskgraph.generate import graphs as generators
from tests.oracles.taskgraph_instances import MODELS, random_problem

DESIGN = """
kind = "taskgraph"
communication = "overlap"
contention = "none"
tasks = [ { name = "a", work = 2.0 }, { name = "b", durations = [14.0, 16.0] } ]
edges = [ { from = "a", to = "b", size = 4.0 } ]
assignment = { a = "M1", b = "M2" }
sequence = { M1 = ["a"], M2 = ["b"] }
[network]
topology = "links"
rate = 1.0
duplex = true
routers = ["S"]
machines = [
  { name = "M1", speed = 1.0 },
  { name = "M2", speed = 2.0, task_setup = 0.1, message_setup = 0.05, cores = 2 },
]
links = [ { between = ["M1", "S"], rate = 2.0 }, { from = "S", to = "M2", rate = 1.0 },
          { from = "M2", to = "S", rate = 4.0 } ]
delays = [ { from = "M1", to = "M2", seconds = 0.5 } ]
"""


@pytest.mark.parametrize("seed", range(30))
def test_round_trip(seed: int) -> None:
    """What is written reads back as an equal problem, through JSON text."""
    problem = random_problem(seed, *MODELS[seed % len(MODELS)])
    assert read(json.loads(json.dumps(write(problem)).replace("Infinity", "null"))) == problem


def test_large_graphs_are_columns() -> None:
    """More than a thousand tasks are written as columns, and read back equal."""
    problem = TaskGraph(generators.layered(1500, rng=1), Network([1.0, 2.0]))
    data = write(problem)
    assert "tasks" not in data
    assert len(data["columns"]["work"]) == 1500
    assert "names" not in data["columns"]
    assert read(json.loads(json.dumps(data))) == problem


def test_columns_with_durations() -> None:
    """Durations and works of their own stand side by side in columns."""
    dag = Dag.from_arrays(
        work=[5.0, 5.0], durations=[[1.0, 2.0], [3.0, 4.0]], source=[0], target=[1]
    )
    problem = TaskGraph(dag, Network([1.0, 1.0]))
    assert read(write(problem)) == problem


def test_the_example_of_the_design() -> None:
    """Every key of the documented form is read."""
    problem = read(tomllib.loads(DESIGN))
    assert problem.machines == ("M1", "M2", "S")
    assert problem.network.cores.tolist() == [1, 2]
    assert problem.network.routing.seconds(0, 1, 4.0) == 4 / 2 + 4 / 1 + 0.5
    assert read(write(problem)) == problem


def test_files(tmp_path: Any) -> None:
    """TOML and JSON files hold the same problem."""
    problem = random_problem(2, "blocking", "ports")
    for name in ("graph.toml", "graph.json"):
        save(problem, tmp_path / name)
        assert read_problem(tmp_path / name) == problem


def mistakes_of(change: dict[str, Any]) -> list[str]:
    data = {
        "kind": "taskgraph",
        "tasks": [{"name": "a", "work": 1.0}, {"name": "b", "work": 1.0}],
        "edges": [{"from": "a", "to": "b"}],
        "network": {"machines": [{}, {}]},
    }
    for path, value in change.items():
        place: Any = data
        *steps, last = path.split("/")
        for step in steps:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value
    with pytest.raises(ProblemError) as caught:
        read(data)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"taks": []}, "unknown key 'taks'; did you mean 'tasks'?"),
        ({"tasks/0": {"name": "a"}}, "tasks[0]: a task has either work or durations"),
        ({"tasks/0/wrk": 1.0}, "tasks[0]: unknown key 'wrk'; did you mean 'work'?"),
        ({"tasks/0/work": "1"}, "tasks[0].work: '1' is not a number; work is 0 or more units"),
        ({"edges/0/to": "c"}, "edges[0].to: there is no task 'c'; known are a, b"),
        ({"columns": {"work": [1.0]}}, "tasks are given either as tasks and edges, or as columns"),
        ({"network/machines/1/cores": 0}, "network.machines[1].cores: 0 is below 1"),
        ({"network/machines/1/speed": 0}, "network.machines[1].speed: 0 is zero"),
        ({"network/topology": "ringg"}, "network.topology: 'ringg' is not allowed"),
        ({"network/links": [{"from": "M1"}]}, "network.links[0]: a link is either between"),
        ({"network/links": [{"between": ["M1"]}]}, "network.links[0]: between holds 1 names"),
        ({"network/rate": [[0, 1], [1]]}, "network.rate: has rows of different lengths"),
        ({"network/delays": [{"from": "M1", "to": "M2"}]}, "network.delays[0].seconds: is missing"),
        ({"communication": "both"}, "communication: 'both' is not allowed"),
        ({"assignment": {"a": "M1"}}, "assignment: lacks b"),
    ],
)
def test_mistakes_name_their_place(change: dict[str, Any], expected: str) -> None:
    """Malformed files are refused with the place and what is allowed."""
    assert any(line.startswith(expected) for line in mistakes_of(change)), mistakes_of(change)


def test_mistakes_in_columns_name_the_column() -> None:
    """Places are those of the file, not of the classes."""
    columns = {"work": [1.0, 2.0], "source": [0, 0], "target": [2, 1]}
    with pytest.raises(ProblemError, match=r"columns\.target\[0\]: 2 is not the index of a task"):
        read({"kind": "taskgraph", "columns": columns, "network": {"machines": [{}]}})


def test_schema_describes_the_form() -> None:
    """The schema is JSON, and knows the keys."""
    described = json.loads(json.dumps(schema()))
    assert {"tasks", "edges", "columns", "network", "assignment"} <= set(described["properties"])


def test_infinite_rates_survive() -> None:
    """A link that takes no time is inf in TOML and null in JSON."""
    problem = TaskGraph(Dag({"a": 1.0}), Network([1.0, 1.0], rate=np.inf))
    assert read(write(problem)).network.rate == np.inf
    data = write(problem)
    data["network"]["rate"] = None
    assert read(data).network.rate == np.inf
