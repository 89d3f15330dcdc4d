"""A linear programme of sums that no plan of several sources is better than.

Over each link goes an amount ``x`` in ``n`` chunks. Every port, every reception and every processor
is busy for no less than its sums, from when it can begin on:

    r_s v_s + sum_j (L_sj n_sj + c_sj x_sj) <= T,    f_j v_j + sum_s (W_j n_sj + w_j x_sj) <= T

with v = 1 where anything is sent at all. With one chunk a link, the sends of a source one at a time
in whatever order also wait for each other. With p_j = L_j n_j + c_j x_j, the sums over all j and
those before j of p_j p_i are (y^2 + sum p_j^2) / 2 with y = sum p_j, so that by r_s + sum_{i <= j}
p_i + w_j x_j <= T, weighed by p_j, as p_j x_j >= c_j x_j^2,

    r_s v_s + y / 2 + sum_j (p_j^2 / 2 + c_j w_j x_j^2) / y <= T.

The left side is convex and grows in proportion to n and x, so its tangents are linear rows of the
programme, added where its solution is beyond them. No plan that ends by a horizon sends more over
a link than that allows, which makes its n count for more.

Source: the ports of Wong, Yu, Veeravalli and Robertazzi 2003; the inequality of Queyranne 1993.
"""

from __future__ import annotations

import math

import numpy as np

from makespan.backends.answer import SLACK, Answer, Verdict
from makespan.backends.highs import Programme, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import machines_bound


class Scaled:
    """Costs, limits and loads, times in ``second`` and amounts in ``unit``.

    ``end`` is the deadline of an open load, infinite for a given one. ``linked`` says which
    sources can send a worker anything that it can compute in time; ``able`` which sources can
    compute; ``first`` is when a worker can begin to compute at the earliest.
    """

    def __init__(self, problem: DivisibleLoad, second: float | None = None) -> None:
        platform = problem.grid
        self.problem = problem
        self.second = second = second or scale_of(problem)
        self.unit = unit = problem.load or 1.0
        self.load = None if problem.load is None else problem.load / unit
        self.held = None if platform.held is None else platform.held / unit
        rate = unit / second
        self.send_fixed, self.send = platform.send_fixed / second, platform.send_per_unit * rate
        self.compute_fixed = platform.compute_fixed / second
        self.compute = platform.compute_per_unit * rate
        self.own_fixed, self.own = platform.own_fixed / second, platform.own_per_unit * rate
        self.begin = platform.source_release / second
        self.release, self.deadline = platform.release / second, platform.deadline / second
        self.memory = platform.memory / unit
        by = problem.deadline if problem.load is None else None
        self.end = math.inf if by is None else by / second
        arrival = self.begin[:, np.newaxis] + self.send_fixed
        begun = np.maximum(arrival, self.release) + self.compute_fixed
        self.linked = np.isfinite(self.send) & (begun <= self.deadline) & (self.memory > 0)
        self.able = platform.computes & (self.begin + self.own_fixed <= self.end)
        arrival = np.where(self.linked, arrival, np.inf)
        self.first = np.maximum(arrival.min(axis=0, initial=np.inf), self.release)
        self.one_port = problem.ports != "many"

    @property
    def shares(self) -> np.ndarray:
        """The most that each source can give away or compute."""
        if self.held is not None:
            return self.held
        return np.full(len(self.begin), np.inf if self.load is None else self.load)

    def place_all(
        self, programme: Programme, source: Integers, amount: Integers, own: Integers
    ) -> None:
        """Add rows: each ``source`` sends (``amount``) or computes (``own``) all that it holds."""
        if self.held is not None:
            for index, load in enumerate(self.held.tolist()):
                programme.row([*amount[source == index], own[index]], 1.0, low=load, high=load)
        elif self.load is not None:
            programme.row([*amount, *own], 1.0, low=self.load, high=self.load)


def scale_of(problem: DivisibleLoad) -> float:
    """Return a time that plans are comparable with: the deadline of an open load, else a bound."""
    if problem.load is None:
        return problem.latest or 1.0
    least = machines_bound(problem)
    return least if 0 < least < math.inf else 1.0


def over(seconds: Floats, cost: Floats) -> Floats:
    """Return what can be done in some time, units; all of it where nothing costs time."""
    most = np.full(len(seconds), np.inf)
    np.divide(seconds, cost, out=most, where=cost > 0)
    return np.where(seconds >= 0, most, 0.0)


MAX_TANGENTS = 30
MANY_LINKS = 1_000  # from which on there are a tenth as many
WITHIN = 1e-6  # relative: tangents that gain less are not looked for


