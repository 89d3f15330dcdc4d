"""The methods: valid plans, proofs that agree with a slow oracle, bounds that hold."""

from __future__ import annotations

import math
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import makespan
from makespan import MethodError, Reduction
from makespan.core.numeric import jit
from makespan.reduction.bounds import bounds
from makespan.reduction.halves.closed_forms import copies_of, skips_of, takes_of
from makespan.reduction.notebook import evaluate
from tests.oracles.reduction_brute import best as best_of_all, covers, notebook_search, true_optimum
from tests.test_found import FOUND
from tests.thorough import examples, few

HEURISTICS = ("chain", "star", "binary", "binomial", "k-nomial", "two-tree", "rarest-first")
EXACT = ("branch-and-bound", "cp-sat")


def uniform(n: int, m: int, a: float, b: float, c: float, **more: Any) -> Reduction:
    return Reduction(machines=n, segments=m, latency=a, transfer=b, reduce=c, **more)


def mixed(seed: int, n: int, m: int, **more: Any) -> Reduction:
    rng = np.random.default_rng(seed)
    return Reduction(
        machines=n,
        segments=m,
        latency=rng.integers(0, 20, (n, n)) / 10,
        transfer=rng.integers(1, 20, (n, n)) / 10,
        reduce=rng.integers(0, 20, n) / 10,
        segment_sizes=rng.integers(1, 8, m) / 4,
        **more,
    )


def oracle(problem: Reduction) -> Fraction:
    def exact(values: Any) -> Any:
        if isinstance(values, list):
            return [exact(value) for value in values]
        return Fraction(repr(values))

    return true_optimum(
        len(problem.machines),
        exact(problem.latencies.tolist()),
        exact(problem.transfers.tolist()),
        exact(problem.reduces.tolist()),
        exact(problem.sizes.tolist()),
    )


@pytest.mark.parametrize("seed", few(12, 2))
@pytest.mark.parametrize("method", EXACT)
def test_exact_methods_agree_with_the_oracle(seed: int, method: str) -> None:
    """Both searches find the least makespan over all orders, where costs are equal."""
    rng = np.random.default_rng(seed)
    n, m = [(2, 3), (3, 2), (3, 3), (4, 1), (4, 2)][seed % 5]
    problem = uniform(n, m, *(rng.integers(1, 30, 3) / 10).tolist())
    result = makespan.solve(problem, method=method)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(float(oracle(problem)), rel=1e-12)


@pytest.mark.parametrize("seed", few(10, 1))
def test_cp_sat_agrees_with_the_oracle_on_mixed_costs(seed: int) -> None:
    """The optimum for unequal machines, links and segments is that of trying everything."""
    problem = mixed(seed, *[(2, 3), (3, 2), (3, 2), (4, 1)][seed % 4])
    result = makespan.solve(problem)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(float(oracle(problem)), rel=1e-12)


@pytest.mark.parametrize("times", [(0, 1, 0), (1, 1, 1), (1.1, 1, 1.3), (2, 1, 0.5), (0, 1, 3)])
@pytest.mark.parametrize(("n", "m"), [(4, 5), (5, 4), (6, 3), (3, 7)])
def test_both_searches_agree(n: int, m: int, times: tuple[float, float, float]) -> None:
    """Branch and bound and constraint programming prove the same value, or bound each other."""
    problem = uniform(n, m, *times)
    one = makespan.solve(problem, method="branch-and-bound", time_limit=20)
    two = makespan.solve(problem, method="cp-sat", time_limit=3)
    assert one.makespan is not None
    assert two.makespan is not None
    assert two.lower_bound is not None
    assert one.status == "optimal"
    assert two.lower_bound <= one.makespan * (1 + 1e-12) <= two.makespan * (1 + 2e-12)


@pytest.mark.parametrize(("n", "m"), [(3, 2), (3, 3), (4, 2)])
@pytest.mark.parametrize("order", ["greedy", "backfilling"])
def test_rules_agree_with_plain_enumeration(n: int, m: int, order: Any) -> None:
    """The best destinations under both rules are those of trying all."""

    def value(plan: list[list[int]]) -> Any:
        try:
            return evaluate(plan, 2, 3, 4, order=order)
        except makespan.ProblemError:
            return None

    best, count, distinct = notebook_search(n, m, value)
    result = makespan.solve(uniform(n, m, 2, 3, 4, order=order))
    assert (result.status, result.makespan) == ("optimal", float(best))
    if order == "greedy":
        found = result.details["exhaustive"]
        assert (found["optimal"], found["distinct"]) == (count, distinct)


