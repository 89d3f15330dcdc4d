"""Search where transfers wait: local search and CP-SAT, against every plan of small problems."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from makespan import Dag, Network, TaskGraph, check, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.methods.local_search import local_search
from tests.oracles.taskgraph_enumeration import best as optimum, covers, random_problem
from tests.oracles.taskgraph_instances import MODELS, random_problem as larger_problem
from tests.thorough import few, up_to

WAITING = [model for model in MODELS if model != ("overlap", "none")]
SEARCHES = ("local-search", "cp-sat-transfers")


def small_problems(seeds: range) -> list[tuple[int, TaskGraph, float]]:
    """Return problems whose transfers wait, everything else mixed, with their optima."""
    found = []
    for seed in seeds:
        problem = random_problem(np.random.default_rng(seed))
        waits = problem.is_blocking or problem.contention != "none"
        priced = problem.budget is not None or problem.objective != "makespan"
        if waits and not priced and not problem.given.anything and covers(problem):
            least = optimum(problem)
            if least is not None and np.isfinite(least):
                found.append((seed, problem, least))
    return found


@pytest.mark.parametrize("count", up_to(100, 400))
def test_cp_sat_proves_and_local_search_mostly_finds_the_optimum(count: int) -> None:
    """No claim is false, no plan better than all plans; all are proved, most are found."""
    problems = small_problems(range(count))
    met = 0
    for seed, problem, least in problems:
        exact = solve(problem, method="cp-sat-transfers")
        assert exact.status == "optimal", seed
        assert exact.makespan == pytest.approx(least, rel=1e-8), seed
        found = solve(problem, method="local-search").makespan
        assert found is None or found >= least * (1 - 1e-8), seed
        met += found is not None and found <= least * (1 + 1e-8)
    assert len(problems) > count / 5
    assert met >= len(problems) - 2


@pytest.mark.slow
def test_claims_of_thousands() -> None:
    """The same claims on many more."""
    for seed, problem, least in small_problems(range(10_000, 16_000)):
        exact = solve(problem, method="cp-sat-transfers")
        assert exact.status == "optimal", seed
        assert exact.makespan == pytest.approx(least, rel=1e-8), seed


@pytest.mark.parametrize("scale", [1e-7, 1.0, 3e9])
def test_claims_hold_at_any_scale(scale: float) -> None:
    """All times multiplied by one number: the optimum is, too, and is proved."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        communication, contention = WAITING[seed % 5]
        dag = generators.layered(5, ccr=2.0, rng=rng)
        more: dict[str, Any] = {"communication": communication, "contention": contention}
        network = Network([1.0, 1.5], rate=0.7, message_setup=0.1, cores=[1, 1 + seed % 2])
        plain = solve(TaskGraph(dag, network, **more), method="cp-sat-transfers")
        scaled = Dag.from_arrays(
            work=dag.work * scale, source=dag.source, target=dag.target, size=dag.size * scale
        )
        network = Network([1.0, 1.5], rate=0.7, message_setup=0.1 * scale, cores=network.cores)
        other = solve(TaskGraph(scaled, network, **more), method="cp-sat-transfers")
        assert (plain.status, other.status) == ("optimal", "optimal")
        assert other.makespan == pytest.approx(plain.makespan * scale, rel=1e-8)


@pytest.mark.parametrize("model", WAITING)
@pytest.mark.parametrize("method", few(SEARCHES, 1))
def test_searches_keep_the_rules_and_never_get_worse(method: str, model: tuple[str, str]) -> None:
    """On larger graphs over all topologies plans are valid, and no longer than those before."""
    for seed in range(4):
        problem = larger_problem(seed, *model)
        result = solve(problem, method=method, time_limit=0.3)
        assert check(result).ok
        assert result.makespan is not None
        assert result.makespan <= solve(problem, method="heft").makespan * (1 + 1e-12)


@pytest.mark.parametrize("method", SEARCHES)
def test_a_plan_is_there_without_time(method: str) -> None:
    """Without any time the plan to start from comes back."""
    dag = generators.layered(60, ccr=2.0, rng=1)
    for communication, contention in WAITING:
        problem = TaskGraph(
            dag, Network([1.0, 2.0]), communication=communication, contention=contention
        )
        result = solve(problem, method=method, time_limit=0.0)
        assert check(result).ok


@pytest.mark.kernels
def test_local_search_compiled_equals_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled loop makes the same moves as its plain twin, and the seed decides them."""
    for seed, model in enumerate(WAITING):
        problem = larger_problem(seed, *model)
        plans = []
        for compiled in (False, True, True):
            monkeypatch.setattr(jit, "forced", compiled)
            plans.append(local_search(problem, Control(rng=3), moves=100).schedule)
        for plan in plans[1:]:
            assert np.array_equal(plans[0].start, plan.start)
            assert np.array_equal(plans[0].machine, plan.machine)


@pytest.mark.thorough
def test_local_search_beats_every_heuristic_under_contention() -> None:
    """Graphs of 50 tasks on a star: at least a tenth shorter than the best quick plan."""
    names = ("heft", "peft", "mcp", "etf", "list-scheduling", "mapping-heuristic", "single-machine")
    network = Network([1.0, 1.0, 2.0, 2.0], topology="star", routers=["R"])
    for communication, contention in WAITING:
        dag = generators.layered(50, ccr=2.0, rng=1)
        problem = TaskGraph(dag, network, communication=communication, contention=contention)
        quick = min(solve(problem, method=name).makespan or np.inf for name in names)
        assert solve(problem, method="local-search").makespan < 0.95 * quick


def test_machines_alike_need_links_alike_under_contention() -> None:
    """Two machines on one router, two on another: pairs share no link, or one, so they differ."""
    network = Network(
        [1.0] * 4, topology="links", routers=["R", "S"],
        links=[("M1", "R", 1.0), ("M2", "R", 1.0), ("M3", "S", 1.0), ("M4", "S", 1.0),
               ("R", "S", np.inf)],
    )  # fmt: skip
    dag = Dag({"a": 1.0, "b": 1.0}, [("a", "b", 1.0)])
    assert TaskGraph(dag, network).alike == [[0, 1, 2, 3]]
    assert TaskGraph(dag, network, contention="links").alike == [[0], [1], [2], [3]]
    for alike in (Network([1.0] * 3), Network([1.0] * 3, topology="star", routers=["R"])):
        for contention in ("links", "ports"):
            assert TaskGraph(dag, alike, contention=contention).alike == [[0, 1, 2]]


def test_small_graphs_are_proved_by_auto() -> None:
    """Every graph of up to six tasks of a grid over models and networks is proved."""
    networks = (
        Network([1.0, 1.0, 2.0]),
        Network([1.0] * 3, topology="bus"),
        Network([1.0, 1.0, 2.0, 2.0], topology="star", routers=["R"]),
        Network([1.0] * 3, topology="ring"),
    )
    for seed, ((communication, contention), network) in enumerate(product(WAITING, networks)):
        dag = generators.layered(4 + seed % 2, ccr=(0.5, 1.0, 5.0)[seed % 3], rng=seed)
        problem = TaskGraph(dag, network, communication=communication, contention=contention)
        assert solve(problem, time_limit=10.0).status == "optimal", seed
