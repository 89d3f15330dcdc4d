"""Chunks without idle time: the recursion, its certificate, its kernels, and the closed form."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Affine, DivisibleLoad, Master, Star, Worker, solve
from makespan.core.control import Control
from makespan.core.numeric import jit
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.rounds import chain as chains
from makespan.divisible.rounds.chain import ChainCosts, chain, coefficients, is_optimal
from tests.oracles.divisible_generating import denominator, expanded, numerators, times
from tests.oracles.divisible_sequence import best_of_sequence
from tests.thorough import few

CASES = {
    case["name"]: case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
}
ROUNDS = [name for name in CASES if name.startswith("multi_installment_N")]
GIVEN = [name for name in CASES if name.startswith("hetero_multiround_L")]


def exact(value):
    return Fraction(str(value))


def equal_workers(inputs, number=float):
    """The columns of a case of Yang and Casanova 2003: compute cost 1 a unit, send cost 1/R."""
    count = inputs["N"]
    return ChainCosts(
        send_fixed=[number(inputs.get("beta", 0))] * count,
        send_per_unit=[1 / number(inputs["R"])] * count,
        compute_fixed=[number(inputs.get("alpha", 0))] * count,
        compute_per_unit=[number(1)] * count,
    )


def equal_star(inputs):
    costs = equal_workers(inputs)
    return Star.from_arrays(
        send_fixed=costs.send_fixed,
        send_per_unit=costs.send_per_unit,
        compute_fixed=costs.compute_fixed,
        compute_per_unit=costs.compute_per_unit,
    )


def star_of(workers, master=None):
    own = None if master is None else Master(compute=Affine(*master))
    return Star(
        [Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in workers], master=own
    )


def costs_of(workers, master=None):
    columns = [list(column) for column in zip(*workers, strict=True)]
    return ChainCosts(
        send_fixed=columns[0],
        send_per_unit=columns[1],
        compute_fixed=columns[2],
        compute_per_unit=columns[3],
        master=master,
    )


def random_sequence(generator):
    """A random star, master and sequence; half of the stars without fixed costs."""
    count = int(generator.integers(1, 5))
    workers = generator.uniform([0, 0.02, 0, 0.3], [1, 0.6, 1, 3], (count, 4))
    if generator.random() < 0.5:
        workers[:, [0, 2]] = 0.0
    sequence = generator.integers(0, count, int(generator.integers(1, 10))).tolist()
    master = (0.3, 2.5) if generator.random() < 0.3 else None
    load = float(generator.choice([5.0, 30.0, 200.0]))
    return load, sequence, [tuple(row) for row in workers.tolist()], master


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_on_equal_workers_in_fractions(name):
    """The recursion in fractions gives the exact makespan and chunks of the cases."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    sequence = list(range(inputs["N"])) * inputs["M"]
    found = chain(exact(inputs["T_total"]), sequence, equal_workers(inputs, exact))
    assert found.is_plan
    assert found.makespan == Fraction(expected["makespan_exact"])
    assert found.amounts[-1] == Fraction(expected["g0_exact"])
    assert [float(a) for a in reversed(found.amounts)] == pytest.approx(expected["g"], rel=1e-12)


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_on_equal_workers_through_solve(name):
    """multi-installment gives the case's makespan and chunks, refereed."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    problem = DivisibleLoad(load=inputs["T_total"], platform=equal_star(inputs), rounds=inputs["M"])
    result = solve(problem, method="multi-installment")
    assert result.makespan == pytest.approx(expected["makespan"], rel=1e-9)
    chunks = [chunk["amount"] for chunk in result.answer["chunks"]]
    assert chunks[::-1] == pytest.approx(expected["g"], rel=1e-9)


def test_a_negative_chunk_is_never_returned():
    """Where the recursion makes a chunk negative it is no plan, and fewer rounds are used."""
    case = CASES["multi_installment_negative_chunk"]
    inputs, expected = case["inputs"], case["expected"]
    sequence = list(range(inputs["N"])) * inputs["M"]
    found = chain(float(inputs["T_total"]), sequence, equal_workers(inputs))
    assert not found.is_plan
    assert min(found.amounts) == pytest.approx(expected["min_g"], rel=1e-9)
    assert found.makespan == pytest.approx(expected["recursion_makespan_invalid"], rel=1e-9)
    star = equal_star(inputs)
    result = solve(
        DivisibleLoad(load=inputs["T_total"], platform=star, rounds=inputs["M"]),
        method="multi-installment",
    )
    assert "negative" in result.notes[0]
    assert min(chunk["amount"] for chunk in result.answer["chunks"]) > 0
    names = [star.names[worker] for worker in sequence]
    given = solve(DivisibleLoad(load=inputs["T_total"], platform=star, activation=names))
    assert given.status == "optimal"
    assert given.makespan == pytest.approx(expected["lp_makespan_all_activations"], rel=1e-9)


def test_best_number_of_rounds():
    """With rounds "auto" the best number of rounds of the case's table is found."""
    case = CASES["optimal_rounds_homog_N4_R20"]
    star = equal_star(case["inputs"])
    for row in case["expected"]["table"]:
        problem = DivisibleLoad(load=50.0, platform=star, rounds=row["M"])
        found = solve(problem, method="multi-installment").makespan
        assert found == pytest.approx(row["recursion"], rel=1e-9)
    auto = solve(DivisibleLoad(load=50.0, platform=star, rounds="auto"), method="multi-installment")
    assert auto.answer["rounds"] == case["expected"]["best_M"]
    assert auto.makespan == pytest.approx(case["expected"]["best_makespan"], rel=1e-9)


