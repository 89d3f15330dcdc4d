"""Policies that decide while they run: chunk sequences, engine, and robustness."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from makespan import DivisibleLoad, MethodError, Noise, Star, check, simulate, solve
from makespan.core.numeric import jit
from makespan.divisible import policies
from makespan.divisible.policies import FACTORING, factoring, rumr, self_scheduling, serve

ROOT = Path(__file__).parent.parent
CASES = {
    case["name"]: case
    for case in json.loads((ROOT / "cases" / "divisible.json").read_text(encoding="utf-8"))
}
POLICIES = ("self-scheduling", "guided", "factoring", "weighted-factoring", "rumr")


def unequal(**fields):
    star = Star.from_arrays(
        send_per_unit=[0.05, 0.1, 0.02],
        compute_per_unit=[1.0, 3.0, 0.5],
        send_fixed=[0.1, 0.0, 0.2],
        compute_fixed=[0.0, 0.3, 0.1],
    )
    return DivisibleLoad(load=200.0, platform=star, rounds="auto", **fields)


@pytest.mark.parametrize(
    ("name", "method"), [("gss_1000_4", "guided"), ("fac2_1000_4", "factoring")]
)
def test_published_chunks(name, method):
    """1000 whole units on four workers give the published chunks."""
    star = Star.from_arrays(send_per_unit=[0.01] * 4, compute_per_unit=1.0)
    problem = DivisibleLoad(load=1000.0, platform=star, rounds="auto", integral=True)
    result = solve(problem, method=method)
    chunks = [chunk["amount"] for chunk in result.answer["chunks"]]
    assert chunks == CASES[name]["expected"]["chunks"]


@pytest.mark.parametrize("method", POLICIES)
def test_plans_are_valid(method):
    """The nominal run of every policy is a valid plan, no later than the first worker alone."""
    result = solve(unequal(), method=method)
    assert result.lower_bound <= result.makespan < 210.0
    assert result.status == "feasible"


@pytest.mark.parametrize("method", POLICIES)
def test_simulation_without_noise_is_the_nominal_run(method):
    """Without errors all runs are one, and no earlier than the plan that sends ahead."""
    simulation = simulate(unequal(), policy=method, noise=0.0, repetitions=4)
    assert simulation.makespans.tolist() == [simulation.nominal] * 4
    assert simulation.nominal >= solve(unequal(), method=method).makespan * (1 - 1e-12)


def test_self_scheduling_by_hand():
    """Two workers, chunks of 2 on demand: who is idle first is served first."""
    star = Star.from_arrays(send_per_unit=[1.0, 1.0], compute_per_unit=[1.0, 4.0])
    problem = DivisibleLoad(load=8.0, platform=star, rounds="auto")
    policy = self_scheduling(problem, chunk=2.0)
    # P1: sent 0-2, computes 2-4; P2: sent 2-4, computes 4-12; P1: 4-6, 6-8; P1: 8-10, 10-12
    assert policy.plan().worker.tolist() == [0, 1, 0, 0]
    assert simulate(problem, policy="self-scheduling", noise=0.0, repetitions=1).nominal > 0
    ends, nominal = policy.makespans(Noise(error=0.0), 2, np.random.default_rng(0))
    assert nominal == 12.0
    assert ends.tolist() == [12.0, 12.0]
    # one chunk ahead, P2 asks again at 4, when it starts its first chunk
    assert self_scheduling(problem, chunk=2.0, ahead=2).plan().worker.tolist() == [0, 1, 0, 1]


def test_decisions_follow_what_happens():
    """In a run in which the first worker is slow, the other gets more of the chunks."""
    star = Star.from_arrays(send_per_unit=[0.01] * 2, compute_per_unit=1.0)
    problem = DivisibleLoad(load=100.0, platform=star, rounds="auto")
    policy = factoring(problem)
    most = policy.most_chunks
    loads = []
    for slow in (1.0, 3.0):
        worker, amount = np.zeros(most, dtype=np.int64), np.zeros(most)
        factors = np.array([[[1.0], [1.0]], [[slow], [1.0]]])
        count, _ = serve.plain(*policy._fixed(), factors, worker, amount)
        loads.append(np.bincount(worker[:count], weights=amount[:count], minlength=2)[0])
    assert loads[0] == pytest.approx(50.0, abs=5.0)
    assert loads[1] < 40.0


@pytest.mark.kernels
@pytest.mark.parametrize("per", ["activity", "machine"])
def test_the_compiled_engine(per, monkeypatch):
    """Compiled runs are the plain ones."""
    noise = Noise("gamma", 0.3, per=per)
    monkeypatch.setattr(jit, "forced", False)
    plain, _ = rumr(unequal(), error=0.3).makespans(noise, 30, np.random.default_rng(1))
    monkeypatch.setattr(jit, "forced", True)
    compiled, _ = rumr(unequal(), error=0.3).makespans(noise, 30, np.random.default_rng(1))
    assert compiled == pytest.approx(plain, rel=1e-12)
    assert plain.std() > 0


def test_rumr_keeps_the_share_of_the_error():
    """Without errors RUMR is UMR; with an error of 30 % about that share comes by factoring."""
    problem = unequal()
    uniform = solve(problem, method="umr")
    sure = solve(problem, method="rumr")
    assert sure.makespan == pytest.approx(uniform.makespan, rel=1e-9)
    policy = rumr(problem, error=0.3)
    assert policy.head.total == pytest.approx(0.7 * 200.0)
    assert policy.plan().total == pytest.approx(200.0)
    assert rumr(problem, error=5.0).head is None


def test_the_limit_of_chunks(monkeypatch):
    """With fewer chunks than units the last one takes the rest."""
    monkeypatch.setattr(policies, "MAX_CHUNKS", 5)
    plan = factoring(unequal()).plan()
    assert len(plan) == 5
    assert plan.total == pytest.approx(200.0)
    assert factoring(unequal()).rule == FACTORING


def test_refusals():
    """Problems and options that policies can't serve are refused by name."""
    with pytest.raises(MethodError, match="rounds are given"):
        simulate(DivisibleLoad(load=1.0, platform=unequal().platform), policy="guided", noise=0.1)
    with pytest.raises(MethodError, match="unit: 0"):
        solve(unequal(), method="guided", unit=0.0)
    with pytest.raises(MethodError, match="ahead: 3"):
        solve(unequal(), method="factoring", ahead=3)
    with pytest.raises(MethodError, match="error: -1"):
        solve(unequal(), method="rumr", error=-1.0)


