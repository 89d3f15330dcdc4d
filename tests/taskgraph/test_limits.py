"""Releases and deadlines of tasks: obeyed, refereed, proved, written, drawn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from makespan import (
    Dag,
    Network,
    ProblemError,
    Schedule,
    TaskGraph,
    check,
    lower_bound,
    methods,
    read_problem,
    save,
    simulate,
    solve,
)
from makespan.flow.plot import svg
from makespan.taskgraph.bounds import impossible
from makespan.taskgraph.file import read, write
from makespan.taskgraph.generate import graphs
from tests.oracles.taskgraph_enumeration import best, covers, random_problem
from tests.thorough import few, up_to

TWO = Network([1.0, 1.0])


def released(count: int, seed: int, network: Network = TWO, **more: object) -> TaskGraph:
    """Return a layered graph with releases of half of its tasks."""
    rng = np.random.default_rng(seed)
    dag = graphs.layered(count, rng=rng)
    release = rng.uniform(0.0, dag.work.sum() / 2, len(dag)) * (rng.random(len(dag)) < 0.5)
    return TaskGraph.from_arrays(
        work=dag.work, source=dag.source, target=dag.target, size=dag.size, release=release,
        network=network, **more,
    )  # fmt: skip


@pytest.mark.parametrize("communication", ["overlap", "blocking"])
@pytest.mark.parametrize("contention", few(["ports", "none", "links"], 1, thorough=3))
def test_every_method_obeys_releases(communication: str, contention: str) -> None:
    """No machine takes a task before its release, whoever plans; some refuse by name."""
    problem = released(8, 1, communication=communication, contention=contention)
    for verdict in methods(problem):
        if verdict.applies:
            result = solve(problem, method=verdict.name, time_limit=0.2)
            assert check(result).ok, verdict.name
            assert result.makespan > problem.dag.release.max()
    with pytest.raises(Exception, match="needs tasks that are there from the start, but T"):
        solve(problem, method="hu")


@pytest.mark.parametrize("method", ["heft", "mcp", "peft", "cpop", "local-search"])
def test_compiled_plans_obey_releases(form: bool, method: str) -> None:
    """The loops for large graphs give what the plain ones give: plans that the referee accepts."""
    problem = released(60, 3, Network([1.0, 2.0, 3.0], cores=[1, 2, 1]))
    few: dict[str, Any] = {"moves": 500} if method == "local-search" else {}  # 500,000 take minutes
    result = solve(problem, method=method, **few)
    starts = [result.answer["start"][name] for name in problem.dag.names]
    assert (np.array(starts) >= problem.dag.release * (1 - 1e-9)).all()


def test_copies_obey_releases() -> None:
    """A copy is released when its task is; of several, the first has to meet the deadline."""
    dag = Dag({"a": 2.0, "b": 3.0, "c": 3.0}, [("a", "b", 9.0), ("a", "c", 9.0)],
              release={"a": 1.0}, deadline={"a": 3.0})  # fmt: skip
    result = solve(TaskGraph(dag, TWO, duplication=True))
    assert result.makespan == 6.0
    assert len(result.answer["copies"]["a"]) == 2


def test_deadlines_decide_the_order() -> None:
    """What is urgent goes first, though another is on the longer path."""
    dag = Dag({"a": 3.0, "b": 4.0, "c": 2.0}, [("a", "b")], deadline={"c": 2.0})
    problem = TaskGraph(dag, Network([1.0]))
    for name in ("heft", "mcp", "lookahead", "list-scheduling", "mapping-heuristic", "cp-sat"):
        assert solve(problem, method=name).answer["end"]["c"] == 2.0, name


def test_a_plan_that_misses_a_deadline_is_not_valid() -> None:
    """A method whose plan is late has none; the note says what is late."""
    dag = Dag({"a": 3.0, "b": 3.0}, deadline={"b": 4.0})
    problem = TaskGraph(dag, TWO)
    late = solve(problem, method="single-machine")
    assert late.status == "limit"
    assert "b ends 2 s after its deadline 4" in late.notes[0]
    rows = [("compute", 0, -1, 0, 3.0, 0.0, 3.0), ("compute", 0, -1, 1, 3.0, 3.0, 6.0)]
    report = check(problem, Schedule.of_rows(["M1", "M2"], rows))
    assert [violation.rule for violation in report.violations] == ["deadline"]
    early = TaskGraph(Dag({"a": 3.0}, release={"a": 1.0}), Network([1.0]))
    report = check(early, Schedule.of_rows(["M1"], rows[:1]))
    assert [violation.rule for violation in report.violations] == ["release"]


def test_infeasible_is_proved() -> None:
    """By a path, by what all cores can do, and by search where bounds are too weak."""
    path = Dag({"a": 3.0, "b": 4.0}, [("a", "b")], release={"a": 1.0}, deadline={"b": 7.9})
    area = Dag(dict.fromkeys("abc", 2.0), deadline=dict.fromkeys("abc", 2.9))
    packed = Dag(dict.fromkeys("abc", 2.0), deadline=dict.fromkeys("abc", 3.9))
    given = {"assignment": {"a": "M1", "b": "M1"}, "sequence": {"M1": ["a", "b"]}}
    late = Dag({"a": 3.0, "b": 4.0}, deadline={"b": 6.9})
    for problem, said in (
        (TaskGraph(path, TWO), "b ends at 8 at the earliest, its deadline is 7.9"),
        (TaskGraph(area, TWO), "takes all cores together 3 s"),
        (TaskGraph(packed, TWO), "all were tried"),
        (TaskGraph(late, TWO, **given), "as given, as early as possible: b ends 0.1 s after"),
    ):
        result = solve(problem)
        assert result.status == "infeasible"
        assert said in result.notes[0]
    assert solve(TaskGraph(packed, TWO), method="cp-sat").status == "infeasible"


@pytest.mark.parametrize("count", up_to(200, 600))
def test_bounds_on_deadlines_are_true(count: int) -> None:
    """What bounds call impossible no enumeration can plan."""
    found = 0
    for seed in range(2000, 2000 + count):
        problem = random_problem(np.random.default_rng(seed))
        if impossible(problem) is not None and covers(problem):
            assert best(problem) in (None, np.inf), seed
            found += 1
    assert found > count / 60


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 1e7, 1e30])
def test_tight_deadlines_at_any_scale(scale: float) -> None:
    """Deadlines that the best plan just meets are met; a millionth less is proved impossible."""
    work = {"a": 1.1, "b": 0.7, "c": 2.3, "d": 0.9}
    edges = [("a", "c", 0.3), ("b", "d", 0.3)]

    def problem(share: float) -> TaskGraph:
        works = {name: each * scale for name, each in work.items()}
        sizes = [(a, b, size * scale) for a, b, size in edges]
        due = {"d": 1.6 * scale * share, "c": 3.4 * scale * share}
        return TaskGraph(Dag(works, sizes, deadline=due), TWO)

    for method in ("auto", "cp-sat", "branch-and-bound"):
        assert solve(problem(1.0), method=method).status == "optimal"
        assert solve(problem(1.0 - 1e-6), method=method).status == "infeasible"


def test_search_finds_plans_that_meet_deadlines() -> None:
    """Where the quick plans are late, local search gets in time, and the exact method is right."""
    dag = graphs.layered(25, ccr=1.0, rng=3)
    free = solve(TaskGraph(dag, Network([1.0, 1.0, 2.0])), method="cp-sat", time_limit=60.0)
    ends = np.array([free.answer["end"][name] for name in dag.names])
    due = np.where(np.arange(25) % 3 == 0, ends * 1.02, np.inf)
    problem = TaskGraph.from_arrays(
        work=dag.work, source=dag.source, target=dag.target, size=dag.size, deadline=due,
        network=Network([1.0, 1.0, 2.0]),
    )  # fmt: skip
    assert solve(problem, method="heft").schedule is None
    for method in ("local-search", "cp-sat"):
        result = solve(problem, method=method, time_limit=30.0)
        assert check(result).ok
        assert result.makespan <= free.makespan * 1.05


def test_bounds_begin_at_releases() -> None:
    """A path counts from the release of any of its tasks."""
    dag = Dag({"a": 3.0, "b": 4.0}, [("a", "b")], release={"b": 9.0})
    assert lower_bound(TaskGraph(dag, TWO)).value == 13.0


def test_simulation_waits_for_releases() -> None:
    """Shorter durations don't start a task before its release."""
    dag = Dag({"a": 3.0, "b": 4.0}, [("a", "b")], release={"b": 9.0})
    result = solve(TaskGraph(dag, TWO))
    assert simulate(result, noise=0.3, repetitions=50).makespans.min() > 9.0


