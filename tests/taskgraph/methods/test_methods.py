"""What holds for the plans of every method."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from makespan import Dag, MethodError, Network, TaskGraph, lower_bound, methods, solve
from makespan.taskgraph.generate import graphs as generators
from tests.numbers import amounts
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.oracles.taskgraph_rules import broken_rule

SAMPLING = ("monte-carlo", "sample-average")  # they take as long as they may
METHODS = (
    "list-scheduling",
    "mapping-heuristic",
    "dominant-sequence-clustering",
    "linear-clustering",
    "edge-zeroing",
)


def assert_valid(problem: TaskGraph, name: str) -> None:
    result = solve(problem, method=name)
    assert broken_rule(problem, result.schedule) == ""
    assert result.makespan >= lower_bound(problem).value * (1 - 1e-12)


def applicable(problem: TaskGraph) -> list[str]:
    """Return the methods that can plan a problem."""
    return [verdict.name for verdict in methods(problem) if verdict.applies]


@pytest.mark.parametrize(("communication", "contention"), MODELS)
def test_valid_on_random_graphs(communication: str, contention: str) -> None:
    """Every method's plan passes the referee and its slow twin, on all topologies."""
    for seed in range(7):
        problem = random_problem(seed, communication, contention)
        for name in METHODS if not problem.is_rigid else METHODS[:2]:
            assert_valid(problem, name)


@pytest.mark.slow
def test_valid_on_a_thousand_random_graphs() -> None:
    """All methods that apply, on 1000 graphs, models and topologies in turn."""
    seen = set()
    for seed in range(1000):
        communication, contention = MODELS[seed // 10 % len(MODELS)]
        problem = random_problem(seed, communication, contention)
        for name in applicable(problem):
            limit = 0.02 if name in SAMPLING else 0.2
            result = solve(problem, method=name, time_limit=limit)
            assert broken_rule(problem, result.schedule) == "", (seed, name)
            seen.add(name)
    assert seen >= {*METHODS, "heft", "cpop", "peft", "mcp", "lookahead", "dls", "etf", "cp-sat"}


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 8).flatmap(
        lambda count: st.tuples(
            st.lists(amounts(10), min_size=count, max_size=count),
            st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=12),
            amounts(10),
        )
    ),
    st.integers(1, 3),
    st.sampled_from(MODELS),
)
def test_valid_on_any_graph(
    graph: tuple[list[float], list[tuple[int, int]], float], machines: int, model: tuple[str, str]
) -> None:
    """Also with tasks of no work, edges of no data, and graphs without edges."""
    work, pairs, size = graph
    forward = sorted({(a, b) for a, b in pairs if a < b})
    dag = Dag.from_arrays(
        work=work, source=[a for a, _ in forward], target=[b for _, b in forward], size=size
    )
    network = Network(np.arange(1.0, machines + 1), topology="ring")
    problem = TaskGraph(dag, network, communication=model[0], contention=model[1])  # type: ignore[arg-type]
    for name in METHODS:
        assert_valid(problem, name)