@examples(30)
@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from(HEURISTICS),
    st.sampled_from(["reduce", "broadcast"]),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 30),
    st.booleans(),
)
def test_heuristics_are_valid_and_above_the_bounds(
    n: int, m: int, method: str, collective: Any, a: int, b: int, c: int, unequal: bool
) -> None:
    """Whatever the costs, the referee accepts every plan, and none beats a bound."""
    if unequal:
        problem = mixed(a * 961 + b * 31 + c, n, m, collective=collective)
    else:
        problem = uniform(n, m, a / 10, b / 10, c / 10, collective=collective)
    result = makespan.solve(problem, method=method)
    assert result.makespan is not None
    for bound in bounds(problem):
        assert bound.value <= result.makespan * (1 + 1e-9)


@pytest.mark.parametrize("times", [(0, 1, 0), (1, 1, 1), (0.5, 1, 3), (2, 4, 1)])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 9), (5, 1), (5, 7), (16, 4), (33, 12)])
def test_trees_take_as_long_as_their_formulas_say(
    n: int, m: int, times: tuple[float, float, float]
) -> None:
    """A chain fills, then emits a segment a period; a star's root takes and combines them all."""
    problem, period = uniform(n, m, *times), max(times[1:])
    chain = (n - 1) * sum(times) + (m - 1) * period
    assert makespan.solve(problem, method="chain").makespan == pytest.approx(chain)
    star = sum(times) + ((n - 1) * m - 1) * period
    assert makespan.solve(problem, method="star").makespan == pytest.approx(star)


def test_few_segments_go_around_at_once_where_a_copy_is_hardly_longer_than_its_transfer() -> None:
    """Waves that take turns would double the rounds: here a round is as long as a copy."""
    problem = uniform(32, 3, 0.1, 1, 0, collective="broadcast")
    found = makespan.solve(problem, method="circulant")
    assert found.makespan == pytest.approx(7.6)


@pytest.mark.parametrize("levels", range(1, 7))
def test_a_binomial_tree_takes_a_hop_a_level(levels: int) -> None:
    """Of 2^k machines with one segment, the root has k hops behind it, as no port is waited for."""
    for collective in ("reduce", "broadcast"):
        problem = uniform(2**levels, 1, 2, 1, 0.5, collective=collective)
        hop = 3.5 if collective == "reduce" else 3.0
        assert makespan.solve(problem, method="binomial").makespan == pytest.approx(levels * hop)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 33, 100])
@pytest.mark.parametrize("times", [(0, 1, 0), (1, 1, 1), (0.1, 1, 1.3), (2, 1, 0.5)])
def test_single_segment_meets_its_bound(n: int, times: tuple[float, float, float]) -> None:
    """The growth of the reversed broadcast is reached exactly, for reductions and broadcasts."""
    for collective in ("reduce", "broadcast"):
        problem = uniform(n, 1, *times, collective=collective)
        result = makespan.solve(problem, method="single-segment")
        assert result.makespan == pytest.approx(makespan.lower_bound(problem).value, rel=1e-12)


def _first_skip(machine: int, skips: list[int]) -> int:
    """Return the first skip on the greedy path from the root: when the machine gets its first."""
    for k in range(len(skips) - 2, -1, -1):
        if skips[k] == machine:
            return k
        if skips[k] < machine:
            machine -= skips[k]
    return len(skips) - 1


@pytest.mark.parametrize(
    "numbers", [range(2, 80), pytest.param(range(80, 401), marks=pytest.mark.thorough)], ids=str
)
def test_circulant_receive_schedules(numbers: range) -> None:
    """For every n up to 400 a machine takes q different blocks a phase, and has what it gives."""
    for n in numbers:
        skips = skips_of(n)
        q = len(skips) - 1
        takes = takes_of(n).tolist()
        for machine in range(1, n):
            base = _first_skip(machine, skips)
            assert set(takes[machine]) == set(range(-q, 0)) - {base - q} | {base}
            for k in range(q):
                gives = takes[(machine + skips[k]) % n][k]
                assert (machine + skips[k]) % n == 0 or gives in (base - q, *takes[machine][:k])


@pytest.mark.parametrize("n", [2, 3, 7, 64, 257, 400])
@pytest.mark.parametrize("m", [1, 2, 9, 20])
def test_circulant_is_optimal(n: int, m: int) -> None:
    """The rounds are m - 1 + ceil(log2 n), refereed."""
    result = makespan.solve(uniform(n, m, 0, 3, 0), method="circulant")
    assert result.makespan == 3 * (m - 1 + math.ceil(math.log2(n)))


