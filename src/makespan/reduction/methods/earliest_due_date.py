"""All-reduce by due dates: what is late for the rest of its segment is sent first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from makespan.core.control import Control, stoppable
from makespan.core.numeric.arrays import Integers, readonly
from makespan.core.registry import register
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.reduction import needs
from makespan.reduction.answer import finished
from makespan.reduction.bounding.growth import arrivals
from makespan.reduction.bounds import best_bound
from makespan.reduction.halves.merging import reduce_then_broadcast
from makespan.reduction.halves.rarest_first import WATCHED_FROM
from makespan.reduction.heuristics.allreduce_edd import Aim, Costs, schedule_by_due_date
from makespan.reduction.heuristics.allreduce_edd_phases import MANNERS
from makespan.reduction.heuristics.critical_path import Shortening
from makespan.reduction.heuristics.hierarchical_exchange import rotated
from makespan.reduction.heuristics.symmetry import Plan
from makespan.reduction.needs import ALONG_CRITICAL_PATH, BY_DUE_DATES, is_tried
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import Tables, claim_sends, sends_in, tables_of

STEPS_IN_ALL = 400_000_000
RUNS_A_SEND = 100
DEVIATION = 0.015  # by how much a plan that is gone on from may end later than the best one
SPREADS = (0.0, 0.0, 0.5, 1.0, 3.0)
BACKLOGS = (np.inf, np.inf, 0.0, 0.5, 1.0, 2.0)
ANEW, REBUILT = 0.3, 0.7
BURST, MOST = 8, 4_000_000  # tries to shorten for each machine and segment at once; sends timed so
RARER = 4  # times as much is done in runs as to shorten plans, where neither helps
STALE = 20  # times that this did not help, before another plan is taken
BEST = 2  # times as much as in another search is done in that with the best plan
BEFORE = 0.65  # of the time that is left, where the plan is then shortened by another method
BEFORE_OTHERS = 0.1  # where sends are then annealed, or exact search soon proves the optimum
SPARE = 10  # a tenth more segments may be planned, and left out then


@dataclass(frozen=True, slots=True)
class Settings:
    """Between which parts of the time that there is segments are to be complete, and the rest.

    ``spread`` moves due dates by so many transfers at random; of the time between bound and best
    plan, ``goal`` is where copies are due. ``manner`` is that of the rule,
    ``backlog`` the combinations that may wait for a unit.
    """

    first: float
    last: float
    spread: float
    goal: float
    manner: int
    backlog: float

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Settings:
        spread = SPREADS[int(rng.integers(len(SPREADS)))]
        first, last, goal = rng.random() / 2, rng.random() * 0.6 + 0.5, rng.random()
        manner, backlog = int(rng.integers(MANNERS)), BACKLOGS[int(rng.integers(len(BACKLOGS)))]
        return cls(first, last, spread, goal, manner, backlog)

    def moved(self, rng: np.random.Generator) -> Settings:
        """Return the same with one of them changed a little, or none."""
        step = rng.normal()
        match int(rng.integers(6)):
            case 0:
                return replace(self, first=self.first + step / 10)
            case 1:
                return replace(self, last=self.last + step / 10)
            case 2:
                return replace(self, spread=abs(self.spread + step / 2))
            case 3:
                return replace(self, manner=int(rng.integers(MANNERS)))
            case 4:
                return replace(self, backlog=BACKLOGS[int(rng.integers(len(BACKLOGS)))])
        return self


@register(
    **BY_DUE_DATES._asdict(),
    complexity="O(n m (n + m)) a run",
    source="Jackson 1955: due before the segment is complete, or all are; forwards and backwards "
    "in turn as in Valls, Ballestín and Quintanilla 2005; Dueck 1993; van Laarhoven et al. 1992",
)
def earliest_due_date(
    problem: Reduction, control: Control, *, restarts: int | None = None
) -> Solution:
    """Let segments be complete one after another, and make the send first that is due first.

    Forwards and backwards in turn, from nothing or from how the best plan known begins. What the
    end of that plan waits for is sent otherwise, for the longer the more that helps.

    Of equal machines and segments, so many are alike: what one machine sends, the next one of a
    circle sends of the next segment at the same time. A plan of few sends stands for all; the
    first are those of ``hierarchical``. What is found so is looked for near it with fewer alike,
    and with none.
    """
    claim_sends(problem)
    with control.aside():
        known = control.known_or(lambda: reduce_then_broadcast(problem, control, restarts=1))
    lower_bound = best_bound(problem)
    searches = [
        _Search(problem, control, known, lower_bound, rotations)
        for rotations in _rotations(problem)
    ]
    with control.sharing(1 / RARER):
        for search in searches[:-1]:
            for rows in rotated(problem, search.ports):
                if control.expired():
                    break
                search.begin(rows)
    search, count = searches[-1], sends_in(problem)
    runs = min(RUNS_A_SEND, 1 + STEPS_IN_ALL // (1 + count**2 * problem.items)) * count
    ran = shortened = 0  # sends planned and shortened since that led to a better plan
    more_comes = control.incumbent is not None and is_tried(problem, ALONG_CRITICAL_PATH)
    before = BEFORE_OTHERS if is_tried(problem, needs.PROVED_SOON, needs.ANNEALED) else BEFORE
    with control.sharing(before if more_comes else 1.0):
        for _ in range(runs if restarts is None else restarts):
            if search.best <= search.least or control.expired():
                break
            chosen = _next(searches)
            ran = 0 if chosen.run() else ran + chosen.sends
            for other in searches:
                other.adopt(chosen)
            while shortened * RARER < ran and not control.expired():
                chosen = next(one for one in searches if one.best <= (1 + DEVIATION) * search.best)
                shortened = 0 if chosen.shorten() else shortened + BURST * chosen.sends
                for other in searches:
                    other.adopt(chosen)
    return finished(problem, control, search.schedule(), lower_bound)


def _rotations(problem: Reduction) -> list[int]:
    """Return by how many rotations plans may be the same, most first; 1 is any plan.

    Segments that are the same are complete at the same time: not all of them are to be.
    """
    machines, items = len(problem.machines), problem.items
    if problem.times is None:
        return [1]
    found = [count for count in range(2, min(machines, items - 1) + 1) if machines % count == 0]
    return [*(count for count in reversed(found) if -items % count * SPARE <= items), 1]


def _next(searches: list[_Search]) -> _Search:
    """Return the search to go on with: all do as much, but for the best one, which does more."""
    best = min(searches, key=lambda search: search.best)
    work = [search.turn * search.sends / (BEST if search is best else 1) for search in searches]
    return searches[int(np.argmin(work))]


class _Search:
    """Plans that are gone on from, and the settings that led to them; times in units of the tables.

    ``plan`` ends at ``end``, not much later than the best one so far, which is in ``record``, each
    with whether it is one of reversed time; Dueck 1993, record-to-record travel. ``known`` is the
    plan that was there from the first, as long as there is no better one.
    """

    def __init__(
        self,
        problem: Reduction,
        control: Control,
        known: Schedule,
        lower_bound: float,
        rotations: int,
    ) -> None:
        self.problem, self.control = problem, control
        self.known: Schedule | None = known
        self.machines, self.rotations = len(problem.machines), rotations
        self.segments = -(-problem.items // rotations)
        self.ports = self.machines // rotations
        self.sends = 2 * (self.machines - 1) * self.segments
        tables = tables_of(problem)
        if problem.times is None:
            tables = tables.over(self.machines)
        self.whole, self.unit = tables.unit is not None, float(tables.unit or 1)
        self.dtype: Any = tables.latency.dtype
        transfer, latency, reduce, size, nowhere = readonly(
            *(np.asarray(each, self.dtype) for each in (*tables[:4], 0 * tables.reduce))
        )
        size = size[: self.segments]
        there, back = (self._growth(tables, work) for work in (reduce, nowhere))
        self.huge = self.dtype.type(2**61)
        given: Any = {"machines": self.machines, "ports": self.ports, "huge": self.huge}
        back_latency, back_transfer = readonly(latency.T, transfer.T)
        self.costs = (
            Costs(latency, transfer, reduce, nowhere, size, **given),
            Costs(back_latency, back_transfer, nowhere, reduce, size, **given),
        )
        self.lasts, self.combines = (
            float(np.max(each)) * float(np.max(size)) for each in (transfer, reduce)
        )
        self.growths = (there, back), (back, there)  # forwards and backwards
        self.least = self._units(lower_bound * (1 + 1e-12)) + 0
        whole = rotations == 1
        self.best = self._units(known.makespan) + 0 if whole else self.huge
        none = Plan(np.empty((0, 4), dtype=np.int64), np.empty((0, 2), dtype=self.dtype))
        self.plan, self.backward = Plan.of(problem, known) if whole else none, False
        self.settings = Settings.drawn(control.rng)
        self.turn = 0
        self.end, self.record = self.best, (self.plan, self.backward)
        self.late: float = np.inf  # sends of the plan that arrive within the last transfer
        port = np.arange(self.machines) % self.ports
        unshared = np.zeros((1, 1, 0), dtype=np.int64), np.zeros((1, 1, 0), dtype=self.dtype)
        ways = port[:, None], port[None], *unshared
        costs = latency, transfer, reduce, size
        homes = np.zeros((self.machines, self.segments), dtype=np.int64)
        self.short = Shortening(costs, homes, ways, self.lasts, control)
        self.short.take(*self.record)
        self.starts: list[tuple[Any, Plan]] = []

    def _units(self, seconds: Any) -> Any:
        units = seconds / self.unit
        return self.dtype.type(round(units) if self.whole else units)

    def _growth(self, tables: Tables, reduce: Any) -> Any:
        """Return when one holder has made others, with the mean of the times between machines."""
        linked = tables.transfer >= 0
        latency, transfer, work, size = (
            float(np.mean(each, dtype=float))
            for each in (tables.latency[linked], tables.transfer[linked], reduce, tables.size)
        )
        length, period = latency + (transfer + work) * size, max(transfer, work) * size
        if self.whole:
            length, period = round(length), round(period)
        times: list[Any] = list(arrivals(self.machines, length, period, length))
        for count in range(self.ports + 1, self.machines):
            times[count] = max(times[count], times[count - self.ports] + period)
        return np.array(times, dtype=self.dtype)

    def run(self) -> bool:
        """Run once, with settings drawn anew or near those of the best plan; return if better."""
        rng = self.control.rng
        backward = bool(rng.integers(2))
        settings = Settings.drawn(rng) if rng.random() < ANEW else self.settings.moved(rng)
        end = self.least + (min(self.best, 1.3 * self.least) - self.least) * settings.goal
        script = self.plan.rows[:0]
        if len(self.plan.rows) and rng.random() < REBUILT:
            plan = self.plan if backward == self.backward else self.plan.mirrored()
            script = plan.rows[: int(rng.integers(len(plan.rows) + 1))]
        rows = np.empty((self.sends, 4), dtype=np.int64)
        times = np.empty((self.sends, 2), dtype=self.dtype)
        worse = DEVIATION * self.best
        allowed = self.best + (1 + int(worse) if self.whole else worse)
        self.turn += 1
        costs, (there, back) = self.costs[backward], self.growths[backward]
        # where nothing is combined, infinite times 0 is no number, and min keeps to huge
        aim = Aim(
            complete=self._complete(settings, float(end), backward), end=float(end),
            spread=settings.spread * self.lasts, apart=costs.apart, manner=settings.manner,
            backlog=self.dtype.type(min(self.huge, settings.backlog * self.combines)),
        )  # fmt: skip
        loop = schedule_by_due_date.bind(
            self.sends * self.turn, costs, aim, Plan(rows, times), there=there,
            back=back, script=readonly(script)[0], seed=int(rng.integers(2**31)),
            allowed=min(allowed, self.huge),
        )  # fmt: skip
        reached = stoppable(self.control, loop, long=self.sends / WATCHED_FROM)
        if reached < 0:
            return False
        better, late = reached < self.best, int((times[:, 1] > reached - self.lasts).sum())
        if reached == self.end and late > self.late:
            return False
        self.end, self.plan, self.backward, self.settings, self.late = (
            reached, Plan(rows, times), backward, settings, late,
        )  # fmt: skip
        if better:
            self.known = None
            self.best, self.record = reached, (self.plan, backward)
            self.short.take(*self.record)
        return bool(better)

    def begin(self, rows: Integers) -> None:
        """Take a plan forwards, if it is the best so far; else it may be shortened later."""
        self.short.take(Plan(rows, np.zeros((len(rows), 2), dtype=self.dtype)), backward=False)
        self._shortened(0)
        self.starts.append((self.short.end, self.short.plan))
        self.starts.sort(key=lambda start: start[0])
        self.short.take(*self.record)

    def shorten(self) -> bool:
        """Send otherwise what the end of a plan waits for; return if that is better."""
        if self.short.stale > STALE:
            later = (self.starts.pop(0)[1], False) if self.starts else (self.plan, self.backward)
            self.short.take(*later)
        return self._shortened(min(BURST * (self.machines + self.segments), MOST // self.sends + 1))

    def _shortened(self, tries: int) -> bool:
        reached = self.short.run(tries)
        if reached >= self.best:
            return False
        self.known, self.best, self.end, self.late = None, reached, reached, np.inf
        self.record = self.plan, self.backward = Plan(*map(np.copy, self.short.plan)), False
        return True

    def adopt(self, other: _Search) -> None:
        """Go on from the plan of another search, if that is better, and one of this search, too."""
        if other.best >= self.best or other.rotations % self.rotations:
            return
        self.known, self.best, self.late = None, other.best, np.inf
        count = self.problem.items if self.rotations == 1 else self.segments
        plan, self.backward = other.record
        self.plan = plan.rotated(other.ports, self.ports, self.machines, count)
        self.end, self.record = self.best, (self.plan, self.backward)
        self.short.take(*self.record)

    def _complete(self, settings: Settings, end: float, backward: bool) -> Any:
        """Return when segments are to be complete, one after another."""
        there, back = (float(growth[-1]) for growth in self.growths[backward])
        steps = np.linspace(settings.first, settings.last, self.segments)
        return there + (max(end - back, there) - there) * steps

    def schedule(self) -> Schedule:
        """Return the best plan."""
        if self.known is not None:
            return self.known
        plan, backward = self.record
        return (plan.mirrored() if backward else plan).schedule(self.problem)
