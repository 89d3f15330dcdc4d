"""Tasks that hold several cores of one machine."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from makespan import (
    Dag,
    MethodError,
    Network,
    ProblemError,
    Schedule,
    TaskGraph,
    check,
    methods,
    read_problem,
    save,
    simulate,
    solve,
)
from makespan.core.numeric import jit
from makespan.core.schedule import Activity
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.file import read, write
from makespan.taskgraph.list_scheduling import schedule_of
from makespan.taskgraph.pictures import picture
from makespan.taskgraph.pictures.diagrams import graph, platform
from makespan.taskgraph.timing import retimed
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.oracles.taskgraph_rules import broken_rule
from tests.thorough import few, up_to

SINGLE = (
    "hu", "coffman-graham", "duplication", "ic-pcp", "linear-clustering", "edge-zeroing",
    "dominant-sequence-clustering",
)  # fmt: skip


def one_machine(cores: dict[str, int], seconds: dict[str, float], total: int) -> TaskGraph:
    return TaskGraph(Dag(seconds, cores=cores), Network([1.0], cores=total))


def planned(problem: TaskGraph, starts: list[float], machine: list[int] | None = None) -> Schedule:
    """Return the plan without transfers in which tasks start then, on these machines."""
    place = [0] * len(starts) if machine is None else machine
    ends = [start + work for start, work in zip(starts, problem.dag.work.tolist(), strict=True)]
    tasks = (np.arange(len(starts)), place, starts, ends)
    return schedule_of(problem, tasks, (np.zeros(0),) * 5)


def test_tasks_share_a_machine_as_far_as_its_cores_go() -> None:
    """On three cores one of two and one of one run together; two of two don't."""
    problem = one_machine({"a": 2, "b": 2}, {"a": 3.0, "b": 3.0, "c": 3.0}, 3)
    result = solve(problem)
    assert (result.makespan, str(result.status)) == (6.0, "optimal")
    assert solve(replace(problem, network=Network([1.0], cores=5))).makespan == 3.0


def test_a_machine_with_fewer_cores_executes_nothing_of_it() -> None:
    """The task goes to the slow machine with the cores, by every method."""
    dag = Dag({"a": 4.0, "b": 4.0}, [("a", "b", 1.0)], cores={"b": 3})
    problem = TaskGraph(dag, Network([9.0, 1.0], cores=[2, 3]))
    assert problem.durations[1].tolist() == [np.inf, 4.0]
    assert problem.seconds(1, 0) == problem.durations_on([1], [0])[0] == np.inf
    for verdict in methods(problem):
        if verdict.applies and verdict.name not in ("monte-carlo", "sample-average"):
            assert solve(problem, method=verdict.name).answer["machine_of"]["b"] == "M2"


@pytest.mark.parametrize(
    ("cores", "message"),
    [
        ({"a": 4}, r"tasks\[0\].cores: 4 is above 3, the most of a machine"),
        ({"a": 0}, r"tasks\[0\].cores: 0 is below 1; the cores of a task are a whole number"),
        ({"a": 1.5}, r"tasks\[0\].cores: 1.5 is not a whole number"),
        ({"x": 1}, "cores.x: there is no task 'x'"),
        ([1], r"cores: \[1\] is not a table of cores by task"),
    ],
)
def test_mistakes(cores: Any, message: str) -> None:
    """More than any machine has, what is not a number of cores, and tasks that are not there."""
    with pytest.raises(ProblemError, match=message):
        TaskGraph(Dag({"a": 1.0}, cores=cores), Network([1.0, 1.0], cores=[1, 3]))


def test_mistakes_in_columns() -> None:
    """Columns are as long as there are tasks, and hold whole numbers from 1."""
    for cores in ([1, 2, 3], [0.5, 1.0], [np.nan, 1.0], [-1, 1], ["a", "b"]):
        with pytest.raises(ProblemError, match="cores"):
            TaskGraph.from_arrays(work=[1.0, 1.0], cores=cores, network=Network([1.0], cores=9))


def test_a_given_plan_needs_the_cores() -> None:
    """A task can't be assigned to a machine that has fewer."""
    problem = TaskGraph(Dag({"a": 1.0}, cores={"a": 2}), Network([1.0, 1.0], cores=[1, 2]))
    with pytest.raises(ProblemError, match=r"assignment.a: the task needs 2 cores, 'M1' has 1"):
        replace(problem, assignment={"a": "M1"})
    assert solve(replace(problem, sequence={"M2": ["a"]})).makespan == 1.0


