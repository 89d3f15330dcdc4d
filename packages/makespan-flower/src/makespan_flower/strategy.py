"""A strategy of Flower around another one: it says how many samples each client trains on."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import Result, Strategy

from makespan_flower.clients import Clients
from makespan_flower.costs import Stated
from makespan_flower.reception import Reception
from makespan_flower.shares import Objective, Split, least_seconds, split

ASKED, DONE = "num-samples", "num-examples"  # in a message, and in the metrics of its reply
RECENT = 5  # rounds whose excess over the planned energy counts
LOG = logging.getLogger("flwr")


class Round(NamedTuple):
    """A round as it was planned and as it went.

    ``planned``: None where a client took part that was not known. ``seconds``: of the slowest
    reply in time. ``late``: the nodes that did not reply in time, or failed.
    """

    shares: Mapping[int, int]
    planned: Split | None
    seconds: float
    energy: float
    samples: int
    late: tuple[int, ...]


@dataclass(eq=False)
class MakespanStrategy(Strategy):  # type: ignore[misc]
    """Rounds whose shares follow what clients take; all else is left to another strategy.

    Each training message says in its configuration, as ``num-samples``, how many samples its client
    is to train on. Clients report as ``num-examples`` how many they did, by which ``FedAvg`` weighs
    their models. ``history`` has a :class:`Round` for each round, ``spent`` the energy so far.

    Parameters
    ----------
    strategy
        The strategy that samples clients and aggregates: ``FedAvg`` or another one.
    samples, batch
        Samples of a round, all clients together; shares are whole multiples of ``batch``.
    objective
        ``"time"``: rounds end as early as possible. ``"energy"``: they take the least energy.
    deadline
        The most seconds of a round. Where not all samples fit, as many as possible are given out.
    budget
        The most energy of all rounds together. Each round gets an equal part of what is left.
    minimum, maximum, fairness
        The least and the most samples of a client in a round, and from 0 to 1 the part of an even
        share that each gets at least over all rounds.
    probe
        The share of a client that is not known. Without it, that is an even share where no client
        is known, else at most an even share, as if the client were the median of the others.
    seconds, energy
        What clients take, by node: an ``Affine``, ``{samples: cost}``, where nothing else is
        allowed, or a function of an array of samples. Others are measured.
    seconds_key, energy_key
        The metrics that hold the seconds and the energy of a client. Without ``seconds_key``, the
        server measures the time from message to reply.
    patience
        A round waits this many times as long as it was planned, or as the last one took. Late
        clients get no share until they reply, and their late replies are not aggregated.
    """

    strategy: Strategy
    samples: int
    _: KW_ONLY
    batch: int = 1
    objective: Objective = "time"
    deadline: float | None = None
    budget: float | None = None
    minimum: int = 0
    maximum: int | None = None
    fairness: float = 0.0
    probe: int | None = None
    seconds: Mapping[int, Stated] = field(default_factory=dict)
    energy: Mapping[int, Stated] = field(default_factory=dict)
    seconds_key: str | None = None
    energy_key: str | None = None
    patience: float | None = None

    def __post_init__(self) -> None:
        maximum = self.samples if self.maximum is None else self.maximum
        energies = bool(self.energy) or self.energy_key is not None
        wrong = {
            "batch is 1 or more": self.batch < 1,
            "samples is a multiple of batch": self.samples < 1 or self.samples % max(1, self.batch),
            "objective is 'time' or 'energy'": self.objective not in {"time", "energy"},
            "fairness is from 0 to 1": not 0.0 <= self.fairness <= 1.0,
            "minimum is 0 or more": self.minimum < 0,
            "maximum is at least minimum and batch": maximum < max(self.minimum, self.batch),
            "probe is at least batch": self.probe is not None and self.probe < self.batch,
            "patience is 1 or more": self.patience is not None and self.patience < 1.0,
            "a budget and the objective 'energy' need energy_key or energy": not energies
            and (self.objective == "energy" or self.budget is not None),
        }
        if any(wrong.values()):
            raise ValueError("; ".join(rule for rule, broken in wrong.items() if broken))
        limits = self.batch, self.minimum, maximum, self.fairness, self.probe
        self.clients = Clients(*limits, self.seconds, self.energy, energies)
        self.num_rounds, self.spent = 1, 0.0
        self.history: list[Round] = []
        self._reception = Reception(None)
        self._shares: dict[int, int] = {}
        self._plan: Split | None = None
        self._owed: dict[int, float] = {}  # energies that late clients should take

    def summary(self) -> None:
        """Log the configuration of both strategies."""
        self.strategy.summary()
        LOG.info("\t└──> Shares: %d samples, least %s", self.samples, self.objective)

    def start(self, grid: Any, initial_arrays: ArrayRecord, *args: Any, **named: Any) -> Result:
        """Run the rounds, as the ``start`` of every strategy; replies are timed."""
        self.num_rounds = args[0] if args else named.get("num_rounds", 3)
        self._reception = Reception(grid)
        timed: Any = self._reception
        return super().start(timed, initial_arrays, *args, **named)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Any
    ) -> Iterable[Message]:
        """Let the other strategy choose clients, and give each its share."""
        messages = list(self.strategy.configure_train(server_round, arrays, config, grid))
        for late in self._reception.late:
            self.spent += self._record(*late)[1] - self._owed.pop(late[0], 0.0)
        self._reception.late.clear()
        busy = self._reception.busy()
        messages = [each for each in messages if each.metadata.dst_node_id not in busy] or messages
        nodes = [each.metadata.dst_node_id for each in messages]
        self._shares = self._shares_of(nodes, server_round) if nodes else {}
        shares = [self._shares.get(node, 0) for node in nodes]
        pairs = zip(messages, shares, strict=True)
        return [with_samples(message, share) for message, share in pairs if share]

    def _shares_of(self, nodes: list[int], server_round: int) -> dict[int, int]:
        """Plan a round, and return the samples of those that take part."""
        clients, batches = self.clients, self.samples // self.batch
        limits: tuple[float | None, float | None] = (None, None)
        if any(map(clients.known, nodes)):
            limits = self.deadline, self._allowance(server_round)
        plan = split(clients.table(nodes, batches), batches, self.objective, *limits)
        for node in nodes:
            clients[node].even += self.samples / len(nodes)
        shares = {
            node: count * self.batch
            for node, count in zip(nodes, plan.counts.tolist(), strict=True)
            if count
        }
        self._plan = plan if all(map(clients.known, shares)) else None
        if self.patience is not None:
            longer = max([plan.seconds, *(each.seconds for each in self.history[-1:])])
            self._reception.limit = self.patience * longer if self._plan else None
        return shares

    def _allowance(self, server_round: int) -> float | None:
        """Return an equal part of the energy that is left, less where rounds took too much."""
        if self.budget is None:
            return None
        left = max(0.0, self.budget - self.spent) / max(1, self.num_rounds - server_round + 1)
        planned = [(each.energy, each.planned.energy) for each in self.history if each.planned]
        return left / max([1.0, *(took / plan for took, plan in planned[-RECENT:] if plan)])

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> Any:
        """Record what clients took, and let the other strategy aggregate their models."""
        replies, late = list(replies), dict(self._shares)
        times, limit = self._reception.seconds, self._reception.limit or 0.0
        slowest, energy, samples = 0.0, 0.0, 0
        for reply in filter(Message.has_content, replies):
            node = reply.metadata.src_node_id
            did, used, took = self._record(node, reply, times.get(node), late.pop(node, 0))
            self.clients[node].done += did
            slowest, energy, samples = max(slowest, took), energy + used, samples + did
        for node, share in late.items():
            client = self.clients[node]
            self._owed[node] = client.energy.at(share)
            energy += self._owed[node]
            if limit > client.seconds.at(share):
                client.seconds.record(share, limit)
        self.spent += energy
        done = Round(self._shares, self._plan, slowest, energy, samples, tuple(late))
        self.history.append(done)
        return self.strategy.aggregate_train(server_round, replies)

    def _record(
        self, node: int, reply: Message, took: float | None, share: int = 0
    ) -> tuple[int, float, float]:
        """Take a reply in, and return its samples, its energy and its seconds."""
        metrics = next(iter(reply.content.metric_records.values()), MetricRecord())
        client, samples = self.clients[node], int(_number(metrics, DONE, share))
        if share and samples != share:
            LOG.warning("client %d: trained on %d samples, not on %d", node, samples, share)
        used = None if self.energy_key is None else _number(metrics, self.energy_key, None)
        energy = client.energy.at(samples) if used is None else used
        client.energy.record(samples, np.inf if used is None else used)
        if self.seconds_key is not None:
            took = _number(metrics, self.seconds_key, took)
        if took is not None:
            client.seconds.record(samples, took)
        return samples, energy, took or 0.0

    def configure_evaluate(self, *given: Any, **named: Any) -> Any:
        """Leave the evaluation to the other strategy."""
        return self.strategy.configure_evaluate(*given, **named)

    def aggregate_evaluate(self, *given: Any, **named: Any) -> Any:
        """Leave the evaluation to the other strategy."""
        return self.strategy.aggregate_evaluate(*given, **named)

    def least_seconds(self) -> float:
        """Return a lower bound on the seconds of ``num_rounds`` rounds, whatever the shares.

        It holds for the costs as they are known now, all clients that were seen, and the budget.
        """
        batches = self.samples // self.batch
        table = self.clients.table(list(filter(self.clients.known, self.clients.seen)), batches)
        table = table._replace(lower=np.zeros_like(table.lower))
        return least_seconds(table, batches, self.num_rounds, self.budget)


def _number(metrics: MetricRecord, key: str, otherwise: Any) -> Any:
    found = metrics.get(key)
    if isinstance(found, (int, float)):
        return found
    LOG.warning("a reply has no metric %r that is a number", key)
    return otherwise


def with_samples(message: Message, samples: int) -> Message:
    """Return a message whose configuration also says how many samples to train on."""
    meta, records = message.metadata, message.content.config_records
    key = next(iter(records), "config")
    config = ConfigRecord({**records.get(key, ConfigRecord()), ASKED: samples})
    content = RecordDict({**message.content, key: config})
    kind, ttl, group = meta.message_type, meta.ttl, meta.group_id
    return Message(content, meta.dst_node_id, kind, ttl=ttl, group_id=group)
