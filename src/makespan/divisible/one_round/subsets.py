"""One round with fixed costs: from a search over sequences of workers to a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.divisible.model.plan import Plan, sends_by_start
from makespan.divisible.one_round.ending_together import (
    BEATS,
    CELLS,
    PROVED,
    AffineCosts,
    BestSubset,
    FoundSubset,
    Remainder,
    SubsetSearch,
    least_end,
    least_time,
    most_load,
    plan_of,
)
from makespan.divisible.one_round.layers import Layers
from makespan.divisible.one_round.plans import ANY_LOAD, of_open_load, with_everyone
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import quick_bound
from makespan.divisible.timing import timed

MAX_STATES = 1_000_000
TABLE_ENTRIES = 65_536
MANY = 3_000


@dataclass(slots=True)
class _Choices:
    """Choices among the workers so far: the time left for the port, the load done, a bound."""

    left: Floats
    load: Floats
    upper: Floats

    def __len__(self) -> int:
        return len(self.left)

    def some(self, rows: np.ndarray) -> _Choices:
        return _Choices(self.left[rows], self.load[rows], self.upper[rows])


class Selection:
    """Seeks the subset that does the most load by a given time, served in a given order.

    Every worker in turn is taken or left out. Of all choices only those are kept that no other
    one beats in the time left and the load done (Nemhauser and Ullmann's list for knapsacks);
    a second left is worth at most what the workers to come do in it without fixed costs.

    ``costs``: the workers; c + w is positive for each. ``order``: their order of service.
    ``control``: asked after each worker whether to stop.
    """

    def __init__(self, costs: AffineCosts, order: Integers, control: Control) -> None:
        self.order = order
        self.costs = costs.some(order)
        self.control = control
        self.rates = _suffix_rates(self.costs)
        self.cells = int(np.clip(TABLE_ENTRIES // max(1, len(order)), 1, CELLS))

    def __call__(self, horizon: float, target: float, width: int) -> FoundSubset:
        """Search with at most ``width`` choices at a time; see :class:`newton.SubsetSearch`."""
        remainder = Remainder.within(self.costs, horizon, self.cells)
        width = min(width, MAX_STATES)
        states = _Choices(np.array([horizon]), np.zeros(1), np.array([np.inf]))
        trail: list[Integers] = []  # per worker: the row each choice came from, -1 - row if taken
        best: tuple[int, int] | None = None
        goal, lost, made = target, -np.inf, 1
        open_workers = np.ones(len(self.costs), dtype=bool)
        for position in range(len(self.costs)):
            if not len(states) or self.control.expired():
                break
            open_workers[position] = False
            both, origin = self._taken_or_not(states, position)
            top = int(both.load.argmax())
            if both.load[top] > goal:
                goal, best = float(both.load[top]) * BEATS, (position, int(origin[top]))
            cell = np.minimum(self.cells - 1, (both.left * self.cells / horizon).astype(np.int64))
            both.upper = both.load + both.left * remainder.per_second(open_workers)[cell]
            kept = _unbeaten(both, np.flatnonzero(both.upper > goal), self.rates[position + 1])
            if len(kept) > width:
                ranked = kept[np.argsort(-both.upper[kept], kind="stable")]
                lost = max(lost, float(both.upper[ranked[width]]))
                kept = ranked[:width]
            states = both.some(kept)
            trail.append(origin[kept])
            made += len(states)
        if len(trail) < len(self.costs):  # stopped early: all that is left is open
            lost = max(lost, float(states.upper.max(initial=-np.inf)))
        sequence = self._sequence(trail, best)
        return FoundSubset(
            load=goal / BEATS if sequence else 0.0,
            sequence=sequence,
            upper=max(goal, lost),
            states=made,
        )

    def _taken_or_not(self, states: _Choices, position: int) -> tuple[_Choices, Integers]:
        """Return the states with the worker left out, then those with it, and their origins."""
        costs = self.costs
        rows = np.arange(len(states))
        able = np.flatnonzero(states.left > costs.start_up[position])
        room = states.left[able]
        amount = (room - costs.start_up[position]) / costs.total[position]
        left = room - costs.send_fixed[position] - costs.send[position] * amount
        both = _Choices(
            np.concatenate([states.left, left]),
            np.concatenate([states.load, states.load[able] + amount]),
            np.concatenate([states.upper, states.upper[able]]),
        )
        return both, np.concatenate([rows, -1 - able])

    def _sequence(self, trail: list[Integers], best: tuple[int, int] | None) -> list[int]:
        if best is None:
            return []
        position, origin = best
        backwards = []
        while True:
            if origin < 0:
                backwards.append(int(self.order[position]))
                origin = -1 - origin
            position -= 1
            if position < 0:
                return backwards[::-1]
            origin = int(trail[position][origin])


def _unbeaten(states: _Choices, rows: Integers, rate: float) -> Integers:
    """Return those of ``rows`` that no other one beats, by falling time left."""
    rows = rows[np.lexsort((-states.load[rows], -states.left[rows]))]
    load = states.load[rows]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], load[:-1]]))
    rows = rows[load > before] if len(rows) else rows
    worth = (states.load[rows] + rate * states.left[rows])[::-1]
    before = np.maximum.accumulate(np.concatenate([[-np.inf], worth[:-1]]))
    kept: Integers = rows[(worth >= before)[::-1]] if len(rows) else rows
    return kept


def _suffix_rates(costs: AffineCosts) -> Floats:
    """Return the load a second of the workers from each position on, without fixed costs.

    Served by non-decreasing send cost, which is best. Complexity: O(n^2) by insertion; of many
    workers only some rates are made, which stand for those of the workers behind them, too.
    """
    every = max(1, len(costs) // 20) if len(costs) > MANY else 1
    position = np.argsort(np.argsort(costs.send, kind="stable"))
    rates = np.zeros(len(costs) + 1)
    share = np.zeros(len(costs))
    keep = np.ones(len(costs))
    total = costs.total
    for first in reversed(range(0, len(costs), every)):
        block = slice(first, first + every)
        share[position[block]] = 1.0 / total[block]
        keep[position[block]] = costs.compute[block] / total[block]
        before = np.concatenate([[1.0], np.cumprod(keep)[:-1]])
        rates[block] = float((before * share).sum())
    return rates


A_WORKER = 250.0  # bytes: three copies of its costs, its place in lists, a row of the tables

SearchOf = Callable[[AffineCosts, Integers | None, Control], SubsetSearch]
"""Builds the search for some workers; with their order of service, where it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """A plan, for the problem with its master given, and how good any plan can be."""

    problem: DivisibleLoad
    plan: Plan
    best: BestSubset


def complete_search(costs: AffineCosts, order: Integers | None, control: Control) -> SubsetSearch:
    """Return the search over subsets of the workers, and over their orders where none is given."""
    return Layers(costs, control) if order is None else Selection(costs, order, control)


def solve_latencies(
    problem: DivisibleLoad, control: Control, search_of: SearchOf = complete_search
) -> Solution:
    """Return the best one-round plan that the search finds, and what it proves.

    Where the master is to be chosen, every machine is tried, the fastest first; what the others
    have to beat cuts their searches short.
    """
    claim(A_WORKER * len(problem.star), "the costs of all workers and the sequences tried")
    best: _Planned | None = None
    bounds = []
    star = problem.star
    masters = np.lexsort((star.compute_fixed, star.compute_per_unit)).tolist()
    given = map(problem.with_master, masters) if problem.chooses_master else (problem,)
    for each in given:
        if best is not None and control.expired():
            bounds.append(quick_bound(problem, np.inf))  # for every master
            break
        case = _GivenMaster(each, control, search_of)
        found = case.most(best) if problem.load is None else case.least(best)
        bounds.append(found.best.bound)
        if best is None or found.best.value != best.best.value:
            best = found
    assert best is not None
    bound = max(bounds) if problem.load is None else min(bounds)
    best = replace(best, best=replace(best.best, bound=bound))
    return _most_solution(best) if problem.load is None else _least_solution(best)


class _GivenMaster:
    def __init__(self, problem: DivisibleLoad, control: Control, search_of: SearchOf) -> None:
        self.problem = problem
        self.control = control
        self.search_of = search_of
        costs = AffineCosts.of(problem)
        self.everyone = costs
        self.workers = np.flatnonzero(costs.total > 0.0)
        self.free = np.flatnonzero(costs.total == 0.0)
        self.costs = costs.some(self.workers)
        self.free_own = costs.own is not None and costs.own.per_unit == 0.0
        if self.free_own:
            self.costs = replace(self.costs, own=None)

    def least(self, known: _Planned | None) -> _Planned:
        """Return the plan that ends first; with the value of ``known`` if that is not beaten."""
        load = self.problem.total
        end, plan, sequence = self._start(load)
        if known is not None and known.best.value <= end:
            end, sequence = known.best.value, []
        start = BestSubset(value=end, sequence=sequence, bound=0.0)
        if end in (0.0, np.inf):
            return _Planned(problem=self.problem, plan=plan, best=replace(start, bound=end))
        best = least_time(self.costs, load, self._search(), self.control, start)
        if best.value < end:
            plan = self._plan(best.sequence, best.value)
        return _Planned(problem=self.problem, plan=plan, best=best)

    def most(self, known: _Planned | None) -> _Planned:
        """Return the plan that does the most; with the value of ``known`` if not beaten."""
        end = self.problem.latest
        start_up = self.everyone.start_up[self.free]
        own = self.everyone.own
        if (start_up <= end).any() or (self.free_own and own is not None and own.fixed <= end):
            best = BestSubset(value=np.inf, sequence=[], bound=np.inf)
            return _Planned(problem=self.problem, plan=Plan.of([], []), best=best)
        best = BestSubset(value=self.costs.own_load(end), sequence=[], bound=np.inf)
        if known is not None and known.best.value > best.value:
            best = replace(best, value=known.best.value)
        if end > 0.0:
            best = most_load(self.costs, end, self._search(), self.control, best)
        else:
            best = replace(best, bound=best.value)
        return _Planned(problem=self.problem, plan=self._plan(best.sequence, end), best=best)

    def _search(self) -> SubsetSearch:
        return self.search_of(self.costs, self._given_order(), self.control)

    def _given_order(self) -> Integers | None:
        order = self.problem.order
        return None if order is None else self._own_indices(self.problem.workers_in(order))

    def _own_indices(self, workers: Integers) -> Integers:
        """Return the indices, among those with a cost per unit, of some workers."""
        index = np.full(len(self.everyone), -1, dtype=np.int64)
        index[self.workers] = np.arange(len(self.workers))
        found = index[workers]
        return found[found >= 0]

    def _plan(self, sequence: list[int], end: float) -> Plan:
        plan = plan_of(self.costs, sequence, end)
        plan = replace(plan, worker=self.workers[plan.worker])
        return plan if self.problem.load is None else plan.fitted(self.problem.load)

    def _start(self, load: float) -> tuple[float, Plan, list[int]]:
        """Return the end, the plan and the sequence of the best simple plan.

        Tried: one machine alone, all workers by non-decreasing send cost or in the given order,
        and the plan of an earlier method, each without those who would get nothing.
        """
        if load == 0.0:
            return 0.0, Plan.of([], []), []
        end, sequence = np.inf, []
        for candidate in self._candidates(load):
            its_end, kept = least_end(self.costs, candidate, load)
            if its_end < end:
                end, sequence = its_end, kept
        plan = self._plan(sequence, end) if np.isfinite(end) else Plan.of([], [])
        for worker in self.free.tolist():
            if self.everyone.start_up[worker] < end:
                end, sequence = float(self.everyone.start_up[worker]), []
                plan = Plan.of([worker], [load])
        own = self.everyone.own
        if self.free_own and own is not None and own.fixed < end:
            end, sequence, plan = own.fixed, [], Plan.of([], [], master=load)
        return end, plan, sequence

    def _candidates(self, load: float) -> list[list[int]]:
        order = self._given_order()
        if order is None:
            order = np.argsort(self.costs.send, kind="stable")
        found: list[list[int]] = [[], order.tolist()]
        if len(order):
            found.append([int((self.costs.start_up + self.costs.total * load).argmin())])
        incumbent = self.control.incumbent
        if incumbent is not None and incumbent.schedule is not None:
            schedule = incumbent.schedule
            if list(schedule.machines) == list(self.problem.machines):
                by_start = sends_by_start(schedule)
                found.append(self._own_indices(schedule.peer[by_start] - 1).tolist())
        return found


def _least_solution(planned: _Planned) -> Solution:
    problem, best = planned.problem, planned.best
    if not np.isfinite(best.value):
        nobody = not len(problem.star) and not problem.master_computes
        why = "there is a load, but no machine to compute it" if nobody else None
        return Solution(schedule=None, infeasible=why, stopped=not nobody)
    plan, proved = planned.plan, best.proved
    notes: tuple[str, ...] = ()
    if problem.use == "all" and len(plan) < len(problem.star):
        plan = with_everyone(problem, plan)
        proved = proved and timed(problem, plan).makespan <= best.value * (1 + PROVED)
        notes = (f"{len(problem.star) - len(planned.plan)} workers take part with empty chunks",)
    return Solution(
        schedule=timed(problem, plan),
        lower_bound=best.bound,
        optimal=proved,
        stopped=not best.proved,
        notes=notes,
        details={"states": best.states},
    )


def _most_solution(planned: _Planned) -> Solution:
    best = planned.best
    if not np.isfinite(best.value):
        return Solution(schedule=None, notes=(ANY_LOAD,))
    schedule, load = timed(planned.problem, planned.plan), planned.plan.total
    solution = of_open_load(schedule, load, best.bound, proved=best.proved)
    return replace(solution, details={"states": best.states})
