"""multi-round, umr, merging rounds, and the bound for any number of rounds."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import Affine, DivisibleLoad, Master, MethodError, Star, Worker, check, solve
from makespan.core.control import Control
from makespan.divisible.bounds import bounds
from makespan.divisible.file import read
from makespan.divisible.published.rounds import merge_rounds
from makespan.divisible.rounds import search as sequences
from makespan.divisible.rounds.chain import ChainCosts, chain, costs_of
from makespan.divisible.rounds.search import Task
from makespan.divisible.rounds.search_kernels import end_of_chain, rounds_in
from tests.numbers import amounts
from tests.oracles.divisible_sequence import best_of_all, best_of_sequence
from tests.thorough import few

ROOT = Path(__file__).parents[2]
CASES = {
    case["name"]: case
    for case in json.loads((ROOT / "cases" / "divisible.json").read_text(encoding="utf-8"))
}
RUNS = json.loads((ROOT / "cases" / "measured.json").read_text(encoding="utf-8"))["runs"]
FILES = {
    "A_none": "fast_links_fast_processors",
    "B_none": "fast_links_slow_processors",
    "A_100": "shared_master_link",
    "P_lat": "delayed_links",
}
SHORT = ["hetero_multiround_optimal_2workers_L2", "hetero_multiround_optimal_2workers_L4"]


def star_of(workers, master=None):
    own = None if master is None else Master(compute=Affine(*master))
    crew = [Worker(send=Affine(C, c), compute=Affine(W, w)) for C, c, W, w in workers]
    return Star(crew, master=own)


def random_workers(generator, count):
    table = generator.uniform([0.01, 0.05, 0.01, 0.3], [0.5, 0.6, 0.5, 3.0], (count, 4))
    return [tuple(row) for row in table.tolist()]


def case_of(name):
    inputs = CASES[name]["inputs"]
    columns = (inputs[key] for key in ("C", "c", "Wlat", "w"))
    return inputs, list(zip(*columns, strict=True)), CASES[name]["expected"]


@pytest.mark.parametrize("name", SHORT)
def test_short_sequences(name):
    """Brute force over short sequences gives the cases; the search does at least as well."""
    inputs, workers, expected = case_of(name)
    least = best_of_all(inputs["W"], inputs["max_activations"], workers)
    assert least == pytest.approx(expected["makespan"], rel=1e-7)
    activation = [f"P{worker + 1}" for worker in expected["activation"]]
    star = star_of(workers)
    given = solve(DivisibleLoad(load=inputs["W"], platform=star, activation=activation))
    assert given.makespan == pytest.approx(least, rel=1e-7)
    free = solve(DivisibleLoad(load=inputs["W"], platform=star, rounds="auto"), effort=0.03)
    assert free.makespan <= least * (1 + 1e-9)


@pytest.mark.parametrize("seed", few(12, 2))
def test_against_every_short_sequence(seed):
    """On small random stars the search is as good as the best of all sequences of six chunks."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, 2)
    load = float(generator.choice([3.0, 10.0]))
    problem = DivisibleLoad(load=load, platform=star_of(workers), rounds="auto")
    result = solve(problem, method="multi-round", effort=0.03)
    assert result.makespan <= best_of_all(load, 6, workers) * (1 + 1e-3)
    assert result.lower_bound <= result.makespan


@pytest.mark.parametrize("rounds", [2, 3])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_given_number_of_rounds(rounds, ordered):
    """The plan makes no more rounds than given, in the given order; more rounds never hurt."""
    workers = random_workers(np.random.default_rng(7), 4)
    order = ("P3", "P1", "P4", "P2") if ordered else None
    problem = DivisibleLoad(load=60.0, platform=star_of(workers), rounds=rounds, order=order)
    result = solve(problem, method="multi-round", effort=0.03)
    assert result.answer["rounds"] <= rounds
    fewer = solve(replace(problem, rounds=rounds - 1), effort=0.03)
    assert result.makespan <= fewer.makespan * (1 + 1e-9)


