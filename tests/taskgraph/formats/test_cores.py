"""Cores of tasks in the formats of others."""

from __future__ import annotations

from typing import Any

import networkx
import pytest

from makespan import Dag, FileError, InputError, ProblemError
from makespan.taskgraph.formats import dot, on_machines, stg, wfformat, xml

DAG = Dag({"a": 2.0, "b": 1.0}, [("a", "b", 3.0)], cores={"a": 4})


def test_graphs_are_written_with_cores_and_read_back() -> None:
    """DOT keeps them, and says nothing of tasks on one core; networkx has them as attributes."""
    assert dot.read(dot.write(DAG)) == DAG
    assert 'b" [work=1.0]' in dot.write(DAG)
    graph = networkx.DiGraph()
    graph.add_node("a", work=2.0, cores=4)
    graph.add_node("b", work=1.0)
    graph.add_edge("a", "b", size=3.0)
    assert Dag.from_networkx(graph) == DAG
    assert Dag.from_networkx(graph).notes == ()


def test_cores_in_gxl() -> None:
    """An attribute of a node; its value is a text."""
    node = '<node id="a"><attr name="Cores"><int>4</int></attr></node>'
    assert xml.read_gxl(f"<gxl><graph>{node}</graph></gxl>").cores.tolist() == [4]


@pytest.mark.parametrize("cores", [0, 1.5, "many", -2, True, 2**40])
def test_cores_that_are_none(cores: Any) -> None:
    """The place, what was found, and what is allowed."""
    graph = networkx.DiGraph()
    graph.add_node("a", cores=cores, work=1.0)
    with pytest.raises(ProblemError, match=r"nodes\['a'\].cores: .*; the cores of a task are"):
        Dag.from_networkx(graph)


def test_another_attribute_may_hold_the_work() -> None:
    """Cores that are asked for as work are no cores."""
    graph = networkx.DiGraph()
    graph.add_node("a", cores=3)
    dag = Dag.from_networkx(graph, work="cores")
    assert (dag.work.tolist(), dag.cores.tolist()) == ([3.0], [1])


def table(task: dict[str, Any], **measured: Any) -> dict[str, Any]:
    """Return a WfFormat document of one task, measured in a table of its own where it is."""
    task = {"id": "a", "name": "a", "parents": [], "runtimeInSeconds": 2.0, **task}
    if not measured:
        return {"workflow": {"tasks": [task]}}
    done = [{"id": "a", "runtimeInSeconds": 2.0, **measured}]
    return {"workflow": {"specification": {"tasks": [task]}, "execution": {"tasks": done}}}


@pytest.mark.parametrize(
    ("data", "cores"),
    [
        (table({"coreCount": 8}), 8),
        (table({"cores": 3}), 3),
        (table({"coreCount": 1.5, "cores": 7}), 2),
        (table({}), 1),
        (table({"cores": 0}), 1),
        (table({}, coreCount=16.0), 16),
        (table({"coreCount": 4}, avgCPU=93.0), 4),
        (table({"coreCount": 4}, coreCount=2), 2),
    ],
)
def test_core_counts_of_wfformat(data: dict[str, Any], cores: int) -> None:
    """All versions; the machines that are assumed have as many."""
    dag = wfformat.read(data)
    assert dag.cores.tolist() == [cores]
    problem = on_machines(dag, 1.0, {})
    assert set(problem.network.cores.tolist()) == {cores}
    assert (f"with {cores} cores" in problem.notes[-1]) == (cores > 1)


@pytest.mark.parametrize("count", [-1, "4", float("nan"), 2**40, [1]])
def test_core_counts_that_are_none(count: Any) -> None:
    """Each is refused with its place."""
    with pytest.raises(FileError, match=r"workflow.tasks\[0\].coreCount: .* core count is"):
        wfformat.read(table({"coreCount": count}))


def test_dot_names_the_line() -> None:
    """A mistake in a DOT file has its line."""
    with pytest.raises(InputError, match=r"line 2.*cores '0' is below 1"):
        dot.read("digraph {\n a [work=1, cores=0]; }")


def test_stg_has_none() -> None:
    """A graph whose tasks need several is not written as one whose don't."""
    with pytest.raises(FileError, match=r"tasks\[0\].cores: 4 can't be said in STG"):
        stg.write(DAG)
