"""Guided ejection: every port once a round, nothing sent before it is there, and few rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.control import Control
from makespan.core.numeric.binding import bind
from makespan.reduction.heuristics.ejection import eject_and_insert
from makespan.reduction.methods import guided_ejection
from tests.thorough import few

KINDS = ("broadcast", "reduce", "all-reduce", "all-gather", "reduce-scatter", "scatter")


def problem_of(seed: int, most: int = 9) -> Reduction:
    """Return a problem of equal times, that are whole numbers of rounds or not."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(1, most, 2))
    latency, reduce = rng.integers(0, 9, 2) / 4
    collective: Any = KINDS[seed % len(KINDS)]
    reduce = min(reduce, 1.0) if collective == "all-reduce" else reduce
    return Reduction(
        machines=n, segments=m, collective=collective, latency=float(latency), transfer=1,
        reduce=float(reduce),
    )  # fmt: skip


def unlike_problem_of(seed: int) -> Reduction:
    """Return a problem of times that differ, whole or not; some links may be missing."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers([2, 1], [7, 5]))
    collective: Any = KINDS[seed % len(KINDS)]
    transfer = rng.integers(1, 7, (n, n)) * rng.choice([1.0, 0.1, np.pi])
    if n > 2 and collective != "all-reduce" and rng.random() < 0.5:
        transfer[n - 1, 1] = np.inf
    return Reduction(
        machines=n, segments=m, collective=collective, transfer=transfer,
        latency=rng.integers(0, 4, (n, n)) * float(rng.integers(2)),
        reduce=rng.integers(0, 5, n) * float(rng.integers(2)),
    )  # fmt: skip


def solved(problem: Reduction, method: str, tries: int) -> tuple[float, float]:
    """Return the makespan and the bound."""
    found = makespan.solve(problem, method=method, tries=tries)
    assert found.makespan is not None
    assert found.lower_bound is not None
    return found.makespan, found.lower_bound


@pytest.mark.parametrize("draw", [unlike_problem_of, problem_of])
@pytest.mark.parametrize("seed", few(60, 6))
def test_plans_made_from_another_are_valid_and_beat_no_bound(draw: Any, seed: int) -> None:
    """And no longer than the plan that they are made from."""
    problem = draw(seed)
    first, _ = solved(problem, "ejection-pool", tries=0)
    end, bound = solved(problem, "ejection-pool", tries=12)
    assert bound * (1 - 1e-9) <= end <= first


@pytest.mark.thorough
def test_plans_between_racks_end_much_sooner() -> None:
    """14 machines in two racks, whose line takes five times as long, and 8 segments."""
    rack = np.arange(14) >= 7
    transfer = np.where(rack[:, None] == rack, 1.0, 5.0)
    problem = Reduction(machines=14, segments=8, collective="all-reduce", transfer=transfer)
    control = Control(rng=0)
    control.incumbent = guided_ejection.ejection_pool(problem, control, tries=0)
    found = guided_ejection.ejection_pool(problem, control, tries=60)
    assert control.incumbent.schedule is not None
    assert found.schedule is not None
    assert found.schedule.makespan <= 0.6 * control.incumbent.schedule.makespan


@pytest.mark.parametrize("seed", few(60, 6))
def test_plans_are_valid_and_beat_no_bound(seed: int) -> None:
    """The referee, which every result passes, accepts them."""
    end, bound = solved(problem_of(seed), "guided-ejection", tries=8)
    assert end >= bound * (1 - 1e-9)


@pytest.mark.parametrize("method", [guided_ejection.guided_ejection, guided_ejection.ejection_pool])
@pytest.mark.parametrize("seed", few(30, 2, thorough=18))
def test_rounds(seed: int, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports do one thing at a time, and what is sent was there; compiled or not."""
    mixed = method is guided_ejection.ejection_pool
    problem = unlike_problem_of(seed) if mixed else problem_of(seed + 6, most=7)
    calls: list[dict[str, Any]] = []

    class Noted:
        @staticmethod
        def bind(_: float, **columns: Any) -> Any:
            def run(stop: Any) -> Any:
                calls.append({name: np.copy(column) for name, column in columns.items()})
                left = eject_and_insert.plain(**columns, stop=stop)
                calls[-1] |= {"after": columns["ready"]}
                calls[-1] |= {name: columns[name] for name in ("giver", "when")}
                return left

            return run

    monkeypatch.setattr(guided_ejection, "eject_and_insert", Noted)
    found = method(problem, Control(), tries=4)
    assert calls or not mixed or not found.stopped
    for call in calls:
        giver, when, lag, lasts = (call[name] for name in ("giver", "when", "lag", "lasts"))
        ready, mirrored, rounds = call.pop("after"), call["mirrored"], int(call["rounds"])
        segment, machine = np.nonzero(giver >= 0)
        source, moment = giver[segment, machine], when[segment, machine]
        way = mirrored[segment].astype(int)
        pair = (way, source, machine) if mixed else (way, 0, 0)
        behind, long = lag[pair], lasts[pair]
        assert (moment >= ready[segment, source]).all()
        work = call["work"][way, machine if mixed else 0]
        assert (ready[segment, machine] == moment + behind + long + work).all()
        concerned = call["lacks"].copy()  # and who passes it on in the plan that is known
        concerned[call["given"][:, 0], call["given"][:, 1]] = True
        assert concerned[segment, machine].all()
        assert (moment + behind + long).max(initial=0) <= rounds
        held: set[tuple[str, int, int]] = set()
        columns = (each.tolist() for each in (way, source, machine, moment, behind, long))
        for turned, giving, taking, at, later, count in zip(*columns, strict=True):
            for step in range(count):
                one, two = at + step, at + later + step
                cells = ("out", giving, one), ("into", taking, two)
                if turned:
                    cells = ("into", giving, rounds - 1 - one), ("out", taking, rounds - 1 - two)
                assert not held & set(cells)
                held |= set(cells)
        if not mixed:
            only = call["reserved"][source, moment]
            assert ((only < 0) | (only == segment) | mirrored[segment]).all()
        again = {name: np.empty_like(giver) for name in ("giver", "when")}
        columns_again = call | again | {"stop": np.zeros(1, dtype=np.int64)}
        numbers = {name: columns_again[name].item() for name in ("rounds", "steps", "seed", "dear")}
        bind(eject_and_insert.compiled, **columns_again | numbers)()
        assert (again["giver"] == giver).all()
        assert (again["when"] == when).all()


