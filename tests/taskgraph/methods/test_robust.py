"""Plans for uncertain durations: scenarios, choices, searches, and what is said of them."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from makespan import (
    Dag,
    MethodError,
    Network,
    Noise,
    ProblemError,
    TaskGraph,
    check,
    save,
    simulate,
    solve,
)
from makespan.core.control import Control
from makespan.core.schedule import Activity
from makespan.flow.files.files import read_result
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.local_search import Sample, improved
from makespan.taskgraph.scenarios import Aim, Scenarios, candidates, carried_over
from makespan.taskgraph.timing import machine_of_tasks, retimed
from tests.oracles.taskgraph_instances import MODELS, random_problem
from tests.thorough import few, up_to

SMALL = {"noise": Noise("gamma", 0.4), "scenarios": 20}


def layered(tasks: int, seed: int = 0, **fields) -> TaskGraph:
    return TaskGraph(generators.layered(tasks, ccr=0.5, rng=seed), Network([1.0, 2.0]), **fields)


def lone_risk() -> TaskGraph:
    """A long safe chain, and a task that is a little shorter but may be late."""
    dag = Dag({"risky": 9.0, "a": 5.0, "b": 5.0, "c": 2.0}, [("a", "b")])
    return TaskGraph(dag, Network([1.0, 1.0]))


@pytest.mark.parametrize(("communication", "contention"), MODELS)
@pytest.mark.parametrize("per", ["activity", "machine"])
def test_scenarios_are_replays(communication: str, contention: str, per: str) -> None:
    """In each scenario a plan ends when it does re-timed with the factors of its rows."""
    for seed in range(6):
        problem = random_problem(seed, communication, contention)
        noise = Noise("gamma", 0.4, transfers=0.2, per=per)
        scenarios = Scenarios.drawn(problem, noise, 5, np.random.default_rng(seed))
        plan = solve(problem, method="heft").schedule
        factors = scenarios.of_rows(plan)
        expected = [retimed(problem, plan, row).makespan for row in factors]
        assert scenarios.makespans(plan) == pytest.approx(expected, rel=1e-12)
        whole = plan.machine if per == "machine" else plan.item
        computes = plan.kind == Activity.COMPUTE
        for each in np.unique(whole[computes]):
            shared = factors[:, computes & (whole == each)]
            assert (shared == shared[:, :1]).all()
        assert len(np.unique(factors[0, computes])) == len(np.unique(whole[computes]))


def test_scenarios_follow_the_noise() -> None:
    """Tasks and machines have the spread that the noise names, transfers theirs."""
    problem = layered(6)
    noise = Noise("gamma", 0.1, transfers=0.3, tasks={"T2": {"M2": 0.5}}, machines={"M1": 0.0})
    scenarios = Scenarios.drawn(problem, noise, 20_000, np.random.default_rng(0))
    spread = scenarios.tasks.std(axis=0)
    assert spread[:, 0] == pytest.approx([0.0] * 6)
    assert spread[:, 1] == pytest.approx([0.1, 0.5, 0.1, 0.1, 0.1, 0.1], rel=0.05)
    assert scenarios.edges.std(axis=0) == pytest.approx([0.3] * len(problem.dag.source), rel=0.05)


@pytest.mark.parametrize("count", up_to(1, 4))
def test_the_search_finds_the_best_in_its_scenarios(form, count: int) -> None:
    """On tiny graphs the sampled search ends at the least mean of all machines and orders."""
    for seed in range(count):
        problem = layered(5, seed)
        scenarios = Scenarios.drawn(problem, Noise("gamma", 0.5), 12, np.random.default_rng(seed))
        order = problem.dag.position
        best = np.inf
        for machine in product(range(2), repeat=5):
            for key in _orders(problem):
                plan = in_order(problem, np.array(machine), key)
                best = min(best, scenarios.makespans(plan).mean())
        start = in_order(problem, np.zeros(5, dtype=np.int64), order)
        ends = np.concatenate([[start.makespan], scenarios.makespans(start)])
        sample = Sample(*scenarios.tables(), ends)
        found = improved(problem, Control(), start, 3_000, sample)
        assert scenarios.makespans(found).mean() == pytest.approx(best, rel=1e-9)


def _orders(problem: TaskGraph) -> list[np.ndarray]:
    """Return every order of the tasks in which predecessors come first, as places."""
    dag, found = problem.dag, []

    def grow(placed: list[int]) -> None:
        if len(placed) == len(dag):
            place = np.empty(len(dag), dtype=np.int64)
            place[placed] = np.arange(len(dag))
            found.append(place)
        for task in range(len(dag)):
            before = dag.source[dag.target == task].tolist()
            if task not in placed and all(each in placed for each in before):
                grow([*placed, task])

    grow([])
    return found


def test_the_tail_of_the_ends() -> None:
    """The value for a quantile is the mean of the worst ends around it, of all for the mean."""
    ends = np.array([100.0, 5.0, 1.0, 4.0, 2.0, 3.0])  # the first is the plan itself
    tables = (np.zeros((6, 1, 1)),) * 4
    assert Sample(*tables, ends).value == 3.0
    assert Sample(*tables, ends, Aim(0.9).ranked_from(5)).value == 4.0
    assert Aim(0.5).ranked_from(5) == Aim(0.1).ranked_from(5) == 0
    assert Aim(0.999).ranked_from(5) == 2


@pytest.mark.parametrize("method", few(["monte-carlo", "sample-average"], 1))
def test_a_risky_task_is_left_alone(method: str) -> None:
    """As stated, c goes behind the shorter task; as that may be late, it goes behind the chain."""
    problem = lone_risk()
    noise = Noise("bernoulli", tasks={"risky": 0.8}, chance=0.6)
    stated = solve(problem)
    assert stated.makespan == 11.0
    result = solve(problem, method=method, noise=noise, rng=1)
    risky, a, b, c = machine_of_tasks(problem, result.schedule).tolist()
    assert a == b == c != risky
    before, after = (
        simulate(each, noise=noise, repetitions=4000, rng=9) for each in (stated, result)
    )
    assert after.mean < before.mean
    low, high = result.details["estimate"]["mean_interval"]
    assert low - 0.3 < after.mean < high + 0.3
    assert result.details["as_stated"]["makespan"] == 11.0


def test_estimates_cover_what_simulate_says() -> None:
    """The intervals of fresh scenarios hold the mean and the quantile of very many."""
    result = solve(layered(30), method="sample-average", moves=500, rng=3, **SMALL)
    truth = simulate(result, noise=SMALL["noise"], repetitions=30_000, rng=77)
    estimate = result.details["estimate"]
    middle = (truth.mean, truth.quantile(0.95))
    for value, name in zip(middle, ("mean", "quantile"), strict=True):
        low, high = estimate[f"{name}_interval"]
        assert low - (high - low) / 2 < value < high + (high - low) / 2
        assert low <= estimate[name] <= high


@pytest.mark.parametrize(("communication", "contention"), few(MODELS, 2, thorough=len(MODELS)))
def test_valid_under_all_models(communication: str, contention: str) -> None:
    """Plans are valid, and makespan and bound are those of the problem as stated."""
    for seed in range(1):
        problem = random_problem(seed, communication, contention)
        result = solve(problem, method="monte-carlo", plans=3, **SMALL)
        assert check(problem, result.schedule).ok
        assert result.lower_bound <= result.makespan * (1 + 1e-9)


def test_the_same_seed_gives_the_same_plan() -> None:
    """The seed decides scenarios, plans and estimates."""
    problem = layered(25)
    first, again = (
        solve(problem, method="sample-average", moves=500, rng=5, quantile=0.9, **SMALL)
        for _ in range(2)
    )
    assert first.schedule == again.schedule
    assert first.details == again.details
    assert first.details["estimate"]["share"] == 0.9


def test_deadlines_are_kept() -> None:
    """Of plans for uncertain durations those count that keep the limits as stated."""
    free = solve(layered(20), method="sample-average", moves=500, rng=2, **SMALL)
    tight = (free.makespan + free.details["as_stated"]["makespan"]) / 2
    assert tight < free.makespan
    problem = layered(20, deadline=tight)
    result = solve(problem, method="sample-average", moves=500, rng=2, **SMALL)
    assert result.makespan <= tight * (1 + 1e-9)


def test_candidates_are_plans_of_the_problem() -> None:
    """Plans for other durations are carried over; there is one even when the time is up."""
    problem = layered(20)
    noise = Noise("gamma", 0.3, tasks={"T3": 0.9})
    plans = list(candidates(problem, Control(), noise, 5))
    assert len(plans) > 10
    assert all(check(problem, retimed(problem, plan)).ok for plan in plans)
    again = carried_over(problem, Control(), plans[0])
    assert again.makespan <= plans[0].makespan * (1 + 1e-9)
    assert len(list(candidates(problem, Control(time_limit=0.0), noise, 5))) == 1


def test_results_are_saved_with_their_noise(tmp_path) -> None:
    """The noise is written as a table, which the method takes again."""
    noise = Noise("lognormal", 0.2, tasks={"T1": 0.5})
    result = solve(layered(8), method="monte-carlo", noise=noise, plans=2, scenarios=5)
    save(result, tmp_path / "result.json")
    data = json.loads((tmp_path / "result.json").read_text())
    assert data["options"]["noise"] == noise.as_dict() == data["details"]["noise"]
    read = read_result(tmp_path / "result.json")
    again = solve(read.problem, method="monte-carlo", **read.options)
    assert again.schedule == result.schedule


def test_refusals() -> None:
    """Options that are not allowed are named, and problems that can't be searched."""
    problem = layered(5)
    for options, text in (
        ({"quantile": 1.5}, "quantile: 1.5 is above"),
        ({"quantile": 0.0}, "quantile: 0.0 is zero"),
        ({"scenarios": 0}, "scenarios: 0 is below 1"),
        ({"moves": 2.5}, r"moves: 2.5 is not a whole number"),
    ):
        with pytest.raises(MethodError, match=text):
            solve(problem, method="sample-average", **options)
    with pytest.raises(ProblemError, match=r"noise\.tasks\.T9: there is no task"):
        solve(problem, method="monte-carlo", noise={"tasks": {"T9": 0.1}})
    waiting = layered(5, contention="ports")
    with pytest.raises(MethodError, match="sample-average needs transfers that wait for nothing"):
        solve(waiting, method="sample-average")