def test_the_referee_counts_cores() -> None:
    """Two tasks of two cores fit on four; on three they are one too many; back to back is fine."""
    seconds, cores = {"a": 2.0, "b": 2.0}, {"a": 2, "b": 2}
    four, three = (one_machine(cores, seconds, total) for total in (4, 3))
    assert check(four, planned(four, [0.0, 1.0])).ok
    (violation,) = check(three, planned(three, [0.0, 1.0])).violations
    assert violation.rule == "cores"
    assert "2 tasks on 4 cores at the same time" in violation.message
    assert check(three, planned(three, [2.0, 0.0])).ok


def test_the_referee_knows_machines_that_are_too_small() -> None:
    """That is said once, whatever else the plan does there; its price is that of what can be."""
    dag = Dag({"a": 2.0, "b": 1.0}, cores={"a": 2})
    problem = TaskGraph(dag, Network([1.0, 1.0], cores=[1, 2], price=[0, 1]), budget=9.0)
    found = check(problem, planned(problem, [0.0, 2.0], [0, 0])).violations
    assert [(each.rule, each.message) for each in found] == [("cores", "a needs 2 cores, M1 has 1")]


@pytest.mark.parametrize("as_columns", [False, True])
def test_files_keep_cores(as_columns: bool, tmp_path: Any) -> None:
    """As entries of tasks, as a column, in TOML, JSON and binary."""
    count = 1200 if as_columns else 3
    cores = np.arange(count) % 3 + 1
    network = Network([1.0], cores=8)
    problem = TaskGraph.from_arrays(work=np.ones(count), cores=cores, network=network)
    data = write(problem)
    assert ("columns" in data) == as_columns
    assert read(json.loads(json.dumps(data))) == problem
    for suffix in (".toml", ".json", ".npz"):
        path = tmp_path / f"problem{suffix}"
        save(problem, path)
        again = read_problem(path)
        assert again == problem
        assert again.dag.cores.tolist() == cores.tolist()
    assert problem != TaskGraph.from_arrays(work=np.ones(count), network=network)


def test_every_core_is_paid() -> None:
    """Two seconds of three cores at 5 a second, beside a task on one core, and a start."""
    dag = Dag({"a": 2.0, "b": 1.0}, cores={"a": 3})
    problem = TaskGraph(dag, Network([1.0], cores=4, price=5.0, start_price=7.0))
    assert solve(problem).answer["price"] == 2 * 3 * 5 + 5 + 7
    poor = solve(replace(problem, budget=41.0))
    assert str(poor.status) == "infeasible"
    assert "no plan costs less than 42" in poor.notes[0]


@pytest.mark.parametrize("name", SINGLE)
def test_methods_that_refuse(name: str) -> None:
    """They say which task needs several."""
    network = Network([1.0], cores=2, price=1.0)
    problem = TaskGraph(
        Dag({"a": 1.0, "b": 1.0}, cores={"a": 2}), network,
        duplication=name == "duplication", deadline=9.0 if name == "ic-pcp" else None,
    )  # fmt: skip
    with pytest.raises(MethodError, match="needs tasks on one core each, but a needs 2"):
        solve(problem, method=name)


@pytest.mark.parametrize(("communication", "contention"), few(MODELS, 1))
def test_all_methods_on_random_graphs(communication: Any, contention: Any) -> None:
    """What applies gives plans that the slow referee accepts, timed as early as they are."""
    for seed in range(3, 60, 12):
        problem = random_problem(seed, communication, contention)
        if not problem.is_rigid:
            continue
        for verdict in methods(problem):
            if not verdict.applies:
                assert verdict.name != "heft"
                continue
            result = solve(problem, method=verdict.name, time_limit=0.05)
            assert broken_rule(problem, result.schedule) == "", (seed, verdict.name)
            again = retimed(problem, result.schedule)
            assert again.makespan <= result.makespan * (1 + 1e-12), (seed, verdict.name)