def test_same_input_same_output():
    """The compiled search is a function of the problem and the seed."""
    workers = random_workers(np.random.default_rng(3), 6)
    problem = DivisibleLoad(load=100.0, platform=star_of(workers), rounds="auto")
    first, second = (solve(problem, method="multi-round", rng=5, effort=0.03) for _ in range(2))
    assert first.makespan == second.makespan
    assert first.answer == second.answer


def test_a_search_that_its_budget_ends_says_so():
    """What is left of the gap may be the search's: it was stopped, not done."""
    workers = random_workers(np.random.default_rng(3), 6)
    problem = DivisibleLoad(load=100.0, platform=star_of(workers), rounds="auto")
    result = solve(problem, method="multi-round", effort=0.01)
    assert result.status == "feasible"
    assert any("has not tried all" in note for note in result.notes)


@pytest.mark.thorough
@pytest.mark.parametrize("own", [(0.5, 4.0), (1e6, 4.0)])
def test_a_master_that_computes(own):
    """The master takes its share, unless starting takes it longer than the whole plan."""
    workers = random_workers(np.random.default_rng(11), 3)
    alone = solve(DivisibleLoad(load=40.0, platform=star_of(workers), rounds="auto"), effort=0.03)
    star = star_of(workers, own)
    result = solve(DivisibleLoad(load=40.0, platform=star, rounds="auto"), effort=0.03)
    if own[0] < 10:
        assert result.makespan < alone.makespan
        assert result.answer["loads"]["P0"] > 0
    else:
        assert result.makespan == pytest.approx(alone.makespan, rel=1e-9)


def test_deadlines_and_refusals():
    """A deadline that the best plan misses gives no plan; memory limits are refused by name."""
    workers = random_workers(np.random.default_rng(1), 2)
    late = DivisibleLoad(load=40.0, platform=star_of(workers), rounds="auto", deadline=1.0)
    result = solve(late, method="multi-round", effort=0.03)
    assert result.schedule is None
    assert "the deadline is 1" in result.notes[0]
    small = Star([Worker(send=1.0, compute=2.0, memory=3.0)])
    with pytest.raises(MethodError, match="memory"):
        solve(
            DivisibleLoad(load=9.0, platform=small, rounds="auto"),
            method="multi-round",
            effort=0.03,
        )


@pytest.mark.parametrize("run", few(RUNS, 1, thorough=len(RUNS)), ids=lambda run: run["name"])
def test_at_least_as_good_as_what_was_measured(run):
    """The automatic plan is predicted no more than 2 % above the best one-port strategy."""
    path = ROOT.parent / "examples" / "measured_stars" / f"{FILES[run['name']]}.toml"
    problem = replace(read(tomllib.loads(path.read_text(encoding="utf-8"))), rounds="auto")
    sequential = ("star optimum", "own optimum", "equal split, seq", "CPU", "star frac", "searched")
    predicted, measured = (
        min(value for name, value in values.items() if name.startswith(sequential))
        for values in (
            run["predicted_affine_s"],
            {name: row["median_s"] for name, row in run["measured"].items()},
        )
    )
    makespan = solve(problem, effort=0.2).makespan
    assert makespan <= 1.02 * predicted
    assert makespan <= 1.02 * measured


@pytest.mark.parametrize("seed", few(30, 4))
def test_the_bound_for_many_rounds(seed):
    """No sequence of a small star ends before the start-up bound, which beats the old one."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, int(generator.integers(1, 4)))
    load = float(generator.choice([1.0, 4.0, 20.0]))
    problem = DivisibleLoad(load=load, platform=star_of(workers), rounds="auto")
    found = {bound.name: bound.value for bound in bounds(problem)}
    assert found["start-up"] >= found["bandwidth-centric"] * (1 - 1e-9)
    for _ in range(30):
        sequence = generator.integers(0, len(workers), int(generator.integers(1, 8))).tolist()
        end, _ = best_of_sequence(load, sequence, workers)
        assert end >= found["start-up"] * (1 - 1e-7)


def test_the_bound_is_tight_for_one_worker_without_a_link():
    """One worker whose sends take no time per unit: start-ups and the computation, no more."""
    star = star_of([(2.0, 0.0, 1.0, 3.0)])
    problem = DivisibleLoad(load=10.0, platform=star, rounds="auto")
    assert solve(problem).lower_bound == pytest.approx(33.0, rel=1e-9)
    assert solve(problem).status == "optimal"


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(20))
def test_the_compiled_chain(seed):
    """The kernel of the search ends when the chain does, and knows its most negative chunk."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, 4)
    problem = DivisibleLoad(load=30.0, platform=star_of(workers, (0.2, 5.0)), rounds="auto")
    task = Task(
        load=30.0, costs=costs_of(problem), most_rounds=0, place=np.arange(4), ordered=False
    )
    sequence = generator.integers(0, 4, 9)
    room = np.empty((2, 4)), np.empty((2, 9))
    end, worst = end_of_chain(sequence, 9, task.columns, task.own, 30.0, *room)
    found = chain(30.0, sequence.tolist(), task.costs)
    if min(found.amounts) >= 0 and found.tail >= 0:
        assert end == pytest.approx(found.makespan, rel=1e-9)
    elif found.tail >= 0:
        assert worst == int(np.argmin(found.amounts))
        assert end == np.inf


