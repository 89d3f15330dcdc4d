"""The clients that have been seen: what they take, and the shares that they may get."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from makespan_flower.costs import Cost, Floats, Stated
from makespan_flower.shares import Table

CATCH_UP = 2  # even shares that a client gets at least in one round, at most


@dataclass(slots=True)
class Client:
    """What a client takes, the samples it did, and those of even shares of its rounds."""

    seconds: Cost
    energy: Cost
    done: int = 0
    even: float = 0.0


@dataclass
class Clients:
    """All clients by node, also those that left; the parameters are those of the strategy."""

    batch: int
    minimum: int
    maximum: int
    fairness: float
    probe: int | None
    seconds: Mapping[int, Stated]
    energy: Mapping[int, Stated]
    with_energy: bool
    seen: dict[int, Client] = field(default_factory=dict)

    def __getitem__(self, node: int) -> Client:
        """Return a client, a new one where it has not been seen."""
        if node not in self.seen:
            self.seen[node] = Client(Cost(self.seconds.get(node)), Cost(self.energy.get(node)))
        return self.seen[node]

    def known(self, node: int) -> bool:
        client = self[node]
        return client.seconds.known and (client.energy.known or not self.with_energy)

    def table(self, nodes: Sequence[int], batches: int) -> Table:
        """Return what each of these takes, and what it may be given in a round."""
        samples = self.batch * np.arange(batches + 1, dtype=np.float64)
        known = any(map(self.known, nodes))
        limits = [self._limits(node, batches, batches / len(nodes), known) for node in nodes]
        lower, upper = np.array(limits, np.int64).reshape(-1, 2).T
        lower = lower * min(batches, lower.sum()) // max(1, lower.sum())  # what there is
        energy = self._rows("energy", nodes, samples) if self.with_energy and known else None
        return Table(self._rows("seconds", nodes, samples), energy, lower, upper)

    def _rows(self, what: str, nodes: Sequence[int], samples: Floats) -> Floats:
        """Return a row for each client; those that are not known get the median of the others."""
        rows = {node: getattr(self[node], what).of(samples) for node in nodes if self.known(node)}
        middle = np.median(list(rows.values()), axis=0) if rows else samples
        return np.array([rows.get(node, middle) for node in nodes])

    def _limits(self, node: int, batches: int, even: float, any_known: bool) -> tuple[int, int]:
        """Return the least and the most batches of a client; ``even`` is the share of equals."""
        most = min(batches, self.maximum // self.batch)
        if self.known(node):
            fair = self.fairness * (self[node].even / self.batch + even)
            owed = math.floor(fair - self[node].done / self.batch + 1e-9)
            least = max(0, min(owed, math.ceil(CATCH_UP * even)), -(-self.minimum // self.batch))
            return min(most, least), most
        share = min(most, math.ceil(even) if self.probe is None else self.probe // self.batch)
        return 1 if any_known and self.probe is None else share, share