@pytest.mark.kernels
def test_plain_and_compiled_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists, local search with and without waiting transfers, and timing, to the bit."""
    problems = [random_problem(seed, *MODELS[seed % len(MODELS)]) for seed in range(3, 60, 4)]
    rigid = [problem for problem in problems if problem.is_rigid]
    assert {problem.is_blocking for problem in rigid} == {True, False}
    for problem in rigid:
        for name, more in (("etf", {}), ("min-min", {}), ("local-search", {"moves": 200})):
            starts = []
            for forced in (False, True):
                monkeypatch.setattr(jit, "forced", forced)
                plan = solve(problem, method=name, rng=1, **more).schedule
                starts.append(plan.start.tolist())
            assert starts[0] == starts[1], name


def test_bounds_of_wide_tasks() -> None:
    """Of tasks of more than half the cores one runs at a time; wide ones only where they fit."""
    wide = one_machine(dict.fromkeys("abc", 5), dict.fromkeys("abc", 2.0), 8)
    assert max(bound.value for bound in bounds(wide)) == 6.0
    dag = Dag(dict.fromkeys("abcd", 2.0), cores=dict.fromkeys("abcd", 2))
    some = TaskGraph(dag, Network([1.0] * 9, cores=[4, *[1] * 8]))
    assert max(bound.value for bound in bounds(some)) == 4.0
    assert solve(some).makespan == 4.0


@pytest.mark.parametrize("count", up_to(5, 15))
def test_all_orders_of_rigid_tasks(count: int) -> None:
    """The shortest plan of independent tasks on one machine, against all orders of starts."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        seconds, cores = rng.integers(1, 9, 6), rng.integers(1, 6, 6)
        names = [f"t{index}" for index in range(6)]
        problem = one_machine(
            dict(zip(names, cores.tolist(), strict=True)),
            dict(zip(names, seconds.astype(float).tolist(), strict=True)), 5,
        )  # fmt: skip
        least = min(
            _one_after_another(order, seconds, cores, 5) for order in permutations(range(6))
        )
        for method in ("cumulative", "cp-sat"):
            result = solve(problem, method=method)
            assert (result.makespan, str(result.status)) == (least, "optimal")


def _one_after_another(order: Any, seconds: np.ndarray, cores: np.ndarray, total: int) -> int:
    """Return the end of a plan in which no task starts before the one before it."""
    busy = np.zeros(int(seconds.sum()), dtype=np.int64)
    start = 0
    for task in order:
        while (busy[start : start + seconds[task]] + cores[task] > total).any():
            start += 1
        busy[start : start + seconds[task]] += cores[task]
    return int(np.flatnonzero(busy).max()) + 1


def test_repetitions_hold_the_cores() -> None:
    """Disturbed runs keep what is decided: two wide tasks never run together."""
    problem = one_machine({"a": 2, "b": 2}, {"a": 3.0, "b": 3.0}, 3)
    found = simulate(problem, solve(problem).schedule, noise=0.1, repetitions=50, rng=1)
    assert found.makespans.min() > 4.5


def test_a_plan_is_there_when_the_time_is_up() -> None:
    """Also of many tasks: all on the one machine with enough cores."""
    cores = np.arange(2000) % 4 + 1
    network = Network([4.0, 1.0], cores=[2, 4])
    problem = TaskGraph.from_arrays(work=np.ones(2000), cores=cores, network=network)
    for method in ("auto", "heft", "etf", "local-search"):
        result = solve(problem, method=method, time_limit=0.0)
        rows = result.schedule.rows_of(Activity.COMPUTE)
        assert len(rows) == 2000


def test_pictures_show_every_core() -> None:
    """A bar on each lane that a task holds; the cores in the graph; the machine's share busy."""
    problem = one_machine({"a": 3, "b": 2}, {"a": 2.0, "b": 2.0, "c": 2.0}, 4)
    plan = planned(problem, [0.0, 2.0, 0.0])
    bars = picture(problem, plan).bars
    found = sorted(zip(bars.activity.tolist(), bars.lane.tolist(), strict=True))
    assert found == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 3)]
    assert graph(problem).nodes.note == ["2, on 3 cores", "2, on 2 cores", "2"]
    assert graph(problem, plan).edges.dashed.sum() == 2  # b behind a and c
    assert platform(problem, plan).nodes.note[0] == "busy 75 %"
