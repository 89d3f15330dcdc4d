"""Graphs of others: WfFormat, STG, DOT, networkx, Dask."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx
import numpy as np
import pytest

from makespan import Dag, FileError, Network, ProblemError, TaskGraph, check, read_problem, solve
from makespan.taskgraph import formats, generators
from makespan.taskgraph.formats import dot, stg, wfformat
from makespan.taskgraph.formats.networkx_graph import graph_of
from makespan.taskgraph.pictures import draw_graph

EXAMPLES = Path(__file__).parents[2] / "examples" / "workflows"

OLD = {
    "schemaVersion": "1.4",
    "workflow": {
        "tasks": [
            {
                "name": "split", "id": "T1", "runtimeInSeconds": 2.0, "children": ["T2", "T3"],
                "files": [
                    {"link": "output", "name": "x", "sizeInBytes": 8},
                    {"link": "output", "name": "y", "sizeInBytes": 16},
                ],
            },
            {
                "name": "left", "id": "T2", "runtimeInSeconds": 3.0, "parents": ["T1"],
                "files": [{"link": "input", "name": "x", "sizeInBytes": 8}],
            },
            {
                "name": "right", "id": "T3", "runtimeInSeconds": 4.0, "parents": ["split"],
                "files": [
                    {"link": "input", "name": "x", "sizeInBytes": 8},
                    {"link": "input", "name": "y", "sizeInBytes": 16},
                    {"link": "input", "name": "given", "sizeInBytes": 99},
                ],
            },
        ]
    },
}  # fmt: skip

NEW = {
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                {"name": "split", "id": "T1", "children": ["T2", "T3"], "outputFiles": ["x", "y"]},
                {"name": "left", "id": "T2", "parents": ["T1"], "inputFiles": ["x"]},
                {"name": "right", "id": "T3", "parents": ["T1"], "inputFiles": ["x", "y", "z"]},
            ],
            "files": [
                {"id": "x", "sizeInBytes": 8},
                {"id": "y", "sizeInBytes": 16},
                {"id": "z", "sizeInBytes": 99},
            ],
        },
        "execution": {
            "tasks": [
                {"id": "T1", "runtimeInSeconds": 2.0},
                {"id": "T2", "runtimeInSeconds": 3.0},
                {"id": "T3", "runtimeInSeconds": 4.0},
            ]
        },
    },
}


def first_version(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1.4 in the words of 1.0, which knows names but no ids."""
    ids = {task["id"]: task["name"] for task in data["workflow"]["tasks"]}
    jobs = [
        {
            "name": task["name"],
            "runtime": task["runtimeInSeconds"],
            "parents": [ids.get(name, name) for name in task.get("parents", ())],
            "files": [
                {"link": file["link"], "name": file["name"], "size": file["sizeInBytes"]}
                for file in task["files"]
            ],
        }
        for task in data["workflow"]["tasks"]
    ]
    return {"schemaVersion": "1.0", "workflow": {"jobs": jobs}}


def test_wfformat_versions_agree() -> None:
    """All versions hold the same graph: sizes are of files written here and read there."""
    dag = wfformat.read(NEW)
    assert dag == wfformat.read(OLD)
    first = wfformat.read(first_version(OLD))
    assert first.names == ("split", "left", "right")
    assert (first.work == dag.work).all()
    assert (first.size == dag.size).all()
    metrics = {"numberOfTasks": 3, "numberOfLevels": 2}
    latest = copy.deepcopy(NEW) | {"schemaVersion": "1.6"}
    latest["workflow"]["specification"]["metrics"] = metrics
    latest["workflow"]["execution"]["metrics"] = {"sumTaskRuntimesInSeconds": 9.0}
    assert wfformat.read(latest) == dag
    assert dag == Dag({"T1": 2.0, "T2": 3.0, "T3": 4.0}, [("T1", "T2", 8.0), ("T1", "T3", 24.0)])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "workflow: is missing; this is not WfFormat"),
        ({"workflow": {"tasks": 3}}, "workflow.tasks: 3 is not a list of tasks"),
        ({"workflow": {"tasks": [3]}}, r"workflow.tasks\[0\]: 3 is not a task"),
        ({"workflow": {"tasks": [{"name": "a"}]}}, r"tasks\[0\].runtimeInSeconds: is missing"),
        (
            {"workflow": {"tasks": [{"name": "a", "runtime": -1}]}},
            r"tasks\[0\].runtimeInSeconds: -1 is negative",
        ),
        (
            {"workflow": {"tasks": [{"name": "a", "runtime": 1, "parents": ["b"]}]}},
            r"tasks\[0\].parents: there is no task 'b'",
        ),
    ],
)
def test_wfformat_mistakes(data: Any, message: str) -> None:
    """What is not WfFormat is refused with the place."""
    with pytest.raises(FileError, match=message):
        wfformat.read(data)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_real_workflows_are_planned(path: Path) -> None:
    """The recorded workflows among the examples are read, planned and refereed."""
    problem = formats.read(path)
    tasks = json.loads(path.read_text())["workflow"]["specification"]["tasks"]
    assert list(problem.dag.names) == [task["id"] for task in tasks]
    assert len(problem.dag.source) == sum(len(task["parents"]) for task in tasks)
    assert problem.dag.size.sum() > 0
    assert check(solve(problem, time_limit=1)).ok