@pytest.mark.parametrize("count", [3, 1200])
def test_files_hold_them(tmp_path, count: int) -> None:  # type: ignore[no-untyped-def]
    """Lists and columns; infinity is null in JSON; what has its default is left out."""
    release, deadline = np.zeros(count), np.full(count, np.inf)
    release[1], deadline[2] = 2.5, 1e6
    problem = TaskGraph.from_arrays(
        work=np.ones(count), release=release, deadline=deadline, network=TWO
    )
    assert read(write(problem)) == problem
    for name in ("p.json", "p.toml"):
        save(problem, tmp_path / name)
        assert read_problem(tmp_path / name) == problem
    text = json.loads((tmp_path / "p.json").read_text())
    if count == 3:
        assert text["tasks"][1:] == [
            {"name": "T2", "work": 1.0, "release": 2.5},
            {"name": "T3", "work": 1.0, "deadline": 1e6},
        ]
    else:
        assert text["columns"]["deadline"][:3] == [None, None, 1e6]


def test_mistakes_are_named() -> None:
    """Each with its place, all together."""
    with pytest.raises(ProblemError) as caught:
        TaskGraph(Dag({"a": 1.0}, release={"a": -1.0, "b": 2.0}, deadline={"a": "late"}), TWO)
    assert [mistake.place for mistake in caught.value.mistakes] == [
        "tasks[0].release", "release.b", "tasks[0].deadline",
    ]  # fmt: skip
    with pytest.raises(ProblemError, match=r"release: has 2 entries for 1 tasks"):
        TaskGraph.from_arrays(work=[1.0], release=[1.0, 2.0], network=TWO)
    with pytest.raises(ProblemError, match=r"tasks\[0\].deadline: -1 is negative; a deadline is"):
        read({"kind": "taskgraph", "tasks": [{"name": "a", "work": 1.0, "deadline": -1}],
              "network": {"machines": [{}]}})  # fmt: skip
    with pytest.raises(ProblemError, match=r"columns.release\[1\]: -2 is negative"):
        read({"kind": "taskgraph", "columns": {"work": [1, 1], "release": [0, -2]},
              "network": {"machines": [{}]}})  # fmt: skip


def test_pictures_show_them() -> None:
    """Marks in the chart of a plan, and beside the works in the graph."""
    dag = Dag({"a": 3.0, "b": 4.0}, release={"b": 1.5}, deadline={"a": 5.0})
    problem = TaskGraph(dag, TWO)
    drawn = svg(problem, view="graph")
    assert "4, from 1.5" in drawn
    assert "3, by 5" in drawn
    assert "a due" in svg(solve(problem))
