"""Timing: the earliest starts of given decisions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Dag, Network, Schedule, TaskGraph, check, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.core.schedule import COLUMNS
from makespan.taskgraph import list_scheduling
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.levels import by_level, levels, weights
from makespan.taskgraph.list_scheduling import append_in_order, insertion_kernels
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.insertion import SLICE, inserted
from makespan.taskgraph.timing import retimed
from tests.oracles.taskgraph_enumeration import best as optimum
from tests.oracles.taskgraph_instances import MODELS, random_problem


def delayed(schedule: Schedule, by: float) -> Schedule:
    kept = {name: getattr(schedule, name) for name in COLUMNS}
    kept |= {
        "start": schedule.start * by,
        "end": schedule.start * by + schedule.end - schedule.start,
    }
    return Schedule.of_columns(schedule.machines, **kept)


@pytest.mark.parametrize(("communication", "contention"), MODELS)
def test_idle_time_is_squeezed_out(communication: str, contention: str) -> None:
    """A stretched plan is timed back to what it was, and that cannot be improved."""
    for seed in range(20):
        problem = random_problem(seed, communication, contention)
        plan = retimed(problem, solve(problem, method="mapping-heuristic").schedule)
        again = retimed(problem, delayed(plan, 1.75))
        assert check(problem, again).ok
        assert np.allclose(again.start, plan.start, rtol=1e-12, atol=1e-12 * plan.makespan)


@pytest.mark.parametrize(("communication", "contention"), MODELS)
def test_slower_rows_make_valid_later_plans(communication: str, contention: str) -> None:
    """With factors of 1 and more nothing starts earlier; with one factor all scales."""
    for seed in range(10):
        problem = random_problem(seed, communication, contention)
        problem = replace(problem, network=without_delays(problem.network))
        plan = solve(problem, method="list-scheduling").schedule
        nominal = retimed(problem, plan)
        factors = 1.0 + np.random.default_rng(seed).random(len(plan))
        slow = retimed(problem, plan, factors)
        assert (slow.start >= nominal.start * (1 - 1e-12)).all()
        if problem.dag.release.any():
            continue
        twice = retimed(problem, plan, np.full(len(plan), 2.0))
        assert twice.makespan == pytest.approx(2 * nominal.makespan)


def without_delays(network: Network) -> Network:
    return Network(
        network.speed, names=network.names, task_setup=network.task_setup,
        message_setup=network.message_setup, cores=network.cores, topology=network.topology,
        shape=network.shape, rate=network.rate, duplex=network.duplex, routers=network.routers,
        links=network.links,
    )  # fmt: skip


def test_a_given_plan_is_timed() -> None:
    """Assignment and sequence give the earliest starts, and that is proved."""
    dag = Dag({"a": 1.0, "b": 2.0, "c": 1.0}, [("a", "c", 2.0), ("b", "c", 1.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]), sequence={"M1": ["a"], "M2": ["b", "c"]})
    result = solve(problem)
    assert result.answer["start"] == {"a": 0.0, "b": 0.0, "c": 3.0}
    assert (result.status, result.method) == ("optimal", "given-plan")


def test_a_given_assignment_goes_by_level() -> None:
    """Without a sequence tasks go by level; nothing better is claimed than found."""
    for seed in range(6):
        dag = generators.layered(5, width=2, rng=seed)
        machine = np.random.default_rng(seed).integers(0, 2, 5)
        assignment = {name: f"M{place + 1}" for name, place in zip(dag.names, machine, strict=True)}
        problem = TaskGraph(dag, Network([1.0, 2.0]), assignment=assignment)
        result = solve(problem)
        assert result.answer["machine_of"] == assignment
        assert result.makespan >= optimum(TaskGraph(dag, Network([1.0, 2.0]))) * (1 - 1e-12)


def test_tasks_beside_given_sequences_go_by_level() -> None:
    """One machine has a sequence against the levels, the other is ordered by level."""
    dag = Dag({"a": 1.0, "b": 2.0, "c": 1.0, "d": 2.0})
    assignment = {"a": "M1", "b": "M1", "c": "M2", "d": "M2"}
    problem = TaskGraph(
        dag, Network([1.0, 1.0]), assignment=assignment, sequence={"M1": ["a", "b"]}
    )
    assert solve(problem).answer["start"] == {"a": 0.0, "b": 1.0, "c": 2.0, "d": 0.0}


def test_given_sequences_hold_on_several_cores() -> None:
    """On two cores tasks start in the given order, two at a time."""
    dag = Dag({"a": 3.0, "b": 1.0, "c": 1.0})
    problem = TaskGraph(dag, Network([1.0], cores=2), sequence={"M1": ["b", "a", "c"]})
    assert solve(problem).answer["start"] == {"a": 0.0, "b": 0.0, "c": 1.0}


def test_given_plans_without_contention_are_timed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take the decisions that placing task by task takes, also in no time or on many cores."""
    pairs = []
    for seed in range(120):
        free = random_problem(seed)
        rng, order = np.random.default_rng(seed), free.dag.order.tolist()
        machine = rng.integers(0, len(free.network), len(free.dag))
        small = free.dag.cores > free.network.cores[machine]
        machine[small] = np.argmax(free.network.cores)
        machine = machine.tolist()
        given = {"assignment": {free.dag.names[t]: free.machines[machine[t]] for t in order}}
        if seed % 3:
            sequence: dict[str, list[str]] = {}
            for task in order:
                sequence.setdefault(free.machines[machine[task]], []).append(free.dag.names[task])
            given = {"sequence": sequence}
        problem = replace(free, **given)
        dag = problem.dag
        by = by_level(problem.given.chained, levels(dag, *weights(problem)))
        pairs.append((problem, append_in_order(problem, np.array(machine), by)))
    monkeypatch.delattr(list_scheduling.AppendSchedule, "place")
    for problem, expected in pairs:
        found = solve(problem, method="given-plan")
        assert check(problem, found.schedule).ok
        again = retimed(problem, expected)
        count = len(problem.dag)
        for name in ("machine", "item", "start", "end"):
            one, other = getattr(found.schedule, name)[:count], getattr(again, name)[:count]
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12 * found.makespan)


