"""A run of Flower's simulation, a small one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.simulation import run_simulation
from makespan_flower import MakespanStrategy

pytest.importorskip("ray", reason="flwr[simulation] is not installed")
SLEEPS = (0.04, 0.02, 0.01)  # seconds of a sample


def client_app() -> ClientApp:
    """Return clients whose model is the number of samples they did."""
    app = ClientApp()

    @app.train()
    def _train(message: Message, context: Context) -> Message:
        samples: Any = message.content.config_records["config"]["num-samples"]
        took = samples * SLEEPS[int(context.node_config["partition-id"])]
        time.sleep(took)
        arrays = ArrayRecord({"did": Array(np.array([float(samples)]))})
        metrics = MetricRecord({"num-examples": samples, "seconds": took, "joules": 2.0 * samples})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)

    return app


@pytest.mark.filterwarnings("ignore")
def test_shares_follow_the_speeds_of_clients() -> None:
    """Of the second round and the third; models are weighed by what clients did."""
    from fakes import fed_avg

    strategy = MakespanStrategy(fed_avg(3), 42, seconds_key="seconds", energy_key="joules")
    strategy.strategy.min_train_nodes = 3  # type: ignore[attr-defined]
    results = []
    server = ServerApp()

    @server.main()
    def _main(grid: Any, context: Context) -> None:
        start = ArrayRecord({"did": Array(np.zeros(1))})
        results.append(strategy.start(grid, start, num_rounds=3))

    resources = {
        "init_args": {"num_cpus": 3},
        "client_resources": {"num_cpus": 1, "num_gpus": 0},
    }
    run_simulation(server, client_app(), 3, backend_config=resources)  # type: ignore[arg-type]
    first, *later = [sorted(each.shares.values()) for each in strategy.history]
    assert first == [14, 14, 14]
    assert later == [[6, 12, 24]] * 2
    assert strategy.spent == 3 * 84.0
    assert results[0].arrays["did"].numpy() == pytest.approx([(6 * 6 + 12 * 12 + 24 * 24) / 42])
