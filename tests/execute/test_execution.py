"""What an execution says of itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from makespan import DivisibleLoad, Star, Worker, solve
from makespan.execute import Execution
from makespan.execute.dealing.engine import Window
from makespan.execute.dealing.transfers import Record


@pytest.fixture
def execution() -> Execution:
    plan = solve(DivisibleLoad(platform=Star([Worker(send=1.0, compute=2.0)]), load=9.0))
    assert plan.schedule is not None
    return Execution(schedule=plan.schedule, results=[], plan=None, seconds=10.0)


@pytest.mark.parametrize(
    ("rival", "said"),
    [
        ((9.0, 11.0), "9 to 11 s, about as long"),
        ((20.0, 40.0), "20 to 40 s, 2.00 to 4.00 times as long"),
        ((2.0, 30.0), "2 to 30 s, too uncertain to compare"),
    ],
)
def test_the_rival_is_judged_where_its_interval_is_narrow(
    execution: Execution, rival: tuple[float, float], said: str
) -> None:
    """An interval from a fifth to three times as long tells nothing."""
    assert said in str(replace(execution, rival=rival, own_map="client.map", tasks=0))


def test_workers_stand_in_the_order_of_their_numbers() -> None:
    """Whoever got something first."""
    record = Record(["client"])
    for worker in ("w10", "w2", "w1"):
        record.transfer("send", worker, 0, 1.0, Window(0.0, 1.0))
    assert list(record.schedule().machines) == ["client", "w1", "w2", "w10"]