def test_stg_round_trip() -> None:
    """Works and edges survive; sizes are generated with the ratio asked for."""
    whole = generators.layered(30, rng=2)
    dag = Dag.from_arrays(
        work=np.floor(whole.work), source=whole.source, target=whole.target,
        names=[str(index) for index in range(30)],
    )  # fmt: skip
    again = stg.read(stg.write(dag))
    assert np.array_equal(again.work, dag.work)
    assert edges_of(again) == edges_of(dag)
    loaded = stg.read(stg.write(dag), ccr=2.0, rng=1)
    assert loaded.size.mean() == pytest.approx(2.0 * dag.work.mean())
    assert loaded == stg.read(stg.write(dag), ccr=2.0, rng=1)


def test_stg_with_dummy_tasks_and_comments() -> None:
    """The published files count neither entry nor exit, and end in comments."""
    text = "1\n0 0 0\n1 5 1 0\n2 0 1 1\n# parallelism 1.0\n"
    dag = stg.read(text)
    assert dag.work.tolist() == [0.0, 5.0, 0.0]
    assert edges_of(dag) == {("0", "1"), ("1", "2")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("two", "line 1: 'two' is not the number of tasks"),
        ("1\n0 x 0", "line 2: 'x' is not a processing time"),
        ("1\n0 1 2 5", "line 2: is not a task"),
        ("1\n3 1 0", "line 2: is task 3, but 0 comes next"),
        ("7\n0 1 0", "holds 1 tasks, but says 7"),
    ],
)
def test_stg_mistakes(text: str, message: str) -> None:
    """The line that is wrong is named."""
    with pytest.raises(FileError, match=message):
        stg.read(text)


def edges_of(dag: Dag) -> set[tuple[str, str]]:
    return {
        (dag.names[a], dag.names[b])
        for a, b in zip(dag.source.tolist(), dag.target.tolist(), strict=True)
    }


def test_dot_round_trip() -> None:
    """Graphs survive DOT to the bit, names with quotes included."""
    dag = Dag({'say "hi"\\': 1.5, "b": 1e-7}, [('say "hi"\\', "b", 0.1)])
    assert dot.read(dot.write(dag)) == dag


def test_dot_language() -> None:
    """Chains, groups, defaults, subgraphs, ports, comments and attributes are understood."""
    text = """
    // a comment
    strict digraph "g" {
      rankdir = LR; graph [label="x"]; node [work=2]; edge [size=3];
      a -> b -> c [size=5] /* chain */
      subgraph cluster_0 { d; e [work=7, shape=box] }
      {d e} -> f:n;
      # another
      a -> f [label="4.5"];
    }
    """
    dag = dot.read(text)
    works = dict(zip(dag.names, dag.work.tolist(), strict=True))
    assert works == {"a": 2.0, "b": 2.0, "c": 2.0, "d": 2.0, "e": 7.0, "f": 2.0}
    assert edges_of(dag) == {("a", "b"), ("b", "c"), ("d", "f"), ("e", "f"), ("a", "f")}
    assert sorted(dag.size.tolist()) == [3.0, 3.0, 3.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph { a -- b }", "begins with 'graph'; a graph of tasks is a digraph"),
        ("digraph { a -- b }", "has an edge '--'"),
        ("digraph { a -> ", "ends too early"),
        ("digraph { a", "where '}' should be"),
        ("digraph " + "{" * 60, "nests subgraphs deeper than 50"),
        ("digraph { a -> ] }", "has ']' where a name should be"),
        ('digraph { "a }', "line 1: .* is not DOT"),
    ],
)
def test_dot_mistakes(text: str, message: str) -> None:
    """What is not a digraph is refused, and deep nesting too."""
    with pytest.raises(FileError, match=message):
        dot.read(text)