@given(sequence=st.lists(st.integers(0, 3), min_size=1, max_size=12), ordered=st.booleans())
def test_counting_rounds(sequence, ordered):
    """The compiled count of rounds allows a sequence exactly where the plain one does."""
    place = np.array([2, 0, 3, 1])
    seen = np.empty(4, dtype=np.int64)
    number = rounds_in(np.array(sequence), len(sequence), place, ordered, seen)
    costs = ChainCosts(send_fixed=[0] * 4, send_per_unit=[1] * 4, compute_fixed=[0] * 4,
                  compute_per_unit=[1] * 4)  # fmt: skip
    for most in range(1, 13):
        task = Task(load=1.0, costs=costs, most_rounds=most, place=place, ordered=ordered)
        assert task.allows(sequence) == (number <= most)


@pytest.mark.parametrize("seed", few(10, 2))
def test_uniform_rounds(seed):
    """UMR is valid, its rounds take all workers equally long, and the search is no worse."""
    generator = np.random.default_rng(seed)
    workers = random_workers(generator, int(generator.integers(2, 6)))
    star = star_of(workers)
    problem = DivisibleLoad(load=150.0, platform=star, rounds="auto")
    result = solve(problem, method="umr")
    used = len(result.answer["order"])
    chunks = result.answer["chunks"]
    for first in range(0, len(chunks), used):
        times = []
        for chunk in chunks[first : first + used]:
            _, _, W, w = workers[star.names.index(chunk["worker"])]
            times.append(W + w * chunk["amount"])
        assert times == pytest.approx([times[0]] * used, rel=1e-9)
    assert solve(problem, effort=0.03).makespan <= result.makespan * (1 + 1e-9)


def test_best_rounds_beat_uniform_rounds_on_equal_workers():
    """On equal workers the best number of installments ends before uniform rounds do."""
    star = star_of([(0.125, 1 / 20, 0.25, 1.0)] * 4)
    problem = DivisibleLoad(load=50.0, platform=star, rounds="auto")
    installments = solve(problem, method="multi-installment").makespan
    uniform = solve(problem, method="umr").makespan
    assert 1.0 < uniform / installments < 1.1
    assert solve(problem, method="multi-round", effort=0.03).makespan <= installments * (1 + 1e-9)


@given(
    table=st.lists(
        st.tuples(*(amounts(2), st.floats(0.01, 2), amounts(2), st.floats(0.1, 4))),
        min_size=1,
        max_size=4,
    ),
    picks=st.lists(st.integers(0, 3), min_size=1, max_size=12),
)
def test_merged_rounds_end_at_most_twice_as_late(table, picks):
    """The factor-2 theorem: all rounds merged into one end within twice the makespan."""
    names = [f"P{pick % len(table) + 1}" for pick in picks]
    problem = DivisibleLoad(load=10.0, platform=star_of(table), activation=names)
    many = solve(problem)
    merged = merge_rounds(problem, many.schedule)
    assert check(replace(problem, activation=None), merged).ok
    assert merged.makespan <= 2 * many.makespan * (1 + 1e-9)


