"""All-reduces from when segments are complete, one after another: backwards and forwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Integers
from makespan.core.registry import Need, register
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding.growth import arrivals
from makespan.reduction.bounds import best_bound
from makespan.reduction.heuristics.backfill_copies import backfill_copies
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import claim_sends, sends_in, tables_of

MANY, FEW = 20_000, 64  # sends and segments
RUNS = 200
SHARE = 0.5  # of the time that is left
POOR = 1.2  # times the bound; from there on no plan is looked for near the first ones
GRAINS = 2**16  # of the longest time, where there is no common unit
ANEW = 0.3
WATCHED_FROM = 50_000  # sends one way
Planned = tuple[Integers, Integers]  # sends, rows (sender, receiver, segment), and when they start


class Manner(NamedTuple):
    """When segments are complete, and how they get around.

    ``parts``, ``copies`` and ``lead`` are for copies that arrive up to two transfers after they
    start, and more by as much as they take longer.
    """

    stretch: float  # how long that takes, first to last, over what the bound leaves for it
    bend: float  # exponent of the part of this time until one is complete: above 1, more are early
    trunk: float  # to how many machines of all a segment is copied before parts are planned
    parts: int  # what a machine takes of a segment that few have, at most
    copies: int  # what it sends of such a segment, at most
    lead: int  # parts that it takes more than all on average, at most

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Manner:
        bend, trunk = rng.choice((0.8, 1.0, 1.25)), rng.choice((0.005, 0.01, 0.02, 0.05, 0.1))
        return cls(1 + rng.normal() / 10, bend, trunk, *rng.integers((2, 2, 1), (10, 10, 8)))

    def moved(self, rng: np.random.Generator) -> Manner:
        """Return the same with one of them drawn anew."""
        field = str(rng.choice(self._fields))
        return self._replace(**{field: getattr(self.drawn(rng), field)})


FIRST = (
    Manner(1.0, 1.0, 0.05, 5, 4, 5),
    Manner(1.0, 1.0, 0.01, 9, 9, 6),
    Manner(1.1, 1.0, 0.005, 4, 9, 4),
    Manner(1.0, 0.8, 0.005, 6, 9, 5),
)


def _small(problem: Reduction) -> str | None:
    few = problem.items <= min(FEW, len(problem.machines) // 8)
    return None if few and sends_in(problem) >= MANY else "there are fewer, or more segments"


@register(
    needs=(needs.AN_ALL_REDUCE, *needs.FREE_PLAN, needs.SAME_TIMES, needs.ONE_PORT),
    reach=(
        Need(f"at least {MANY} sends, of up to {FEW} segments, an eighth of the machines", _small),
    ),
    complexity="O(n m (m + log n)) a run",
    source="time reversal from when segments are complete; each grows from then on as in Karp, "
    "Sahay, Santos and Schauser 1993",
)
def staggered(problem: Reduction, control: Control) -> Solution:
    """Let segments be complete one after another, each on a machine of its own.

    What few machines copy first of each segment is planned from then on, then in reversed time all
    parts of all segments around that, then all other copies around both. So ports are full of parts
    first, later of copies, and trees whose latency nothing hides have none to wait for.
    """
    claim_sends(problem)
    lower_bound = best_bound(problem)
    met = lower_bound * (1 + 1e-12)
    search = Search(problem, control, lower_bound)
    plan = search.run(FIRST[0], stops=False)
    assert plan is not None
    best = plan.schedule(problem)
    with control.sharing(SHARE):
        for turn in range(1, RUNS):
            if not met < best.makespan < POOR * lower_bound or control.expired():
                break
            plan = search.run(FIRST[turn] if turn < len(FIRST) else None)
            if plan is not None:
                best = min(best, plan.schedule(problem), key=lambda each: each.makespan)
    return finished(problem, control, best, lower_bound)


class Search:
    """Plans in turn; ``manner`` is that of the best, which takes ``least``, in whole units."""

    def __init__(self, problem: Reduction, control: Control, lower_bound: float) -> None:
        assert problem.times is not None
        self.control = control
        self.machines, self.segments = len(problem.machines), problem.items
        self.stops = True
        self.unit = unit = float(tables_of(problem).unit or max(problem.times) / GRAINS or 1)
        latency, transfer, self.reduce = (round(each / unit) for each in problem.times)
        self.latency, self.transfer = latency, transfer
        self.there, back = (
            arrivals(self.machines, length, max(transfer, work), length)[-1]
            for work in (self.reduce, 0)
            for length in (latency + transfer + work,)
        )
        self.span = max(0.0, lower_bound / unit - self.there - back)
        self.longer = max(1.0, (latency + transfer) / max(2 * transfer, 1))
        self.least, self.manner = np.inf, FIRST[0]

    def run(self, manner: Manner | None, *, stops: bool = True) -> Plan | None:
        """Return a plan if it takes no longer than the best so far; None where the time is up."""
        self.stops, rng = stops, self.control.rng
        if manner is None:
            manner = Manner.drawn(rng) if rng.random() < ANEW else self.manner.moved(rng)
        steps = np.linspace(0, 1, self.segments) ** manner.bend
        complete = self.there + np.rint(steps * self.span * manner.stretch).astype(np.int64)
        end, all_of_it = int(complete.max()) + self.there, 2 * self.machines * self.segments

        def backwards(rows: Integers, times: Integers) -> Planned:
            return rows[:, [1, 0, 2]], end - self.latency - self.transfer - times

        none = np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64)
        most, taken, lead = (
            round(each * self.longer) for each in (manner.copies, manner.parts, manner.lead)
        )
        some = round(manner.trunk * self.machines), most, all_of_it
        trunk = self._copied(0, complete, none, none, some)
        some = self.machines, taken, lead
        parts = self._copied(self.reduce, end - complete, backwards(*trunk), none, some)
        parts = backwards(*parts)
        some = self.machines, most, all_of_it
        copies = self._copied(0, complete, parts, trunk, some)
        rows, times = (np.concatenate(pair) for pair in zip(parts, copies, strict=True))
        if len(rows) < 2 * self.segments * (self.machines - 1):
            return None
        lasts = float(np.ptp(times)) + self.latency + self.transfer if len(times) else 0.0
        if lasts > self.least:
            return None
        self.least, self.manner = lasts, manner
        final = np.repeat((0, 1), (len(parts[1]), len(copies[1])))
        order = np.lexsort((final, times))
        return Plan(np.column_stack([rows, final])[order], times[order])

    def _copied(
        self, prepare: int, release: Integers, fixed: Planned, given: Planned, limits: Any
    ) -> Planned:
        """Return ``given`` copies and others, around what is ``fixed``; none where time is up."""
        count, total = len(given[1]), self.segments * (self.machines - 1)
        rows, times = np.empty((total, 3), dtype=np.int64), np.empty(total, dtype=np.int64)
        rows[:count], times[:count] = given
        ends, begin = (np.concatenate(pair) for pair in zip(fixed, given, strict=True))
        planned: dict[str, Integers] = {}
        for side, machine, at in (
            ("out", ends[:, 0], begin), ("in", ends[:, 1], begin + self.latency)
        ):  # fmt: skip
            order = np.lexsort((at, machine))
            first = np.searchsorted(machine[order], np.arange(self.machines + 1))
            planned |= {f"{side}_from": first, f"{side}_begin": at[order]}
        holders, children, lead = limits
        loop = backfill_copies.bind(
            total * RUNS, **planned, latency=self.latency, transfer=self.transfer, prepare=prepare,
            roots=np.arange(self.segments) * self.machines // self.segments, release=release,
            given=count, holders=holders, children=children, lead=lead,
            seed=int(self.control.rng.integers(2**31)), rows=rows, times=times,
        )  # fmt: skip
        written = stoppable(self.control, loop, long=self.stops * total / WATCHED_FROM)
        return rows[: max(0, written)], times[: max(0, written)]