@pytest.mark.parametrize(
    ("latency", "reduce", "waves"), [(0, 0, 1), (1, 0, 2), (1.5, 0, 3), (3, 0, 4), (1, 1, 3)]
)
@pytest.mark.parametrize("collective", ["reduce", "broadcast"])
@pytest.mark.parametrize(("machines", "segments"), [(2, 5), (5, 1), (7, 2), (13, 20), (32, 9)])
def test_rounds_of_waves_take_turns(
    collective: Any, machines: int, segments: int, latency: float, reduce: float, waves: int
) -> None:
    """While copies are under way, ports go on: a wave has a round every so many transfers."""
    if collective == "broadcast" and reduce:
        waves = 2
    problem = Reduction(
        machines=machines, segments=segments, collective=collective, latency=latency,
        transfer=1, reduce=reduce,
    )  # fmt: skip
    result = makespan.solve(problem, method="circulant")
    assert result.makespan is not None
    waves = min(waves, segments)
    rounds = -(-segments // waves) - 1 + (machines - 1).bit_length()
    length = latency + 1 + (reduce if collective == "reduce" else 0)
    assert result.makespan <= (rounds - 1) * max(waves, length) + waves - 1 + length


@pytest.mark.kernels
def test_circulant_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled and plain loops make the same plan."""
    monkeypatch.setattr(jit, "forced", False)
    plain = [copies_of(37, 13, waves) for waves in (1, 3)]
    monkeypatch.setattr(jit, "forced", True)
    assert np.array_equal(plain, [copies_of(37, 13, waves) for waves in (1, 3)])


def test_circulant_always_has_its_plan() -> None:
    """A hundred thousand machines take it a tenth of a second: no time is needed to look."""
    result = makespan.solve(uniform(100_000, 1, 0, 1, 0), method="circulant", time_limit=0.0)
    assert (result.status.value, result.makespan) == ("optimal", 17.0)


def test_scaling_time_scales_the_optimum() -> None:
    """All times seven times as long: the optimum is seven times as long."""
    one = makespan.solve(uniform(4, 4, 1, 2, 3)).makespan
    seven = makespan.solve(uniform(4, 4, 7, 14, 21)).makespan
    assert one is not None
    assert seven == 7 * one


@pytest.mark.thorough
def test_renaming_machines_keeps_the_optimum() -> None:
    """Tables permuted outside the root have the same optimum."""
    problem = mixed(3, 4, 1)
    order = np.array([0, 3, 1, 2])
    renamed = Reduction(
        machines=4,
        segments=1,
        latency=problem.latencies[np.ix_(order, order)],
        transfer=problem.transfers[np.ix_(order, order)],
        reduce=problem.reduces[order],
        segment_sizes=problem.sizes,
    )
    one, two = makespan.solve(problem), makespan.solve(renamed)
    assert one.status == two.status == "optimal"
    assert one.makespan == two.makespan


def test_a_bound_over_all_homes_is_claimed_where_all_were_tried() -> None:
    """The slow machine's part goes to another, one of the others after it, and all of it back."""
    path = FOUND / "allreduce_one_home_claimed.toml"
    problem = makespan.read_problem(path)
    found = makespan.solve(problem, method="reduce-scatter-all-gather", restarts=1)
    assert found.lower_bound <= (9 + 1 + 9 + 1) * (1 + 1e-9)


@pytest.mark.thorough
def test_segment_count_searches_each_method() -> None:
    """The curve of the chain has its least value near the closed form, and auto keeps the best."""
    problem = Reduction(
        machines=8, segments="auto", latency=1.0, bytes=4000.0, message_overhead=0.5,
        transfer_per_byte=0.25, reduce_per_byte=0.05, reduce_overhead=0.1,
    )  # fmt: skip
    result = makespan.solve(problem)
    best = result.details["best"]
    total, overhead = 4000 * 0.25, 0.5
    predicted = math.sqrt((7 * (total + 200) - total) / overhead)
    assert best["chain"]["segments"] == pytest.approx(predicted, rel=0.25)
    assert result.makespan == pytest.approx(min(part["makespan"] for part in best.values()))
    assert result.answer["segments"] == result.details["segments"]
    assert result.lower_bound is not None
    assert 0.75 * result.makespan < result.lower_bound <= result.makespan  # type: ignore[operator]


def test_segment_count_bound_holds_for_every_count() -> None:
    """The bound for an open number of segments is below the bounds for all numbers."""
    problem = Reduction(
        machines=5, segments="auto", latency=3.0, bytes=100.0, message_overhead=0.7,
        transfer_per_byte=0.25,
    )  # fmt: skip
    value = makespan.lower_bound(problem).value
    fixed = [makespan.lower_bound(problem.with_segments(m)).value for m in range(1, 200)]
    assert 0 < value <= min(fixed) * (1 + 1e-12)


@pytest.mark.thorough
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="slow uncompiled")
def test_large_instance_is_close_to_the_bound() -> None:
    """Sixty machines and segments within 3 % of the bound."""
    result = makespan.solve(uniform(60, 60, 1, 1, 1), method="rarest-first", restarts=2)
    assert result.gap is not None
    assert result.gap < 0.03


