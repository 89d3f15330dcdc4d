"""Routes: shortest by number of hops, ties by lowest index."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from makespan.core.cached import cached_property
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A line of a routing table: the destination, the hops to it, and the neighbour to send to."""

    destination: str
    hops: int
    via: str

    def __str__(self) -> str:
        hops = "1 hop" if self.hops == 1 else f"{self.hops} hops"
        return f"to {self.destination}: {hops} by {self.via}"


class Routing:
    """The routes of a network and what they cost.

    ``rates``: units of data per second from node to node; 0 where there is no link. ``setup``:
    seconds that each node needs to send a message over one hop. ``delay``: seconds after the last
    hop for each pair of machines.

    ``hops``: links on the route from node to node; -1 where there is none. ``following``: the
    neighbour that a node sends to for each destination (the preferred link); -1 for none.
    Complexity: O(nodes × links), vectorised; O(nodes²) where all are neighbours.
    """

    def __init__(self, rates: Floats, setup: Floats, delay: Floats) -> None:
        self.rates = rates
        self.setup = setup
        self.delay = delay
        self.hops = _hops(rates > 0)
        self.following = _following(rates > 0, self.hops)

    @cached_property
    def seconds_per_unit(self) -> Floats:
        """Seconds that a unit of data takes from machine to machine, store and forward."""
        count = len(self.delay)
        with np.errstate(divide="ignore"):
            return self._along_routes(1.0 / self.rates)[:count, :count]

    @cached_property
    def fixed_seconds(self) -> Floats:
        """Seconds that any message takes from machine to machine: set-ups of hops, and delay."""
        count = len(self.delay)
        setup = np.broadcast_to(self.setup[:, None], self.rates.shape)
        return self._along_routes(setup)[:count, :count] + self.delay

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all pairs of different machines exchange data alike."""
        return is_uniform(self.fixed_seconds) and is_uniform(self.seconds_per_unit)

    def _along_routes(self, per_hop: Floats) -> Floats:
        """Sum a table of hops over the routes between all nodes."""
        total = np.zeros(self.rates.shape)
        if self.hops.max(initial=0) <= 1:
            return np.where(self.hops == 1, per_hop, total)
        by_hops = np.argsort(self.hops, axis=None, kind="stable")
        most = int(self.hops.max())
        first = np.searchsorted(self.hops.ravel()[by_hops], np.arange(1, most + 2))
        for here, behind in pairwise(first.tolist()):
            start, goal = np.divmod(by_hops[here:behind], len(total))
            via = self.following[start, goal]
            total[start, goal] = per_hop[start, via] + total[via, goal]
        return total

    def route(self, start: int, goal: int) -> list[tuple[int, int]]:
        """Return the hops from a node to another as pairs of nodes, or raise ValueError."""
        if self.hops[start, goal] < 0:
            raise ValueError(f"there is no route from node {start} to node {goal}")
        steps = []
        while start != goal:
            via = int(self.following[start, goal])
            steps.append((start, via))
            start = via
        return steps

    def seconds_of(self, sizes: Floats) -> Floats:
        """Return the seconds of transfers that wait for nothing, shape (sizes, from, to)."""
        return self.fixed_seconds + self.seconds_per_unit * sizes[:, None, None]

    def seconds(self, start: int, goal: int, size: float) -> float:
        """Return the seconds of a transfer between machines that waits for nothing."""
        return float(self.fixed_seconds[start, goal] + self.seconds_per_unit[start, goal] * size)

    def table(self, start: int, names: Sequence[str], machines: int) -> tuple[Route, ...]:
        """Return the routing table of a node: one line per other machine."""
        return tuple(
            Route(
                destination=names[goal],
                hops=int(self.hops[start, goal]),
                via=names[int(self.following[start, goal])],
            )
            for goal in range(machines)
            if goal != start
        )


def is_uniform(table: Floats) -> bool:
    """Whether all entries beside the diagonal, which is 0, are equal."""
    count = len(table)
    if count == 1:
        return True
    equal = int(np.count_nonzero(table == table[0, 1]))
    return equal == (count * count if table[0, 1] == 0 else count * (count - 1))


def _hops(linked: np.ndarray) -> Integers:
    """Return distances between all nodes by breadth-first search from each."""
    count = len(linked)
    hops = np.full((count, count), -1, dtype=np.int64)
    np.fill_diagonal(hops, 0)
    if (linked | np.eye(count, dtype=bool)).all():
        hops[linked] = 1
        return hops
    tail, head = np.nonzero(linked)
    flat = hops.ravel()
    distances.run(
        count * (count + len(head)),
        (np.searchsorted(tail, np.arange(count + 1)), head),
        (flat, np.zeros(count, dtype=np.int64)),
    )
    return flat.reshape(count, count)


def _following(linked: np.ndarray, hops: Integers) -> Integers:
    """Return the lowest neighbour that is one hop nearer to each destination."""
    count = len(linked)
    following = np.full((count, count), -1, dtype=np.int64)
    if hops.max(initial=0) <= 1:
        following[:] = np.where(hops == 1, np.arange(count)[None, :], -1)
        return following
    for node in range(count):
        for neighbour in np.flatnonzero(linked[node])[::-1].tolist():
            nearer = (hops[neighbour] == hops[node] - 1) & (hops[neighbour] >= 0)
            following[node, nearer] = neighbour
    return following


@loop(pays_from=2_000_000, loaded_from=1_000)  # elementary steps
def distances(first, target, hops, queue):  # type: ignore[no-untyped-def]
    """Write the links on a shortest way from each node to each, in a flat table that holds -1."""
    count = len(queue)
    for start in range(count):
        row = start * count
        queue[0] = start
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for position in range(first[node], first[node + 1]):
                other = target[position]
                if hops[row + other] < 0:
                    hops[row + other] = hops[row + node] + 1
                    queue[tail] = other
                    tail += 1
