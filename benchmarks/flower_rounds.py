"""Rounds of Flower's simulation with ten throttled clients: even shares beside makespan's.

pip install scikit-learn 'flwr[simulation]' . ./packages/makespan-flower
python -m benchmarks.flower_rounds [--seeds N] [--rounds N] [--write]

A client of speed s sleeps until it has taken 10 / s milliseconds a sample. What is measured is kept
in ``build/flower_rounds.json``; ``--write`` makes the page of all that is kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg, Strategy
from flwr.simulation import run_simulation
from makespan_flower import MakespanStrategy

from benchmarks.table import Table, keep, kept_in

KEPT = Path("build") / "flower_rounds.json"
CLIENTS, SAMPLES, BATCH, RATE = 10, 1600, 16, 0.1
SLOWEST = 0.01  # seconds of a sample at speed 1
TESTED = 397  # digits that no client has
JOULES = 1000.0  # a round, where there is a budget
MANY = 12  # seeds of what is reckoned only
DRIFT = 8  # the round from which the fastest client is as slow as the slowest, in some cases
Floats = np.ndarray[Any, np.dtype[np.float64]]
Model = dict[str, Floats]
Part = tuple[Floats, Floats]


class Case(NamedTuple):
    """A strategy, and whether labels are unlike from client to client, or speeds drift."""

    name: str
    make: Callable[[int], Strategy]
    skewed: bool = False
    drifts: bool = False


def fed_avg(rounds: int = 0, weight: str = "num-examples") -> FedAvg:
    return FedAvg(
        fraction_evaluate=0.0,
        min_train_nodes=CLIENTS,
        min_available_nodes=CLIENTS,
        weighted_by_key=weight,
    )


def ours(weight: str = "num-examples", **options: Any) -> Callable[[int], Strategy]:
    def make(rounds: int) -> Strategy:
        given = {key: each(rounds) if callable(each) else each for key, each in options.items()}
        inner = fed_avg(rounds, weight)
        return MakespanStrategy(inner, SAMPLES, batch=BATCH, energy_key="joules", **given)

    return make


CASES = (
    Case("FedAvg", fed_avg),
    Case("makespan", ours()),
    Case("makespan, fairness 0.5", ours(fairness=0.5)),
    Case("makespan, least energy by 0.8 s", ours(objective="energy", deadline=0.8)),
    Case(
        f"makespan, budget of {JOULES:,.0f} J a round",
        ours(budget=lambda rounds: JOULES * rounds),
    ),
    Case("makespan, drift", ours(patience=1.5), drifts=True),
    Case("FedAvg, unlike labels", fed_avg, skewed=True),
    Case("makespan, unlike labels", ours(), skewed=True),
    Case("makespan, unlike labels, weighed by digits held", ours("held"), skewed=True),
)


def parts_of(seed: int, *, skewed: bool) -> tuple[list[Part], Part]:
    """Return the digits of each client, and those to test by; skewed: half of them by label."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    tested, left = order[:TESTED], order[TESTED:]
    half = len(left) // 2 if skewed else 0
    by_label = left[:half][np.argsort(labels[left[:half]], kind="stable")]
    chunks = zip(
        np.array_split(by_label, CLIENTS), np.array_split(left[half:], CLIENTS), strict=True
    )
    parts = [np.concatenate(pair) for pair in chunks]
    return [(images[each] / 16.0, labels[each]) for each in parts], (
        images[tested] / 16.0,
        labels[tested],
    )


def step(model: Model, images: Floats, labels: Floats) -> Model:
    """Return the model after a step of softmax regression."""
    scores = images @ model["weights"] + model["bias"]
    chances = np.exp(scores - scores.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    chances[np.arange(len(labels)), labels.astype(int)] -= 1.0
    slope = chances / len(labels)
    return {
        "weights": model["weights"] - RATE * images.T @ slope,
        "bias": model["bias"] - RATE * slope.sum(0),
    }


def trained(model: Model, part: Part, samples: int, seed: tuple[int, ...]) -> Model:
    """Return the model after so many samples of a client's digits, in an order by chance."""
    images, labels = part
    rng = np.random.default_rng(seed)
    epochs = 1 + samples // len(labels)
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(epochs)])[:samples]
    for at in range(0, samples, BATCH):
        chosen = order[at : at + BATCH]
        model = step(model, images[chosen], labels[chosen])
    return model


def accuracy_of(model: Model, test: Part) -> float:
    scores = test[0] @ model["weights"] + model["bias"]
    return float((scores.argmax(1) == test[1]).mean())


