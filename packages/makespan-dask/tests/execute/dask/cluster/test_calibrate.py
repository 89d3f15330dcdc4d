"""Measuring a cluster. What a time must be is asserted in test_prediction, which is slow."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from makespan import DivisibleLoad, ExecutionError, FileError, InputError, read_problem, solve
from makespan.execute.dask import Calibration, Files, calibrate, run
from tests.execute import functions


@pytest.fixture(scope="module")
def calibration(star: Any) -> Calibration:
    """The star, calibrated with little effort."""
    from distributed import Client

    with Client(star.address, set_as_default=False) as own:
        own.wait_for_workers(3)
        sample = functions.rows(1000)
        return calibrate(functions.slept, sample, own, batched=True, time_limit=0.5)


@pytest.mark.thorough
def test_nothing_is_faster_than_the_truth(calibration: Calibration) -> None:
    """Other work only slows down: a chunk takes what the link and the sleeping take, or more."""
    assert [worker.name for worker in calibration.workers] == ["w1", "w2", "w3"]
    for worker, rate in zip(calibration.workers, (50.0, 100.0, 200.0), strict=True):
        sent, slept = 1000 * 8 / (rate * 1e6), functions.SECONDS_PER_ITEM[worker.name]
        assert len(worker.whole) > 1
        for count, seconds in worker.whole:
            assert seconds > count * (0.5 * sent + 0.8 * slept)
        assert worker.submit > 0.0


@pytest.mark.slow
def test_costs_are_near_the_truth(calibration: Calibration) -> None:
    """Rates of 50, 100 and 200 Mbit/s, and the sleeping per item, are found again."""
    for worker, rate in zip(calibration.workers, (50.0, 100.0, 200.0), strict=True):
        truth = 1000 * 8 / (rate * 1e6)
        assert worker.send.cost.per_unit == pytest.approx(truth, rel=0.5)
        slept = functions.SECONDS_PER_ITEM[worker.name]
        assert worker.compute.cost.per_unit == pytest.approx(slept, rel=0.3)


def test_a_calibration_is_a_problem_and_a_file(calibration: Calibration, tmp_path: Path) -> None:
    """The problem can be solved, and read back from the file."""
    problem = calibration.problem(500, ports=1)
    assert solve(problem).makespan is not None
    path = tmp_path / "platform.toml"
    calibration.save(path, 500)
    again = read_problem(path)
    assert isinstance(again, DivisibleLoad)
    assert again.load == 500.0
    assert again.platform == calibration.problem(500).platform


def test_a_calibration_is_a_file_of_its_own(calibration: Calibration, tmp_path: Path) -> None:
    """Without a load all of it is written, and read back; what is no calibration is refused."""
    path = tmp_path / "cluster.json"
    for rejected in ((), ((3.0, 4.0),)):
        worker = calibration.workers[0]
        intervals = (-math.inf, math.inf)
        fit = replace(worker.compute, rejected=rejected, fixed_interval=intervals)
        odd = replace(worker, name='Infinity,"', compute=fit)
        one = replace(calibration, workers=(odd, *calibration.workers[1:]))
        one.save(path)
        assert Calibration.read(path) == one
    with pytest.raises(FileError, match=r"\.toml"):
        calibration.save(tmp_path / "cluster.toml")
    text = path.read_text()
    path.write_text(text.replace('"threads": 1', '"threads": "one"', 1))
    with pytest.raises(FileError, match=r"workers\[0\]\.threads: .*integer"):
        Calibration.read(path)
    path.write_text(text.replace("calibration/1", "calibration/2"))
    with pytest.raises(FileError, match=r"calibration/2.* is not .*calibration/1"):
        Calibration.read(path)
    calibration.save(path, 500)
    with pytest.raises(FileError, match=r"is not 'makespan\.calibration/1'"):
        Calibration.read(path)


def test_waiting_is_shared_among_the_rounds(calibration: Calibration) -> None:
    """The less of it each chunk is charged, the smaller the start-up, by worker."""
    one, many = calibration.star(), calibration.star(waits=0.1)
    assert (many.compute_fixed < one.compute_fixed).all()
    chosen = calibration.star(waits={"w1": 1.0, "w2": 0.1})
    assert chosen.compute_fixed[0] == one.compute_fixed[0]
    assert chosen.compute_fixed[1] == many.compute_fixed[1]


def test_a_calibration_can_be_read(calibration: Calibration) -> None:
    """The table names every worker and says how sends overlap; the data is plain."""
    text = str(calibration)
    assert all(name in text for name in ("w1", "w2", "w3", "sends:"))
    data = calibration.as_dict()
    assert data["workers"][0]["send"]["cost"]["per_unit"] > 0
    assert data["ports"] in (1, "many")


def test_a_partition_is_planned_on_measured_tables(client: Any) -> None:
    """The table has what was measured, grows above it, and its plan can be run."""
    found = calibrate(functions.slow_square, list(range(16)), client, time_limit=0.2, repetitions=2)
    problem = found.partition(30)
    assert problem.machines == ("0", "1", "2")
    plan = solve(problem)
    assert plan.makespan is not None
    alone = [problem.costs_of(np.array(counts)).max() for counts in np.diag([30] * 3)]
    assert 0.05 < plan.makespan < min(alone)
    measured = dict(found.workers[0].whole)
    count = max(measured)
    assert problem.costs_of(np.array([count, 0, 0]))[0] == pytest.approx(measured[count])
    costs = [problem.costs_of(np.array([count, 0, 0]))[0] for count in range(31)]
    assert costs[0] == 0.0
    assert costs[30] > costs[16]
    execution = run(plan, functions.slow_square, list(range(30)), client)
    assert execution.results == [item * item for item in range(30)]


def test_a_partition_of_bytes_is_refused(client: Any, tmp_path: Path) -> None:
    """Files are counted in bytes, which are no tasks."""
    (tmp_path / "a.txt").write_text("x")
    found = calibrate(functions.text_of, Files([tmp_path / "a.txt"]), client, repetitions=1)
    with pytest.raises(ExecutionError, match="counts items"):
        found.partition(3)


def test_progress_is_told(client: Any) -> None:
    """The share done ends at 1."""
    told: list[float] = []
    calibrate(
        functions.slept_each,
        list(range(64)),
        client,
        time_limit=0.05,
        repetitions=2,
        progress=lambda share, what: told.append(share),
    )
    assert 0.0 < told[0] < 1.0
    assert told[-1] == 1.0


def test_files_can_be_a_sample(client: Any, tmp_path: Path) -> None:
    """The load of files is bytes."""
    for index in range(4):
        (tmp_path / f"{index}.txt").write_text("x" * 100)
    sample = Files(sorted(tmp_path.iterdir()))
    found = calibrate(functions.text_of, sample, client, repetitions=2, time_limit=0.05)
    assert found.load == 400.0


def test_a_function_that_raises_is_reported(client: Any) -> None:
    """The message has the item, the error and the traceback."""
    with pytest.raises(ExecutionError, match="item 7: ValueError: seven") as caught:
        calibrate(functions.fails_on_seven, list(range(8)), client, time_limit=0.05)
    assert "in fails_on_seven" in str(caught.value)


@pytest.mark.parametrize(
    ("function", "sample", "message"),
    [
        (functions.squared, [], "sample: is empty"),
        (functions.squared, 3, "data: 3 has no items"),
        (3, [1], "function: 3 can't be called"),
        (functions.squared, [threading.Lock()], r"sample\[0\]: can't be pickled"),
        (functions.locked(), [1], "function: can't be pickled"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(
    client: Any, function: Any, sample: Any, message: str
) -> None:
    """Nothing reaches the cluster."""
    with pytest.raises(InputError, match=message):
        calibrate(function, sample, client)
