"""Calibrate, plan and run in one call."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from makespan.execute import dask
from makespan.execute.dask.maps import map as mapping
from tests.execute import functions


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrate with little effort."""
    original = mapping.calibrate

    def hasty(*arguments: Any, **options: Any) -> Any:
        return original(*arguments, **{**options, "time_limit": 0.05, "repetitions": 2})

    monkeypatch.setattr(mapping, "calibrate", hasty)


def test_a_list_is_mapped(client: Any) -> None:
    """Results are those of the built-in map; the plan and what it rests on come along."""
    data = list(range(400))
    execution = dask.map(functions.slept_each, data, client, progress=False)
    assert execution.results == data
    assert execution.plan is not None
    assert execution.calibration is not None
    assert {w.name for w in execution.calibration.workers} == {"0", "1", "2"}


def test_a_calibration_is_used_again(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call with the same function and workers measures nothing."""
    first = dask.map(functions.slept, functions.rows(200), client, batched=True, progress=False)
    monkeypatch.setattr(mapping, "calibrate", None)
    data = functions.rows(200, seed=1)
    second = dask.map(functions.slept, data, client, batched=True, progress=False)
    assert second.calibration is first.calibration
    assert second.plan is first.plan
    assert np.array_equal(second.results, data[:, 0])


def test_another_function_is_measured_anew(client: Any) -> None:
    """A calibration holds for its function only."""
    data = list(range(60))
    first = dask.map(functions.slept_each, data, client, progress=False)
    second = dask.map(functions.squared, data, client, progress=False)
    assert second.calibration is not first.calibration


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_few_items_need_no_plan(client: Any, count: int) -> None:
    """They are dealt out at once."""
    execution = dask.map(functions.squared, list(range(count)), client, progress=False)
    assert execution.results == [item * item for item in range(count)]
    assert execution.plan is None
    assert execution.error is None


def slower_later(item: int) -> int:
    """Sleep 1 ms, and five times as long in the second half of the data."""
    time.sleep(0.001 if item < 200 else 0.005)
    return item


def test_a_plan_whose_speeds_drift_is_made_again(client: Any) -> None:
    """The unsent rest is planned on what was observed; every item comes once."""
    data = list(range(400))
    sample = dask.calibrate(slower_later, data[:100], client, time_limit=0.1, repetitions=2)
    execution = dask.map(slower_later, data, client, calibration=sample, progress=False)
    assert execution.results == data
    kept = dask.map(slower_later, data, client, calibration=sample, progress=False, adaptive=False)
    assert kept.results == data
    assert kept.events == ()


def test_a_client_is_made_where_there_is_none() -> None:
    """Without one a cluster on this machine does the work and ends."""
    execution = dask.map(functions.squared, [1, 2, 3], progress=False)
    assert execution.results == [1, 4, 9]


def test_progress_may_be_a_function(client: Any) -> None:
    """It is told of the calibration and the run."""
    told: list[str] = []
    dask.map(
        functions.squared,
        list(range(77)),
        client,
        progress=lambda share, what: told.append(what),
    )
    assert any("measuring" in what for what in told)
    assert any("chunk" in what for what in told)