def test_heaps_of_cores_give_the_core_that_is_free_first() -> None:
    """What follows an order, and what times it again, equal a look at every core."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        dag = generators.layered(60, ccr=float(rng.choice([0.0, 1.0])), rng=seed)
        machine = rng.integers(0, 2, 60)
        sequence = {
            f"M{place + 1}": [
                dag.names[task] for task in dag.order.tolist() if machine[task] == place
            ]
            for place in range(2)
        }
        network = Network([1.0, 2.0], cores=[int(rng.integers(2, 20)), 7])
        problem = TaskGraph(dag, network, sequence=sequence)
        plan = in_order(problem, machine, dag.position, in_turn=True)
        expected = append_in_order(problem, machine, dag.order)
        assert expected is not None
        for found in (plan, retimed(problem, plan)):
            assert np.allclose(found.start[:60], expected.start[:60], rtol=1e-12, atol=1e-12)


def test_many_cores_are_looked_at_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is read after as many tries of a task on a core, however many cores there are."""
    sizes, insert = [], insertion_kernels.insert_some

    def noted(order: np.ndarray, *columns: object) -> object:
        sizes.append(len(order))
        return insert(order, *columns)

    monkeypatch.setattr(noted, "py_func", insert.py_func, raising=False)  # its parameters
    monkeypatch.setattr(insertion_kernels, "insert_some", noted)
    dag = generators.layered(4_000, rng=1)
    inserted(TaskGraph(dag, Network([1.0, 1.0], cores=1_000)), Control(), dag.order)
    assert max(sizes) <= SLICE / 2_000


@pytest.mark.kernels
@pytest.mark.slow
def test_compiled_loops_equal_their_plain_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forced through the compiler, every method and timing gives the same plan to the bit."""
    seeds = [seed for seed in range(16) if seed % 4 != 3]  # those have tasks on several cores
    problems = [random_problem(seed, *MODELS[seed % 6]) for seed in seeds]
    names = ("dominant-sequence-clustering", "linear-clustering", "edge-zeroing")
    monkeypatch.setattr(jit, "forced", False)
    plain = [solve(problem, method=name).schedule for problem in problems for name in names]
    monkeypatch.setattr(jit, "forced", True)
    fresh = [random_problem(seed, *MODELS[seed % 6]) for seed in seeds]
    compiled = [solve(problem, method=name).schedule for problem in fresh for name in names]
    for one, other in zip(plain, compiled, strict=True):
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in COLUMNS)


def test_a_hop_that_takes_no_time_goes_before_a_transfer_that_starts_with_it() -> None:
    """Also where sequences are given: what is received first stays first."""
    dag = Dag({"a": 0.1, "b": 0.5, "c": 0.4}, [("a", "c", 0.0), ("b", "c", 5.0), ("a", "b", 1.0)])
    network = Network(
        [1.0, 1.0],
        names=["M0", "M1"],
        message_setup=3.0,
        topology="links",
        routers=["R"],
        links=[("M0", "R", 1.0), ("M1", "R", 1.0)],
    )
    problem = TaskGraph(
        dag,
        network,
        communication="blocking",
        assignment={"a": "M0", "b": "M0", "c": "M1"},
        sequence={"M0": ["a", "b"], "M1": ["c"]},
    )
    result = solve(problem, method="given-plan")
    assert check(result).ok
    assert result.makespan == pytest.approx(0.1 + 0.5 + 3.0 + 3.0 + 5.0 + 5.0 + 0.4)


def test_a_task_without_duration_gives_its_machine_up_before_another_fetches_there() -> None:
    """It has held the machine since it began to fetch; a hop that takes no time may tie with it."""
    dag = Dag(
        {"a": 1.0, "b": 1.0, "c": 1.0, "z": 0.0}, [("a", "c", 0.0), ("b", "z", 4.0)]
    )  # c comes before z
    network = Network.complete(
        names=["M0", "M1"], speeds=[1.0, 1.0], delays={("M0", "M1"): 0.5, ("M1", "M0"): 0.5}
    )
    problem = TaskGraph(dag, network, communication="blocking", contention="links")
    plan = Schedule.of_rows(
        ["M0", "M1"],
        [
            ("compute", 0, -1, 1, 1.0, 0.0, 1.0),
            ("compute", 0, -1, 0, 1.0, 1.0, 2.0),
            ("transfer", 0, 1, 1, 4.0, 1.0, 5.0),
            ("compute", 1, -1, 3, 0.0, 5.5, 5.5),
            ("transfer", 0, 1, 0, 0.0, 5.5, 5.5),
            ("compute", 1, -1, 2, 1.0, 6.0, 7.0),
        ],
    )
    assert check(problem, plan).ok
    timed = retimed(problem, plan)
    assert check(problem, timed).ok
    assert timed.makespan == 7.0
