"""Guided ejection: every port once a round, nothing sent before it is there, and few rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.control import Control
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


@pytest.mark.parametrize("seed", few(60, 6))
def test_plans_are_valid_and_beat_no_bound(seed: int) -> None:
    """The referee, which every result passes, accepts them."""
    found = makespan.solve(problem_of(seed), method="guided-ejection", tries=8)
    assert found.makespan >= found.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("seed", few(30, 2, thorough=18))
def test_rounds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port is used once a round each way, and what is sent was there; compiled or not."""
    problem = problem_of(seed + 6, most=7)
    calls: list[tuple[Any, ...]] = []

    class Noted:
        @staticmethod
        def at(_: float) -> Any:
            return lambda *arguments: calls.append(arguments) or eject_and_insert.plain(*arguments)

    monkeypatch.setattr(guided_ejection, "eject_and_insert", Noted)
    guided_ejection.guided_ejection(problem, Control(), tries=4)
    for call in calls:
        ready, lacks, lag, mirrored, reserved, rounds, steps, seed_of, giver, when, stop = call
        segment, machine = np.nonzero(giver >= 0)
        source, moment = giver[segment, machine], when[segment, machine]
        assert (moment >= ready[segment, source]).all()
        assert (ready[segment, machine] == moment + lag[segment]).all()
        assert lacks[segment, machine].all()
        assert moment.max(initial=0) < rounds
        turned = mirrored[segment]
        sender, receiver = np.where(turned, [machine, source], [source, machine])
        moment = np.where(turned, rounds - 1 - moment, moment)
        for port in (sender, receiver):
            assert len(np.unique(port * rounds + moment)) == len(port)
        only = reserved[sender, moment]
        assert ((only < 0) | (only == segment)).all()
        before = np.where(giver >= 0, -1, ready).astype(np.int32)
        again = np.empty_like(giver), np.empty_like(when)
        arguments = before, lacks, lag, mirrored, reserved, rounds, steps, seed_of, *again, stop
        eject_and_insert.compiled(*arguments)
        assert (again[0] == giver).all()
        assert (again[1] == when).all()


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
        assert makespan.solve(problem, method="guided-ejection", tries=0).makespan > 0


def test_luby() -> None:
    """The sequence of Luby, Sinclair and Zuckerman."""
    luby = guided_ejection._luby
    assert [luby(turn) for turn in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
