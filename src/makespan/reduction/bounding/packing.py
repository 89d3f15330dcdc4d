"""Packing of spanning trees: how much must go over each way, all cuts and all ports together.

A collective that all machines need every segment of can be carried out in time T only if segments
can be sent over the ways, as much over each as its ports and shared links carry by T, such that
into every group of machines all goes that nobody in it has at first. By Edmonds' theorem amounts
that satisfy all these cuts are those of trees, one for each segment as these get many. The least T
is a linear programme; the cuts that its solution violates are found by maximum flows and added.

Sources: Edmonds 1973, "Edge-disjoint branchings"; Beaumont, Legrand, Marchal and Robert 2005,
"Pipelining broadcasts on heterogeneous platforms"; Zhao et al. 2024, "ForestColl".
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from makespan.backends.min_cuts import MinCuts
from makespan.backends.repeated import Unsolved
from makespan.core.numeric.arrays import Floats
from makespan.reduction.bounding import distances
from makespan.reduction.bounding.cuts import groups
from makespan.reduction.bounding.flows import Amounts
from makespan.reduction.bounding.growth import ROUNDING
from makespan.reduction.bounding.one_segment import one_segment
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

MOST_MACHINES = 64
MOST_WAYS = 2_500
ROUNDS = 60  # of cuts; what is left after so many is a bound, too
VIOLATED = 1e-7  # of all segments


class Packing(NamedTuple):
    """The least time, seconds, and how much is sent over each way of ``occupation_of`` then.

    Amounts are parts of all segments; of an all-reduce, those of parts, then those of what is
    complete, then of what is complete on each machine first. ``seconds`` is how long the busiest
    port, unit or shared link is held for them: when trees of these amounts end, as segments get
    many and latency counts for nothing. ``groups`` are those whose cuts were looked at, a row each.
    """

    least: float
    amount: Floats
    seconds: float
    groups: Bools


def spans(problem: Reduction) -> bool:
    """Whether every machine has, or must get, every segment, and is any to be packed for."""
    if problem.segments == "auto":
        return False
    holds, lacks = problem.statement.copied
    one_way = problem.statement.one_way
    return one_way and _fits(problem) and bool((holds | lacks).all()) and bool(lacks.any())


def spans_both_ways(problem: Reduction) -> bool:
    """Whether every machine has a part of every segment, and must get all, and are they few."""
    before, after, combining = problem.statement
    return combining and _fits(problem) and bool(before.all() and after.all())


def _fits(problem: Reduction) -> bool:
    count, links = len(problem.machines), problem.links
    ways = count * (count - 1) if links is None else int(links.sum())
    return 1 < count <= MOST_MACHINES and ways <= MOST_WAYS and problem.items > 0


@lru_cache(maxsize=8)
def packing(problem: Reduction) -> Packing | None:
    """Return the packing of a problem that :func:`spans`, or both ways; None where none was found.

    Complexity: a linear programme of a column for each way, and n maximum flows, for each of at
    most 60 rounds; few are needed.
    """
    programme = (_Programme if problem.statement.one_way else _BothWays)(problem)
    try:
        amount = programme.solved()
    except Unsolved:
        return None
    least = programme.proved() * (1 - ROUNDING)
    return Packing(least, amount, programme.held(amount), programme.groups)


def shallow(problem: Reduction, longer: Sequence[float]) -> Iterator[Floats]:
    """Yield amounts of packings that may take longer by these parts, and make least detours.

    The detour of a way is what it takes more to get to its end than the quickest way takes. With
    fewer detours trees are less deep, and segments that are last at the root arrive sooner.
    """
    programme = _Programme(problem)
    try:
        programme.solved()
        least = programme.time
        for part in longer:
            yield programme.shallow(least * (1 + part))
    except Unsolved:
        return


class _Programme(Amounts):
    """The linear programme of a collective that spans all machines."""

    def __init__(self, problem: Reduction) -> None:
        holds, _ = problem.statement.copied
        holders, alike = np.unique(holds, axis=1, return_inverse=True)
        self.holders = holders
        sizes = np.bincount(alike.ravel(), weights=problem.sizes)
        self.share = sizes / sizes.sum()
        size = float(problem.sizes.min())
        back = problem.statement.combining
        distance = distances(problem, size, back=back, combining=back)
        start = distance[holders.any(axis=1)].min(axis=0)
        super().__init__(problem, start)
        ways, unit = self.ways, float(self.ways.unit or 1)
        takes = (ways.latency + (ways.lasts + ways.prepare) * ways.size.min()) * unit
        self.detours = np.maximum(start[ways.giver] + takes - start[ways.taker], 0.0)
        self.known: dict[bytes, None] = {}
        self.flow = 1.0  # the least to a machine, of all segments
        self.time = 0.0  # of the last solution
        count = self.count
        shared = np.full((count, count, 0), -1) if problem.shared is None else problem.shared.shared
        for group in groups(distance, shared):
            self.cut(group)

    def need(self, group: Bools) -> float:
        """Return what part of all segments nobody in a group has at first."""
        return float(self.share[~self.holders[group].any(axis=0)].sum())

    def cut(self, group: Bools, layer: int = 0) -> bool:
        """Add what must enter a group, or in the second layer leave it; return if that is new."""
        need, key = self.need(group), bytes([layer]) + group.tobytes()
        if need <= 0 or key in self.known:
            return False
        self.known[key] = None
        giver, taker = self.ways.giver, self.ways.taker
        inward, outward = group[giver], group[taker]
        over = np.flatnonzero(inward & ~outward if layer else ~inward & outward)
        homes = self.layers * len(giver) + np.flatnonzero(group)[: self.more]
        used = np.concatenate([layer * len(giver) + over, homes])
        # a single machine gets everything once
        self.row(used, 1.0, need, need if group.sum() == 1 else np.inf, 0.0)
        return True

    def shallow(self, most: float) -> Floats:
        """Return amounts that take no longer than that, and make least detours."""
        limits = [most, *[1.0] * len(self.detours)]
        self.programme.change_objective([0.0, *self.detours], limits)
        return self.solved()

    @property
    def groups(self) -> Bools:
        """The groups of the rows."""
        return np.array([np.frombuffer(each[1:], dtype=bool) for each in self.known])

    def held(self, amount: Floats) -> float:
        """Return how long what is held longest is held for amounts, seconds.

        They are scaled to what the least flow to a machine leaves of them.
        """
        loads = [-row[1:] @ amount for row in self.factors if row[0]]
        return float(max(loads, default=0.0)) * self.seconds / max(self.flow, VIOLATED)

    def solved(self) -> Floats:
        """Solve, and add the cuts that the solution violates, until there is none."""
        count, columns = self.holders.shape
        source = count
        machine, kind = np.nonzero(self.holders)
        first = [
            np.column_stack([np.full(columns, source), source + 1 + np.arange(columns)]),
            np.column_stack([source + 1 + kind, machine]),
        ]
        ways = np.column_stack([self.ways.giver, self.ways.taker])
        graphs = [
            MinCuts(count + 1 + columns, np.concatenate([each, *first]).tolist())
            for each in (ways, ways[:, ::-1])[: self.layers]
        ]
        for _ in range(ROUNDS):
            values = self.programme.solve()
            self.time, amount = float(values[0]), np.maximum(values[1:], 0.0)
            if self.more:
                self.share = amount[-self.more :]
            after = np.concatenate([self.share, np.full(len(machine), 2.0)])
            found = [
                self.cut(group, layer)
                for layer, graph in enumerate(graphs)
                for sent in [amount[layer * len(ways) : (layer + 1) * len(ways)]]
                for group in self._violated(graph, np.concatenate([sent, after]).tolist())
            ]
            if not any(found):
                break
        return amount

    def _violated(self, graph: MinCuts, capacity: list[float]) -> Iterator[Bools]:
        """Yield the groups into which too little goes, for each machine the tightest one."""
        count = len(self.holders)
        self.flow = 1.0
        for machine in range(count):
            flow, side = graph.between(count, machine, capacity)
            self.flow = min(self.flow, flow)
            if flow < 1 - VIOLATED:
                group = np.zeros(count, dtype=bool)
                group[[node for node in side if node < count]] = True
                yield group


class _BothWays(_Programme):
    """The linear programme of an all-reduce: trees to where each segment is whole, and back."""

    def __init__(self, problem: Reduction) -> None:
        count = len(problem.machines)
        self.holders, self.share = np.eye(count, dtype=bool), np.full(count, 1 / count)
        Amounts.__init__(self, problem, np.zeros(count), layers=2, more=count)
        self.known, self.flow, self.time = {}, 1.0, 0.0
        self.row(2 * len(self.ways.giver) + np.arange(count), 1.0, 1.0, 1.0, 0.0)
        self._halves(problem)
        for group in np.concatenate([self.holders, ~self.holders]):
            self.cut(group, 0)
            self.cut(group, 1)

    def need(self, group: Bools) -> float:
        """Return what part of all segments must enter a group, but what is complete in it first."""
        return float(0 < group.sum() < self.count)

    def _halves(self, problem: Reduction) -> None:
        """Let no port, unit or link be held for parts when none may be sent, nor for copies.

        No copy starts before one segment alone can be complete at its sender, and what is combined
        must get to all from there. Ways are those of reversed time: whom they start at gets parts.
        """
        ways, count = self.ways, len(self.ways.giver)
        unit, least = float(ways.unit or 1), float(problem.sizes.min())
        there, back = (one_segment(problem, least, back=way, quick=False) for way in (True, False))
        parts, copies = (
            distances(problem, least, back=False, combining=way) for way in (True, False)
        )
        due = (parts + back).min(axis=1)[ways.giver]
        held = (there[:, None] + copies).min(axis=0)[ways.taker]
        known = float((there + back).min())  # also where nothing is sent over a port
        total = float(ways.size.sum()) * unit
        lag, work = ways.latency * unit, ways.prepare * least * unit

        def add(used: Any, layer: int, lasts: Any, since: Any, left: Any) -> None:
            outside = min(known, float(since[used].min() + left[used].min()))
            if lasts[used].any() and outside > 0:
                factors = -lasts[used] * total / self.seconds
                self.row(used + layer * count, factors, outside / self.seconds, np.inf, 1.0)

        for column in range(ways.holds.shape[1]):
            number, after = ways.holds[:, column], ways.after[:, column] * unit
            for each in np.unique(number[number >= 0]).tolist():
                used = np.flatnonzero(number == each)
                add(used, 0, ways.lasts, due + work + after, lag - after)
                add(used, 1, ways.lasts, held + lag - after, after)
                if column == 0:
                    add(used, 0, ways.prepare, due, lag + ways.lasts * least * unit)
