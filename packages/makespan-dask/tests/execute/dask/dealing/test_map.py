"""Functions over data, on the engine inside this process."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import save
from makespan.core.schedule import Activity
from makespan.execute import dask
from makespan.execute.dask import ItemsFailed
from tests.execute import functions
from tests.execute.dask.dealing.conftest import OVERHEAD
from tests.execute.dask.maps.test_map import Unlucky
from tests.execute.dealing.engine import InProcess


def mapped(function: Any, data: Any, client: Any, **options: Any) -> Any:
    return dask.map(function, data, client=client, progress=False, **options)


def slept_each(item: Any) -> Any:
    """Take a while."""
    time.sleep(500e-6)
    return item


def slept(rows: np.ndarray) -> np.ndarray:
    """Take a while for each row; return the first column."""
    time.sleep(len(rows) * 500e-6)
    return np.array(rows[:, 0])


def test_a_list_is_mapped(client: Any) -> None:
    """Results are those of the built-in map; what was learnt comes along."""
    data = list(range(400))
    execution = mapped(slept_each, data, client)
    assert execution.results == data
    assert execution.plan is None
    assert {worker.name for worker in execution.platform.workers} == {"0", "1", "2"}
    assert 0.0 < execution.learning <= execution.seconds
    assert "learning" in str(execution)


def test_what_it_was_worth_is_said(client: Any) -> None:
    """Beside ``client.map`` item by item; of a batched function, over chunks."""
    singly = mapped(slept_each, range(400), client)
    batched = mapped(slept, functions.rows(400), client, batched=True)
    assert singly.tasks == 400
    assert batched.tasks in (16, 64, 256)
    assert singly.rival == pytest.approx((134 * 0.0005, 134 * (0.0005 + OVERHEAD)))
    for execution, what in ((singly, "items"), (batched, f"{batched.tasks} chunks")):
        low, high = execution.rival
        assert low < execution.client_map < high
        said = f"client.map(function, {what}) would take {low:.4g} to {high:.4g} s, "
        assert said in str(execution)


def test_items_a_worker_are_told(client: Any) -> None:
    """All of them, once; with their seconds."""
    execution = mapped(slept_each, range(60), client)
    assert [one.name for one in execution.workers] == ["0", "1", "2"]
    assert sum(one.items for one in execution.workers) == 60
    assert execution.took == pytest.approx(np.full(60, 500e-6))
    assert sum(one.seconds for one in execution.workers) == pytest.approx(60 * 500e-6)
    html = execution._repr_html_()
    assert all(f">{one.items}<" in html for one in execution.workers)


def test_a_run_without_a_plan_can_be_drawn(client: Any) -> None:
    """What was measured, alone."""
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    (axes,) = mapped(slept_each, range(60), client).plot()
    assert axes.get_title("left").startswith("measured")
    pyplot.close(axes.figure)


@pytest.mark.parametrize("suffix", [".html", ".svg", ".json", ".csv", ".trace.json"])
def test_a_run_can_be_saved(client: Any, tmp_path: Path, suffix: str) -> None:
    """As a page with what is said of it, as a picture, as data."""
    execution = mapped(slept_each, range(60), client)
    path = tmp_path / f"run{suffix}"
    save(execution, path)
    text = path.read_text()
    assert text.count("compute") >= 1
    if suffix == ".html":
        assert "planning" in text
    if suffix == ".json":
        found = json.loads(text)
        assert found["seconds"] == execution.seconds
        assert len(found["schedule"]["activities"]) == len(execution.schedule)


def test_what_was_learnt_is_used_again(client: Any) -> None:
    """The second call begins with larger chunks; so does one by a new client, of more items."""
    data = functions.rows(2000)
    first = mapped(slept, data, client, batched=True)
    other = InProcess()
    other.scheduler = client.scheduler
    second = mapped(slept, functions.rows(3000, seed=1), other, batched=True)
    assert first.schedule.amount[0] <= 4.0
    assert max(second.schedule.amount[:3]) >= 20.0  # of a worker that had its share
    assert np.array_equal(first.results, data[:, 0])
    dask.forget(client)
    assert mapped(slept, data, client, batched=True).schedule.amount[0] <= 4.0


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_few_items(client: Any, count: int) -> None:
    """They are dealt out one by one."""
    execution = mapped(functions.squared, list(range(count)), client)
    assert execution.results == [item * item for item in range(count)]
    assert execution.error is None


def slower_later(item: int) -> int:
    """Sleep 1 ms, and five times as long in the second half of the data."""
    time.sleep(0.001 if item < 200 else 0.005)
    return item


def test_costs_may_drift(client: Any) -> None:
    """Every item comes once, and no worker has much more to do than the others."""
    data = list(range(400))
    execution = mapped(slower_later, data, client)
    assert execution.results == data
    schedule = execution.schedule
    computes = schedule.rows_of(Activity.COMPUTE)
    assert schedule.amount[computes].max(initial=0.0) <= 0.025 * 400 + 1


def test_progress_may_be_a_function(client: Any) -> None:
    """It is told of the run."""
    told: list[tuple[float, str]] = []
    dask.map(functions.squared, range(77), client=client, progress=lambda *what: told.append(what))
    assert [share for share, _ in told] == sorted(share for share, _ in told)
    assert told[-1][0] == 1.0
    assert all("chunk" in what for _, what in told)


def lengths(batch: list[int]) -> list[int]:
    return [len(batch)] * len(batch)


@pytest.mark.thorough
def test_batches_are_bounded(client: Any) -> None:
    """No call gets more items than that."""
    found = mapped(lengths, list(range(500)), client, batched=True, batch_size=7).results
    assert max(found) == 7


def test_what_raises_is_tried_again(client: Any) -> None:
    """So many times."""
    Unlucky.tried.clear()
    with pytest.raises(ItemsFailed):
        mapped(Unlucky(), [1, 2], client, retries=1)
    Unlucky.tried.clear()
    assert mapped(Unlucky(), [1, 2], client, retries=2).results == [1, 2]


def nap(item: int) -> int:
    time.sleep(1.2)
    return item


def test_long_items_wait_one_at_a_time(client: Any) -> None:
    """Of items that take more than a second one is computed on a worker and one waits, from the
    beginning, when nobody knows.
    """
    execution = mapped(nap, range(9), client)
    schedule = execution.schedule
    sends, computes = schedule.rows_of(Activity.SEND), schedule.rows_of(Activity.COMPUTE)
    assert schedule.amount[computes].max() == 1.0
    ends = dict(zip(schedule.item[computes].tolist(), schedule.end[computes].tolist(), strict=True))
    for row in sends.tolist():
        worker, begun = schedule.peer[row], float(schedule.start[row])
        before = schedule.item[sends[(schedule.peer[sends] == worker) & (sends < row)]]
        assert sum(ends[item] > begun + 0.05 for item in before.tolist()) <= 1
