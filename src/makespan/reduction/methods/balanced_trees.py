"""Trees over which no port has much more to do than others: all-reduces of many segments.

Many segments take as long as the port that has most to do, not as long as one of them takes. So
each gets a machine where it is complete, a tree to there and one from there; trees are grown anew,
one at a time, where ports have less to do, and those that are less deep are kept. Then whatever can
start soon does so: of several, what most has to wait for, and segments one after another.
"""

import math
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.numeric.jit import loop, next_seed, part, uniform
from makespan.core.registry import Need, condition, register
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.merging import reduce_scatter_all_gather
from makespan.reduction.heuristics import greatest
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends, sends_in, tables_of

FEWEST, MOST = 10, 10_000  # segments from which ports decide, and sends up to which it is tried
SHARE = 0.5  # of the time that is left: sends are then annealed
RUNS, TRIES = 60, 100  # trees of all segments, and how often each is grown
ORDERS, ANEW = 60, 20  # of the sends of the same trees, and those with settings all drawn anew
CHANGED = 0.3  # of the settings of others
PATIENCE = (0.01, 0.03, 0.1, 0.3, 1.0)
WEIGHTS = (0.1, 0.3, 0.6, 1.0)  # of the depth of trees beside what the busiest port has to do
STEEPEST = 600.0  # the exponent of a price from which on it grows evenly
SMALLEST = 0.002  # part of the goal that makes prices rise by a factor of e
STRAINS = (1.0, 1.2, 1.5)  # how much units count, which have nothing to do at the end
WILD = 0.6  # by which part what a machine costs varies
WATCHED_FROM = 3_000_000  # steps
NOBODY = -1


@part
def _price(busy, goal, spread):  # type: ignore[no-untyped-def]
    """Return what it costs that a port is busy for so long: more steeply above the goal."""
    above = (busy - goal) / spread
    return math.exp(min(above, STEEPEST)) * (1.0 + max(above - STEEPEST, 0.0))


@part
def _load(half, giver, taker, sign, transfer, combine, size, load):  # type: ignore[no-untyped-def]
    """Let ports on a way, and the unit that gets a part, be busy for longer; return by how much."""
    one, two = (taker, giver) if half == 0 else (giver, taker)
    lasts, work = transfer[one, two] * size, combine[giver] * size if half == 0 else 0.0
    load[0, one] += sign * lasts
    load[1, two] += sign * lasts
    load[2, giver] += sign * work
    return lasts, work


@part
def _grow(  # type: ignore[no-untyped-def]
    half, home, latency, transfer, combine, size, goal, spread, slow, taste, load, there, value,
    giver, above, arrived,
):  # fmt: skip
    """Grow a tree where ports have least to do; return when the last gets it, -1 for no tree.

    Parts (half 0) go to their givers, in reversed time. What is there late costs ``slow`` more,
    and what costs ``taste`` (machine) times as much. ``above`` and ``arrived`` (machine) get the
    giver, and when what it gave was there.
    """
    machines = len(there)
    for machine in range(machines):
        there[machine], giver[machine], above[machine] = -1.0, NOBODY, NOBODY
    there[home], arrived[home], fresh, last = 0.0, 0.0, home, 0.0
    for _ in range(machines - 1):
        chosen = NOBODY
        for taker in range(machines):
            if there[taker] >= 0.0:
                continue
            first, end = (0, machines) if giver[taker] < 0 else (fresh, fresh + 1)
            for other in range(first, end):
                one, two = (taker, other) if half == 0 else (other, taker)
                lasts = transfer[one, two] * size
                if there[other] < 0.0 or lasts < 0.0:
                    continue
                cost = slow * (there[other] + latency[one, two] + lasts) / spread
                for port in range(2):
                    busy = load[port, two if port else one]
                    cost += _price(busy + lasts, goal, spread) - _price(busy, goal, spread)
                if half == 0 and combine[other] > 0.0:
                    busy, lasts = load[2, other], combine[other] * size
                    cost += _price(busy + lasts, goal, spread) - _price(busy, goal, spread)
                cost *= taste[taker]
                if giver[taker] < 0 or cost < value[taker]:
                    value[taker], giver[taker] = cost, other
            if giver[taker] >= 0 and (chosen < 0 or value[taker] < value[chosen]):
                chosen = taker
        if chosen < 0:
            return -1.0
        other = giver[chosen]
        lasts, work = _load(half, other, chosen, 1.0, transfer, combine, size, load)
        lag = latency[chosen, other] if half == 0 else latency[other, chosen]
        there[chosen] = arrived[chosen] = there[other] + work + lag + lasts
        there[other] += max(lasts, work)
        above[chosen], fresh, last = other, chosen, max(last, there[chosen])
        for taker in range(machines):  # who gave is busier now
            if giver[taker] == other:
                giver[taker] = NOBODY
    return last


