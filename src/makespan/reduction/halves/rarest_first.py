"""Rarest-first greedy with restarts and local search."""

from heapq import heappop, heappush
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Integers, frozen, readonly
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import sorted_by
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding.growth import arrivals
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves import planner
from makespan.reduction.halves.closed_forms import direct
from makespan.reduction.halves.shortest_paths import quickest_ways, shortest_paths, without_idle
from makespan.reduction.halves.trees import ALONG, chain
from makespan.reduction.heuristics.rarest_first import (
    FARTHEST,
    IN_TIME,
    NEEDIEST,
    NOT_TWICE,
    PATIENT,
    RELEASE_FIRST,
    Ways,
    broadcast_rarest_first,
)
from makespan.reduction.heuristics.symmetry import (
    broadcast_of,
    links_of_copies,
    ports_of_copies,
    schedule_from_copies,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Tables, claim_sends

STYLES = (RELEASE_FIRST | NEEDIEST, RELEASE_FIRST | NEEDIEST | IN_TIME, NEEDIEST, RELEASE_FIRST)
WATCHED_FROM = 20_000
COPIES_IN_ALL = 4_000_000
MAX_RESTARTS = 400
MAX_REBUILDS = 2_000
PATIENCE = 10  # times as many within a time limit, where there are too many copies to try all
FEW_COPIES = 120
BEFORE, BEFORE_ALIKE = 0.4, 0.8  # of the time left, where plans are then shortened; equal times


class Spreader:
    """Runs the greedy for one problem, keeping the best plan found.

    ``release`` says when its holders have each segment, seconds; ``end`` is in the unit of the
    rules' tables. Where links are missing, or times differ, machines on the quickest ways forward
    what they don't need, on others with every run.
    """

    def __init__(self, problem: Reduction, control: Control, release: Any = None) -> None:
        claim_sends(problem)
        self.control = control
        tables = broadcast_of(problem)
        transfer, latency, prepare, size, self.unit = tables
        holds, lacks = problem.statement.copied
        self.count = int(lacks.sum())
        dtype = latency.dtype
        release = np.zeros(len(size)) if release is None else release / float(self.unit or 1)
        release = (release if self.unit is None else np.rint(release)).astype(dtype)
        self.order = order = sorted_by(release)  # who has several releases them one after another
        self.holds, self.lacks = readonly(holds[:, order], lacks[:, order])
        latency, transfer, prepare, size, release = readonly(
            latency, transfer, prepare, size[order], release[order]
        )
        shared, ahead, links = links_of_copies(problem, tables)
        shared, ahead, exits, entries, owner, first = readonly(
            shared, ahead, *ports_of_copies(problem)
        )
        self.ways = Ways(
            latency=latency, transfer=transfer, prepare=prepare, size=size, release=release,
            shared=shared, ahead=ahead, links=links, exits=exits, entries=entries, owner=owner,
            first=first,
        )  # fmt: skip
        may_forward = needs.has_ways_about(problem) and not problem.statement.combining
        self.problem, self.forwards = problem, may_forward and not (holds | lacks).all()
        self.takers = self.lacks
        self.huge = dtype.type(np.iinfo(np.int64).max // 4 if dtype.kind == "i" else 1e300)
        self.end: Any = self.huge
        self.late: float = np.inf  # copies of the plan that arrive within its last, longest turn
        self.longest = max(transfer.max(), prepare.max()) * size.max()
        self.copies = np.empty((0, 3), dtype=np.int64)
        self.times = np.empty((0, 2), dtype=dtype)
        self.loop = broadcast_rarest_first.form(self.count)
        self.growing = _growing(problem, latency, transfer, prepare, size)
        self.least = best_bound(problem) / float(self.unit or 1)

    def run(self, seed: int, style: int, script: Integers | None = None) -> bool:
        """Run once; return whether the plan is as good as all before, or better.

        Of plans that end together, those are better in which less arrives just before the end.
        """
        takers = self._takers(seed) if self.forwards and script is None else self.takers
        count = int(takers.sum())
        copies = np.empty((count, 3), dtype=np.int64)
        times = np.empty((count, 2), dtype=self.times.dtype)
        script = np.empty((0, 3), dtype=np.int64) if script is None else script
        if not len(self.growing):
            style &= ~IN_TIME
        if self.ways.links and seed % 4:
            style |= NOT_TWICE | (PATIENT if seed % 4 > 1 else 0)
        offered = np.arange(self.holds.shape[1])
        if self.forwards and seed % 2:
            style |= FARTHEST
            offered = np.argsort(-(takers & ~self.holds).sum(axis=0), kind="stable")
        goal = self.end - type(self.end)((float(self.end) - self.least) * (seed % 8) / 8)
        loop = bind(
            self.loop, self.ways, copies=copies, times=times, holds=self.holds, lacks=takers,
            offered=offered, seed=seed, style=style, script=script, goal=goal,
            growing=self.growing,
            allowed=self.end + (self.unit is not None and self.end < self.huge),
        )  # fmt: skip
        end = stoppable(self.control, loop, long=self.count / WATCHED_FROM)
        if end < 0:
            return False
        if self.forwards:
            rows = without_idle(copies, self.lacks)
            copies, times = copies[rows], times[rows]
        copies[:, 2] = self.order[copies[:, 2]]
        if len(copies) < count and not self.ways.release.any():
            plan = schedule_from_copies(self.problem, copies)
            starts = plan.start[: len(copies)] / float(self.unit or 1)
            starts = starts if self.unit is None else np.rint(starts)
            times = times + (starts.astype(times.dtype) - times[:, 0])[:, None]
            end = times[:, 1].max()
        late = int((times[:, 1] > end - self.longest).sum())
        if end == self.end and late > self.late:
            return False
        self.end, self.copies, self.times, self.takers, self.late = end, copies, times, takers, late
        return True

    def _takers(self, seed: int) -> Any:
        """Return who gets what: those who need it, and those on the way."""
        latency, transfer, prepare, size = self.ways[:4]
        costs = Tables(transfer, latency, prepare, size, None)
        rng = None if self.end == self.huge else np.random.default_rng(seed)
        ways, _ = quickest_ways(self.problem, costs, self.holds, self.lacks, rng)
        takers = self.lacks.copy()
        takers[ways[:, 1], ways[:, 2]] = True
        return frozen(takers)


def _growing(problem: Reduction, latency: Any, transfer: Any, prepare: Any, size: Any) -> Any:
    """Return when one of equal machines has made 0, 1, … others, or nothing for others."""
    if problem.times is None:
        return np.zeros(0, dtype=latency.dtype)
    lasts, work = transfer[0, 0] * size[0], prepare[0] * size[0]
    length = latency[0, 0] + lasts + work
    times = arrivals(len(problem.machines), length, max(lasts, work), length)
    return np.array(times, dtype=latency.dtype)


@planner(
    name="rarest-first",
    needs=(needs.COPIED_OR_COMBINED, *needs.FREE_PLAN),
    reach=(needs.FEW_PAIRS,),
    complexity="O(n m (a + l)) a run, for a segments under way and l machines that lack one",
    source="the reversed broadcast as a swarm: rarest segment first; restarts and rebuilding",
)
def rarest_first(
    problem: Reduction,
    control: Control,
    *,
    restarts: int | None = None,
    rebuilds: int | None = None,
) -> Solution:
    """Spread the rarest segment first, in reversed time; restart, then rebuild the best plan's end.

    Stops at the lower bound.
    """
    spreader = Spreader(problem, control)
    if not spreader.count:
        return Solution(schedule=schedule_from_copies(problem, spreader.copies), optimal=True)
    lower_bound = best_bound(problem)
    unit = spreader.unit
    bound = lower_bound * (1 + 1e-12) if unit is None else round(lower_bound / float(unit))
    longer = control.remaining is not None and spreader.count > FEW_COPIES
    patience = PATIENCE if longer else 1
    share = patience * COPIES_IN_ALL // spreader.count
    restarts = max(1, min(MAX_RESTARTS, share)) if restarts is None else restarts
    rebuilds = min(patience * MAX_REBUILDS, 4 * share - 4) if rebuilds is None else rebuilds
    rng = np.random.default_rng(control.rng.integers(2**31))
    more_comes = control.incumbent is not None and needs.is_tried(
        problem, needs.ALONG_CRITICAL_PATH
    )
    # a first plan may take all the time that is left; on links the patient rule is best (seed % 4)
    spreader.run(int(rng.integers(2**31)) | 2, STYLES[0])
    before = BEFORE if problem.times is None else BEFORE_ALIKE
    with control.sharing(before if more_comes else 1.0):
        late = chosen_late(spreader, rng) if spreader.end > bound else None
        if late is not None:
            spreader.run(int(rng.integers(2**31)), STYLES[0], late)
        for turn in range(1, max(1, restarts)):
            if spreader.end <= bound or control.expired():
                break
            spreader.run(int(rng.integers(2**31)), STYLES[turn % len(STYLES)])
            if turn == len(STYLES) and broadcast_rarest_first.pays(spreader.count * restarts):
                spreader.loop = broadcast_rarest_first.compiled  # for many runs on a small problem
        for _ in range(max(0, rebuilds)):
            if spreader.end <= bound or control.expired():
                break
            rebuild(spreader, rng)
    if spreader.end == spreader.huge:  # not even one run was through
        if problem.links is not None:
            return shortest_paths(problem, control)
        if problem.collective in ("reduce", "broadcast"):
            return ALONG[chain](problem, control)
        return direct(problem, control)
    schedule = schedule_from_copies(problem, spreader.copies)
    return finished(problem, control, schedule, lower_bound, backwards=True)


def chosen_late(spreader: Spreader, rng: np.random.Generator) -> Integers | None:
    """Return copies, in the order of their starts, each chosen when it arrives; None for no plan.

    For unlike links of which each has ports of its own. Who sends over a slow link what a quick one
    could bring has used it for nothing. So a link that is free begins, and when that copy arrives,
    it is one that its sender had at the beginning and its receiver still lacks, the rarest of them.

    Complexity: O(m) a copy, for m segments. Source: Won et al. 2024, where the sender need not have
    had it at the beginning, so that such plans can't always be carried out.
    """
    ways, lacks = spreader.ways, spreader.lacks & ~spreader.holds  # (machine, segment)
    if ways.exits is None or ways.links or len(ways.transfer) < 2 or spreader.forwards:
        return None
    if ways.release.any() or ways.prepare.any() or ways.size.min() < ways.size.max():
        return None
    able = (ways.transfer > 0) & ~np.eye(len(lacks), dtype=bool)
    giver, taker = np.nonzero(able)
    for table in (ways.exits, ways.entries):
        if len(np.unique(table[able])) < len(giver):
            return None
    ends = giver.tolist(), taker.tolist()
    lasts = (ways.transfer[able] * ways.size[0]).tolist()
    until = (ways.latency[able] + ways.transfer[able] * ways.size[0]).tolist()
    has = spreader.holds.copy()
    since = np.where(has, 0.0, np.inf)  # from when on; to ask this whether it has one takes longer
    rare = has.sum(axis=0) + rng.random(lacks.shape[1])
    exits = [np.flatnonzero(giver == machine).tolist() for machine in range(len(lacks))]
    idle = set(range(len(giver)))
    rows: list[tuple[float, int, int, int]] = []
    events: list[tuple[float, bool, int, float]] = []  # when, whether a copy arrives, link, start
    now, freed, came = 0.0, list(idle), list[tuple[int, int]]()
    while lacks.any():
        begun = [link for link in freed if (has[ends[0][link]] & lacks[ends[1][link]]).any()]
        for machine, segment in came:
            begun += [link for link in exits[machine] if lacks[ends[1][link], segment]]
        for link in begun:
            if link in idle:
                idle.discard(link)
                heappush(events, (now + until[link], True, link, now))
                heappush(events, (now + lasts[link], False, link, now))
        if not events or spreader.control.expired():
            return None
        now, freed, came = events[0][0], [], []
        while events and events[0][0] == now:
            _, arrives, link, start = heappop(events)
            if not arrives:
                idle.add(link)
                freed.append(link)
                continue
            one, other = ends[0][link], ends[1][link]
            found = ((since[one] <= start) & lacks[other]).nonzero()[0]
            if len(found):
                segment = int(found[rare[found].argmin()])
                has[other, segment], lacks[other, segment], since[other, segment] = True, False, now
                rare[segment] += 1
                rows.append((start, one, other, segment))
                came.append((other, segment))
    return np.array([copy for _, *copy in sorted(rows)], dtype=np.int64)


def rebuild(spreader: Spreader, rng: np.random.Generator) -> None:
    """Keep the beginning of the best plan and spread the rest anew."""
    by_start = np.argsort(spreader.times[:, 0], kind="stable")
    kept = int(rng.integers(len(by_start)))
    style = STYLES[int(rng.integers(len(STYLES)))]
    script = spreader.copies[by_start[:kept]]
    spreader.run(int(rng.integers(2**31)), style, script)
