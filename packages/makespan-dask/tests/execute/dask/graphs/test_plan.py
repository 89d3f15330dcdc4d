"""Planning for Dask: what it promises, and that the referee agrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Dag, InputError, Network, TaskGraph, check, solve
from makespan.core.schedule import Activity
from makespan.execute.dask.graphs.forecast import Forecast, tasks_of
from makespan.execute.dask.graphs.placement import chains, pins_of
from makespan.execute.dask.graphs.plan import METHODS, plan_graph
from makespan.taskgraph.generate import graphs as generators


def switched(setup: float = 0.0) -> Network:
    """Three workers, each with a line to a switch."""
    rates = {"w1": 0.5, "w2": 1.0, "w3": 2.0}
    lines = [(name, "switch", rate) for name, rate in rates.items()]
    lines += [("switch", name, float("inf")) for name in rates]
    return Network(
        [1.0, 2.0, 1.5],
        names=list(rates),
        topology="links",
        routers=["switch"],
        one_way_links=lines,
        message_setup=0.01,
        task_setup=setup,
    )


def problems(setup: float = 0.1) -> list[TaskGraph]:
    """Random problems over all contentions."""
    dags = [generators.layered(15, ccr=2.0, rng=seed) for seed in range(3)]
    dags += [generators.fft(4, ccr=1.0), generators.fork_join(5, rng=2)]
    flat = Network.complete(speeds=[1.0, 3.0], rate=2.0, task_setup=setup)
    found = [TaskGraph(dag, switched(setup), contention="links") for dag in dags]
    found += [TaskGraph(dag, flat, contention="ports") for dag in dags[:2]]
    found += [TaskGraph(dag, flat) for dag in dags[2:]]
    return found


@pytest.mark.parametrize("number", range(len(problems())))
def test_plans_pass_the_referee_and_beat_the_methods(number: int) -> None:
    """Whatever the contention; the methods timed by the same forecast."""
    problem = problems()[number]
    plan = plan_graph(problem, time_limit=0.1)
    assert check(plan).ok
    assert plan.makespan is not None
    forecast = Forecast(problem)
    for name in METHODS:
        found = solve(problem, method=name)
        assert found.schedule is not None
        order, machine_of = tasks_of(found.schedule, len(problem.dag))
        least = forecast.run(order, machine_of)
        assert plan.makespan <= least * 1.2 + 1e-9  # chain edges may cost a little


def test_without_setup_and_contention_the_forecast_is_the_model() -> None:
    """An order timed by the forecast is what the given plan is timed to."""
    for seed in range(5):
        dag = generators.layered(20, ccr=1.0, rng=seed)
        network = Network.complete(speeds=[1.0, 2.0, 3.0], rate=2.0)
        plan = solve(TaskGraph(dag, network), method="heft")
        assert plan.schedule is not None
        order, machine_of = tasks_of(plan.schedule, len(dag))
        assert Forecast(plan.problem).run(order, machine_of) <= plan.makespan + 1e-9


def test_a_result_goes_to_a_machine_once() -> None:
    """However many tasks need it there."""
    dag = Dag(
        {"a": 1.0, "b": 1.0, "c": 1.0},
        [("a", "b", 4.0), ("a", "c", 4.0)],
    )
    network = Network.complete(speeds=[1.0, 1.0], names=["M1", "M2"])
    twice = TaskGraph(dag, network, contention="ports", sequence={"M1": ["a"], "M2": ["b", "c"]})
    model = solve(twice).makespan
    plan = plan_graph(twice, time_limit=0.0)
    assert plan.makespan == pytest.approx(7.0)
    assert model == pytest.approx(10.0)
    assert plan.schedule is not None
    assert int((plan.schedule.kind == Activity.TRANSFER).sum()) == 1
    assert len(pins_of(plan).carried) == 1


def test_handing_out_costs_where_it_is_waited_for() -> None:
    """A chain pays the set-up between its tasks; independent tasks do not."""
    network = Network([1.0], names=["M1"], task_setup=0.5)
    chain = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 0.0)])
    apart = Dag({"a": 1.0, "b": 1.0}, [])
    assert plan_graph(TaskGraph(chain, network), time_limit=0.0).makespan == pytest.approx(2.5)
    assert plan_graph(TaskGraph(apart, network), time_limit=0.0).makespan == pytest.approx(2.0)


def test_one_machine_is_tried_beside_the_plan_to_begin_with() -> None:
    """However short the time is; what waits for the scheduler lets others go before it."""
    dag = Dag(dict.fromkeys("abcd", 1.0), [("a", "b", 90.0), ("c", "d", 90.0)])
    network = Network.complete(speeds=[1.0, 1.0], rate=1.0, task_setup=0.5)
    order = [dag.names.index(task) for task in "abcd"]
    problem = TaskGraph(dag, network)
    spread = ([*order], [0, 1, 1, 0])
    assert Forecast(problem).run(*spread) > 90.0
    plan = plan_graph(problem, time_limit=0.0, start=spread)
    assert plan.makespan == pytest.approx(4.0)  # a, c, b, d: in the order given, 5
    assert plan.schedule is not None
    assert len(set(plan.schedule.machine.tolist())) == 1


def test_lines_carry_one_result_after_another() -> None:
    """Under contention: two results of one machine never overlap on its line."""
    problem = TaskGraph(generators.fork_join(6, rng=1), switched(), contention="links")
    plan = plan_graph(problem, time_limit=0.1)
    schedule = plan.schedule
    assert schedule is not None
    for machine in range(3):
        rows = (schedule.kind == Activity.TRANSFER) & (schedule.machine == machine)
        start, end = schedule.start[rows], schedule.end[rows]
        by_start = np.argsort(start)
        assert (start[by_start][1:] >= end[by_start][:-1] - 1e-9).all()


def test_tasks_that_could_overtake_are_chained() -> None:
    """``late`` comes first and its data come late; ``early`` is ready and would fill the gap."""
    dag = Dag({"far": 5.0, "late": 1.0, "early": 3.0}, [("far", "late", 1.0)])
    network = Network.complete(speeds=[1.0, 1.0], names=["M1", "M2"])
    problem = TaskGraph(dag, network, sequence={"M1": ["far"], "M2": ["late", "early"]})
    plan = solve(problem)
    assert plan.schedule is not None
    order, machine_of = tasks_of(plan.schedule, 3)
    assert chains(problem, plan.schedule, order, machine_of) == {2: (1,)}
    other = replace(problem, sequence={"M1": ["far"], "M2": ["early", "late"]})
    plan = solve(other)
    assert plan.schedule is not None
    assert chains(other, plan.schedule, *tasks_of(plan.schedule, 3)) == {}


def test_blocking_communication_is_refused() -> None:
    """Dask's transfers run beside computing."""
    problem = TaskGraph(generators.fft(2), Network([1.0, 1.0]), communication="blocking")
    with pytest.raises(InputError, match="blocking"):
        plan_graph(problem)


