"""Exact searches: bounds behind each stage, prices for visits, and the labels that are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Floats, Integers, readonly
from makespan.core.system.memory import claim
from makespan.pipeline.chains import cover
from makespan.pipeline.mapping import Mapping
from makespan.pipeline.problem import Pipeline
from makespan.pipeline.state_space import DONE, FULL, Costs, completions, search

FIRST_LABELS, LABEL_BYTES = 100_000, 72
MOST_ROUNDS = 120  # changes of the multipliers
MOST_COVERED = 22  # machines up to which all sets of them are looked at
MOST_VISITED = 18  # and all sets with each last machine
NEVER = 1e300  # more than any mapping takes
STRICTLY = 1 - 1e-11


@dataclass(frozen=True, slots=True)
class Aim:
    """Weights of period, latency and price, what they may not exceed, and the value to undercut."""

    weights: tuple[float, float, float]
    limits: tuple[float, float, float]
    better_than: float = NEVER

    @classmethod
    def of(cls, problem: Pipeline) -> Aim:
        """Return the aim of a problem."""
        weights = {
            "period": (1.0, 0.0, 0.0),
            "latency": (0.0, 1.0, 0.0),
            "makespan": (problem.items - 1.0, 1.0, 0.0),
            "price": (0.0, 0.0, 1.0),
            "pareto": (0.0, 0.0, 0.0),
        }[problem.objective]
        given = (problem.period_limit, problem.latency_limit, problem.budget)
        limits = tuple(np.inf if limit is None else limit * (1 + 1e-12) for limit in given)
        front = problem.objective == "pareto"
        return cls(weights, limits, np.inf if front else NEVER)  # type: ignore[arg-type]

    @property
    def longest(self) -> float:
        """What no computation and no transfer of a mapping in question exceeds, seconds."""
        period, rest = self.weights[0], self.better_than
        return min(self.limits[0], rest / period if period and rest < NEVER else np.inf)

    def used(self, overlap: bool) -> tuple[float, ...]:
        """Return which of period, open load, latency and price tell mappings apart."""
        front = self.better_than == np.inf
        period = front or self.weights[0] > 0
        latency = front or self.weights[1] > 0 or self.limits[1] < np.inf
        price = self.weights[2] > 0 or self.limits[2] < np.inf
        load = not overlap and (period or self.limits[0] < np.inf)
        return tuple(map(float, (period, load, latency, price)))


@dataclass(frozen=True, slots=True, eq=False)
class Behind:
    """What is still to come at least, as :func:`search` takes it, and a bound on the whole."""

    periods: Floats
    latencies: Floats
    prices: Floats
    costs: Floats
    multipliers: Floats
    slack: float
    bound: float


class Relaxation:
    """Mappings that may visit machines several times: what they cost at least."""

    def __init__(self, problem: Pipeline, costs: Costs) -> None:
        self.shape = costs.sums.shape
        self.given = int(problem.order == "given")
        size = float(self.shape[0]) * self.shape[1] * self.shape[1]
        self._run = completions.bind(size * MOST_ROUNDS, **costs.columns, given=self.given)
        self._begun = np.empty(self.shape)
        self._machine = np.zeros(self.shape, dtype=np.int64)
        self._stage = np.zeros(self.shape, dtype=np.int64)

    def least(
        self, visit: Floats, seconds: float, *, longest: bool = False
    ) -> tuple[Floats, float, Integers]:
        """Return costs behind each stage and machine, those of all, and the visits of each."""
        rest = np.empty(self.shape)
        value, machine = self._run(
            visit=visit, seconds=seconds, longest=int(longest), rest=rest, begun=self._begun,
            machine_after=self._machine, stage_after=self._stage,
        )  # fmt: skip
        visits, stage = np.zeros(self.shape[1], dtype=np.int64), 0
        while value < np.inf:
            visits[machine] += 1
            stage = int(self._stage[stage, machine])
            if stage == self.shape[0] - 1:
                break
            machine = int(self._machine[stage, machine])
        return rest, value, visits


def behind(problem: Pipeline, costs: Costs, aim: Aim, control: Control) -> Behind:
    """Return bounds behind each stage; where machines may be taken in any order, with multipliers.

    The multipliers go up for machines that the relaxed mapping visits more than once: subgradient
    steps (Held, Wolfe and Crowder 1974).
    """
    relaxed, none = Relaxation(problem, costs), np.zeros(costs.sums.shape[1])
    periods, period, _ = relaxed.least(none, 0.0, longest=True)
    latencies, latency, _ = relaxed.least(none, 1.0)
    prices, price, _ = relaxed.least(problem.price.astype(np.float64), 0.0)
    _, seconds, paid = aim.weights
    visit, multipliers = paid * problem.price, none.copy()
    rest, value, visits = relaxed.least(visit, seconds)
    best = (value, rest, multipliers)
    target = aim.better_than - aim.weights[0] * period
    only_period = seconds == 0.0 and paid == 0.0
    if only_period:
        target = 1.0
    elif not target < NEVER / 2:
        target = 1.1 * value
    pace, since = 1.0, 0
    for _ in range(0 if relaxed.given or not np.isfinite(value) else MOST_ROUNDS):
        slope = (visits - 1).astype(np.float64)
        slope[(slope < 0) & (multipliers == 0)] = 0.0
        gap = max(target, best[0] + 1e-6 * abs(best[0])) - (value - multipliers.sum())
        if not slope.any() or best[0] >= target > 0.0 or control.expired():
            break
        multipliers = np.maximum(0.0, multipliers + pace * gap / float(slope @ slope) * slope)
        rest, value, visits = relaxed.least(visit + multipliers, seconds)
        since += 1
        if value - multipliers.sum() > best[0] + 1e-12 * abs(best[0]):
            best, since = (value - float(multipliers.sum()), rest, multipliers), 0
        elif since >= 8:
            pace, since = pace / 2, 0
    value, rest, multipliers = best
    bound = aim.weights[0] * period + max(value, seconds * latency + paid * price)
    if only_period and value > 1e-9 * max(1.0, float(multipliers.sum())):
        bound = np.inf  # no mapping at all, of intervals as short as these
    return Behind(periods, latencies, prices, rest, multipliers, float(multipliers.sum()), bound)


@dataclass(slots=True)
class Searched:
    """What a search of labels found: the best mappings, and whether it was carried to its end."""

    mappings: list[Mapping]
    complete: bool


def searched(problem: Pipeline, costs: Costs, aim: Aim, rest: Behind, control: Control) -> Searched:
    """Return the best mapping within an aim, or all best pairs; raise TooLarge for memory."""
    stages, machines = len(problem.stages), len(problem.machines)
    given = problem.order == "given"
    bits = np.zeros(machines, np.int64) if given else 1 << np.arange(machines)
    size = float(stages) * machines * machines * (1 if given else 2 ** min(machines, 10))
    fill = aim.weights[0] == 0.0 and aim.limits[0] == np.inf and aim.better_than < np.inf
    fill = fill and (aim.weights[1] > 0.0 or aim.weights[2] > 0.0) and _same_stages(problem)
    room = FIRST_LABELS
    while True:
        claim(LABEL_BYTES * room, f"{room:,} labels")
        place, parent = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        heads = np.full((stages + 1, machines), -1, dtype=np.int64)
        columns: dict[str, Any] = {
            **costs.columns, "price": problem.price, "bit": bits, "given": int(given),
            "overlap": int(problem.overlap), "used": np.array(aim.used(problem.overlap)),
            "weights": np.array(aim.weights), "limits": np.array(aim.limits),
            "best": np.array([aim.better_than]), "heads": heads,
            "begun": np.full(machines, -1, dtype=np.int64),
            "following": np.empty(room, dtype=np.int64), "mask": np.empty(room, dtype=np.int64),
            "numbers": np.empty((room, 5)), "parent": parent, "place": place,
        }  # fmt: skip
        for name in ("periods", "latencies", "prices", "costs", "multipliers"):
            (columns[name],) = readonly(getattr(rest, name))
        run = search.bind(size, **columns, slack=rest.slack, fill=int(fill))
        ended, _ = stoppable(control, run, long=size > 1e5)
        if ended != FULL or control.expired():
            break
        room *= 4
    found = []
    label = int(heads[stages, 0])
    while label >= 0:
        found.append(_mapping(label, parent, place, machines))
        label = int(columns["following"][label])
    return Searched(found, ended == DONE)


def _same_stages(problem: Pipeline) -> bool:
    """Whether all stages take, hold and hand over the same."""
    inner, own = problem.moved[1:-1], problem.stages.durations
    columns = [inner, problem.held, problem.stages.work]
    same = all(bool((column == column[:1]).all()) for column in columns)
    return same and (own is None or bool((own == own[:1]).all()))


def _mapping(label: int, parent: Integers, place: Integers, machines: int) -> Mapping:
    edges, sequence = [], []
    while label >= 0:
        end, machine = divmod(int(place[label]), machines)
        edges.append(end)
        sequence.append(machine)
        label = int(parent[parent[label]])
    return Mapping.of([0, *edges[::-1]], sequence[::-1])


def covering(problem: Pipeline, costs: Costs, control: Control) -> Searched | None:
    """Return the mapping of long intervals on a set of machines; None where that is not exact.

    It is where transfers are no longer than computations may be: then only the set matters.
    """
    machines = len(problem.machines)
    if problem.order == "given" or machines > MOST_COVERED:
        return None
    claim(16.0 * 2**machines, f"the sets of {machines} machines")
    reach, last = np.zeros(2**machines, dtype=np.int64), np.zeros(2**machines, dtype=np.int64)
    run = cover.bind(2.0**machines * machines, far=costs.far, reach=reach, last=last)
    chosen = int(stoppable(control, run, long=machines > 12))
    if chosen < 0:
        return Searched([], chosen == -1)
    edges, sequence = [int(reach[chosen])], []
    while chosen:
        machine = int(last[chosen])
        chosen ^= 1 << machine
        if reach[chosen] < edges[-1]:  # others have no stage to take
            sequence.append(machine)
            edges.append(int(reach[chosen]))
    return Searched([Mapping.of(edges[::-1], sequence[::-1])], True)


def visiting(problem: Pipeline, costs: Costs, control: Control) -> Searched | None:
    """Return the mapping of least latency where stages are alike; None where that is not exact.

    Then the set of machines says what computing takes, the fastest ones full, and the best order of
    the set what transfers take (Held and Karp 1962). Complexity: O(2^m m²).
    """
    machines, stages = len(problem.machines), len(problem.stages)
    plain = problem.objective == "latency" and not problem.limited and problem.order == "free"
    if not plain or machines > MOST_VISITED or not _same_stages(problem):
        return None
    claim(20.0 * 2**machines * machines, f"the ways through sets of {machines} machines")
    sets, most, each = np.arange(2**machines), costs.far[0], costs.sums[1]
    inside = (sets[:, None] >> np.arange(machines) & 1).astype(bool)
    rest = stages - inside.sum(axis=1)
    seconds = np.where(inside, each, 0.0).sum(axis=1)
    seconds[(rest < 0) | (inside & (most < 1)).any(axis=1)] = np.inf
    taken = inside.astype(np.int64)
    for machine in np.argsort(each, kind="stable").tolist():
        more = np.where(inside[:, machine], np.minimum(rest, most[machine] - 1), 0)
        taken[:, machine] += more
        seconds += more * each[machine]
        rest -= more
    seconds[rest != 0] = np.inf
    between = costs.moved[min(1, stages - 1)] * costs.per_unit + costs.delay
    ways = np.full((2**machines, machines), np.inf)  # by set and its last machine
    ways[1 << np.arange(machines), np.arange(machines)] = costs.enter
    sizes = inside.sum(axis=1)
    for size in range(2, machines + 1):
        if control.expired():
            return Searched([], False)
        of_size = sets[sizes == size]
        for machine in range(machines):
            chosen = of_size[inside[of_size, machine]]
            before = ways[chosen ^ (1 << machine)] + between[:, machine]
            ways[chosen, machine] = before.min(axis=1)
    whole = (ways + costs.leave).min(axis=1) + seconds
    best = chosen = int(whole.argmin())
    if whole[best] == np.inf:
        return Searched([], True)
    machine, sequence = int((ways[best] + costs.leave).argmin()), []
    while chosen:
        sequence.append(machine)
        chosen ^= 1 << machine
        machine = int((ways[chosen] + between[:, machine]).argmin())
    sequence.reverse()
    edges = np.concatenate([[0], np.cumsum(taken[best, sequence])]).tolist()
    return Searched([Mapping.of(edges, sequence)], True)
