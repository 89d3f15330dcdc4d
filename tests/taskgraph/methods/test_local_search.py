"""Local search, CP-SAT, and auto, which runs both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from makespan import Dag, MethodError, Network, TaskGraph, lower_bound, methods, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.core.registry import find_method
from makespan.core.solution import Solution
from makespan.taskgraph import local_search as search
from makespan.taskgraph.generate import graphs as generators
from makespan.taskgraph.list_scheduling import insertion
from makespan.taskgraph.methods import local_search as method
from makespan.taskgraph.methods.local_search import local_search
from tests.oracles.taskgraph_enumeration import best as optimum
from tests.oracles.taskgraph_instances import random_network, random_problem, with_releases
from tests.oracles.taskgraph_rules import is_valid
from tests.taskgraph.methods.test_published import CASES, dag_of
from tests.thorough import up_to

FAST = (
    "heft", "peft", "cpop", "mcp", "single-machine", "list-scheduling", "mapping-heuristic",
    "dls", "etf", "lookahead", "dominant-sequence-clustering", "linear-clustering", "edge-zeroing",
)  # fmt: skip


def whole(seed: int, tasks: int, ccr: float) -> TaskGraph:
    """Return a random graph with whole works and sizes on four machines."""
    dag = generators.layered(tasks, ccr=ccr, rng=seed)
    dag = Dag.from_arrays(
        work=np.round(dag.work), source=dag.source, target=dag.target, size=np.round(dag.size)
    )
    return TaskGraph(dag, Network([1.0, 1.0, 2.0, 2.0]))


@pytest.mark.parametrize(
    ("name", "value"), [("topcuoglu2002", 73.0), ("arabnejad2014_peft", 113.0)]
)
@pytest.mark.parametrize("method", ["cp-sat", "auto"])
def test_published_optima(name: str, value: float, method: str) -> None:
    """The optima of the papers' examples are found and proved."""
    result = solve(TaskGraph(dag_of(CASES[name]), Network([1.0] * 3)), method=method)
    assert (result.makespan, str(result.status), result.lower_bound) == (value, "optimal", value)


@pytest.mark.parametrize("count", up_to(5, 30))
def test_cp_sat_equals_brute_force(count: int) -> None:
    """On tiny graphs over all topologies, with cores and delays, the optimum is the same."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        network = random_network(rng, ("complete", "bus", "star", "ring", "links")[seed % 5])
        if len(network) > 3:
            continue
        dag = generators.layered(5, ccr=float(rng.choice([0.1, 1.0, 5.0])), rng=seed)
        problem = TaskGraph(dag, network)
        result = solve(problem, method="cp-sat")
        assert str(result.status) == "optimal"
        assert result.makespan == pytest.approx(optimum(problem), rel=1e-9)


def test_cp_sat_is_never_worse_than_its_start() -> None:
    """Without any time, the plan that it began with comes back, with a bound below it."""
    for seed in range(10):
        problem = random_problem(seed)
        start = solve(problem, method="heft")
        result = solve(problem, method="cp-sat", time_limit=0.0)
        assert result.makespan <= start.makespan
        assert result.lower_bound >= lower_bound(problem).value * (1 - 1e-9)
        assert result.lower_bound <= result.makespan


def test_cp_sat_starts_from_the_incumbent() -> None:
    """A better plan than that of HEFT is the start where one is known."""
    problem = whole(1, 40, 5.0)
    better = solve(problem, method="lookahead")
    assert better.makespan < solve(problem, method="heft").makespan
    control = Control(time_limit=0.0)
    control.incumbent = Solution(schedule=better.schedule)
    found = find_method("taskgraph", "cp-sat").run(problem, control)
    assert found.makespan <= better.makespan


@pytest.mark.parametrize("ccr", [0.1, 1.0, 5.0])
def test_cp_sat_proves_twelve_tasks(ccr: float) -> None:
    """Small graphs are proved, with true times that have no common unit as well."""
    for seed in range(3):
        exact = solve(whole(seed, 12, ccr), method="cp-sat")
        dag = generators.layered(12, ccr=ccr, rng=seed)
        rounded = solve(TaskGraph(dag, Network([1.0, 1.3, 1.7])), method="cp-sat")
        assert str(exact.status) == str(rounded.status) == "optimal"
        assert exact.makespan <= solve(exact.problem, method="local-search").makespan


@pytest.mark.slow
@pytest.mark.parametrize(("ccr", "proved"), [(0.1, 19), (1.0, 20), (5.0, 20)])
def test_cp_sat_proves_twenty_five_tasks(ccr: float, proved: int) -> None:
    """25 tasks on 4 machines are proved for 20 seeds, with little communication for all but one,
    and no worse than HEFT."""
    found = []
    for seed in range(20):
        problem = whole(seed, 25, ccr)
        result = solve(problem, method="cp-sat", time_limit=60)
        found.append(str(result.status) == "optimal")
        assert result.makespan <= solve(problem, method="heft").makespan
    assert sum(found) >= proved


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"communication": "blocking"}, "communication is blocking"),
        ({"contention": "ports"}, "contention is ports"),
    ],
)
def test_cp_sat_says_what_it_lacks(more: dict[str, str], message: str) -> None:
    """Models that are another method's are refused by name."""
    problem = TaskGraph(Dag({"a": 1.0}), Network([1.0]), **more)  # type: ignore[arg-type]
    with pytest.raises(MethodError, match=message):
        solve(problem, method="cp-sat")
    with pytest.raises(MethodError, match="communication is overlap and contention none"):
        solve(TaskGraph(problem.dag, problem.network), method="cp-sat-transfers")