@pytest.mark.parametrize(
    ("collective", "n", "m", "rounds"),
    [("broadcast", 24, 24, 31), ("reduce", 12, 24, 32), ("all-reduce", 24, 24, 47)],
)
def test_the_bound_is_met(collective: Any, n: int, m: int, rounds: int) -> None:
    """Where the greedy rules need a round more."""
    problem = Reduction(machines=n, segments=m, collective=collective, latency=1, transfer=1,
                        reduce=1)  # fmt: skip
    found = makespan.solve(problem, method="guided-ejection", tries=40)
    assert (found.makespan, found.status) == (rounds, "optimal")


def test_copies_of_no_whole_number_of_turns_are_planned_in_rounds() -> None:
    """At 2.1 turns a copy, 7,000 plans that start sends at any time end at 15.1 or later."""
    problem = Reduction(machines=16, segments=8, collective="broadcast", latency=1.1, transfer=1)
    found = makespan.solve(problem, method="guided-ejection", tries=20)
    assert found.makespan is not None
    assert found.makespan < 14.9


def test_without_a_try_another_plan_is_taken() -> None:
    """There is always a plan."""
    for collective in ("broadcast", "all-reduce"):
        problem = Reduction(machines=4, segments=3, collective=collective, latency=1, transfer=1,
                            reduce=1)  # fmt: skip
        assert solved(problem, "guided-ejection", tries=0)[0] > 0


def test_luby() -> None:
    """The sequence of Luby, Sinclair and Zuckerman."""
    luby = guided_ejection._luby
    assert [luby(turn) for turn in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