@pytest.mark.parametrize(
    ("load", "own", "status", "makespan"),
    [(0.0, None, "optimal", 0.0), (3.0, None, "infeasible", None), (3.0, 2.0, "optimal", 6.0)],
)
def test_an_activation_of_nobody(load, own, status, makespan):
    """What the master does not compute itself nobody does."""
    master = Master() if own is None else Master(compute=Affine(0.0, own))
    star = Star.from_arrays(send_per_unit=[1.0, 2.0], compute_per_unit=3.0, master=master)
    result = solve(DivisibleLoad(load=load, platform=star, activation=()))
    assert (result.status, result.makespan) == (status, makespan)


def test_more_rounds_than_a_machine_word_counts() -> None:
    """A limit on the rounds that no plan comes near limits nothing."""
    star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    many, some = (
        solve(DivisibleLoad(load=3.0, platform=star, rounds=rounds), time_limit=0.2)
        for rounds in (10**30, 10**6)
    )
    assert many.makespan == pytest.approx(some.makespan, rel=0.01)


@pytest.mark.thorough
def test_chunks_that_lose_their_digits_are_no_plan() -> None:
    """A fast master beside many shrinking chunks: what is planned adds up to the load."""
    workers = [Worker(send=cost, compute=cost) for cost in (0.3, 1.0)]
    workers.append(Worker(send=2.0, compute=3.0))
    star = Star(workers, master=Master(compute=0.3))
    for ports in (1, 2):
        problem = DivisibleLoad(load=1.0, platform=star, rounds="auto", ports=ports)
        result = solve(problem, method="multi-round")
        assert sum(result.answer["loads"].values()) == pytest.approx(1.0, rel=1e-9)


def test_the_search_keeps_to_the_rounds_however_little_a_sequence_gains(monkeypatch):
    """A sequence that gains less than rounding says is not mixed up with the best one.

    The kernel's best is copied from what it starts from, also where that is hardly better.
    """
    task = Task(
        load=8.0,
        costs=ChainCosts(
            send_fixed=[0.0] * 6, send_per_unit=[4.0] * 6, compute_fixed=[0.0] * 6,
            compute_per_unit=[10.0] * 6,
        ),
        most_rounds=2,
        place=np.arange(6),
        ordered=False,
    )  # fmt: skip
    first = [0, 1, 2, 3, 4, 5] * 2
    begun = iter([([5, 4, 3], 1.0 - 1e-14), ([5, 4, 3], 1.0 - 1e-14)])
    seen = []

    def improve(sequence, length, value, best, *_):
        seen.append(best[:length].tolist() == sequence[:length].tolist())
        given = next(begun, None)
        if given is None:
            return length, value, length, value
        sequence[: len(given[0])] = given[0]
        return len(given[0]), given[1], length, value

    monkeypatch.setattr("makespan.divisible.rounds.search_kernels.improve", improve)
    monkeypatch.setattr(sequences, "PHASES", (0.0,))
    found = sequences._improved(task, (1.0, first), 3 * sequences.SLICE, Control())
    assert all(seen)
    assert found[1].tolist() in (first, [5, 4, 3])


@pytest.mark.parametrize("rounds", [2, 3])
def test_many_equal_workers_are_served_in_no_more_rounds_than_asked(rounds):
    """Chunks shrink until their starts tie; the master computes, and hardly needs the last ones."""
    star = Star([Worker(send=4.0, compute=10.0)] * 40, master=Master(compute=2.0))
    problem = DivisibleLoad(load=80.0, rounds=rounds, platform=star)
    result = solve(problem, method="multi-round", effort=0.3)
    assert check(problem, result.schedule).ok
    assert result.makespan == pytest.approx(320 / 3, rel=1e-6)


def test_rounds_are_cut_from_the_line_of_sends():
    """Two chunks each make three rounds where one worker is served twice before the other."""
    star = Star([Worker(send=1.0, compute=2.0)] * 2)
    plan = solve(DivisibleLoad(load=8.0, platform=star, activation=["P1", "P1", "P2", "P2"]))
    two, three = (DivisibleLoad(load=8.0, platform=star, rounds=rounds) for rounds in (2, 3))
    assert [each.rule for each in check(two, plan.schedule).violations] == ["rounds"]
    assert check(three, plan.schedule).ok
