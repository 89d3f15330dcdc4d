"""All-reduces whose segments are complete one after another, planned from then on and backwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Integers
from makespan.core.numeric.watched import stoppable
from makespan.core.registry import Need, find_method, register
from makespan.core.solution import Solution
from makespan.reduction.bounds import best_bound
from makespan.reduction.model.growth import arrivals
from makespan.reduction.needs import (
    AN_ALL_REDUCE,
    FREE_ORDER,
    GIVEN_COUNT,
    ONE_PORT,
    OPEN_PLAN,
    SAME_TIMES,
    is_searched,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.rules.into_gaps import into_gaps
from makespan.reduction.rules.steps import logged
from makespan.reduction.sends import Sends, claim_sends, sends_in, tables_of
from makespan.reduction.timing import in_order

MANY = 20_000  # sends from which other methods leave room for better plans
WATCHED_FROM = 50_000  # sends
RUNS = 200
SHARE, SHARE_BEFORE = 0.9, 0.7  # of the time that is left, and where a search follows
GRAINS = 2**16  # of the longest time, where there is no common unit
ANEW = 0.3
WORSE = 0.04  # than what is known; from there on no plan is looked for near the first ones


class Planned(NamedTuple):
    """Sends that are planned: rows (sender, receiver, segment), and when they start."""

    rows: Integers
    times: Integers


class Manner(NamedTuple):
    """When segments are complete, and how they get around.

    Parameters
    ----------
    stretch
        How long that takes, from the first to the last, over what the bound leaves for it.
    bend
        Exponent of the part of this time until a segment is complete: above 1, more are early.
    trunk
        To how many machines of all a segment is copied before parts are planned.
    parts, copies
        What a machine takes, and sends, of a segment that few have, at most.
    lead
        Parts that it takes more than all on average, at most.
    """

    stretch: float
    bend: float
    trunk: float
    parts: int
    copies: int
    lead: int

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Manner:
        return cls(
            1 + rng.normal() / 10, float(rng.choice((0.8, 1, 1.25))),
            float(rng.choice((0.01, 0.02, 0.05, 0.1))),
            int(rng.integers(3, 9)), int(rng.integers(3, 9)), int(rng.integers(2, 8)),
        )  # fmt: skip

    def moved(self, rng: np.random.Generator) -> Manner:
        """Return the same with one of them drawn anew, or none."""
        field = rng.choice(("", *self._fields))
        return self._replace(**{field: getattr(self.drawn(rng), field)}) if field else self


FIRST = (
    Manner(1.0, 1.0, 0.05, 5, 4, 5),
    Manner(1.0, 1.0, 0.01, 9, 9, 6),
    Manner(1.1, 1.0, 0.005, 4, 9, 4),
    Manner(1.0, 0.8, 0.005, 6, 9, 5),
)


@register(
    "reduction",
    name="staggered",
    needs=(AN_ALL_REDUCE, GIVEN_COUNT, OPEN_PLAN, FREE_ORDER, SAME_TIMES, ONE_PORT),
    reach=(
        Need(
            f"at least {MANY} sends, of fewer segments than machines",
            lambda problem: (
                "there are fewer sends, or as many segments"
                if sends_in(problem) < MANY or problem.items >= len(problem.machines)
                else None
            ),
        ),
    ),
    complexity="O(n m (m + log n)) a run",
    source="time reversal from when segments are complete; each then grows as in Karp, Sahay, "
    "Santos and Schauser 1993; forwards and backwards as in Valls, Ballestín and Quintanilla 2005",
)
def staggered(problem: Reduction, control: Control, *, restarts: int | None = None) -> Solution:
    """Let segments be complete at times that are spread evenly, each on a machine of its own.

    What few machines copy first of each segment is planned from then on, then in reversed time all
    parts of all segments around that, then all other copies around both. So ports are full of parts
    first, later of copies, and trees whose latency nothing hides have none to wait for.
    """
    claim_sends(problem)
    planned = find_method("reduction", "hierarchical").run
    with control.aside():
        best = control.known_or(lambda: planned(problem, control))
    lower_bound = best_bound(problem)
    met = lower_bound * (1 + 1e-12)
    search = Search(problem, control, lower_bound)
    with control.sharing(SHARE_BEFORE if is_searched(problem) else SHARE):
        for turn in range(RUNS if restarts is None else restarts):
            if best.makespan <= met or control.expired():
                break
            if turn >= len(FIRST) and search.end > (1 + WORSE) * best.makespan:
                break
            sends = search.run(FIRST[turn] if turn < len(FIRST) else None)
            if sends is not None:
                schedule = in_order(problem, sends)
                assert schedule is not None
                best = schedule if schedule.makespan < best.makespan else best
    stopped = best.makespan > met
    found = Solution(schedule=best, lower_bound=lower_bound, stopped=stopped)
    return logged(problem, control, found)


class Search:
    """Plans in turn; ``manner`` is that of the best, which takes ``least``, in whole units."""

    def __init__(self, problem: Reduction, control: Control, lower_bound: float) -> None:
        assert problem.times is not None
        self.control = control
        self.machines, self.segments = len(problem.machines), problem.items
        unit = float(tables_of(problem).unit or max(problem.times) / GRAINS or 1)
        latency, transfer, reduce = (round(each / unit) for each in problem.times)
        self.costs = latency, transfer, reduce
        self.there, back = (
            arrivals(self.machines, length, max(transfer, work), length)[-1]
            for work in (reduce, 0)
            for length in (latency + transfer + work,)
        )
        self.span = max(0.0, lower_bound / unit - self.there - back)
        self.roots = np.arange(self.segments) * self.machines // self.segments
        self.least, self.manner = np.inf, FIRST[0]
        self.unit = unit

    @property
    def end(self) -> float:
        """When the best plan so far ends, seconds."""
        return self.least * self.unit

    def run(self, manner: Manner | None) -> Sends | None:
        """Return a plan, if it takes no longer than the best one so far."""
        rng = self.control.rng
        if manner is None:
            manner = Manner.drawn(rng) if rng.random() < ANEW else self.manner.moved(rng)
        steps = np.linspace(0, 1, self.segments) ** manner.bend
        complete = self.there + np.rint(steps * self.span * manner.stretch).astype(np.int64)
        end = int(complete.max()) + self.there
        nothing = Planned(np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64))
        some = round(manner.trunk * self.machines)
        limits = some, manner.copies, self.machines, self.machines * self.segments
        trunk = self._copied(0, complete, nothing, nothing, limits)
        if trunk is None:
            return None
        limits = self.machines, manner.parts, self.machines // 20, manner.lead
        parts = self._copied(
            self.costs[2], end - complete, self._reversed(trunk, end), nothing, limits
        )
        if parts is None:
            return None
        parts = self._reversed(parts, end)
        limits = self.machines, manner.copies, self.machines // 20, self.machines * self.segments
        copies = self._copied(0, complete, parts, trunk, limits)
        if copies is None:
            return None
        both = [np.concatenate(pair) for pair in zip(parts, copies, strict=True)]
        lasts = both[1].max() - both[1].min() + sum(self.costs[:2])
        if lasts > self.least:
            return None
        self.least, self.manner = lasts, manner
        final = np.repeat([False, True], [len(parts.times), len(copies.times)])
        order = np.lexsort((final, both[1]))
        sender, receiver, segment = both[0][order].T
        return Sends(sender=sender, receiver=receiver, segment=segment, final=final[order])

    def _reversed(self, planned: Planned, end: int) -> Planned:
        """Return what is planned in reversed time."""
        latency, transfer, _ = self.costs
        return Planned(planned.rows[:, [1, 0, 2]], end - latency - transfer - planned.times)

    def _copied(
        self, prepare: int, release: Integers, fixed: Planned, given: Planned, limits: Any
    ) -> Planned | None:
        """Return ``given`` copies and others, around what is ``fixed``; None where time is up."""
        latency, transfer, _ = self.costs
        total = self.segments * (self.machines - 1)
        rows, times = np.empty((total, 3), dtype=np.int64), np.empty(total, dtype=np.int64)
        count = len(given.times)
        rows[:count], times[:count] = given
        taken = [np.concatenate(pair) for pair in zip(fixed, given, strict=True)]
        calendars: list[Any] = []
        for place, lag in ((0, 0), (1, latency)):
            machine, begin = taken[0][:, place], taken[1] + lag
            order = np.lexsort((begin, machine))
            calendars += [
                np.searchsorted(machine[order], np.arange(self.machines + 1)),
                begin[order],
            ]
        arguments = (
            latency, transfer, prepare, self.roots, release, *calendars, count, *limits,
            int(self.control.rng.integers(2**31)), rows, times,
        )  # fmt: skip
        long = total >= WATCHED_FROM
        form = into_gaps.at(total * RUNS)
        written = stoppable(self.control, form, *arguments, long=long)
        return None if written < 0 else Planned(rows[:written], times[:written])
