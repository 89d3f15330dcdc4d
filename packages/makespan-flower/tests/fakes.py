"""A grid of Flower whose clients take stated seconds of a clock that jumps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Error, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg, Result
from makespan_flower import MakespanStrategy, reception


@dataclass
class FakeClient:
    """Trains ``fixed + samples * each`` seconds; returns its ``value`` as its model."""

    each: float
    fixed: float = 0.0
    joules: float = 1.0  # a sample
    value: float = 1.0
    fails: bool = False
    silent: bool = False
    asked: list[int] = field(default_factory=list)

    def train(self, message: Message) -> tuple[float, Message]:
        samples = message.content.config_records["config"]["num-samples"]
        assert isinstance(samples, int)
        self.asked.append(samples)
        took = self.fixed + samples * self.each
        if self.fails:
            return took, Message(Error(code=0, reason="broken"), reply_to=message)
        metrics = {"num-examples": samples, "took": took, "joules": samples * self.joules}
        arrays = ArrayRecord({"w": Array(np.full(2, self.value))})
        content = RecordDict({"arrays": arrays, "metrics": MetricRecord(metrics)})
        return took, Message(content, reply_to=message)

    def evaluate(self, message: Message) -> tuple[float, Message]:
        metrics = MetricRecord({"num-examples": 1, "accuracy": 0.5})
        return 0.0, Message(RecordDict({"metrics": metrics}), reply_to=message)


class FakeGrid:
    """Holds replies back until the clock has reached them."""

    def __init__(self, clients: Iterable[FakeClient], monkeypatch: pytest.MonkeyPatch) -> None:
        self.clients = dict(enumerate(clients, start=1))
        self.now = 0.0
        self.replies: dict[str, tuple[float, Message]] = {}
        self._names = count()
        monkeypatch.setattr(reception, "time", self)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def get_node_ids(self) -> list[int]:
        return list(self.clients)

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        names = []
        for message in messages:
            names.append(f"message {next(self._names)}")
            message.metadata.__dict__["_message_id"] = names[-1]
            client = self.clients[message.metadata.dst_node_id]
            evaluates = message.metadata.message_type == MessageType.EVALUATE
            took, reply = (client.evaluate if evaluates else client.train)(message)
            if not client.silent:
                self.replies[names[-1]] = self.now + took, reply
        return names

    def pull_messages(self, names: Iterable[str]) -> list[Message]:
        found = [name for name in names if self.replies.get(name, (np.inf,))[0] <= self.now]
        return [self.replies.pop(name)[1] for name in found]


def run(strategy: MakespanStrategy, grid: FakeGrid, rounds: int) -> Result:
    """Run rounds of a model of two numbers."""
    start = ArrayRecord({"w": Array(np.zeros(2))})
    return strategy.start(grid, start, num_rounds=rounds)


def fed_avg(clients: int) -> FedAvg:
    return FedAvg(fraction_evaluate=0.0, min_train_nodes=min(2, clients), min_available_nodes=1)
