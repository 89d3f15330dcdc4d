"""One chunk a worker, all sent before returns: timed in one pass, as by dispatching row by row."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, Star, solve
from makespan.core.names import Numbered
from makespan.core.numeric.jit import compiles
from makespan.core.schedule import COLUMNS, Schedule
from makespan.divisible import timing
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.timing import one_pass


def drawn(seed: int) -> tuple[DivisibleLoad, Plan]:
    """Return a random problem and a plan of one chunk for some of its workers."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 7))
    names = ("send_per_unit", "compute_per_unit", "return_per_unit", "send_fixed", "release")
    columns = {name: rng.integers(0, 4, count) * rng.uniform(0, 1, count) for name in names}
    columns |= {name: rng.uniform(0, 1, count) for name in ("compute_fixed", "return_fixed")}
    for name in rng.permutation(list(columns))[: rng.integers(0, 6)]:
        columns[str(name)] *= 0.0
    computes = 2.0 if rng.random() < 0.5 else None
    star = Star.from_arrays(
        master=Master(compute=computes), **columns, names=Numbered("P", count, first=1)
    )
    problem = DivisibleLoad(
        load=1.0, platform=star, ports=int(rng.integers(1, 3)), front_end=bool(rng.random() < 0.5)
    )
    worker = rng.permutation(count)[: rng.integers(0, count + 1)]
    transfers = None
    if rng.random() < 0.8:
        transfers = sends_then_returns(len(worker), rng.permutation(len(worker)))
    own = 0.5 if computes and rng.random() < 0.5 else 0.0
    return problem, Plan.of(
        worker, rng.uniform(0, 2, count)[worker], master=own, transfers=transfers
    )


def columns_of(schedule: Schedule) -> dict[str, list]:
    return {name: getattr(schedule, name).tolist() for name in COLUMNS}


@pytest.mark.usefixtures("form")
def test_one_pass_gives_what_dispatch_gives() -> None:
    """Row by row the same, compiled or not; nothing changes when it is timed again."""
    for seed in range(200):
        problem, plan = drawn(seed)
        found = timing.timed(problem, plan)
        with patch.object(timing, "is_single_round", lambda *_: False):
            assert columns_of(found) == columns_of(timing.timed(problem, plan)), seed


def test_other_plans_are_dispatched() -> None:
    """A worker served twice, a send behind a return, chunks not sent in turn: not in one pass."""
    star = Star.from_arrays(send_per_unit=[1.0, 2.0], compute_per_unit=1.0, return_per_unit=1.0)
    problem = DivisibleLoad(load=2.0, platform=star)
    for worker, transfers in (
        ([0, 0], [0, 1, -1, -2]),
        ([0, 1], [0, -1, 1, -2]),
        ([0, 1], [1, 0, -1, -2]),
    ):
        plan = Plan.of(worker, [1.0, 1.0], transfers=transfers)
        assert not one_pass.is_single_round(problem, plan)


def test_lifo_writes_no_names() -> None:
    """Names that were never written down stay so: a million of them take longer than the plan."""
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(0.5, 2.0, 3_000) for name in ("send_per_unit", "return_per_unit")}
    star = Star.from_arrays(**columns, compute_per_unit=50.0)
    problem = DivisibleLoad(load=3e4, platform=star, discipline="lifo")
    with patch.object(Numbered, "__iter__", side_effect=AssertionError("names were written")):
        assert solve(problem, method="lifo").status == "optimal"


@pytest.mark.skipif(not compiles(), reason="the referee reads parts where it is compiled")
def test_columns_wait_until_they_are_asked_for() -> None:
    """A large plan is timed, refereed and returned in parts, without a column of it."""
    star = Star.from_arrays(send_per_unit=0.1, compute_per_unit=np.full(60_000, 5.0))
    schedule = solve(DivisibleLoad(load=6e4, platform=star), method="equal-split").schedule
    assert schedule is not None
    assert [len(part) for part in schedule.parts] == [60_000, 60_000, 0, 0]
    for name in COLUMNS:
        with pytest.raises(AttributeError):
            getattr(Schedule, name).__get__(schedule)
    assert np.array_equal(schedule.start[60_000:], schedule.end[:60_000])