def test_a_seed_gives_one_plan_where_the_search_is_not_timed() -> None:
    """The first plan is that of the methods, always the same."""
    problem = problems()[0]
    first, second = (plan_graph(problem, time_limit=0.0) for _ in range(2))
    assert first.answer == second.answer


def test_results_take_turns_where_they_share_a_way_out() -> None:
    """On a port or a line to a switch; not on a link for each pair, nor where receivers share."""
    dag = generators.fork_join(3, rng=1)
    pairs = Network.complete(speeds=[1.0] * 3, names=["w1", "w2", "w3"])
    lines = [(name, "switch", float("inf")) for name in pairs.names]
    lines += [("switch", name, 1.0) for name in pairs.names]
    down = Network(
        [1.0] * 3, names=pairs.names, topology="links", routers=["switch"], one_way_links=lines
    )
    bus = Network([1.0] * 3, topology="bus")
    for network, contention, expected in (
        (pairs, "none", False),
        (pairs, "ports", True),
        (pairs, "links", False),
        (switched(), "links", True),
        (down, "links", False),
        (bus, "links", True),
    ):
        problem = TaskGraph(dag, network, contention=contention)  # type: ignore[arg-type]
        assert pins_of(solve(problem, method="heft")).in_turn is expected


def test_sequences_hold_on_several_cores_and_for_tasks_without_length() -> None:
    """Where tasks start together their order is kept all the same, and the referee agrees."""
    generator = np.random.default_rng(5)
    for seed in range(20):
        dag = generators.layered(16, ccr=1.0, rng=seed)
        work = np.where(generator.random(len(dag)) < 0.3, 0.0, dag.work)
        some = Dag.from_arrays(work=work, source=dag.source, target=dag.target, size=dag.size)
        network = Network.complete(speeds=[1.0, 1.0], rate=2.0, cores=[2, 3], task_setup=0.2)
        assert check(plan_graph(TaskGraph(some, network), time_limit=0.02)).ok


def test_plans_with_copies_are_refused() -> None:
    """Dask computes a task once; without copies such a problem's plan is fine."""
    dag = Dag({"a": 1.0, "b": 5.0, "c": 5.0}, [("a", "b", 10.0), ("a", "c", 10.0)])
    problem = TaskGraph(dag, Network([1.0, 1.0]), duplication=True)
    with pytest.raises(InputError, match="has copies of tasks; Dask computes each task once"):
        pins_of(solve(problem, method="duplication"))
    assert pins_of(solve(problem, method="heft")).machine_of == ("M1", "M1", "M1")
    assert plan_graph(problem, time_limit=0.05).makespan == 11.0
