"""The lecture's examples (PB165), every step of their traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from makespan import Dag, Network, Result, TaskGraph, read_problem, solve
from makespan.taskgraph.clustering import clustering_of
from makespan.taskgraph.levels import colevels, levels

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "taskgraph.json").read_text(encoding="utf-8")
    )
}
LISTS = [
    "pb165_exercise_list",
    "pb165_first_example_reconstruction_a",
    "pb165_first_example_reconstruction_b",
]
CLUSTERINGS = [
    "pb165_exercise_clustering",
    "pb165_clustering_example_reconstruction_half_integer",
    "pb165_clustering_example_reconstruction_integer",
]


def problem_of(case: dict[str, Any], **more: Any) -> TaskGraph:
    inputs = case["inputs"]
    edges = [(*ends.split("->"), float(size)) for ends, size in inputs["size"].items()]
    dag = Dag({name: float(work) for name, work in inputs["p"].items()}, edges)
    return TaskGraph(dag, Network([1.0] * inputs.get("machines", 2)), **more)


def solved(problem: TaskGraph, method: str, **options: Any) -> Result:
    return solve(problem, method=method, log=True, **options)


def named(tasks: list[int]) -> list[str]:
    return [str(task) for task in tasks]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("list_scheduling", LISTS[0]),
        ("list_example", LISTS[1]),
        ("clustering", CLUSTERINGS[0]),
        ("seven_tasks", CLUSTERINGS[2]),
    ],
)
def test_files_state_the_examples(file: str, name: str) -> None:
    """Works and sizes of the files are those of the examples; so is the makespan."""
    root = Path(__file__).parents[3]
    problem = read_problem(root / "examples" / "lecture" / f"{file}.toml")
    assert isinstance(problem, TaskGraph)
    case = CASES[name]
    wanted = problem_of(case).dag
    assert problem.dag.names == wanted.names
    assert problem.dag.work.tolist() == wanted.work.tolist()
    edges = [
        sorted(zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True))
        for dag in (problem.dag, wanted)
    ]
    assert edges[0] == edges[1]
    expected = case["expected"]
    assert solve(problem).makespan == expected.get("makespan", expected.get("parallel_time"))


@pytest.mark.parametrize("name", LISTS)
def test_list_scheduling_step_by_step(name: str) -> None:
    """Time, queue with levels, completions on the free machines, choice and times agree."""
    case = CASES[name]
    result = solved(problem_of(case, communication="blocking"), "list-scheduling", w1=1, w2=1)
    events = case["expected"]["events"]
    assert len(result.details["log"]) == len(events) == len(result.log)
    for step, event in zip(result.details["log"], events, strict=True):
        assert step["time"] == event["t"]
        assert step["queue"] == [[str(task), level] for task, level in event["queue"]]
        assert step["task"] == str(event["task"])
        assert step["options"] == {f"M{key}": end for key, end in event["options"].items()}
        assert step["machine"] == f"M{event['machine']}"
        assert step["taken"] == event["taken"]
        assert [step["start"], step["end"]] == event["exec"]
        assert step["start"] - step["taken"] == event["comm"]
        assert step["end"] == event["C"]
    assert result.makespan == case["expected"]["makespan"]
    taken = result.answer["taken"]
    assert taken == {str(event["task"]): event["taken"] for event in events}


@pytest.mark.parametrize("name", LISTS)
def test_the_log_reads_like_the_lecture(name: str) -> None:
    """Each line says the time, the queue with its levels, the candidates and the choice."""
    case = CASES[name]
    result = solved(problem_of(case, communication="blocking"), "list-scheduling")
    for line, event in zip(result.log, case["expected"]["events"], strict=True):
        queue = ", ".join(f"{task} ({level})" for task, level in event["queue"])
        assert line.startswith(
            f"t = {event['t']}; queue {queue}; {event['task']} would complete at"
        )
        assert f"{event['task']} to M{event['machine']}" in line
        assert line.endswith(f"executes {event['exec'][0]} to {event['exec'][1]}")


@pytest.mark.parametrize("name", LISTS)
def test_levels(name: str) -> None:
    """Levels, and where they are given co-levels, are those of the lecture."""
    case = CASES[name]
    dag = problem_of(case).dag
    found = dict(zip(dag.names, levels(dag, dag.work, dag.size).tolist(), strict=True))
    assert found == case["expected"]["levels"]
    if "colevels" in case["expected"]:
        back = dict(zip(dag.names, colevels(dag, dag.work, dag.size).tolist(), strict=True))
        assert back == case["expected"]["colevels"]


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_edge_zeroing_step_by_step(name: str) -> None:
    """Edge by edge: zeroed or not, the parallel time and the dominant sequence."""
    case = CASES[name]
    result = solved(problem_of(case), "edge-zeroing", w1=1.0, w2=1.0)
    steps = [step for step in result.details["log"] if "zeroed" in step]
    assert len(steps) == len(case["expected"]["steps"])
    for step, expected in zip(steps, case["expected"]["steps"], strict=True):
        edge = expected["edge"]
        assert step["edge"] == (None if edge is None else edge.split("->"))
        assert step["zeroed"] == expected["zeroed"]
        assert step["parallel_time"] == expected["parallel_time"]
        if expected.get("dominant") is not None:
            assert step["dominant_sequence"] == named(expected["dominant"])
    assert result.details["clusters"] == [named(c) for c in case["expected"]["clusters"]]
    assert result.details["parallel_time"] == case["expected"]["parallel_time"]
    assert result.makespan == case["expected"]["parallel_time"]


@pytest.mark.parametrize("name", CLUSTERINGS)
def test_the_plan_after_clustering(name: str) -> None:
    """Machines, starts and ends after ordering are those of the lecture."""
    case = CASES[name]
    result = solved(problem_of(case), "edge-zeroing")
    for task, place in case["expected"]["schedule"].items():
        machine = place.get("machine", place.get("proc"))
        assert result.answer["machine_of"][task] == f"M{machine}"
        assert result.answer["start"][task] == place["start"]
        assert result.answer["end"][task] == place["finish"]


@pytest.mark.parametrize("name", CLUSTERINGS[1:])
def test_dominant_sequence_of_given_clusters(name: str) -> None:
    """The lecture's three clusters have the dominant sequence 1 3 4 5 6 7 of length 10."""
    case = CASES[name]
    dag, expected = problem_of(case).dag, case["expected"]["three_cluster_picture"]
    label = {str(t): index for index, tasks in enumerate(expected["clusters"]) for t in tasks}
    found = clustering_of(dag, dag.work, dag.size, [label[name] for name in dag.names])
    assert found.parallel_time == expected["parallel_time"]
    assert [dag.names[t] for t in found.dominant_sequence] == named(expected["dominant"])
    assert (
        case["expected"]["dominant_sequence"]
        == case["expected"]["three_cluster_picture"]["dominant"]
    )