def test_networkx_round_trip() -> None:
    """A graph goes to networkx and back."""
    dag = generators.cholesky(3)
    again = Dag.from_networkx(graph_of(dag))
    assert again.names == dag.names
    assert sorted(edges_of(again)) == sorted(edges_of(dag))


def test_networkx_attributes_and_cycles() -> None:
    """Other attribute names are read; a cycle is found when the graph is used."""
    graph = networkx.DiGraph()
    graph.add_node(1, weight=3.0)
    graph.add_edge(1, 2, data=7.0)
    dag = Dag.from_networkx(graph, work="weight", size="data", default_work=0.5)
    assert dag == Dag({"1": 3.0, "2": 0.5}, [("1", "2", 7.0)])
    graph.add_edge(2, 1)
    with pytest.raises(ProblemError, match="form a cycle: 1 → 2 → 1"):
        TaskGraph(Dag.from_networkx(graph), Network([1.0]))


def test_dask_arrays() -> None:
    """The graph of real array operations is imported, planned and refereed."""
    array = pytest.importorskip("dask.array")
    table = array.ones((400, 400), chunks=(100, 100))
    total = (table @ table.T + table).sum(axis=0)
    dag = Dag.from_dask(total, work=lambda key: 1.0 + str(key).count("sum"), size=lambda key: 0.5)
    assert len(dag) == len(total.__dask_graph__())
    problem = TaskGraph(dag, Network([1.0, 1.0, 2.0]))
    assert check(solve(problem)).ok
    assert set(dag.size.tolist()) == {0.5}
    mpl.use("Agg")
    axes = draw_graph(problem)
    shown = [text.get_text() for text in axes.texts]
    assert len(shown) == len(dag)
    assert all(len(text) <= 8 and text[-1] == "]" for text in shown)


def test_dask_graphs() -> None:
    """A plain graph keeps its order; keys that are tuples get readable names."""
    pytest.importorskip("dask")
    dag = Dag.from_dask({("x", 0): 1, "y": (sum, [("x", 0), ("x", 0)]), "z": (max, "y", ("x", 0))})
    assert dag.names == ("x[0]", "y", "z")
    assert edges_of(dag) == {("x[0]", "y"), ("y", "z"), ("x[0]", "z")}
    with pytest.raises(ProblemError, match="neither a Dask collection nor a Dask graph"):
        Dag.from_dask(3)


def test_files_by_suffix(tmp_path: Path) -> None:
    """The suffix decides; unknown ones, missing and malformed files are refused with their name."""
    dag = Dag({"a": 1.0, "b": 2.0}, [("a", "b", 3.0)])
    (tmp_path / "g.dot").write_text(dot.write(dag))
    assert formats.read(tmp_path / "g.dot").dag == dag
    assert read_problem(tmp_path / "g.dot").dag == dag  # type: ignore[attr-defined]
    (tmp_path / "g.json").write_text(json.dumps(NEW))
    assert read_problem(tmp_path / "g.json") == formats.read(tmp_path / "g.json")
    assert formats.read(tmp_path / "g.json").network.rate == 1.25e8
    with pytest.raises(FileError, match=r"no graph has suffix '\.xml'"):
        formats.read(tmp_path / "g.xml")
    with pytest.raises(FileError, match=r"none\.stg: can't be read"):
        formats.read(tmp_path / "none.stg")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(FileError, match=r"bad\.json(.|\n)*is not JSON"):
        formats.read(tmp_path / "bad.json")