def test_robustness():
    """The table of the example: what errors of 40 % cost each way of planning.

    Published means: one round 130 → 192, multi-installment 101 → 145, factoring 118 → 119,
    RUMR 101 → 107, each within a few seconds.
    """
    path = ROOT.parent / "examples" / "prediction_errors.py"
    spec = importlib.util.spec_from_file_location("prediction_errors", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    means = [row for _, row in sorted(example.table(repetitions=200).items())]
    factoring_row, installments, one_round, robust = means
    for row, sure, wrong in (
        (one_round, 130, 192),
        (installments, 101, 145),
        (factoring_row, 118, 119),
        (robust, 101, 107),
    ):
        assert row[0] == pytest.approx(sure, abs=2)
        assert row[-1] == pytest.approx(wrong, abs=4)
    assert robust[-1] < factoring_row[-1] < installments[-1] < one_round[-1]


@pytest.mark.parametrize("method", POLICIES[:-1])
def test_whole_units_are_whole(method):
    """Chunks of whole units are whole whatever is asked; a load that isn't is refused."""
    option = "chunk" if method == "self-scheduling" else "unit"
    whole = DivisibleLoad(load=7.0, platform=unequal().platform, rounds="auto", integral=True)
    assert check(solve(whole, method=method, **{option: 2})).ok
    if option == "unit":
        with pytest.raises(MethodError, match=r"unit: 0\.5 is not whole"):
            solve(whole, method=method, unit=0.5)
    else:
        assert check(solve(whole, method=method, chunk=0.5)).ok
    broken = DivisibleLoad(load=2.5, platform=unequal().platform, rounds="auto", integral=True)
    with pytest.raises(MethodError, match=r"load is 2\.5"):
        solve(broken, method=method)
