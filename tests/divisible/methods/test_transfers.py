"""Given sequences of transfers and given orders, by linear programme."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    Master,
    ProblemError,
    Star,
    Worker,
    methods,
    solve,
)
from makespan.backends.answer import Answer, Verdict
from makespan.backends.highs import Programme
from tests.oracles import divisible_returns as oracle
from tests.oracles.divisible_any import best, covers
from tests.oracles.divisible_random import random_problem
from tests.thorough import few

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[2] / "cases" / "divisible.json").read_text(encoding="utf-8")
    )
    if "lp_same_interleaving" in case["expected"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_interleavings_of_many_rounds(case):
    """The transfers of Yang and Casanova 2003, eq. 17, give the makespans of the cases."""
    given, expected = case["inputs"], case["expected"]
    count, rounds = given["N"], given["M"]
    worker = Worker(
        send=Affine(given.get("beta", 0.0), 1 / given["R"]),
        compute=Affine(given.get("alpha", 0.0), 1.0),
        return_=Affine(given.get("betap", 0.0), 1 / given["Rprime"]),
    )
    star = Star([worker] * count)
    names = [f"P{index % count + 1}" for index in range(rounds * count)]
    sends = [("send", name) for name in names]
    returns = [("return", name) for name in names]
    pairs = zip(sends[count:], returns[:-count], strict=True)
    mixed = sends[:count] + [each for pair in pairs for each in pair] + returns[-count:]
    result = solve(DivisibleLoad(load=1.0, platform=star, transfers=mixed))
    assert (result.method, result.status) == ("return-programme", "optimal")
    assert result.makespan == pytest.approx(expected["lp_same_interleaving"], rel=1e-9)
    later = solve(DivisibleLoad(load=1.0, platform=star, transfers=sends + returns))
    assert later.makespan <= result.makespan * (1 + 1e-9)
    if "lp_all_sends_first_fifo_returns" in expected:
        value = expected["lp_all_sends_first_fifo_returns"]
        assert later.makespan == pytest.approx(value, rel=1e-9)


def _instance(seed):
    """A star with costs for the oracle, an order of sends and one of returns."""
    generator = np.random.default_rng([seed, 21])
    count = int(generator.integers(1, 5))

    def cost(least=0.0):
        fixed = 0.0 if seed % 2 else float(generator.choice([0, 1, 3]))
        return fixed, float(generator.uniform(0.2, 6.0)) + least

    costs = oracle.Costs(
        send=[cost() for _ in range(count)],
        compute=[cost() for _ in range(count)],
        back=[cost() for _ in range(count)],
        own=cost(2.0) if seed % 3 == 0 else None,
    )
    rows = zip(costs.send, costs.compute, costs.back, strict=True)
    workers = [Worker(send=Affine(*c), compute=Affine(*w), return_=Affine(*d)) for c, w, d in rows]
    own = None if costs.own is None else Affine(*costs.own)
    star = Star(workers, master=Master(compute=own))
    orders = (generator.permutation(count).tolist(), generator.permutation(count).tolist())
    return costs, star, *orders, generator


def _names(order):
    return tuple(f"P{worker + 1}" for worker in order)


@pytest.mark.parametrize("seed", range(60))
def test_sends_then_returns(seed):
    """All sends, then all returns, everyone paying: the oracle's programme for that pair."""
    costs, star, send, back, _ = _instance(seed)
    sequence = [("send", name) for name in _names(send)]
    sequence += [("return", name) for name in _names(back)]
    result = solve(DivisibleLoad(load=7.0, platform=star, transfers=sequence))
    masters = [False] if costs.own is None else [False, True]
    exact = [oracle.value(costs, tuple(send), tuple(back), own=own, load=7.0) for own in masters]
    assert result.status == "optimal"
    assert result.makespan == pytest.approx(min(exact), rel=1e-7)


@pytest.mark.parametrize("seed", few(60, 8))
def test_given_orders(seed):
    """In given orders, the optimum of all sets of workers; one order given, of all others."""
    costs, star, send, back, _ = _instance(seed)

    def keeps_sends(first, _):
        return list(first) == [worker for worker in send if worker in first]

    def keeps_returns(_, last):
        return list(last) == [worker for worker in back if worker in last]

    both = {"order": _names(send), "return_order": _names(back)}
    tests = [(both, lambda first, last: keeps_sends(first, last) and keeps_returns(first, last))]
    if len(send) < 4:
        tests.append(({"order": _names(send)}, keeps_sends))
        tests.append(({"return_order": _names(back)}, keeps_returns))
    for given, allowed in tests:
        result = solve(DivisibleLoad(load=7.0, platform=star, **given))
        exact = oracle.best_pair(costs, load=7.0, allowed=allowed)
        assert result.status == "optimal"
        assert result.makespan == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("seed", range(1, 60, 2))
def test_interleaving_never_helps(seed):
    """Returns between sends are never better than the same orders with all sends first."""
    _, star, send, back, generator = _instance(seed)
    first = solve(
        DivisibleLoad(load=7.0, platform=star, order=_names(send), return_order=_names(back))
    )
    sends, returns, sent, sequence = list(_names(send)), list(_names(back)), set(), []
    while sends or returns:
        if returns and returns[0] in sent and (not sends or generator.random() < 0.6):
            sequence.append(("return", returns.pop(0)))
        else:
            sent.add(sends[0])
            sequence.append(("send", sends.pop(0)))
    mixed = solve(DivisibleLoad(load=7.0, platform=star, transfers=sequence))
    assert mixed.makespan >= first.makespan * (1 - 1e-9)