@loop(pays_from=100_000)  # pairs of machines that are looked at
def balance(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, parents, planned, goal, spread, weight, tries, seed, stop
):
    """Grow trees of all segments, then some anew; return what the busiest port has to do, or -1.

    A tree, or both of a segment from another home, is kept where that costs no more: the prices of
    ports, and ``weight`` times the mean depth. Source: Aspnes et al. 1997, exponential prices.

    - ``latency``, ``transfer``: (sender, receiver) Of a segment of size 1; below 0 for no link.
    - ``combine``, ``size``: (machine), (segment) What the unit takes for a part of size 1.
    - ``parents``, ``planned``: (half, segment, machine) Get whom each machine sends its part to, or
      gets its copy from, and how long that is before, or after, the segment is complete.
    - ``goal``, ``spread``: prices rise by a factor of e for so much work more, about the goal.
    - ``tries``, ``seed``, ``stop``: after the first trees; (1) no longer 0 to stop.

    Complexity: O(n²) a tree.
    """
    machines, segments = len(combine), len(size)
    load, trial, taste = np.zeros((3, machines)), np.zeros((3, machines)), np.ones(machines)
    there, value, giver = np.zeros(machines), np.zeros(machines), np.zeros(machines, np.int64)
    homes, depth = np.zeros(segments, np.int64), np.zeros((2, segments))
    grown, arrived = parents[:, 0].copy(), planned[:, 0].copy()
    reached, best, deep = np.zeros(2), 0.0, 0.0
    for turn in range(segments + tries):
        first = turn < segments
        if stop[0] != 0 and not first:
            break
        seed = next_seed(seed)
        segment, kind = (turn, 2) if first else ((seed >> 10) % segments, (seed >> 8) % 4)
        seed = next_seed(seed)
        home = homes[segment] if kind < 2 else (seed >> 8) % machines
        seed = next_seed(seed)
        slow = 10.0 ** (-4.0 * uniform(seed)) if seed & 256 else 0.0
        seed = next_seed(seed)
        wild = WILD * uniform(seed)
        for machine in range(machines):
            seed = next_seed(seed)
            taste[machine] = 1.0 + wild * uniform(seed)
            for place in range(3):
                trial[place, machine] = load[place, machine]
        for half in range(2):
            reached[half] = depth[half, segment]
            for machine in range(machines):
                other = parents[half, segment, machine]
                if other >= 0 and (kind >= 2 or kind == half):
                    _load(half, other, machine, -1.0, transfer, combine, size[segment], trial)
        for half in range(2):
            if kind >= 2 or kind == half:
                reached[half] = _grow(
                    half, home, latency, transfer, combine, size[segment], goal, spread, slow,
                    taste, trial, there, value, giver, grown[half], arrived[half],
                )  # fmt: skip
                if reached[half] < 0.0:
                    return -1.0
        cost, deeper = 0.0, reached[0] + reached[1] - depth[0, segment] - depth[1, segment]
        for machine in range(machines):
            for place in range(3):
                cost += _price(trial[place, machine], goal, spread)
        cost = spread * math.log(cost) + weight * (deep + deeper) / segments
        if first or cost <= best:
            best, deep, homes[segment] = cost, deep + deeper, home
            for half in range(2):
                depth[half, segment] = reached[half]
                for machine in range(machines):
                    if kind >= 2 or kind == half:
                        parents[half, segment, machine] = grown[half, machine]
                        planned[half, segment, machine] = arrived[half, machine]
            load, trial = trial, load
    return greatest(load)