@pytest.mark.parametrize("times", [(10, 1, 0.5), (100, 1, 0.5)])
def test_few_segments_of_many_machines_are_spread_first(times: tuple[float, float, float]) -> None:
    """Also where there is no time for more, what is combined and what is copied is near a tree."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=1024, segments=5, collective="all-reduce",
        latency=latency, transfer=transfer, reduce=reduce,
    )  # fmt: skip
    result = makespan.solve(problem, method="reduce-scatter-all-gather", time_limit=1e-9)
    assert result.gap is not None
    assert result.gap <= 0.1


def test_wrong_options_are_refused() -> None:
    """An arity below 2 has no tree."""
    with pytest.raises(MethodError, match="arity"):
        makespan.solve(uniform(4, 2, 1, 1, 1), method="k-nomial", arity=1)


def test_time_limit_returns_the_best_found() -> None:
    """Out of time, a search returns its incumbent and its bound, the optimum between them."""
    for n, m, *times in ((4, 2, 1.1, 1, 1.3), (3, 3, 2, 1, 0.5)):
        problem = uniform(n, m, *times)
        result = makespan.solve(problem, method="branch-and-bound", time_limit=0.0)
        best = float(oracle(problem)) * (1 + 1e-12)
        assert result.lower_bound <= best <= result.makespan * (1 + 2e-12)


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("rarest-first", {"segment_sizes": np.random.default_rng(0).uniform(0.5, 2.0, 3_000)}),
        pytest.param("backfilling", {"order": "backfilling"}, marks=pytest.mark.thorough),
        ("greedy-trees", {"order": "greedy"}),
    ],
)
def test_runs_that_are_stopped_leave_a_plan(method: str, fields: dict[str, Any]) -> None:
    """Compiled loops that the clock ends are not taken for plans; a quick one is there."""
    problem = Reduction(machines=8, segments=3_000, latency=1, transfer=1, reduce=1, **fields)
    result = makespan.solve(problem, method=method, time_limit=0.0)
    assert len(result.schedule) == 2 * 7 * 3_000
    assert makespan.check(problem, result.schedule).ok


@pytest.mark.parametrize("order", ["greedy", "backfilling"])
def test_segment_count_keeps_to_the_rule_of_order(order: str) -> None:
    """Only the methods of the rule are tried; others are refused by name."""
    problem = Reduction(
        machines=6, segments="auto", latency=4.0, bytes=0.1, message_overhead=3.0, order=order
    )
    assert makespan.solve(problem, time_limit=0.2).status in ("optimal", "feasible")
    with pytest.raises(MethodError, match="methods: chain: does not apply"):
        makespan.solve(problem, method="segment-count", methods=("chain",))


def custom(before: Any, after: Any, **times: Any) -> Reduction:
    """Return a combination on three machines with these ends."""
    more = {"machines": 3, "segments": len(before), "collective": "custom", "combine": True}
    return Reduction(**more, **times, before=before, after=after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([[1, 3], [1, 2, 3]], [[3], [1, 2, 3]]),  # one end, and all
        ([[1, 3], [1, 2, 3]], [[1], [2, 3]]),
        ([[1, 2, 3], [2]], [[1, 3], [2]]),
    ],
)
def test_ends_that_differ_get_their_copies_and_no_others(before: Any, after: Any) -> None:
    """A copy of a segment from its only end would be taken for its part."""
    apart = {
        "latency": [[0.0, 0.0, 3.0], [2.0, 0.0, 2.0], [1.0, 3.0, 0.0]],
        "transfer": [[0.0, 1.0, 1.0], [4.0, 0.0, 5.0], [1.0, 5.0, 0.0]],
        "reduce": 0.0,
    }
    for times in (apart, {"transfer": 1.0, "reduce": 0.0}):
        problem = custom(before, after, **times)
        known = best_of_all(problem) if covers(problem) else None
        found = makespan.solve(problem, method="reduce-scatter-all-gather", time_limit=1)
        assert found.schedule is not None
        assert known is None or found.makespan >= known * (1 - 1e-12)