def test_most_load_of_a_sequence():
    """By the least makespan of a sequence, the most load is the load."""
    _, star, send, back, _ = _instance(3)
    sequence = [("send", name) for name in _names(send)]
    sequence += [("return", name) for name in _names(back)]
    end = solve(DivisibleLoad(load=7.0, platform=star, transfers=sequence)).makespan
    most = solve(DivisibleLoad(deadline=end, platform=star, transfers=sequence))
    assert most.status == "optimal"
    assert most.objective.value == pytest.approx(7.0, rel=1e-8)


@pytest.mark.parametrize(
    ("sequence", "why"),
    [
        ([("return", "P1"), ("send", "P1")], "nothing to return"),
        ([("send", "P1"), ("send", "P2"), ("return", "P1")], "what P2 was sent never returns"),
    ],
)
def test_impossible_sequences(sequence, why):
    """A return before its send, and a result that never returns, are refused and say why."""
    star = Star([Worker(name=n, send=1.0, compute=1.0, return_=1.0) for n in ("P1", "P2")])
    with pytest.raises(ProblemError, match=why):
        DivisibleLoad(load=1.0, platform=star, transfers=sequence)


def test_nothing_that_is_sent_is_returned_by_those_who_return_nothing():
    """Returns of a worker without a return cost stand for nothing."""
    star = Star([Worker(send=1.0, compute=1.0)])
    sequence = [("return", "P1"), ("send", "P1")]
    assert solve(DivisibleLoad(load=1.0, platform=star, transfers=sequence)).makespan == 2.0


@pytest.mark.parametrize(
    "given",
    [
        {"transfers": [("send", "P1")], "load": 1.0},
        {"activation": ["P1"], "load": 1.0},
        {"loads": {"P1": 1.0}},
        {"loads": {"P1": 1.0, "P2": 0.0}},
    ],
)
def test_everyone_takes_part(given):
    """use = 'all' can't stand beside what gives a worker nothing."""
    star = Star([Worker(send=1.0, compute=1.0), Worker(send=1.0, compute=1.0)])
    place = next(iter(given))
    with pytest.raises(ProblemError, match=f"{place}: gives P2 nothing, but use is 'all'"):
        DivisibleLoad(platform=star, use="all", **given)


def test_a_sequence_too_long_for_the_time_left(monkeypatch):
    """Equal chunks, valid, said to be stopped; without a limit the programme is solved."""
    monkeypatch.setattr("makespan.divisible.returns.transfers.SECONDS", 100.0)
    monkeypatch.setattr("makespan.divisible.returns.transfers.MAX_AT_ONCE", 2)
    star = Star([Worker(send=1.0, compute=2.0, return_=0.5), Worker(send=2.0, compute=1.0)])
    transfers = (("send", "P1"), ("send", "P2"), ("return", "P1"))
    problem = DivisibleLoad(load=6.0, platform=star, transfers=transfers)
    quick = solve(problem, method="return-programme", time_limit=1)
    assert quick.answer["loads"] == {"P1": 3.0, "P2": 3.0}
    assert any("has not tried all; more time" in note for note in quick.notes)
    best = solve(problem, method="return-programme")
    assert best.status == "optimal"
    assert best.makespan < quick.makespan


def without_front_end(seed: int) -> DivisibleLoad | None:
    """Return a random problem with given transfers and no front end, None if none was drawn."""
    problem = random_problem(random.Random(seed))
    if problem.transfers is None or problem.loads is not None or not covers(problem):
        return None
    return replace(problem, front_end=False, budget=None)


def applies(problem: DivisibleLoad) -> bool:
    return any(each.name == "return-programme" and each.applies for each in methods(problem))


@pytest.mark.parametrize("seed", few(range(0, 4000, 400), 2))
def test_without_a_front_end_receptions_and_computations_alternate_best(seed):
    """Of all ways in which a worker may receive and compute in turn the best is found."""
    for each in range(seed, seed + 400):
        problem = without_front_end(each)
        if problem is None or not applies(problem):
            continue
        result, known = solve(problem, method="return-programme"), best(problem)
        if known is None:
            assert result.status == "infeasible"
        elif math.isfinite(known):
            value = result.makespan if problem.load is not None else result.objective.value
            assert result.status == "optimal"
            assert value == pytest.approx(known, rel=3e-6, abs=3e-6)


def test_a_worker_without_a_front_end_may_compute_late():
    """P1 holds a chunk until it has received another: P2's send need not wait for its computing."""
    star = Star(
        [
            Worker(name="P1", send=Affine(1, 3), compute=Affine(1, 3), memory=3.5),
            Worker(name="P2", send=0.0, compute=Affine(3, 5)),
        ]
    )
    sequence = [("send", "P1"), ("send", "P1"), ("send", "P2")]
    problem = DivisibleLoad(load=3.0, platform=star, transfers=sequence, front_end=False)
    result = solve(problem, method="return-programme")
    assert (result.makespan, result.status) == (pytest.approx(16.0), "optimal")


def test_a_programme_that_was_cut_short_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole units: where the solver has a plan, but no proof, there is a plan."""
    solve_programme = Programme.solve

    def cut(self: Programme, *arguments: Any, **options: Any) -> Answer:
        answer = solve_programme(self, *arguments, **options)
        return replace(answer, verdict=Verdict.FEASIBLE)

    monkeypatch.setattr(Programme, "solve", cut)
    problem = DivisibleLoad(
        load=3.0, integral=True,
        platform=Star([Worker(name="a", compute=1.0), Worker(name="b", compute=0.5)]),
        transfers=[("send", "b"), ("send", "b"), ("send", "a")],
    )  # fmt: skip
    result = solve(problem, method="return-programme")
    assert result.status != "infeasible"
    assert result.makespan == pytest.approx(1.0)
