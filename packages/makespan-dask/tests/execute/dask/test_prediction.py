"""Predicted and measured makespan, through relays of 50, 100 and 200 Mbit/s; slow."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
import pytest
from distributed import Client

from makespan import Result, solve
from makespan.execute import dask
from makespan.execute.dask import Calibration, calibrate
from tests.execute import functions
from tests.execute.stars import Link, star_of

pytestmark = pytest.mark.slow

RATES = (50.0, 100.0, 200.0)
DELAYS = {"no delay": (0.0, 0.0, 0.0), "40, 20, 10 ms": (40.0, 20.0, 10.0)}
ALLOWED = {"no delay": 0.05, "40, 20, 10 ms": 0.10}
REPEATS = 5
ROWS = 16_000


def one_round(calibration: Calibration) -> Result:
    return solve(calibration.problem(ROWS, ports=1))


def best(calibration: Calibration) -> Result:
    return dask.plan(calibration, ROWS)


@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("planned", [one_round, best])
def test_the_makespan_is_predicted(delays: str, planned: Callable[[Calibration], Result]) -> None:
    """Five runs of one plan; their median is as near to the prediction as is asked for."""
    links = [Link(rate=r, delay=d) for r, d in zip(RATES, DELAYS[delays], strict=True)]
    data = functions.rows(ROWS)
    with star_of(links) as cluster, Client(cluster.address, set_as_default=False) as own:
        own.wait_for_workers(3)
        found = calibrate(functions.slept, data[:4000], own, batched=True, time_limit=3.0)
        plan = planned(found)
        measured = []
        for _ in range(REPEATS):
            execution = dask.run(plan, functions.slept, data, own, batched=True)
            assert np.array_equal(execution.results, data[:, 0])
            measured.append(execution.measured)
    assert plan.makespan is not None
    error = statistics.median(measured) / plan.makespan - 1.0
    assert abs(error) <= ALLOWED[delays], f"{error:+.1%}: {plan.makespan:.3f} s, {measured}"


@pytest.mark.parametrize(
    ("uplink", "kind"), [(None, "own-links"), (100.0, "shared-link"), (45.0, "one-port")]
)
def test_how_sends_share_the_way_is_measured(uplink: float | None, kind: str) -> None:
    """Own links overlap; a link that all share is measured; below the slowest link it is a port."""
    with (
        star_of([Link(rate=rate) for rate in RATES], uplink=uplink) as cluster,
        Client(cluster.address, set_as_default=False) as own,
    ):
        own.wait_for_workers(3)
        found = calibrate(functions.slept, functions.rows(3000), own, batched=True)
    assert found.sharing.kind == kind
    if kind == "shared-link":
        assert found.sharing.uplink == pytest.approx(100e6 / 8 / 1000, rel=0.1)
