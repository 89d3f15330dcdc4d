"""Predicted and measured makespan over real links; slow, and needs root."""

from __future__ import annotations

import json
import statistics

import pytest

from tests.execute.namespaces import NETWORK, PORT, possible, run_inside, star_of_namespaces

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not possible(), reason="needs root, ip and tc"),
]

SCRIPT = f"""
import json
import numpy as np
from distributed import Client
from makespan.execute import dask
from tests.execute import functions

with Client("tcp://{NETWORK}.1:{PORT}", set_as_default=False) as client:
    client.wait_for_workers(3)
    data = functions.rows(16_000)
    found = dask.calibrate(functions.slept, data[:4000], client, batched=True, time_limit=3.0)
    plan = dask.plan(found, 16_000)
    measured = []
    for _ in range(5):
        execution = dask.run(plan, functions.slept, data, client, batched=True)
        assert np.array_equal(execution.results, data[:, 0])
        measured.append(execution.measured)
    rates = [8e-3 / worker.send.cost.per_unit for worker in found.workers]
    print(json.dumps([plan.makespan, measured, found.sharing.kind, rates]))
"""


def test_the_makespan_is_predicted_over_real_links() -> None:
    """Links of 50, 100 and 200 Mbit/s are found, and the median of five runs is within 8 %.

    Chunks of a few rows, with which a plan begins, wait longer than those that were measured.
    """
    with star_of_namespaces((50.0, 100.0, 200.0)) as master:
        predicted, measured, kind, rates = json.loads(run_inside(master, "-c", SCRIPT))
    assert kind == "own-links"
    assert rates == pytest.approx([50.0, 100.0, 200.0], rel=0.1)
    assert statistics.median(measured) == pytest.approx(predicted, rel=0.08)
