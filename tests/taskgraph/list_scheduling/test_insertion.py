"""Plans by insertion: published ones, compiled and plain ones, gaps, contention."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Dag, Network, TaskGraph, solve
from makespan.core.control import Control
from makespan.core.registry import find_method
from makespan.taskgraph import timing
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.list_scheduling.free_times import Gaps
from makespan.taskgraph.list_scheduling.insertion import Aim, _compiled, inserted_by_trial
from makespan.taskgraph.methods.heft import cpop, optimistic_costs
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.oracles.taskgraph_rules import broken_rule
from tests.taskgraph.methods.test_published import CASES, dag_of

BY_INSERTION = ("heft", "cpop", "peft", "mcp", "lookahead")
TOGETHER = ("dls", "etf", "single-machine")


def published(name: str) -> TaskGraph:
    return TaskGraph(dag_of(CASES[name]), Network([1.0] * 3))


@pytest.mark.parametrize(
    ("name", "method", "makespan"),
    [
        ("topcuoglu2002", "heft", 80.0),
        ("topcuoglu2002", "cpop", 86.0),
        ("topcuoglu2002", "dls", 91.0),
        ("topcuoglu2002", "peft", 85.0),
        ("topcuoglu2002", "etf", 93.0),
        ("arabnejad2014_peft", "peft", 122.0),
        ("arabnejad2014_peft", "heft", 133.0),
    ],
)
def test_published_makespans(name: str, method: str, makespan: float) -> None:
    """The makespans of the papers' examples are those printed there."""
    assert solve(published(name), method=method).makespan == makespan


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("topcuoglu2002", "heft"),
        ("topcuoglu2002", "cpop"),
        ("arabnejad2014_peft", "peft"),
        ("arabnejad2014_peft", "heft"),
    ],
)
def test_published_schedules(name: str, method: str) -> None:
    """Every task is on the machine and at the time that the paper prints."""
    answer = solve(published(name), method=method).answer
    for task, place in CASES[name]["expected"][f"{method}_schedule"].items():
        assert answer["machine_of"][task] == f"M{place['proc']}"
        assert (answer["start"][task], answer["end"][task]) == (place["start"], place["finish"])


def test_published_ranks_and_tables() -> None:
    """Upward ranks, the critical path and the optimistic cost table are those published."""
    problem = published("topcuoglu2002")
    ranks = levels(problem.dag, *weights(problem))
    for task, rank in CASES["topcuoglu2002"]["expected"]["rank_u"].items():
        assert ranks[problem.task_named(task)] == pytest.approx(rank, abs=5e-4)
    path = cpop(problem, Control()).details["critical_path"]
    assert path == [str(task) for task in CASES["topcuoglu2002"]["expected"]["cpop_critical_path"]]
    other = published("arabnejad2014_peft")
    table = optimistic_costs(other, Control())
    assert table is not None
    for task, row in CASES["arabnejad2014_peft"]["expected"]["oct"].items():
        assert table[other.task_named(task)].tolist() == row


def compiled_equals_plain(
    problem: TaskGraph, aim: Aim, bias: np.ndarray | None, pinned: np.ndarray | None
) -> None:
    order = by_level(problem.dag, levels(problem.dag, *weights(problem)))
    plain = inserted_by_trial(problem, Control(), order, aim=aim, bias=bias, pinned=pinned)
    compiled = _compiled(problem, Control(), order, aim, pinned, bias)
    for column in ("machine", "start", "end", "item", "peer"):
        assert np.array_equal(getattr(plain, column), getattr(compiled, column))


@pytest.mark.kernels
def test_compiled_equals_plain() -> None:
    """The compiled loop and its plain twin give the same plans to the bit, on all topologies."""
    for seed in range(60):
        problem = random_problem(seed)
        if problem.is_rigid:  # the compiled loop is for tasks on one core each
            continue
        rng = np.random.default_rng(seed)
        shape = (len(problem.dag), len(problem.network))
        pins = rng.integers(0, shape[1], shape[0])
        for aim in ("end", "start"):
            bias = 10 * rng.random(shape) if rng.random() < 0.5 else None
            pinned = np.where(rng.random(shape[0]) < 0.3, pins, -1) if rng.random() < 0.5 else None
            compiled_equals_plain(problem, aim, bias, pinned)


@pytest.mark.kernels
@pytest.mark.parametrize("ccr", [5.0, 20.0])
def test_compiled_equals_plain_with_many_gaps(ccr: float) -> None:
    """Also where the gaps of a machine fill several blocks: about 50 and 200 of them."""
    dag = generators.layered(1200, ccr=ccr, rng=1)
    compiled_equals_plain(TaskGraph(dag, Network([1.0, 1.5])), "end", None, None)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.booleans()), max_size=30))
