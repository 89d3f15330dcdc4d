"""Ways at prices of ports, and an open shop of the sends over them."""

from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Floats, readonly
from makespan.core.registry import condition
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution, whole_grains
from makespan.core.system.memory import claim
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding import shortest
from makespan.reduction.bounding.flows import goes_straight
from makespan.reduction.bounds import best_bound, grain
from makespan.reduction.halves import planner
from makespan.reduction.halves.closed_forms import direct
from makespan.reduction.halves.shortest_paths import shortest_paths
from makespan.reduction.heuristics.open_shop import dispatch, route
from makespan.reduction.heuristics.symmetry import occupation_of, schedule_at
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends

SHARE, SHARE_OF_MANY = 0.5, 0.8  # of the time that is left: others seldom improve many sends
MANY = 10_000  # segments
STEEP = (8.0, 8.0, 8.0, 16.0, 16.0, 32.0)  # exponents of prices, pass after pass
RUNS, STALE = 2_000, 100  # runs, and those of no use after which it is given up
NEAR = 1.1  # times the bound, above which many straight sends are not worth an order
FEW = 5_000  # segments of which straight sends are planned, too: that takes no time
MORE = 2  # ways of a segment beyond the fewest that lead to each machine
SEARCHED = 30_000_000  # steps of a pass, about, that looks at all ways
SPREAD = 0.2  # by which part work left counts more or less, at random
TIMED = 8e-6  # seconds a segment that timing the plan takes
WATCHED_FROM = 3_000_000  # steps


@planner(
    name="open-shop",
    needs=(
        condition(
            "segments that one machine has, and one other gets", goes_straight, "they are not"
        ),
        *needs.FREE_PLAN,
    ),
    reach=(needs.UNEVEN_TIMES,),
    complexity="O(n) for each segment a pass, and each send a run; n² in passes over few machines",
    source="prices: Aspnes et al. 1997; order: Gonzalez and Sahni 1976, most work left first",
)
def open_shop(problem: Reduction, control: Control, *, runs: int | None = None) -> Solution:
    """Lead segments around busy ports, at prices; whatever can start first does, as in open shops.

    Then again at other prices, or with other weights of the work that is left.
    """
    claim_sends(problem)
    lower_bound = whole_grains(best_bound(problem), grain(problem))
    best = control.incumbent.schedule if control.incumbent else None
    if best is None or best.makespan > lower_bound * (1 + 1e-12):
        shop = _Shop(problem, control)
        share = SHARE if len(shop.legs) < MANY else SHARE_OF_MANY
        with control.sharing(share), control.reserving(TIMED * len(shop.legs)):
            shop.search(RUNS if runs is None else runs, lower_bound)
        found = [best, shop.schedule()]
        quick = len(shop.legs) <= FEW or not any(found)
        if quick and direct.applies(problem):
            found.append(direct(problem, control).schedule)
        best = min(filter(None, found), key=lambda each: each.makespan, default=None)
    if best is None:
        return shortest_paths(problem, control)
    return finished(problem, control, best, lower_bound)


