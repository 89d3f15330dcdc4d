"""Machines with prices: what plans cost, budgets, least prices, and fronts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from makespan import (
    Dag,
    Network,
    ProblemError,
    Result,
    TaskGraph,
    check,
    methods,
    read_problem,
    read_result,
    save,
    solve,
)
from makespan.core.control import Control
from makespan.flow.plot import svg
from makespan.taskgraph import graphs
from makespan.taskgraph.file import read, write
from makespan.taskgraph.limits import least_price, price_of
from makespan.taskgraph.pictures import alternatives
from tests.oracles.taskgraph_enumeration import front
from tests.oracles.taskgraph_rules import broken_rule
from tests.thorough import up_to

FAST_IS_DEAR = Network([1.0, 2.0, 4.0], price=[1.0, 3.0, 9.0], start_price=[2.0, 2.0, 5.0])


def layered(count: int, seed: int, network: Network = FAST_IS_DEAR, **more: object) -> TaskGraph:
    return TaskGraph(graphs.layered(count, ccr=0.5, rng=seed), network, **more)


def small(seed: int, **more: object) -> TaskGraph:
    """Return a few tasks with edges, on three machines of which the fast ones are dear."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    names = "abcd"[:count]
    edges = [(a, b, float(rng.integers(0, 4))) for a in names for b in names
             if a < b and rng.random() < 0.5]  # fmt: skip
    dag = Dag({name: float(rng.integers(1, 9)) for name in names}, edges)
    price, start = rng.integers(1, 9, 3) * np.array([1.0, 2.0, 4.0]), rng.integers(0, 5, 3)
    return TaskGraph(dag, Network([1.0, 2.0, 4.0], price=price, start_price=start), **more)


def test_what_a_plan_costs() -> None:
    """Seconds of execution, and each machine that is used once; idle time and transfers nothing."""
    dag = Dag({"a": 4.0, "b": 4.0, "c": 4.0}, [("a", "c", 3.0), ("b", "c", 3.0)])
    given = {"assignment": {"a": "M1", "b": "M2", "c": "M1"}}
    result = solve(TaskGraph(dag, FAST_IS_DEAR, **given))
    assert result.answer["price"] == 4 * 1 + 2 + 2 * 3 + 2 + 4 * 1
    assert "price 18" in str(result)


def test_plans_over_the_budget_are_not_valid() -> None:
    """The referee and its slow twin say so; methods that know nothing of budgets have no plan."""
    problem = layered(14, 3)
    plan = solve(problem, method="heft")
    price = price_of(problem, plan.schedule)
    for share, rule in ((1.0, ""), (0.99, "budget")):
        limited = replace(problem, budget=price * share)
        report = check(limited, plan.schedule)
        assert {each.rule for each in report.violations} == ({rule} - {""})
        assert broken_rule(limited, plan.schedule) == rule
    late = solve(replace(problem, budget=price * 0.99), method="heft")
    assert late.status == "limit"
    assert "it costs" in late.notes[0]
    whole = replace(problem, deadline=plan.makespan * 0.99)
    assert {each.rule for each in check(whole, plan.schedule).violations} >= {"deadline"}
    assert broken_rule(whole, plan.schedule) == "deadline"


@pytest.mark.parametrize("method", ["loss", "gain", "local-search", "cp-sat"])
def test_budgets_are_kept(method: str) -> None:
    """Plans within every budget that the cheapest plan keeps, longer the less there is to spend."""
    problem = layered(14, 3)
    dear, cheap = price_of(problem, solve(problem, method="heft").schedule), least_price(problem)
    makespans = []
    for share in (0.0, 0.2, 0.5, 1.0):
        limited = replace(problem, budget=cheap + share * (dear - cheap))
        result = solve(limited, method=method, time_limit=20.0)
        assert check(result).ok
        makespans.append(result.makespan)
    if method == "cp-sat":
        assert makespans == sorted(makespans, reverse=True)
    assert makespans[0] > makespans[-1]
    assert solve(replace(problem, budget=cheap * 0.999), method=method).status == "infeasible"


def test_least_price_within_a_deadline() -> None:
    """The exact method is no dearer than the heuristics, and all keep the deadline."""
    problem = layered(14, 3, objective="price", deadline=50.0)
    found = {name: solve(problem, method=name, time_limit=30.0)
             for name in ("heft", "loss", "gain", "local-search", "cp-sat")}  # fmt: skip
    prices = {name: result.objective.value for name, result in found.items()}
    assert all(result.makespan <= 50.0 for result in found.values())
    assert found["cp-sat"].status == "optimal"
    assert prices["cp-sat"] == min(prices.values())
    assert prices["loss"] < prices["heft"]
    assert prices["local-search"] <= 1.1 * prices["cp-sat"]
    free = solve(replace(problem, deadline=None))
    assert free.objective.value == pytest.approx(least_price(problem))
    assert free.status == "optimal"