@pytest.mark.parametrize("place", [0, 1])
def test_the_limit_of_many_rounds(place):
    """40 rounds come as near to T/N or T/R as the case says, and never below."""
    case = CASES["multi_round_limit_linear"]
    inputs, limits = case["inputs"]["cases"][place], case["expected"]["limits"]
    problem = DivisibleLoad(load=inputs["T_total"], platform=equal_star(inputs), rounds=40)
    result = solve(problem, method="multi-installment")
    assert result.makespan == pytest.approx(case["expected"]["M40"][place], rel=1e-9)
    assert result.lower_bound == pytest.approx(limits[place], rel=1e-9)


@pytest.mark.parametrize("name", GIVEN)
def test_given_sequences(name):
    """activation gives the makespan of the cases, and their amounts where these are unique."""
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    workers = list(zip(*(inputs[key] for key in ("C", "c", "Wlat", "w")), strict=True))
    names = [f"P{worker + 1}" for worker in inputs["activation"]]
    result = solve(DivisibleLoad(load=inputs["W"], platform=star_of(workers), activation=names))
    assert (result.method, result.status) == ("activation", "optimal")
    assert result.makespan == pytest.approx(expected["makespan"], rel=1e-9)
    if len(names) <= 6:
        chunks = [chunk["amount"] for chunk in result.answer["chunks"]]
        assert chunks == pytest.approx(expected["loads"], rel=1e-6)


def test_a_worker_that_computes_while_it_receives():
    """The overlap value of a published example; its master's chunk is a worker without a link."""
    case = CASES["dltstudio_hello_overlap_vs_not"]
    inputs, expected = case["inputs"], case["expected"]
    workers = [(C, c, 0.0, w) for C, c, w in zip(*(inputs[k] for k in "Ccw"), strict=True)]
    names = [f"P{worker + 1}" for worker in inputs["activation"]]
    problem = DivisibleLoad(load=inputs["W"], platform=star_of(workers), activation=names)
    result = solve(problem)
    assert result.makespan == pytest.approx(expected["with_overlap_lp"], rel=1e-9)
    chunks = [chunk["amount"] for chunk in result.answer["chunks"]]
    assert chunks == pytest.approx(expected["loads"], rel=1e-6)


@pytest.mark.parametrize("rounds", [1, 2, 4, 8, 16, 32])
def test_rounds_on_unequal_workers(rounds):
    """Round-robin over the case's star gives its makespans, towards the bound."""
    case = CASES["linear_multiround_limit_hetero"]
    inputs, expected = case["inputs"], case["expected"]
    star = Star.from_arrays(send_per_unit=inputs["c"], compute_per_unit=inputs["w"])
    names = ["P2", "P1", "P3"] * rounds  # by send cost
    result = solve(DivisibleLoad(load=inputs["W"], platform=star, activation=names))
    assert result.makespan == pytest.approx(expected["rounds"][str(rounds)], rel=1e-7)
    assert result.makespan >= expected["limit_lower_bound"] * (1 - 1e-12)


@pytest.mark.parametrize("seed", few(300, 38))
def test_chain_against_the_programme(seed):
    """The chain never beats the programme where it is a plan; its certificate means equality."""
    generator = np.random.default_rng(seed)
    load, sequence, workers, master = random_sequence(generator)
    least, _ = best_of_sequence(load, sequence, workers, master=master)
    costs = costs_of(workers, master)
    found = chain(load, sequence, costs)
    if found.is_plan:
        assert sum(found.amounts) + found.master == pytest.approx(load, rel=1e-9)
        assert found.makespan >= least * (1 - 1e-7)  # the tolerance of the oracle
        if is_optimal(sequence, costs, 1e-12):
            assert found.makespan == pytest.approx(least, rel=1e-7)


def test_the_certificate_is_given_often():
    """Of the plans among the random chains above, most of those that are best are certified."""
    best = certified = 0
    for seed in range(150):
        load, sequence, workers, master = random_sequence(np.random.default_rng(seed))
        costs = costs_of(workers, master)
        found = chain(load, sequence, costs)
        if found.is_plan:
            least, _ = best_of_sequence(load, sequence, workers, master=master)
            best += found.makespan <= least * (1 + 1e-7)
            certified += is_optimal(sequence, costs, 1e-12)
    assert best >= 20
    assert certified >= 0.9 * best