@part
def _offer(half, segment, machine, parents, queue, count):  # type: ignore[no-untyped-def]
    """Queue what a machine can send, its part or else copies; return how many sends wait."""
    if half == 0 and parents[0, segment, machine] >= 0:
        queue[count] = segment * parents.shape[2] + machine
        return count + 1
    for taker in range(parents.shape[2]):
        if parents[1, segment, taker] == machine:
            queue[count] = (parents.shape[1] + segment) * parents.shape[2] + taker
            count += 1
    return count


@loop(pays_from=20_000)  # sends that are looked at
def send_along(  # type: ignore[no-untyped-def]
    latency, transfer, combine, size, parents, urgency, patience, rows, stop
):
    """Make all sends of trees, the next one that starts soonest, or soon; return when all end.

    - ``latency`` to ``parents``: those of :func:`balance`.
    - ``urgency``: (half, segment, machine) A send that is more urgent by so much goes before one
      that could start by ``patience`` times as much sooner.
    - ``rows``: (row, 4) Get sender, receiver, segment, whether a copy.
    - ``stop``: (1) no longer 0 to stop; it then returns -1.

    Complexity: O(n m) a send. Source: Graham 1966, list scheduling.
    """
    segments, machines = parents.shape[1:]
    left, ready = np.zeros((segments, machines), np.int64), np.zeros((segments, machines))
    free, queue = np.zeros((3, machines)), np.zeros(len(rows), np.int64)
    count, end = 0, 0.0
    for segment in range(segments):
        for machine in range(machines):
            if parents[0, segment, machine] >= 0:
                left[segment, parents[0, segment, machine]] += 1
        for machine in range(machines):
            if left[segment, machine] == 0:
                count = _offer(0, segment, machine, parents, queue, count)
    for row in range(len(rows)):
        if stop[0] != 0:
            return -1.0
        place, best, start = NOBODY, 0.0, 0.0
        for each in range(count):
            tree, machine = queue[each] // machines, queue[each] % machines
            half, segment = tree // segments, tree % segments
            other = parents[half, segment, machine]
            one, two = (machine, other) if half == 0 else (other, machine)
            since = max(ready[segment, one], free[0, one], free[1, two] - latency[one, two])
            late = since - patience * urgency[half, segment, machine]
            if place < 0 or late < best:
                place, best, start = each, late, since
        tree, machine = queue[place] // machines, queue[place] % machines
        half, segment = tree // segments, tree % segments
        other = parents[half, segment, machine]
        one, two = (machine, other) if half == 0 else (other, machine)
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = one, two, segment, half
        count -= 1
        queue[place] = queue[count]
        there = start + latency[one, two] + transfer[one, two] * size[segment]
        free[0, one], free[1, two] = there - latency[one, two], there
        if half == 0:
            free[2, two] = there = max(there, free[2, two]) + combine[two] * size[segment]
            left[segment, two] -= 1
        ready[segment, two], end = max(ready[segment, two], there), max(end, there)
        if half == 1 or left[segment, two] == 0:
            count = _offer(half, segment, two, parents, queue, count)
    return end


@register(
    needs=(
        needs.AN_ALL_REDUCE,
        *needs.FREE_PLAN,
        needs.ONE_PORT,
        condition("no shared links", lambda each: each.shared is None, "there are some"),
    ),
    reach=(
        needs.UNEVEN_TIMES,
        Need(
            f"at least {FEWEST} segments",
            lambda problem: None if problem.items >= FEWEST else f"there are {problem.items}",
        ),
        needs.at_most(MOST, "sends", sends_in),
    ),
    complexity="O(n²) a tree, and O(n m) a send; 100 trees a segment, and 60 orders, a run",
    source="exponential prices of ports: Aspnes et al. 1997; list scheduling: Graham 1966",
)
def balanced_trees(problem: Reduction, control: Control, *, runs: int | None = None) -> Solution:
    """Grow trees of all segments that give all ports as much to do, and let sends start in turn."""
    claim_sends(problem)
    lower_bound = best_bound(problem)
    known = control.known_or(lambda: reduce_scatter_all_gather(problem, control, restarts=1))
    search = _Search(problem, control, lower_bound, known.makespan)
    with control.sharing(SHARE if control.incumbent else 1.0):
        for _ in range(RUNS if runs is None else runs):
            if search.end <= search.least or control.expired() or not search.run():
                break
    found = [known]
    if search.rows is not None:
        found.append(Plan(search.rows, np.empty((len(search.rows), 2))).schedule(problem))
    return finished(problem, control, min(found, key=lambda each: each.makespan), lower_bound)