@pytest.mark.slow
def test_local_search_is_never_worse_and_mostly_better() -> None:
    """It starts from HEFT and improves most graphs with much communication."""
    better = 0
    for seed in range(10):
        problem = TaskGraph(generators.layered(60, ccr=5.0, rng=seed), Network([1.0, 2.0, 3.0]))
        start, found = (solve(problem, method=name) for name in ("heft", "local-search"))
        assert found.makespan <= start.makespan
        better += found.makespan < start.makespan
    assert better >= 8


@pytest.mark.kernels
def test_local_search_looks_at_the_clock_often() -> None:
    """Every few million steps, some hundredths of a second: a short limit ends it, too."""

    class Watched(Control):
        looks = 0

        def expired(self) -> bool:
            self.looks += 1
            return super().expired()

    problem, control, moves = whole(1, 100, 1.0), Watched(), 30_000
    local_search(problem, control, moves=moves)
    steps = moves * (len(problem.dag) + len(problem.dag.source))
    assert steps / control.looks < 4_000_000


def test_local_search_compiled_equals_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled loop makes the same moves as its plain twin."""
    problem = TaskGraph(generators.layered(50, ccr=2.0, rng=3), Network([1.0, 2.0], cores=[1, 2]))
    plans = []
    for compiled in (False, True):
        monkeypatch.setattr(jit, "forced", compiled)
        plans.append(local_search(problem, Control(), moves=500).schedule)
    assert np.array_equal(plans[0].start, plans[1].start)
    assert np.array_equal(plans[0].machine, plans[1].machine)


def test_large_graphs_are_planned_backwards_and_forwards(
    form: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where moves are too few, plans of all kinds of problems stay valid and mostly get shorter."""
    monkeypatch.setattr(method, "MAX_STEPS", 0)
    better = 0
    for seed in range(30):
        problem = random_problem(seed)
        if not problem.transfers_wait and seed % 3 == 0:
            problem = replace(problem, dag=with_releases(problem.dag, np.random.default_rng(seed)))
        start, found = (solve(problem, method=name) for name in ("heft", "local-search"))
        assert is_valid(problem, found.schedule), seed
        assert found.makespan <= start.makespan
        better += found.makespan < start.makespan * (1 - 1e-9)
    assert better >= 5


def test_plans_forwards_and_backwards_come_from_their_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whenever the time is up, the plan is one of the problem, not of the graph turned round."""
    monkeypatch.setattr(method, "MAX_STEPS", 0)
    monkeypatch.setattr(insertion, "QUICK", 0)
    monkeypatch.setattr(search, "ROUNDS", 3)
    problem = TaskGraph(generators.layered(20, ccr=0.1, rng=1), Network([1.0, 2.0, 3.0]))
    start = solve(problem, method="heft").schedule
    for looks in range(120):
        control = Looked(looks)
        control.incumbent = Solution(schedule=start)
        found = local_search(problem, control).schedule
        assert is_valid(problem, found), looks
        assert found.makespan <= start.makespan


class Looked(Control):
    """A clock that is up at one look, as for what keeps time for the rest."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def expired(self) -> bool:
        self.looks -= 1
        return self.looks == 0


@pytest.mark.slow
def test_auto_is_never_worse_than_a_quick_method() -> None:
    """On 100 random graphs ``auto`` is at least as good as each quick method."""
    for seed in range(100):
        problem = random_problem(seed)
        found = solve(problem, time_limit=0.5)
        can = {verdict.name for verdict in methods(problem) if verdict.applies}
        for name in can.intersection(FAST):
            other = solve(problem, method=name).makespan
            assert found.makespan <= other * (1 + 1e-12), (seed, name)