class _Shop:
    """The ways of all segments, and the best order of their sends that was found."""

    def __init__(self, problem: Reduction, control: Control) -> None:
        self.problem, self.control = problem, control
        self.rng = np.random.default_rng(control.rng.integers(2**31))
        count = len(problem.machines)
        hops = 1
        if problem.links is not None:
            fewest = shortest(np.where(problem.links, 1.0, np.inf))
            hops = int(np.max(fewest, where=np.isfinite(fewest), initial=1.0))
        holds, lacks = problem.statement.copied
        sent = np.flatnonzero(lacks.any(axis=0))
        claim(16 * len(sent) * (hops + MORE), f"the ways of {len(sent):,} segments")
        source, target = (side[:, sent].argmax(axis=0) for side in (holds, lacks))
        order = np.lexsort((self.rng.random(len(sent)), source))
        self.segment, self.source, self.target = readonly(sent[order], source[order], target[order])
        self.ways = ways = occupation_of(problem)
        self.between = np.full((count, count), -1)
        self.between[ways.giver, ways.taker] = np.arange(len(ways.giver))
        self.first = np.searchsorted(ways.giver, np.arange(count + 1))
        self.leaving = np.argsort(ways.holds[:, 0], kind="stable")
        exits = np.arange(ways.holds[:, 0].max() + 2)
        self.start_of_exit = np.searchsorted(ways.holds[self.leaving, 0], exits)
        self.size = ways.size[self.segment]
        scales = [int(np.frexp(float(each.max()))[1]) for each in (ways.lasts, self.size)]
        self.lasts, self.sizes = (  # prices of huge times are numbers, too
            np.ldexp(each.astype(float), -scale)
            for each, scale in zip((ways.lasts, self.size), scales, strict=True)
        )
        self.scale = sum(scales)
        self.many = 1  # runs that are still to come
        self.legs = np.full((len(sent), hops + MORE), -1)
        self.load = np.zeros(int(ways.holds.max()) + 1)
        kind = ways.lasts.dtype
        self.huge = kind.type(np.iinfo(np.int64).max // 4 if kind.kind == "i" else 1e300)
        self.end: Any = self.huge
        self.best: tuple[Any, Any] | None = None

    def search(self, runs: int, least: float) -> None:
        """Lead segments and order what follows, until it is of no use, or as good as can be."""
        count, machines = len(self.segment), len(self.between)
        steps = count * machines**2
        block = 1 + steps // (SEARCHED if route.pays(steps) else SEARCHED // 100)
        least = least * (1 + 1e-12) / float(self.ways.unit or 1)
        alike, stale = np.ones(len(self.load)), 0
        few = block == 1 or self.problem.links is not None
        self.lead(0.0, count)
        if count < MANY or np.ldexp(self.load.max(), self.scale) < NEAR * least:
            self.order(alike)
        for turn in range(runs):
            if self.control.expired() or self.end <= least or stale > STALE:
                break
            before, weight, steep = self.end, alike, STEEP[turn % len(STEEP)]
            if turn >= len(STEEP):
                steep = float(self.rng.choice(STEEP))
                weight = 1 + SPREAD * self.rng.random(len(self.load))
                self.many = min(STALE, runs - turn)
            if turn < len(STEEP) or turn % 2:
                self.lead(steep, block if few and turn % 3 == 0 else 1, few and turn % 3 == 0)
            self.order(weight)
            stale = 0 if self.end < before else stale + 1

    def lead(self, steep: float, block: int, anyhow: bool = True) -> None:
        """Lead all segments once more, at most ``block`` of a machine at a time.

        ``anyhow``: over any ways, else over one machine more at most. Without prices, by the
        fewest ways.
        """
        rank = np.arange(len(self.source)) - np.searchsorted(self.source, self.source)
        begin = np.append(np.flatnonzero(rank % block == 0), len(rank))
        ways = self.ways
        lasts, holds = self.lasts, ways.holds
        if not steep:
            lasts, holds = np.ones_like(lasts), ways.holds[:, :1]
        steps = (len(begin) - 1) * len(self.between) ** (1 + anyhow)
        loop = route.bind(
            steps * self.many, first=self.first, giver=ways.giver, taker=ways.taker,
            between=self.between, lasts=lasts, holds=np.ascontiguousarray(holds),
            source=self.source, target=self.target, size=self.sizes, begin=begin,
            blocks=self.rng.permutation(len(begin) - 1), alone=not anyhow,
            goal=float(self.load.max()) or 1.0, steep=steep, load=self.load, legs=self.legs,
        )  # fmt: skip
        stoppable(self.control, loop, long=steps / WATCHED_FROM)
        self.load[:] = 0.0
        used, place = np.nonzero(self.legs >= 0)
        way = self.legs[used, place]
        for held in ways.holds.T:
            there = held[way] >= 0
            took = (self.lasts[way] * self.sizes[used])[there]
            self.load += np.bincount(held[way][there], took, len(self.load))

    def order(self, weight: Floats) -> None:
        """Order all sends, and keep them where they end before those that are known."""
        ways, used = self.ways, self.legs >= 0
        if not used[:, 0].all():
            return
        count = used.sum(axis=1)
        rows = np.argsort(-count, kind="stable")  # what has the longest way first
        legs = self.legs[rows][used[rows]]
        starts = np.empty(len(legs), dtype=ways.lasts.dtype)
        loop = dispatch.bind(
            len(legs) * self.many, latency=ways.latency, lasts=ways.lasts, holds=ways.holds,
            after=ways.after, leaving=self.leaving, start_of_exit=self.start_of_exit,
            begin=np.append(0, np.cumsum(count[rows])), legs=legs, size=self.size[rows],
            weight=weight, remaining=np.ldexp(self.load, self.scale), starts=starts, huge=self.huge,
        )  # fmt: skip
        end = stoppable(self.control, loop, long=len(legs) * len(self.between) / WATCHED_FROM)
        if end < self.end:
            self.end = end
            copies = ways.giver[legs], ways.taker[legs], np.repeat(self.segment[rows], count[rows])
            self.best = np.column_stack(copies), starts

    def schedule(self) -> Schedule | None:
        """Return the best plan that was found."""
        if self.best is None:
            return None
        copies, starts = self.best
        order = np.argsort(starts, kind="stable")
        return schedule_at(self.problem, copies[order], starts[order])