def test_levels_of_the_original_graph_give_another_trace() -> None:
    """Only levels on the zeroed graph give the lecture's 13 for the edge 1 → 3."""
    problem = problem_of(CASES[CLUSTERINGS[1]])
    steps = solved(problem, "edge-zeroing", levels="original").details["log"]
    refused = next(step for step in steps if step.get("edge") == ["1", "3"])
    assert refused["zeroed"] is False
    assert refused["dominant_sequence"] != named([1, 2, 3, 4, 5, 6, 7])


def test_clustering_ends_earlier_than_list_scheduling() -> None:
    """The lecture's last question: 6 against 7, because transfers begin earlier."""
    case = CASES["pb165_exercise_list"]
    by_list = solved(problem_of(case, communication="blocking"), "list-scheduling")
    by_clusters = solved(problem_of(case), "edge-zeroing")
    assert (by_list.makespan, by_clusters.makespan) == (7.0, 6.0)
    assert by_clusters.status == "optimal"


def test_communication_delay_of_the_mapping_heuristic() -> None:
    """(size / rate + set-up) × hops and p / speed + set-up, as the lecture has them."""
    case = CASES["pb165_mapping_heuristic_formula"]
    inputs, expected = case["inputs"], case["expected"]
    count = inputs["hops"] + 1
    network = Network(
        [inputs["speed"]] * count,
        task_setup=inputs["setuptask"],
        message_setup=inputs["setupmsg"],
        topology="links",
        rate=1.0,
        links=[(f"M{i + 1}", f"M{i + 2}", inputs["transrate"]) for i in range(count - 1)],
    )
    dag = Dag({"a": inputs["p_i"], "b": 1.0}, [("a", "b", inputs["size"])])
    problem = TaskGraph(dag, network)
    assert problem.durations[0, 0] == expected["exec_time"]
    transfer = network.routing.seconds(0, count - 1, inputs["size"])
    assert transfer + inputs["contdelay"] == expected["comm_delay"]
    assert len(network.routing.route(0, count - 1)) == inputs["hops"]
