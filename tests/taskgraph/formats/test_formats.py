"""Graphs of others: WfFormat, STG, DOT, networkx, Dask."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Dag, FileError, Network, ProblemError, TaskGraph, check, read_problem, solve
from makespan.core.errors import STEERING
from makespan.taskgraph import formats
from makespan.taskgraph.formats import dot, stg, wfformat
from makespan.taskgraph.formats.xml import read_graphml
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.model.attributes import DRAWING, SIZE, WORK
from makespan.taskgraph.pictures.diagrams import graph
from tests.thorough import few

EXAMPLES = Path(__file__).parents[3] / "examples" / "workflows"
WORKFLOWS = sorted(EXAMPLES.glob("*.json"))

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


@pytest.mark.parametrize(
    "path", few(WORKFLOWS, 1, thorough=len(WORKFLOWS)), ids=lambda path: path.stem
)
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
        ("digraph { a -- b }", "line 1: has '--' where '->' should be"),
        ("digraph { a -> ", "ends too early"),
        ("digraph { a", "where '}' should be"),
        ("digraph " + "{" * 60, "nests subgraphs deeper than 50"),
        ("digraph { a -> ] }", "has ']' where a name should be"),
        ('digraph { "a }', "line 1: .* is opened and never closed"),
    ],
)
def test_dot_mistakes(text: str, message: str) -> None:
    """What is not a digraph is refused, and deep nesting too."""
    with pytest.raises(FileError, match=message):
        dot.read(text)


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
    shown = list(graph(problem).nodes.label)
    assert len(shown) == len(dag)
    assert all(len(text) <= 40 and text[-1] == "]" for text in shown)


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
    with pytest.raises(FileError, match=r"no graph has suffix '\.yaml'"):
        formats.read(tmp_path / "g.yaml")
    with pytest.raises(FileError, match=r"none\.stg: there is no such file"):
        formats.read(tmp_path / "none.stg")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(FileError, match=r"bad\.json(.|\n)*is not JSON"):
        formats.read(tmp_path / "bad.json")


LINES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
AMOUNTS = st.floats(1e-9, 1e6) | st.integers(0, 10**6)


@st.composite
def networkx_graphs(draw: st.DrawFn) -> tuple[networkx.DiGraph, str, str]:
    """Return a random acyclic graph, and the keys of its works and sizes, in any letters."""
    names = draw(st.lists(LINES, min_size=1, max_size=6, unique=True))
    keys = [
        "".join(draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in key)
        for key in (draw(st.sampled_from(WORK.keys)), draw(st.sampled_from(SIZE.keys)))
    ]
    graph = networkx.DiGraph()
    for name in names:
        graph.add_node(name, **{keys[0]: draw(AMOUNTS)})
    for a, b in combinations(names, 2):
        if draw(st.booleans()):
            graph.add_edge(a, b, **{keys[1]: draw(AMOUNTS)})
    return graph, *keys


def quoted(text: Any) -> str:
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def dot_of(graph: networkx.DiGraph, draw: Any) -> str:
    """Write a graph in DOT another way than ours: split, grouped, commented, with odd spaces."""
    space = st.sampled_from([" ", "\n", "\t\r\n", "/* -> */", " // { \n", "\n# }\n"])
    parts = [
        draw(st.sampled_from(["digraph", "DiGraph", "strict digraph x", 'digraph "a b"'])),
        "{",
    ]
    parts += ["rankdir=LR;", "node [shape=box, label=<<b>x</b>>]", "graph", '[label="}"]']
    for name, attributes in graph.nodes(data=True):
        inside = ", ".join(f"{key}={value!r}" for key, value in attributes.items())
        word = quoted(name)
        if draw(st.booleans()) and len(str(name)) > 1:
            word = f"{quoted(str(name)[:1])} + {quoted(str(name)[1:])}"
        node = [word, f"[{inside}]"]
        parts += ["subgraph", "cluster", "{", *node, "}"] if draw(st.booleans()) else node
        parts.append(";")
    for a, b, attributes in graph.edges(data=True):
        inside = ", ".join(f"{key}={quoted(value)}" for key, value in attributes.items())
        ends = [f"{quoted(a)}:port:sw", "->", quoted(b)]
        if draw(st.booleans()):
            ends = ["{", quoted(a), "}", "->", "{", quoted(b), "}"]
        parts += [*ends, f"[color=red][{inside}]", ";"]
    return "".join(part + draw(space) for part in [*parts, "}"])


@given(networkx_graphs(), st.data())
def test_graphs_of_others_keep_their_numbers(
    drawn: tuple[networkx.DiGraph, str, str], data: st.DataObject
) -> None:
    """networkx, GraphML and DOT written in odd ways give the numbers that networkx holds."""
    graph, work, size = drawn
    expected = Dag(
        [(name, each[work]) for name, each in graph.nodes(data=True)],
        [(a, b, each[size]) for a, b, each in graph.edges(data=True)],
    )
    assert Dag.from_networkx(graph) == expected
    assert Dag.from_networkx(graph, work=work, size=size) == expected
    again = dot.read(dot_of(graph, data.draw))
    assert again == expected
    assert not again.notes
    if not any(STEERING.search(name) or name != name.strip() for name in graph):
        text = "".join(networkx.generate_graphml(graph))
        assert read_graphml(text) == expected


@given(networkx_graphs(), st.text("abcxyz", min_size=3).filter(lambda key: key not in DRAWING))
def test_unknown_numbers_are_refused(drawn: tuple[networkx.DiGraph, str, str], key: str) -> None:
    """Where numbers stand under names that are not known, the error lists them."""
    graph, work, _ = drawn
    renamed = networkx.DiGraph()
    for name, each in graph.nodes(data=True):
        renamed.add_node(name, **{key: each[work]})
    with pytest.raises(ProblemError, match="no node has a known attribute: looked for work, wei"):
        Dag.from_networkx(renamed)
    with pytest.raises(FileError, match=f"there are '{key}'"):
        dot.read(f"digraph {{ a [{key}=1] }}")
    assert Dag.from_networkx(renamed, work=key).work.tolist() == [
        float(each[work]) for _, each in graph.nodes(data=True)
    ]


def test_what_is_assumed_is_noted() -> None:
    """Missing works and sizes, labels taken for numbers and attributes not read are notes."""
    assert dot.read("digraph { a -> b }").notes == (
        "no node has a work: 1 is assumed",
        "no edge has a size: 0 is assumed",
    )
    partly = dot.read('digraph { a [Work=3, memory=7]; b; a -> b [label="2"] }')
    assert partly.work.tolist() == [3.0, 1.0]
    assert partly.size.tolist() == [2.0]
    assert partly.notes == (
        "1 of 2 nodes have no work: 1 is assumed",
        "attributes of nodes that are not read: 'memory'",
        "the size of edges is read from labels",
    )
    twice = dot.read("digraph { a [weight=3, cost=4, shape=box] }")
    assert twice.work.tolist() == [3.0]
    assert twice.notes == ("attributes of nodes that are not read: 'cost'",)
    problem = formats.problem_in("digraph { a -> b }", ".dot", "g")
    assert any(
        note.startswith("the file names no machines: 4 of speed 1") for note in problem.notes
    )
    assert "no node has a work: 1 is assumed" in problem.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('digraph { a [work=3];\n b [work="2x"] }', "line 2: work '2x' is not a number"),
        ("digraph {\n\n a -> b [size=-1] }", "line 3: size '-1' is negative"),
        ("digraph { a [work=1e400] }", "line 1: work '1e400' is infinite"),
        ("digraph { a [work=inf] }", "line 1: work 'inf' is not a number"),
        ("digraph { a [work] }", "line 1: work 'true' is not a number"),
        ("digraph { a [work=" + "9" * 5000 + "] }", "is infinite"),
        ("digraph { a } digraph { b }", "has 'digraph' where the graph has ended"),
        ("digraph { subgraph x -> a }", "has '->' where '{' should be"),
        ("digraph { a /* }", "line 1: .* is opened and never closed"),
        ("digraph { a [label=<<b>]; b }", "is opened and never closed"),
        ("digraph { a-b }", "is not DOT"),
        ('digraph { "a" + b }', "where a text in quotes should be"),
        ("digraph { {" + "a%d " * 1001 % tuple(range(1001)) + "} -> {" + "b%d " * 1000
         % tuple(range(1000)) + "} }", "groups make more than 1000000 edges"),
    ],
)  # fmt: skip
def test_dot_refusals(text: str, message: str) -> None:
    """Numbers that are none have their line; what is not closed or too much is refused."""
    with pytest.raises(FileError, match=message):
        dot.read(text)


@pytest.mark.parametrize("start", ["digraph { /* ", 'digraph { "', "digraph { <", "", "{"])
def test_hostile_dot_is_read_once(start: str) -> None:
    """What is opened again and again and never closed takes one pass, not one for each."""
    with pytest.raises(FileError):
        dot.read(start + '/* " < \\' * 200_000)
    many = "node [work=1, shape=x] edge [size=2, len=3] " * 3000
    assert len(dot.read("digraph {" + many + "{ a; b } " * 3000 + "}")) == 2


@pytest.mark.parametrize("before", ["", "1.", "1e"])
def test_a_number_that_turns_out_to_be_a_word_is_read_once(before: str) -> None:
    """Two hundred thousand digits and a letter take one pass, not one for each digit."""
    name = f"{before}{'9' * 200_000}x"
    assert dot.read(f"digraph {{ {name} [work=1] }}").names == (name,)


def test_dot_strict_merges_edges() -> None:
    """In a strict graph an edge that is repeated is one edge."""
    dag = dot.read("strict digraph { a [work=1]; b [work=1]; a -> b [size=2]; a -> b }")
    assert dag.size.tolist() == [2.0]


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<adag/>", "is XML .'adag'., but not GraphML"),
        ("<graphml", "is not GraphML: unclosed token"),
        (GRAPHML.format(""), "holds 0 graphs"),
        (GRAPHML.format('<graph edgedefault="directed"/>' * 2), "holds 2 graphs"),
        (GRAPHML.format('<graph edgedefault="undirected"><node id="a"/></graph>'), "no directions"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><graphml/>', "declares entities"),
        (
            GRAPHML.format('<graph edgedefault="directed"><node id="a"/><hyperedge/></graph>'),
            "hyperedges",
        ),
        (
            GRAPHML.format(
                '<key id="w" for="node" attr.name="weight" attr.type="double"/>'
                '<graph edgedefault="directed"><node id="a"><data key="w">x</data></node></graph>'
            ),
            "could not convert",
        ),
    ],
)
def test_graphml_refusals(text: str, message: str) -> None:
    """What is no graph of tasks is refused, and so are documents that define entities."""
    with pytest.raises((FileError, ProblemError), match=message):
        read_graphml(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": 5}, r"tasks\[0\].parents: 5 is not a list"),
        ({"parents": [{"x": 1}]}, r"tasks\[0\].parents: {'x': 1} is not a text"),
        ({"children": "b"}, r"tasks\[0\].children: 'b' is not a list"),
        ({"files": "x"}, r"tasks\[0\].files: 'x' is not a list"),
        ({"files": ["x"]}, r"tasks\[0\].files\[0\]: 'x' is not a file"),
        ({"files": [{"name": "x"}]}, r"files\[0\].link: None is not allowed; it is 'input'"),
        ({"files": [{"link": "input"}]}, r"tasks\[0\].files\[0\].id: is missing"),
        (
            {"files": [{"name": "x", "link": "input", "sizeInBytes": "8"}]},
            r"files\[0\].sizeInBytes: '8' is not a number",
        ),
        ({"name": ["a"]}, r"tasks\[0\].name: \['a'\] is not a text"),
        ({"name": True}, r"tasks\[0\].name: True is not a text"),
    ],
)
def test_wfformat_types(change: dict[str, Any], message: str) -> None:
    """Whatever has another type than it should is refused with its place."""
    task = {"name": "a", "runtime": 1, **change}
    with pytest.raises(FileError, match=message):
        wfformat.read({"workflow": {"tasks": [task]}})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("specification.files", 3, "workflow.specification.files: 3 is not a list"),
        ("specification.files", [3], r"workflow.specification.files\[0\]: 3 is not a file"),
        ("specification.files", [], r"outputFiles\[0\]: there is no file 'x' in workflow.spec"),
        ("specification.tasks", None, "workflow.specification.tasks: None is not a list of tasks"),
        ("execution", [], r"workflow.execution: \[\] is not a table"),
        ("execution.tasks", {"a": 1}, "workflow.execution.tasks: {'a': 1} is not a list"),
        ("execution.tasks", [None], r"workflow.execution.tasks\[0\]: None is not a task"),
        ("execution.tasks", [{}], r"workflow.execution.tasks\[0\].id: is missing"),
    ],
)
def test_wfformat_tables(path: str, value: Any, message: str) -> None:
    """Files that tasks name must exist, and the tables be tables."""
    data: Any = copy.deepcopy(NEW)
    *steps, last = path.split(".")
    table = data["workflow"]
    for step in steps:
        table = table[step]
    table[last] = value
    with pytest.raises(FileError, match=message):
        wfformat.read(data)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "x", "input"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "link", "parents", "files", "sizeInBytes", "tasks"]),
            inner,
        )
    ),
    max_leaves=8,
)


@given(st.data())
def test_wfformat_never_fails_otherwise(data: st.DataObject) -> None:
    """A document with a part replaced by anything at all is read, or refused as such."""
    document: Any = copy.deepcopy(data.draw(st.sampled_from([OLD, NEW])))
    part = document["workflow"]
    while isinstance(part, (dict, list)) and part:
        key = data.draw(
            st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part)))
        )
        if not isinstance(part[key], (dict, list)) or data.draw(st.integers(0, 3)) == 0:
            part[key] = data.draw(JUNK)
            break
        part = part[key]
    with suppress(FileError):
        wfformat.read(document)


@given(st.text('abw=12.[]{};,->"\\/*#<>+: \n'))
def test_dot_never_fails_otherwise(text: str) -> None:
    """Any text is DOT or refused as such."""
    for content in (text, f"digraph {{ {text} }}"):
        with suppress(FileError):
            dot.read(content)


@given(st.text("0123456789 \n#-.e\x00\ufeff"))
def test_stg_never_fails_otherwise(text: str) -> None:
    """Any text is STG or refused as such."""
    with suppress(FileError):
        stg.read(text)


def test_the_content_decides_without_a_suffix(tmp_path: Path) -> None:
    """Graphs in DOT, STG and GraphML, too, are known by their first words; others are refused."""
    for text, count in (
        ("/* graph */ strict\ndigraph x { a -> b }", 2),
        ("// x\n# y\ndigraph{a}", 1),
        ("# generated\n 2\n0 3 0\n1 4 1 0\n", 2),
        (GRAPHML.format('<graph edgedefault="directed"><node id="a"/></graph>'), 1),
    ):
        (tmp_path / "graph").write_bytes(b"\xef\xbb\xbf" + text.encode())
        found = read_problem(tmp_path / "graph")
        assert len(found.dag) == count  # type: ignore[attr-defined]
    for text in ("<html/>", "a: 1", "hello"):
        (tmp_path / "x.flow").write_text(text)
        with pytest.raises(FileError, match=r"x\.flow: .*; read are problems in TOML"):
            read_problem(tmp_path / "x.flow")


@pytest.mark.parametrize("name", ["g.dot", "g.stg", "g.json", "g.graphml"])
def test_graphs_take_no_parts(name: str, tmp_path: Path) -> None:
    """Parts that would do nothing are refused."""
    (tmp_path / name).write_text('{"workflow": {"tasks": []}}')
    with pytest.raises(ProblemError, match=f"{name}: tasks: can't be given beside a graph"):
        read_problem(tmp_path / name, tasks=3)