def averaged(shares: list[int], seed: int, rounds: int, *, skewed: bool, held: bool) -> float:
    """Return the accuracy of federated averaging by fixed shares, reckoned without a simulation."""
    parts, test = parts_of(seed, skewed=skewed)
    model: Model = {"weights": np.zeros((64, 10)), "bias": np.zeros(10)}
    weights = np.array([len(part[1]) for part in parts] if held else shares, np.float64)
    weights /= weights.sum()
    for number in range(1, rounds + 1):
        models = [
            trained(model, part, share, (seed, client, number))
            for client, (part, share) in enumerate(zip(parts, shares, strict=True))
        ]
        model = {
            name: np.sum([w * each[name] for w, each in zip(weights, models, strict=True)], 0)
            for name in model
        }
    return accuracy_of(model, test)


def write_accuracies(rounds: int) -> None:
    """Reckon how shares change accuracy, over more seeds than are simulated."""
    even = [SAMPLES // CLIENTS] * CLIENTS
    by_speed = [32, 64, 80, 112, 144, 176, 208, 224, 272, 288]
    table = Table(
        "flower_accuracy",
        "Flower: accuracy by the shares of clients",
        f"Federated averaging reckoned without a simulation, {MANY} seeds, {rounds} rounds of "
        f"{SAMPLES:,} samples by ten clients: even shares, and shares of {by_speed[0]} to "
        f"{by_speed[-1]} samples in proportion to speeds from 1 to 10. Data and model as in the "
        f"simulation, accuracy on {TESTED} digits with its standard deviation over the seeds. "
        "Against even shares: the mean difference of pairs, and its standard error.",
        ("labels", "shares", "weights", "accuracy", "against even shares"),
        clock="no time",
    )
    for skewed in (False, True):
        base = [averaged(even, each, rounds, skewed=skewed, held=False) for each in range(MANY)]
        for shares, held in ((even, False), (by_speed, False), (by_speed, True)):
            found = [
                averaged(shares, each, rounds, skewed=skewed, held=held) for each in range(MANY)
            ]
            apart = np.array(found) - base
            error = statistics.stdev(apart.tolist()) / MANY**0.5
            table.add(
                "unlike" if skewed else "alike",
                "even" if shares == even else "by speed",
                "digits held" if held else "samples done",
                f"{statistics.fmean(found):.3f} ± {statistics.stdev(found):.3f}",
                "" if shares == even else f"{apart.mean():+.4f} ± {error:.4f}",
            )
    table.write()


def client_app(parts: dict[bool, list[Part]], seed: int) -> ClientApp:
    """Return what clients run; those of a query only start their processes."""
    app = ClientApp()

    @app.query()  # type: ignore[untyped-decorator]
    def _query(message: Message, context: Context) -> Message:
        time.sleep(2.0)
        return Message(RecordDict(), reply_to=message)

    @app.train()  # type: ignore[untyped-decorator]
    def _train(message: Message, context: Context) -> Message:
        began = time.perf_counter()
        config: Any = message.content.config_records["config"]
        client = int(context.node_config["partition-id"])
        samples = config.get("num-samples", SAMPLES // CLIENTS)
        part = parts[config["skewed"]][client]
        arrays = message.content.array_records["arrays"]
        model = {name: each.numpy() for name, each in arrays.items()}
        model = trained(model, part, samples, (seed, client, config["server-round"]))
        speed = client + 1
        joules = samples * (0.2 + 0.1 * speed)  # the fast ones take more
        if config["drifts"] and config["server-round"] >= DRIFT and speed == CLIENTS:
            speed = 1
        time.sleep(max(0.0, began + samples * SLOWEST / speed - time.perf_counter()))
        records = {
            "arrays": ArrayRecord({name: Array(each) for name, each in model.items()}),
            "metrics": MetricRecord(
                {"num-examples": samples, "joules": joules, "held": len(part[1])}
            ),
        }
        return Message(RecordDict(records), reply_to=message)

    return app


class Run:
    """A strategy that is watched: seconds from plans to the last replies, joules, samples."""

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.seconds: list[float] = []
        self.joules, self.samples, self.began = 0.0, 0, 0.0
        self._configure, self._aggregate = strategy.configure_train, strategy.aggregate_train
        vars(strategy).update(configure_train=self.configure, aggregate_train=self.aggregate)

    def configure(self, *given: Any) -> Any:
        self.began = time.perf_counter()
        return self._configure(*given)

    def aggregate(self, number: int, replies: Any) -> Any:
        self.seconds.append(time.perf_counter() - self.began)
        replies = list(replies)
        for reply in replies:
            metrics: Any = reply.content.metric_records["metrics"]
            self.joules += metrics["joules"]
            self.samples += metrics["num-examples"]
        return self._aggregate(number, replies)


def simulate(seed: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return what was measured of each case, in one simulation."""
    splits = {skewed: parts_of(seed, skewed=skewed) for skewed in (False, True)}
    test = splits[False][1]
    found: dict[str, dict[str, float]] = {}
    server = ServerApp()

    def accuracy(_: int, arrays: ArrayRecord) -> MetricRecord:
        model = {name: each.numpy() for name, each in arrays.items()}
        return MetricRecord({"accuracy": accuracy_of(model, test)})

    @server.main()  # type: ignore[untyped-decorator]
    def _main(grid: Any, context: Context) -> None:
        nodes = list(grid.get_node_ids())
        while len(nodes) < CLIENTS:
            time.sleep(0.1)
            nodes = list(grid.get_node_ids())
        grid.send_and_receive([Message(RecordDict(), node, "query") for node in nodes])
        for case in CASES:
            run = Run(case.make(rounds))
            start = {"weights": Array(np.zeros((64, 10))), "bias": Array(np.zeros(10))}
            config = ConfigRecord({"skewed": case.skewed, "drifts": case.drifts})
            result = run.strategy.start(
                grid, ArrayRecord(start), rounds, 60.0, config, None, accuracy
            )
            last: Any = result.evaluate_metrics_serverapp[rounds]["accuracy"]
            bound = float("nan")
            if isinstance(run.strategy, MakespanStrategy):
                bound = run.strategy.least_seconds() / rounds
            found[case.name] = {
                "seconds": statistics.fmean(run.seconds),
                "later": statistics.fmean(run.seconds[1:]),
                "joules": run.joules / rounds,
                "samples": run.samples / rounds,
                "accuracy": last,
                "bound": bound,
            }
            print(case.name, found[case.name], flush=True)

    resources = {
        "init_args": {"num_cpus": CLIENTS},
        "client_resources": {"num_cpus": 1, "num_gpus": 0},
    }
    with mock.patch("os.cpu_count", return_value=CLIENTS):  # one thread a client, as they sleep
        app = client_app({skewed: parts for skewed, (parts, _) in splits.items()}, seed)
        run_simulation(server, app, CLIENTS, backend_config=resources)
    return found


def write(rounds: int) -> None:
    """Write the page of all seeds that are kept."""
    seeds = list(kept_in(KEPT).values())
    table = Table(
        "flower_rounds",
        "Flower: rounds of ten throttled clients",
        f"Means over {len(seeds)} seeds of Flower's simulation, {rounds} rounds of {SAMPLES:,} "
        "samples by ten clients of speeds 1 to 10, which sleep 10 ms a sample over their speed. "
        "All rounds count, also the first one, which measures. A round lasts from its plan to the "
        "last reply. Softmax regression on scikit-learn's digits, steps of 16 samples, accuracy on "
        "397 digits that no client has, with its standard deviation over the seeds. Fast clients "
        "take more joules a sample. Bound: what no shares beat, by the costs as they were "
        f"measured. Drift: the fastest client is as slow as the slowest from round {DRIFT} on, and "
        "a round waits 1.5 times as long as it was planned. Unlike labels: half of the digits are "
        "dealt out by label.",
        (
            "strategy",
            "seconds a round",
            "of FedAvg's",
            "from the second round",
            "bound",
            "samples a round",
            "joules a round",
            "accuracy",
        ),
        clock="wall time on two cores",
    )
    for case in CASES:
        rows = [each[case.name] for each in seeds]
        base = [each["FedAvg"] for each in seeds]
        mean = {key: statistics.fmean(row[key] for row in rows) for key in rows[0]}
        accuracies = [row["accuracy"] for row in rows]
        spread = statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
        bounded = mean["bound"] == mean["bound"] and not case.drifts and "energy" not in case.name
        table.add(
            case.name,
            f"{mean['seconds']:.2f} s",
            f"{mean['seconds'] / statistics.fmean(row['seconds'] for row in base):.2f}",
            f"{mean['later']:.2f} s",
            f"{mean['bound']:.2f} s" if bounded else "",
            f"{mean['samples']:.0f}",
            f"{mean['joules']:.0f}",
            f"{mean['accuracy']:.3f} ± {spread:.3f}",
        )
    table.write()


def main() -> None:
    """Measure seeds, or write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    for seed in [] if given.write else given.seeds:
        found = simulate(seed, given.rounds)
        keep(KEPT, {**kept_in(KEPT), f"{seed}": found})
    write(given.rounds)
    write_accuracies(given.rounds)


if __name__ == "__main__":
    main()