def test_gaps_against_a_list_of_seconds(requests: list[tuple[int, int, bool]]) -> None:
    """The first fit is the first start at which every second is free; undoing gives it back."""
    gaps = Gaps()
    busy: set[int] = set()
    for earliest, length, kept in requests:
        if not length:
            continue
        start = gaps.first_fit(earliest, length)
        expected = next(t for t in range(earliest, 10_000) if not busy & set(range(t, t + length)))
        assert start == expected
        taken = gaps.take(start, start + length)
        if kept:
            busy |= set(range(expected, expected + length))
        else:
            gaps.undo(taken)


def test_a_task_goes_into_a_gap() -> None:
    """While c waits for data, tasks of lower rank are executed before it."""
    dag = Dag(
        {"a": [1.0, 50.0], "b": [50.0, 4.0], "c": [2.0, 50.0], "d": [1.0, 50.0]},
        [("b", "c", 3.0)],
    )
    result = solve(TaskGraph(dag, Network([1.0, 1.0])), method="heft")
    assert result.answer["start"] == {"a": 0.0, "b": 0.0, "c": 7.0, "d": 1.0}


@pytest.mark.parametrize(("communication", "contention"), MODELS)
def test_plans_are_valid(communication: str, contention: str) -> None:
    """The plans pass the referee and its slow twin, on all topologies and under contention."""
    for seed in range(6):
        problem = random_problem(seed, communication, contention)
        for name in (*BY_INSERTION, *TOGETHER):
            result = solve(problem, method=name)
            assert broken_rule(problem, result.schedule) == ""


@pytest.mark.parametrize(("communication", "contention"), MODELS)
def test_nothing_is_promised_that_a_replay_does_not_keep(
    communication: str, contention: str
) -> None:
    """Carrying out a plan's decisions never ends later than what the method planned."""
    for seed in range(6):
        problem = random_problem(seed, communication, contention)
        for name in (*BY_INSERTION, *TOGETHER):
            plan = find_method("taskgraph", name).run(problem, Control()).schedule
            replayed = timing.retimed(problem, plan).makespan
            assert replayed <= plan.makespan * (1 + 1e-12), (seed, name)


def test_contention_is_part_of_the_plan() -> None:
    """Planning with ports beats replaying under ports what was planned without."""
    shorter = 0
    for name in ("topcuoglu2002", "arabnejad2014_peft"):
        dag = dag_of(CASES[name])
        free = solve(TaskGraph(dag, Network([1.0] * 3)), method="heft")
        by_start = sorted(free.answer["start"], key=free.answer["start"].__getitem__)
        sequence: dict[str, list[str]] = {}
        for task in by_start:
            sequence.setdefault(free.answer["machine_of"][task], []).append(task)
        replayed = solve(TaskGraph(dag, Network([1.0] * 3), contention="ports", sequence=sequence))
        planned = solve(TaskGraph(dag, Network([1.0] * 3), contention="ports"), method="heft")
        assert planned.makespan >= free.makespan
        shorter += planned.makespan < replayed.makespan
    assert shorter == 2


@pytest.mark.parametrize("contention", ["links", "ports"])
def test_a_transfer_goes_into_a_gap_of_its_link(contention: str) -> None:
    """Edge scheduling: the data of d pass before those of c, which were placed earlier."""
    problem = TaskGraph(
        Dag(
            {"a": [1.0, 50.0], "b": [4.0, 50.0], "c": [50.0, 20.0], "d": [50.0, 1.0]},
            [("b", "c", 2.0), ("a", "d", 1.0)],
        ),
        Network([1.0, 1.0], cores=[2, 1]),
        contention=contention,  # type: ignore[arg-type]
    )
    result = solve(problem, method="heft")
    rows = [row for row in result.schedule.records() if row["kind"] == "transfer"]
    assert {row["item"]: row["start"] for row in rows} == {0: 4.0, 1: 1.0}
    assert result.answer["end"] == {"a": 1.0, "b": 4.0, "c": 26.0, "d": 3.0}


def test_lookahead_is_better_on_the_published_example() -> None:
    """Looking ahead finds 76 where earliest finish alone finds 80."""
    problem = published("topcuoglu2002")
    assert solve(problem, method="lookahead").makespan == 76.0


def test_single_machine_is_the_best_machine() -> None:
    """The plan on one machine takes the least sum of durations."""
    problem = published("topcuoglu2002")
    total = problem.durations.sum(axis=0).min()
    assert solve(problem, method="single-machine").makespan == pytest.approx(total)