@pytest.mark.parametrize("seed", range(60))
def test_the_best_amounts_are_the_programmes(seed):
    """best_amounts equals the oracle's programme, whether by chain or by HiGHS; and is valid."""
    load, sequence, workers, master = random_sequence(np.random.default_rng(1000 + seed))
    names = tuple(f"P{worker + 1}" for worker in sequence)
    problem = DivisibleLoad(load=load, platform=star_of(workers, master), activation=names)
    result = solve(problem)
    least, _ = best_of_sequence(load, sequence, workers, master=master)
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(least, rel=1e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(40))
def test_compiled_chains_equal_plain_ones(seed, monkeypatch):
    """The compiled chain gives the plain one's numbers, and its prices the same verdict."""
    load, sequence, workers, master = random_sequence(np.random.default_rng(2000 + seed))
    costs = costs_of(workers, master)
    found = []
    for compiled in (False, True):
        monkeypatch.setattr(jit, "forced", compiled)
        one = chain(load, sequence, costs)
        numbers = (*one.amounts, one.master, one.makespan, one.tail, one.cancelled)
        found.append((numbers, one.is_plan, is_optimal(sequence, costs, 1e-9)))
    assert found[0] == found[1]


def test_long_sequences_compile(monkeypatch):
    """The compiled path gives the same plan as the plain one."""
    star = Star.from_arrays(
        send_per_unit=[0.01, 0.02, 0.015],
        compute_per_unit=[1.0, 1.5, 1.2],
        send_fixed=1e-4,
        compute_fixed=1e-4,
        master=Master(compute=Affine(0.5, 9.0)),
    )
    problem = DivisibleLoad(load=500.0, platform=star, rounds="auto")
    sequence = np.tile([0, 2, 1], 20)
    monkeypatch.setattr(jit, "forced", False)
    plain = chains.size_by_chain(problem, sequence)
    monkeypatch.setattr(jit, "forced", True)
    compiled = chains.size_by_chain(problem, sequence)
    assert compiled.makespan == pytest.approx(plain.makespan, rel=1e-12)
    assert compiled.optimal == plain.optimal
    assert compiled.plan.amount == pytest.approx(plain.plan.amount, rel=1e-9)
    programme = size_by_programme(problem, sequence, Control())[0]
    assert programme.makespan <= plain.makespan * (1 + 1e-9)


@given(
    workers=st.integers(1, 6),
    rounds=st.integers(1, 5),
    ratio=st.integers(1, 12),
    alpha=st.fractions(0, 1, max_denominator=8),
    beta=st.fractions(0, 1, max_denominator=8),
    first=st.fractions(1, 50, max_denominator=4),
)
def test_the_generating_function(workers, rounds, ratio, alpha, beta, first):
    """In fractions: denominator times the chunks of the recursion is the corrected numerator.

    R = N, with its double root, is among the examples.
    """
    costs = ChainCosts(
        send_fixed=[beta] * workers,
        send_per_unit=[Fraction(1, ratio)] * workers,
        compute_fixed=[alpha] * workers,
        compute_per_unit=[Fraction(1)] * workers,
    )
    sequence = list(range(workers)) * rounds
    constant, slope, _ = coefficients(sequence, costs)
    tail = first + alpha  # the last chunk is computed in g_0 + alpha
    amounts = [fixed + per_tail * tail for fixed, per_tail in zip(constant, slope, strict=True)]
    chunks = amounts[::-1]
    terms = len(chunks)
    of_first, rest = numerators(workers, alpha, beta)
    numerator = [first * a + b for a, b in zip(of_first, rest, strict=True)]
    product = times(denominator(workers, Fraction(ratio)), chunks, terms)
    assert product == (numerator + [0] * terms)[:terms]


@pytest.mark.parametrize(
    ("workers", "ratio"), [(3, 8.0), (5, 3.0), (4, 4.0), (7, 7.0), (1, 1.0), (2, 2.0)]
)
def test_the_closed_form_by_roots(workers, ratio):
    """Sums of geometric series over the roots give the recursion's chunks, R = N included."""
    alpha, beta, first, rounds = 0.3, 0.05, 4.0, 4
    costs = equal_workers({"N": workers, "R": ratio, "alpha": alpha, "beta": beta})
    constant, slope, _ = coefficients(list(range(workers)) * rounds, costs)
    tail = first + alpha
    chunks = [c + s * tail for c, s in zip(constant[::-1], slope[::-1], strict=True)]
    of_first, rest = numerators(workers, alpha, beta)
    numerator = [first * a + b for a, b in zip(of_first, rest, strict=True)]
    closed = expanded(numerator, workers, ratio, len(chunks))
    assert closed == pytest.approx(chunks, rel=1e-9, abs=1e-9)