@pytest.mark.parametrize("count", up_to(8, 25))
def test_fronts_are_those_of_enumeration(count: int) -> None:
    """Every point, and no other, within deadlines and budgets, too."""
    points = 0
    for seed in range(count):
        more = ({}, {"deadline": 12.0}, {"budget": 60.0})[seed % 3]
        problem = small(seed, objective="pareto", **more)
        expected = front(problem)
        assert expected is not None
        result = solve(problem, time_limit=60.0)
        assert result.status == ("optimal" if expected else "infeasible")
        found = [(point["time"], point["price"]) for point in result.details.get("front", ())]
        assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9), seed
        points += len(found)
        for (time, price), plan in alternatives(problem, result.details):
            assert check(replace(problem, objective="makespan"), plan).ok
            assert plan.makespan == pytest.approx(time[1])
            assert price_of(problem, plan) == price[1]
    assert points > 2.4 * count


@pytest.mark.thorough
def test_fronts_of_large_graphs_and_of_short_time() -> None:
    """What is not proved is not called so: there are plans, no two of which beat each other."""
    for problem, limit in ((layered(150, 1, objective="pareto"), 5.0),
                           (layered(20, 1, objective="pareto"), 0.5)):  # fmt: skip
        result = solve(problem, time_limit=limit)
        assert result.status == "feasible"
        points = [(point["time"], point["price"]) for point in result.details["front"]]
        assert len(points) > 5
        assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(points))
        assert result.details["unknown"]
        assert result.makespan == points[0][0]


def test_other_methods_refuse_fronts_by_name() -> None:
    """A front is not one plan; least prices are refused where only the makespan is proved."""
    problem = layered(5, 1, objective="pareto")
    assert [verdict.name for verdict in methods(problem) if verdict.applies] == ["pareto"]
    with pytest.raises(Exception, match="needs a plan to be made, but objective is 'pareto'"):
        solve(problem, method="heft")
    with pytest.raises(Exception, match="needs the makespan as the objective"):
        solve(layered(5, 1, objective="price"), method="branch-and-bound")
    with pytest.raises(Exception, match="needs machines with prices, but nothing costs anything"):
        solve(layered(5, 1, Network([1.0, 2.0])), method="loss")


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1e6, 1e40])
def test_prices_at_any_scale(scale: float) -> None:
    """The least price and the budget that it just keeps, whatever the unit of money."""
    problem = small(4)
    network = problem.network
    scaled = Network(
        network.speed, price=network.price * scale, start_price=network.start_price * scale
    )
    cheapest = solve(TaskGraph(problem.dag, scaled, objective="price", deadline=9.0))
    assert cheapest.status == "optimal"
    price = cheapest.objective.value
    assert solve(TaskGraph(problem.dag, scaled, budget=price, deadline=9.0)).status == "optimal"
    less = TaskGraph(problem.dag, scaled, budget=price * (1 - 1e-6), deadline=9.0)
    assert solve(less, method="cp-sat").status == "infeasible"


def test_without_prices_nothing_costs_anything() -> None:
    """Where nothing costs anything every budget is kept, and there is no price in the answer."""
    problem = layered(6, 1, Network([1.0, 2.0]), budget=0.0)
    result = solve(problem)
    assert "price" not in result.answer


def test_files_hold_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Problem and front come back as they were, and the front is drawn."""
    problem = small(2, objective="pareto", deadline=40.0, budget=500.0)
    assert read(write(problem)) == problem
    machine = write(problem)["network"]["machines"][1]
    assert machine["price"] == problem.network.price[1]
    result: Result = solve(problem)
    for name in ("r.json", "p.toml"):
        save(result if name == "r.json" else problem, tmp_path / name)
    assert read_problem(tmp_path / "p.toml") == problem
    again = read_result(tmp_path / "r.json")
    assert again.details["front"] == result.details["front"]
    assert "Pareto front" in svg(again, view="front")
    save(again, tmp_path / "r.html")
    assert "deadline" in svg(result) or "due" in svg(result)


def test_mistakes_are_named() -> None:
    """Each with its place."""
    network = Network([1.0, 1.0], price=[1.0, -1.0], start_price=[0.0, np.nan])
    with pytest.raises(ProblemError) as caught:
        TaskGraph(Dag({"a": 1.0}), network, deadline=-1.0, budget=np.inf, objective="cost")
    assert {mistake.place for mistake in caught.value.mistakes} == {
        "network.machines[1].price", "network.machines[1].start_price", "deadline", "budget",
        "objective",
    }  # fmt: skip
    with pytest.raises(ProblemError, match="'pareto' is not allowed with a given plan"):
        TaskGraph(Dag({"a": 1.0}), Network([1.0]), objective="pareto", assignment={"a": "M1"})


def test_a_front_cut_short_goes_on_beyond_its_last_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the least price is not proved, later plans may be cheaper; by a deadline none is."""
    monkeypatch.setattr(Control, "expired", lambda _: True)
    for more, last in (({}, None), ({"deadline": 200.0}, 200.0)):
        result = solve(layered(14, 3, objective="pareto", **more))
        (unknown,) = result.details["unknown"]
        assert unknown[1] == last
        assert unknown[0] <= result.makespan
        assert ("s on" in result.notes[-1]) == (last is None)