class _Search:
    """The best order that was found so far; times are parts of that of the plan known before."""

    def __init__(self, problem: Reduction, control: Control, least: float, end: float) -> None:
        self.control, count = control, len(problem.machines)
        tables = tables_of(problem).over(count)
        once = end / float(tables.unit or 1) or 1.0
        self.transfer, self.latency, self.combine, self.size = readonly(
            *(np.asarray(each, dtype=float) / once for each in tables[:3]),
            np.asarray(tables.size, dtype=float),
        )
        self.least, self.end = least * (1 + 1e-12) / (end or 1.0), 1.0
        ways = np.where((self.transfer < 0) | np.eye(count, dtype=bool), np.inf, self.transfer)
        lasts = ways.min(axis=0)
        quick = float(np.where(np.isfinite(lasts), lasts, 0.0).mean() * self.size.mean())
        self.spread = max(quick, SMALLEST * self.least, SMALLEST)
        self.rows: Integers | None = None

    def run(self) -> bool:
        """Find trees, and the best order of their sends; return whether there are trees."""
        rng, machines, segments = self.control.rng, len(self.combine), len(self.size)
        parents = np.full((2, segments, machines), NOBODY)
        planned = np.zeros(parents.shape)
        costs = self.latency, self.transfer, self.combine, self.size
        strain = rng.choice(STRAINS) if self.combine.any() else 1.0
        strained = *costs[:2], self.combine * strain, self.size
        tries = TRIES * segments
        work = 2 * tries * machines**2
        with self.control.sharing(SHARE):
            busiest = stoppable(
                self.control, balance.at(work), *strained, parents, planned,
                self.least * (0.8 + 0.3 * rng.random()), self.spread, rng.choice(WEIGHTS), tries,
                int(rng.integers(2**31)), long=work / WATCHED_FROM,
            )  # fmt: skip
        if busiest < 0:
            return False
        longest = planned[1].max(axis=1, initial=0.0, keepdims=True)
        waits = np.stack([longest + planned[0], longest - planned[1]])
        looks = machines * segments**2
        settings, best = self._drawn(busiest), np.inf
        for turn in range(ORDERS):
            if turn and self.control.expired():
                break
            drawn = self._drawn(busiest)
            if turn >= ANEW:
                drawn[0] = settings[0] + rng.normal(size=segments)
                drawn = [
                    one if rng.random() < CHANGED else other
                    for one, other in zip(drawn, settings, strict=True)
                ]
            place, pace, patience, noise, lead = drawn
            urgency = waits - pace * place[:, None] + noise * rng.normal(size=waits.shape)
            urgency[1] += lead
            rows = np.empty((2 * (machines - 1) * segments, 4), dtype=np.int64)
            end = stoppable(
                self.control, send_along.at(looks * len(rows)), *costs, parents, urgency, patience,
                rows, long=looks * len(rows) / WATCHED_FROM,
            )  # fmt: skip
            if 0 <= end <= best:
                best, settings = end, drawn
            if 0 <= end < self.end:
                self.end, self.rows = end, rows
        return True

    def _drawn(self, busiest: float) -> list[Any]:
        """Return the turns of segments, after how long they follow, and what else orders them."""
        rng, segments = self.control.rng, len(self.size)
        pace, noise = 1.6 * busiest / segments * rng.random(), rng.choice([0.0, 0.0, 0.25, 0.5])
        turns, lead = rng.permutation(segments) + 0.0, 0.1 * busiest * rng.normal()
        return [turns, pace, rng.choice(PATIENCE), noise * self.spread, lead]
