"""Mistakes in task graphs: all at once, each with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, ProblemError, TaskGraph, solve
from makespan.core.names import index_by_name

ONE = {"a": 1.0}


def mistakes_of(dag: Dag, network: Network | None = None, **more: Any) -> list[str]:
    with pytest.raises(ProblemError) as caught:
        TaskGraph(dag, Network([1.0, 1.0]) if network is None else network, **more)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("tasks", "edges", "expected"),
    [
        ({}, [], "tasks: is empty; a task graph has at least one task"),
        ({"a": -1}, [], "tasks[0].work: -1 is negative; work is 0 or more units"),
        ({"a": float("nan")}, [], "tasks[0].work: nan is not a number; work is 0 or more units"),
        ({"a": [1.0, -2.0]}, [], "tasks[0].durations[1]: -2.0 is negative; a duration is"),
        ({"a": [1.0]}, [], "tasks[0].durations: has 1 entries for 2 machines"),
        (
            {"a": [1.0, 1.0], "b": [1.0]}, [],
            "tasks[1].durations: has 1 entries, tasks[0] has 2; there is one per machine",
        ),
        ([("a", 1), ("a", 2)], [], "tasks[1].name: 'a' is also the name of tasks[0]; names differ"),
        (["a"], [], "tasks[0]: 'a' is not a task; it is (name, work)"),
        ({7: 1.0}, [], "tasks[0].name: 7 is not a name; a name is a text"),
        (ONE, [("a", "aa")], "edges[0].to: there is no task 'aa'; did you mean 'a'?"),
        (ONE, [("a",)], "edges[0]: ('a',) is not an edge; it is (from, to, size)"),
        (ONE, [("a", "a")], "edges[0]: goes from 'a' to itself"),
        ({"a": 1, "b": 1}, [("a", "b", -1)], "edges[0].size: -1 is negative; a size is"),
        (
            {"a": 1, "b": 1}, [("x", "a"), ("a", "b"), ("a", "b")],
            "edges[2]: goes from 'a' to 'b' like edges[1]",
        ),
        (
            dict.fromkeys("abcd", 1), [("d", "b"), ("b", "c"), ("c", "d"), ("a", "b")],
            "edges: form a cycle: b → c → d → b; a task graph has none",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_graphs(tasks: Any, edges: Any, expected: str) -> None:
    """Each mistake names the place, what was found, and what is allowed."""
    assert any(line.startswith(expected) for line in mistakes_of(Dag(tasks, edges)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"speeds": []}, "network.machines: is empty"),
        ({"speeds": [1, 0]}, "network.machines[1].speed: 0.0 is zero; a speed is above 0"),
        ({"speeds": [1, 1], "cores": [1, 0]}, "network.machines[1].cores: 0 is below 1"),
        ({"speeds": [1, 1], "message_setup": -1}, "network.machines[0].message_setup: -1.0 is neg"),
        ({"speeds": [1, 1], "names": ["a", "a"]}, "network.machines[1].name: 'a' is also"),
        ({"speeds": [1, 1], "names": ["a"]}, "network.names: there are 1 names for 2 machines"),
        (
            {"speeds": [1, 1], "topology": "rng"},
            "network.topology: 'rng' is not a topology; did you",
        ),
        ({"speeds": [1, 1], "topology": "mesh"}, "network.shape: is missing"),
        ({"speeds": [1, 1], "topology": "mesh", "shape": [3]}, "network.shape: [3] holds 3 mach"),
        ({"speeds": [1, 1], "shape": [2]}, "network.shape: means nothing for 'complete'"),
        ({"speeds": [1] * 3, "topology": "hypercube"}, "network.shape: a hypercube has 1, 2, 4"),
        ({"speeds": [1, 1], "routers": ["S"]}, "network.routers: stand in no 'complete'"),
        ({"speeds": [1, 1], "rate": "x"}, "network.rate: 'x' is not a number or a table"),
        ({"speeds": [1, 1], "rate": 0}, "network.rate: 0.0 is zero; a rate is above 0"),
        ({"speeds": [1, 1], "rate": [[1, 2]]}, "network.rate: is a table of 1 × 2 numbers for 2"),
        ({"speeds": [1, 1], "rate": [[1, -1], [1, 1]]}, "network.rate[0][1]: -1.0 is negative"),
        ({"speeds": [1, 1], "topology": "links"}, "network.links: there is no route from 'M1' to"),
        (
            {"speeds": [1, 1], "topology": "links", "one_way_links": [("M1", "M2", 1.0)]},
            "network.links: there is no route from 'M2' to 'M1'",
        ),
        ({"speeds": [1, 1], "links": [("M1", "M3", 1)]}, "network.links[0]: there is no node 'M3'"),
        ({"speeds": [1, 1], "links": [("M1", "M2", 0)]}, "network.links[0].rate: 0 is zero"),
        ({"speeds": [1, 1], "links": [("M1", "M1", 1)]}, "network.links[0]: leads from 'M1' to it"),
        (
            {"speeds": [1] * 4, "topology": "ring", "links": [("M1", "M3", 1)]},
            "network.links[0]: a ring has no link between 'M1' and 'M3'",
        ),
        (
            {"speeds": [1, 1], "links": [("M1", "M2", 1), ("M2", "M1", 2)]},
            "network.links[1]: from 'M2' to 'M1' goes links[0] too",
        ),
        ({"speeds": [1, 1], "delays": {("M1", "M9"): 1}}, "network.delays[0]: there is no node"),
        ({"speeds": [1, 1], "delays": {("M1", "M2"): -1}}, "network.delays[0].seconds: -1 is neg"),
    ],
)
def test_mistakes_in_networks(arguments: dict[str, Any], expected: str) -> None:
    """Machines, topologies, shapes, rates, links and delays are checked."""
    network = Network(arguments.pop("speeds"), **arguments)
    assert any(line.startswith(expected) for line in mistakes_of(Dag(ONE), network))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"communication": "none"}, "communication: 'none' is not allowed; it is 'overlap'"),
        ({"contention": "port"}, "contention: 'port' is not allowed"),
        ({"assignment": {"a": "M1"}}, "assignment: lacks b; a given plan places every task"),
        ({"assignment": {"a": "M1", "b": "M9"}}, "assignment.b: there is no machine 'M9'"),
        ({"sequence": {"M1": ["a", "b", "a"]}}, "sequence.M1[2]: 'a' stands in sequence.M1 too"),
        ({"sequence": {"M1": ["b", "a"]}}, "sequence: waits for itself: a → b → a"),
        ({"sequence": {"M1": "ab"}}, "sequence.M1: 'ab' is not a list of tasks"),
        (
            {"assignment": {"a": "M2", "b": "M1"}, "sequence": {"M1": ["a", "b"]}},
            "sequence.M1[0]: 'a' is assigned to 'M2', not to 'M1'",
        ),
        (
            {"assignment": {"a": "M1", "b": "M1"}, "sequence": {"M1": ["a"]}},
            "sequence.M1: lacks 'b', which is assigned to it",
        ),
    ],
)
def test_mistakes_in_models_and_given_plans(more: dict[str, Any], expected: str) -> None:
    """Words, names, contradictions and deadlocks are found before anything is planned."""
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 1.0)])
    assert any(line.startswith(expected) for line in mistakes_of(dag, **more))


def test_all_mistakes_come_together() -> None:
    """A wrong graph and a wrong network are reported in one error."""
    found = mistakes_of(Dag({"a": -1}, [("a", "x")]), Network([0.0], topology="rng"))
    assert len(found) == 4


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"work": [1, 2], "source": [0], "target": [2]}, "edges[0].to: 2 is not the index"),
        ({"work": [1, 2], "source": [0], "target": []}, "target: has 0 entries, source has 1"),
        ({"work": [1, 2], "source": [0], "target": [1], "size": [1, 2]}, "size: has 2 entries"),
        ({"work": ["x"]}, "work: ['x'] is not an array of numbers"),
        ({"work": [1, 2], "source": [0.5], "target": [1]}, "source[0]: 0.5 is not a whole number"),
        ({"work": [1], "names": ["a", "b"]}, "names: there are 2 names for 1 tasks"),
        ({"work": [1], "durations": [[1, 1], [1, 1]]}, "durations: has 2 rows for 1 tasks"),
        ({"durations": [1, 1]}, "durations: is not a table"),
        ({}, "work: is missing; give work or durations"),
    ],
)
def test_mistakes_in_columns(columns: dict[str, Any], expected: str) -> None:
    """Columns that do not fit are named."""
    assert any(line.startswith(expected) for line in mistakes_of(Dag.from_arrays(**columns)))


def test_columns_and_objects_give_the_same_graph() -> None:
    """``from_arrays`` is the same as tasks and edges."""
    by_name = Dag({"T1": 1.0, "T2": 2.0}, [("T1", "T2", 3.0)])
    by_column = Dag.from_arrays(work=[1, 2], source=[0], target=[1], size=3)
    assert by_name == by_column


def test_arrays_are_copied_and_read_only() -> None:
    """Nobody changes a graph through the array it was built from."""
    work = np.array([1.0])
    dag = Dag.from_arrays(work=work)
    work[0] = 9.0
    assert dag.work.tolist() == [1.0]
    with pytest.raises(ValueError, match="read-only"):
        dag.work[0] = 2.0


def test_own_durations_stand_beside_works() -> None:
    """A task with durations takes them; the others take work / speed + set-up."""
    dag = Dag({"a": 6.0, "b": [7.0, 5.0]})
    problem = TaskGraph(dag, Network([1.0, 2.0], task_setup=[0.0, 0.5]))
    assert problem.durations.tolist() == [[6.0, 3.5], [7.0, 5.0]]
    assert problem.durations_on([0, 1, 1], [1, 0, 1]).tolist() == [3.5, 7.0, 5.0]
    assert dag.work.tolist() == [6.0, 6.0]


def test_names_of_a_given_plan_are_indexed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking them and solving share the index: for a million tasks it takes half a second."""
    indexed: list[int] = []

    def counted(names: Sequence[str]) -> dict[str, int]:
        indexed.append(len(names))
        return index_by_name(names)

    monkeypatch.setattr("makespan.taskgraph.model.given.index_by_name", counted)
    problem = TaskGraph.from_arrays(
        work=np.ones(3), network=Network([1.0]), assignment={f"T{task}": "M1" for task in (2, 1, 3)}
    )
    assert solve(problem).makespan == 3.0
    assert sorted(indexed) == [1, 3]


def test_columns_of_other_lengths_and_beyond_whole_floats_are_named() -> None:
    """Ragged durations by the lengths of their rows; an index that no integer holds as it is."""
    network = Network([1.0, 1.0])
    with pytest.raises(ProblemError, match="durations: has rows of 1 to 2 entries"):
        TaskGraph(Dag.from_arrays(durations=[np.array([1.0, 2.0]), np.array([1.0])]), network)
    far = Dag.from_arrays(work=[1.0, 2.0], source=[1e30], target=[1])
    with pytest.raises(ProblemError, match=r"source\[0\]: .* is above 9,007,199,254,740,992"):
        TaskGraph(far, network)