def test_auto_is_never_worse_than_a_method() -> None:
    """``auto`` keeps the best plan of its line-up."""
    for seed in range(10):
        problem = random_problem(seed)
        best = min(solve(problem, method=name).makespan for name in METHODS)
        assert solve(problem).makespan <= best * (1 + 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_scaling_of_time(name: str) -> None:
    """Twice the work and twice the data take twice the time: powers of two change no decision."""
    for seed in range(6):
        dag = generators.layered(20, rng=seed)
        twice = Dag.from_arrays(
            work=2 * dag.work, source=dag.source, target=dag.target, size=2 * dag.size
        )
        network = Network([1.0, 2.0, 2.0], topology="star")
        one, two = (solve(TaskGraph(each, network), method=name).makespan for each in (dag, twice))
        assert two == 2 * one


@pytest.mark.parametrize("name", METHODS)
def test_names_do_not_matter(name: str) -> None:
    """Other names of tasks and machines give the same plan."""
    dag = generators.cholesky(4)
    other = Dag.from_arrays(
        work=dag.work, source=dag.source, target=dag.target, size=dag.size,
        names=[f"z{index}" for index in range(len(dag), 0, -1)],
    )  # fmt: skip
    networks = (Network([1.0, 2.0, 1.0]), Network([1.0, 2.0, 1.0], names=["c", "b", "a"]))
    plans = [
        solve(TaskGraph(each, network), method=name).schedule
        for each, network in zip((dag, other), networks, strict=True)
    ]
    assert np.array_equal(plans[0].start, plans[1].start)
    assert np.array_equal(plans[0].machine, plans[1].machine)


@pytest.mark.slow
def test_hash_seeds_do_not_matter() -> None:
    """All methods that are not ended by a clock give the same plans to the bit under any hash
    seed."""
    code = (
        "from tests.oracles.taskgraph_instances import random_problem\n"
        "from tests.taskgraph.methods.test_methods import applicable\n"
        "from makespan import solve\n"
        "for model in (('overlap', 'links'), ('overlap', 'none'), ('blocking', 'ports')):\n"
        "    for seed in range(3):\n"
        "        problem = random_problem(seed, *model)\n"
        "        for name in applicable(problem):\n"
        "            if name not in ('cp-sat', 'cp-sat-transfers', 'cumulative'):\n"
        "                schedule = solve(problem, method=name).schedule\n"
        "                print(name, schedule.machine.tolist(), schedule.start.tolist())\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != ""


@pytest.mark.parametrize("priority", ["level", "co-level", "arrival", "duration", "parallelism"])
def test_priorities_order_the_queue(priority: str) -> None:
    """On one machine independent tasks are executed by falling priority, ties by input order."""
    problem = TaskGraph(Dag({"a": 1.0, "b": 3.0, "c": 2.0}), Network([1.0]))
    start = solve(problem, method="list-scheduling", priority=priority).answer["start"]
    order = sorted(start, key=start.__getitem__)
    by_length = ["b", "c", "a"]
    expected = {"arrival": ["a", "b", "c"], "parallelism": ["a", "b", "c"]}
    assert order == expected.get(priority, by_length)


def test_parallelism_prefers_tasks_with_more_successors() -> None:
    """The task that makes most others ready goes first."""
    problem = TaskGraph(
        Dag({"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, [("b", "c"), ("b", "d")]), Network([1.0])
    )
    start = solve(problem, method="list-scheduling", priority="parallelism").answer["start"]
    assert start["b"] == 0.0


def test_callable_priority_and_machine() -> None:
    """P and M of the lecture may be functions."""
    problem = TaskGraph(Dag({"a": 1.0, "b": 3.0, "c": 2.0}), Network([1.0, 1.0]))
    result = solve(
        problem,
        method="list-scheduling",
        priority=lambda problem, task: task,
        machine=lambda problem, task, ends: max(ends),
    )
    assert result.answer["machine_of"] == {"c": "M2", "b": "M1", "a": "M2"}


def test_weights_change_levels() -> None:
    """With w2 = 0 the level is the work ahead only."""
    dag = Dag({"a": 1.0, "b": 5.0, "c": 2.0, "d": 1.0}, [("a", "d", 9.0), ("b", "d", 0.0)])
    problem = TaskGraph(dag, Network([1.0]))
    first = {
        w2: min((start, name) for name, start in answer.items())[1]
        for w2 in (0.0, 1.0)
        for answer in [solve(problem, method="list-scheduling", w1=1, w2=w2).answer["start"]]
    }
    assert first == {0.0: "b", 1.0: "a"}


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("list-scheduling", {"priority": "levle"}, "did you mean 'level'"),
        ("list-scheduling", {"machine": "fastest"}, "there is no rule 'fastest'"),
        ("list-scheduling", {"machine": lambda *_: 7}, "7 is not one of the free machines"),
        ("edge-zeroing", {"levels": "old"}, "there is no reading 'old'"),
        ("hu", {}, "needs equal durations"),
        ("coffman-graham", {}, "needs data that take no time"),
        ("given-plan", {}, "needs a given plan"),
    ],
)
def test_refusals(method: str, options: dict[str, object], message: str) -> None:
    """What can't be done is refused by name, with what is allowed or what stands in the way."""
    dag = Dag({"a": 1.0, "b": 2.0}, [("a", "b", 1.0)])
    with pytest.raises(MethodError, match=message):
        solve(TaskGraph(dag, Network([1.0, 1.0])), method=method, **options)


def test_contention_delay_is_planned() -> None:
    """On one bus two equal transfers wait for each other; the heuristic counts that."""
    dag = Dag({"a": 1.0, "b": 9.0, "c": 9.0, "d": 9.0}, [("a", x, 4.0) for x in "bcd"])
    free, bus = (
        TaskGraph(dag, Network([1.0] * 3, topology="bus"), contention=contention)  # type: ignore[arg-type]
        for contention in ("none", "links")
    )
    makespans = [solve(each, method="mapping-heuristic").makespan for each in (free, bus)]
    assert makespans == [14.0, 18.0]


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [("heft", "w1", "x"), ("heft", "w2", -1.0), ("edge-zeroing", "w1", float("nan")),
     ("local-search", "moves", -1), ("local-search", "moves", 1.5)],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(method: str, option: str, value: object) -> None:
    """The error names the option, what was found and what is allowed."""
    problem = TaskGraph(generators.layered(6, rng=1), Network([1.0, 2.0]))
    with pytest.raises(MethodError, match=f"^{option}: .*(0 or more|from 0)"):
        solve(problem, method=method, **{option: value})
