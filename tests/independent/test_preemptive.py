"""Tasks that may be cut, on machines that differ and with releases."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from makespan import IndependentTasks, check, solve
from makespan.core.schedule import Activity, Schedule
from makespan.independent.methods.lawler_labetoulle import shopped
from makespan.independent.methods.preemptive import needed, worked_off

INF = math.inf


def test_the_level_algorithm_by_hand() -> None:
    """Levels 6, 4 and 1 on speeds 2 and 1: two meet at 2 after two seconds, the third at 1."""
    work, speeds = np.array([6.0, 4.0, 1.0]), np.array([2.0, 1.0])
    assert needed(work, speeds) == pytest.approx(11 / 3)
    left = worked_off(work, speeds, 1.0)
    assert left.tolist() == [4.0, 3.0, 1.0]
    left = worked_off(work, speeds, 2.5)
    assert left == pytest.approx([2 - 0.75, 2 - 0.75, 1.0])
    left = worked_off(work, speeds, 3.0)
    assert left == pytest.approx([2 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("method", ["level-algorithm", "lawler-labetoulle"])
def test_uniform_machines_share_a_long_task(method: str) -> None:
    """A task of 6 and one of 3 on speeds 2 and 1: 3 seconds; three equal ones take 3, too."""
    for durations in ([6, 3], [3, 3, 3]):
        problem = IndependentTasks(2, durations, speeds=[1, 2], preemptive=True)
        result = solve(problem, method=method)
        assert result.makespan == pytest.approx(3.0, rel=1e-9)
        assert result.status == "optimal"


def test_a_few_cuts_are_enough() -> None:
    """At most 2 (m - 1) of them, of a thousand tasks on uniform machines (Gonzalez and Sahni)."""
    rng = np.random.default_rng(0)
    for machines in (2, 5, 20):
        problem = IndependentTasks(
            machines, rng.uniform(1, 9, 1000), speeds=rng.uniform(1, 4, machines), preemptive=True
        )
        result = solve(problem, method="level-algorithm")
        assert result.status == "optimal"
        assert len(result.schedule) <= 1000 + 2 * (machines - 1)


def test_two_proofs_agree() -> None:
    """The levels and the programme, on problems that are too large for the oracle's tables."""
    rng = np.random.default_rng(1)
    for late in (False, True):
        problem = IndependentTasks(
            4,
            rng.integers(1, 20, 30),
            speeds=[1, 2, 2, 5],
            release=rng.integers(0, 6, 30).astype(float) if late else 0.0,
            preemptive=True,
        )
        found = [solve(problem, method=each) for each in ("level-algorithm", "lawler-labetoulle")]
        assert found[0].status == found[1].status == "optimal"
        assert found[0].makespan == pytest.approx(found[1].makespan, rel=1e-9)
        assert found[0].makespan <= solve(problem, method="mct").makespan


def test_unrelated_machines_by_hand() -> None:
    """Each task is quick on one machine; the third is cut in two halves."""
    problem = IndependentTasks(2, [[2, 9], [9, 2], [2, 2]], preemptive=True)
    result = solve(problem)
    assert (result.status, result.method) == ("optimal", "lawler-labetoulle")
    assert result.makespan == pytest.approx(3.0, rel=1e-9)
    assert {piece["machine"] for piece in result.answer["pieces"] if piece["task"] == "T3"} == {
        "M1",
        "M2",
    }


def test_an_open_shop_ends_with_its_longest_row_or_column() -> None:
    """Nobody is in two places at a time, whatever the seconds."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        shape = rng.integers(1, 7, 2)
        seconds = rng.uniform(0, 5, shape) * (rng.random(shape) < 0.7)
        pieces = shopped(seconds, 1.0)
        length = max(seconds.sum(axis=0).max(), seconds.sum(axis=1).max())
        assert max((piece.end for piece in pieces), default=1.0) == pytest.approx(1 + length)
        done = np.zeros(shape)
        for piece in pieces:
            done[piece.task, piece.machine] += piece.end - piece.start
        assert done == pytest.approx(seconds, abs=1e-9)
        for key in ("task", "machine"):
            for which in {getattr(piece, key) for piece in pieces}:
                mine = sorted(piece[2:] for piece in pieces if getattr(piece, key) == which)
                assert all(a[1] <= b[0] + 1e-12 for a, b in pairwise(mine))


def test_the_referee_adds_up_shares() -> None:
    """Half on each machine is one task; half and a quarter are not, nor is what can't run there."""

    def plan(*seconds: float) -> Schedule:
        start = np.array([0.0, seconds[0]])
        return Schedule.of_columns(
            ["M1", "M2"],
            kind=Activity.COMPUTE,
            machine=np.array([0, 1]),
            peer=-1,
            item=np.zeros(2, np.int64),
            amount=np.array(seconds),
            start=start,
            end=start + np.array(seconds),
        )

    for problem in (
        IndependentTasks(2, [[4.0, 8.0]], preemptive=True),
        IndependentTasks(2, [8.0], speeds=[2, 1], preemptive=True),
    ):
        assert check(problem, plan(2.0, 4.0)).ok
        assert [each.rule for each in check(problem, plan(2.0, 2.0)).violations] == ["work"]
    problem = IndependentTasks(2, [[4.0, INF]], preemptive=True)
    assert [each.rule for each in check(problem, plan(2.0, 4.0)).violations] == ["eligibility"]


def test_without_time_there_is_a_plan() -> None:
    """In one piece each, or with releases waiting."""
    rng = np.random.default_rng(4)
    for problem in (
        IndependentTasks(3, rng.uniform(1, 5, (20, 3)), preemptive=True),
        IndependentTasks(3, rng.uniform(1, 5, 20), release=rng.uniform(0, 9, 20), preemptive=True),
    ):
        result = solve(problem, time_limit=0.0)
        assert check(result).ok