class Sums:
    """The programme of a problem.

    ``horizon``: the end of a plan that is known, seconds: later ones are of no interest. Infinite
    if none is known. ``relaxed``: the same programme, solved, whose tangents to take over; then
    links are used or not, and numbers of chunks whole.
    """

    def __init__(
        self, problem: DivisibleLoad, *, horizon: float = np.inf, relaxed: Sums | None = None
    ) -> None:
        self.scaled = scaled = Scaled(problem)
        self._tangents: list[tuple[list[int], list[float]]] = []
        mixed = relaxed is not None
        self._latest = min(scaled.end, horizon / scaled.second * (1 + SLACK))
        self.once = problem.rounds == 1
        self.programme = programme = Programme()
        source, worker = np.nonzero(scaled.linked)
        self._source, self._worker = source, worker
        count, (sources, workers) = len(source), scaled.linked.shape
        is_open = scaled.load is None
        weight = -1.0 if is_open else 0.0
        shares = scaled.shares
        most = np.inf if problem.rounds == "auto" else float(problem.rounds)
        with np.errstate(invalid="ignore"):
            limit = np.where(np.isinf(scaled.memory), np.inf, scaled.memory * most)
        upper = np.minimum(np.minimum(shares[source], limit[worker]), self._most_over_links())
        self._amount = programme.variables(count, cost=weight, upper=upper)
        self._own = programme.variables(
            sources, cost=weight, upper=np.where(scaled.able, shares, 0.0)
        )
        self._sends = programme.variables(sources, upper=1.0)
        self._works = programme.variables(workers, upper=1.0)
        self._computes = programme.variables(sources, upper=1.0)
        self._used = self._chunks = np.full(count, -1)
        if scaled.send_fixed.any() or scaled.compute_fixed.any():
            self._used = programme.variables(count, upper=upper > 0, integer=mixed)
            self._chunks = programme.variables(count, upper=most, integer=mixed)
        self._end = int(
            programme.variables(
                1,
                cost=0.0 if is_open else 1.0,
                lower=scaled.end if is_open else 0.0,
                upper=scaled.end if is_open else np.inf,
            )[0]
        )
        scaled.place_all(programme, source, self._amount, self._own)
        self._choices(upper)
        self._links()
        for index in range(sources):
            self._port(index)
        order = np.argsort(worker, kind="stable")
        edges = np.searchsorted(worker[order], np.arange(workers + 1))
        for index in range(workers):
            self._at_worker(index, order[edges[index] : edges[index + 1]])
        for tangent in relaxed._tangents if relaxed is not None else ():
            programme.row(*tangent, high=0.0)

    def _choices(self, upper: Floats) -> None:
        """Nothing is sent or computed by whom does not take part."""
        rows, shares = self.programme.rows, self.scaled.shares
        total = float(shares.sum() if self.scaled.held is not None else shares.max(initial=0.0))
        if np.isfinite(total):
            for index, share in enumerate(shares.tolist()):
                mine = self._amount[self._source == index]
                factors = [1.0] * len(mine) + [-share]
                self.programme.row([*mine, self._sends[index]], factors, high=0.0)
            rows(beside(self._own, self._computes), beside(1.0, -shares), high=0.0)
            for index in np.flatnonzero(self.scaled.first > 0).tolist():
                mine = self._amount[self._worker == index]
                factors = [1.0] * len(mine) + [-total]
                self.programme.row([*mine, self._works[index]], factors, high=0.0)
        if not len(self._used) or self._used[0] < 0:
            return
        few = np.flatnonzero(np.isfinite(upper))
        rows(beside(self._amount[few], self._used[few]), beside(1.0, -upper[few]), high=0.0)
        for ends, chosen in ((self._source, self._sends), (self._worker, self._works)):
            rows(beside(self._used, chosen[ends]), [1.0, -1.0], high=0.0)
        rows(beside(self._chunks, self._used), [1.0, -1.0], low=0.0)
        memory = self.scaled.memory[self._worker]
        small = np.flatnonzero(np.isfinite(memory))
        table = beside(self._amount[small], self._chunks[small])
        rows(table, beside(1.0, -memory[small]), high=0.0)

    def _most_over_links(self) -> Floats:
        """Return the most that goes over each link in plans that end by the horizon."""
        scaled, link = self.scaled, (self._source, self._worker)
        end = np.minimum(self._latest, scaled.deadline[self._worker])
        left = end - scaled.begin[self._source] - scaled.send_fixed[link]
        left = left - scaled.compute_fixed[self._worker]
        send, compute = scaled.send[link], scaled.compute[self._worker]
        return over(left, send + compute if self.once else np.maximum(send, compute))

    def _links(self) -> None:
        """What a link carries has been computed by the end."""
        scaled, source, worker = self.scaled, self._source, self._worker
        link = source, worker
        end = np.full(len(source), self._end)
        table = np.stack([self._sends[source], self._used, self._chunks, self._amount], axis=1)
        per_unit = scaled.send[link] + (scaled.compute[worker] if self.once else 0.0)
        factors = np.stack(
            [scaled.begin[source], scaled.compute_fixed[worker], scaled.send_fixed[link], per_unit],
            axis=1,
        )
        self._by_the_end(table, factors, end, scaled.deadline[worker])
        own = np.stack([self._computes, self._own], axis=1)[scaled.able]
        factors = np.stack([scaled.begin + scaled.own_fixed, scaled.own], axis=1)[scaled.able]
        self._by_the_end(own, factors, np.full(len(own), self._end), np.full(len(own), np.inf))

    def _by_the_end(
        self, table: np.ndarray, factors: Floats, end: np.ndarray, deadline: Floats
    ) -> None:
        """Add rows: sums are no more than the end, and than the deadlines that there are."""
        minus = np.full((len(table), 1), -1.0)
        rows = self.programme.rows
        rows(np.column_stack([table, end]), np.hstack([factors, minus]), high=0.0)
        early = np.isfinite(deadline)
        rows(table[early], factors[early], high=deadline[early])

    def _port(self, source: int) -> None:
        """A source sends one chunk at a time."""
        scaled, mine = self.scaled, np.flatnonzero(self._source == source)
        if not scaled.one_port or not len(mine):
            return
        link = source, self._worker[mine]
        index = [self._sends[source], *self._chunks[mine], *self._amount[mine]]
        self._sum(index, [scaled.begin[source], *scaled.send_fixed[link], *scaled.send[link]])

    def _at_worker(self, worker: int, mine: np.ndarray) -> None:
        """A worker computes, and receives, one chunk at a time."""
        scaled, row, source = self.scaled, self._sum, self._source[mine]
        if not len(mine):
            return
        limit = float(scaled.deadline[worker])
        chunks, amount = self._chunks[mine], self._amount[mine]
        first = float(scaled.first[worker])
        fixed = np.full(len(mine), scaled.compute_fixed[worker])
        per_unit = np.full(len(mine), scaled.compute[worker])
        works = int(self._works[worker])
        row([works, *chunks, *amount], [first, *fixed, *per_unit], limit)
        if scaled.one_port:
            link = source, np.full(len(mine), worker)
            begin = float(scaled.begin[source].min() + scaled.compute_fixed[worker])
            begin = begin if first > 0 else 0.0  # else whether it takes part is not said
            costs = [begin, *scaled.send_fixed[link], *scaled.send[link]]
            row([works, *chunks, *amount], costs, limit)

    def _sum(self, index: list[int], value: list[float], limit: float = np.inf) -> None:
        """Add a row: a sum is no more than the end, and than a limit."""
        there = [place for place, variable in enumerate(index) if variable >= 0]
        index, value = [index[place] for place in there], [value[place] for place in there]
        self.programme.row([*index, self._end], [*value, -1.0], high=0.0)
        if np.isfinite(limit):
            self.programme.row(index, value, high=limit)

    def solve(self, control: Control) -> Answer:
        """Return the optimum, with the tangents that it needs where each link has one chunk.

        The first programme is solved whatever the limit is.
        """
        answer = self.programme.solve(Control())
        if not self.once or not self.scaled.one_port:
            return answer
        for _ in range(MAX_TANGENTS // (10 if len(self._source) > MANY_LINKS else 1)):
            if answer.verdict is not Verdict.OPTIMAL or control.expired():
                return answer
            if not self._bent(answer.values):
                return answer
            again = self.programme.solve(control)
            if again.verdict is Verdict.NOTHING:
                return answer
            answer = again
        return answer

    def _bent(self, values: Floats) -> bool:
        """Add the tangent of each source whose sends wait for longer; say whether any does."""
        scaled, end, found = self.scaled, float(values[self._end]), False
        for source in range(len(scaled.begin)):
            mine = np.flatnonzero(self._source == source)
            worker = self._worker[mine]
            send, latency = scaled.send[source, worker], scaled.send_fixed[source, worker]
            x = np.maximum(0.0, values[self._amount[mine]])
            there = self._chunks[mine] >= 0
            number = np.where(there, np.maximum(0.0, values[self._chunks[mine]]), 0.0)
            seconds = latency * number + send * x
            y = float(seconds.sum())
            if y <= 0.0:
                continue
            bent = send * scaled.compute[worker]
            begin = float(scaled.begin[source])
            curved = float((seconds**2 / 2 + bent * x**2).sum()) / y
            least = begin * float(values[self._sends[source]]) + y / 2 + curved
            if least <= end + WITHIN * max(1.0, end):
                continue
            alike = 0.5 - curved / y + seconds / y
            slope = [*(send * alike + 2 * bent * x / y), *(latency * alike)[there]]
            index = [*self._amount[mine], *self._chunks[mine][there], self._sends[source]]
            tangent = [*index, self._end], [*slope, begin, -1.0]
            self._tangents.append(tangent)
            self.programme.row(*tangent, high=0.0)
            found = True
        return found

    def flows(self, answer: Answer) -> tuple[Floats, Floats]:
        """Return what goes over each link, and what each source computes, in units of load.

        Nothing, where numbers are too far apart for the solver to find anything.
        """
        table = np.zeros(self.scaled.linked.shape)
        if not answer.found:
            return table, np.zeros(len(table))
        table[self._source, self._worker] = np.maximum(0.0, answer.values[self._amount])
        own = np.maximum(0.0, answer.values[self._own])
        return table * self.scaled.unit, own * self.scaled.unit
