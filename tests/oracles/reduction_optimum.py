"""The optimum of a reduction, broadcast or all-reduce by one plain model for CP-SAT.

Written from the rules of the referee. Parts travel up to the home of their segment, where it is
complete, and copies down from there. Of a broadcast only the second half is there, of a reduction
only the first; the root is the home of both. Times are whole numbers.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from makespan import Reduction

UP, DOWN = 0, 1


class Found(NamedTuple):
    """The least makespan that was found, and a proof of how small it can be; equal if optimal."""

    makespan: int
    bound: int


def optimum(
    problem: Reduction, most: float, *, least: float = 0, seconds: float = 60.0, seed: int = 0
) -> Found:
    """Return the optimum of a problem of whole times, of which ``most`` is some plan's makespan.

    ``least`` is a bound that the caller knows for sure (0 where bounds are what is tested).
    """
    build = _Plain(problem, int(np.ceil(most)), int(np.ceil(least)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(build.model)
    if status == cp_model.INFEASIBLE:
        raise AssertionError("no plan ends between what is known to be least and most")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Found(int(np.ceil(most)), max(0, int(np.ceil(solver.best_objective_bound - 1e-6))))
    bound = int(np.ceil(solver.best_objective_bound - 1e-6))
    return Found(round(solver.objective_value), bound)


class _Plain:
    """Optional intervals of all sends on all ports, units and shared links."""

    def __init__(self, problem: Reduction, most: int, least: int) -> None:
        self.problem, self.most = problem, most
        self.model = model = cp_model.CpModel()
        count, segments = len(problem.machines), problem.items
        everyone = range(count)
        halves = {"reduce": (UP,), "broadcast": (DOWN,)}.get(problem.collective, (UP, DOWN))
        links = problem.links if problem.links is not None else ~np.eye(count, dtype=bool)
        self.held: Any = defaultdict(list)
        parts: Any = defaultdict(list)
        end = model.new_int_var(least, most, "")
        for k in range(segments):
            home = [model.new_bool_var("") for _ in everyone]
            if halves == (UP, DOWN):
                model.add_exactly_one(home)
            else:
                model.add(home[0] == 1)
                model.add(sum(home[1:]) == 0)
            # when a machine has combined all that it gets, and when it has the whole segment
            ready, whole = ([model.new_int_var(0, most, "") for _ in everyone] for _ in range(2))
            for i in everyone:
                model.add(whole[i] == (ready[i] if UP in halves else 0)).only_enforce_if(home[i])
                model.add(end >= (whole[i] if DOWN in halves else ready[i]))
            for half in halves:
                for i in everyone:
                    ways = [home[i]]
                    for j in everyone:
                        giver, taker = (i, j) if half == UP else (j, i)
                        if i == j or not links[giver, taker]:
                            continue
                        chosen = model.new_bool_var("")
                        ways.append(chosen)
                        start = model.new_int_var(0, most, "")
                        arrived = self._send(giver, taker, k, start, chosen)
                        if half == DOWN:
                            model.add(start >= whole[giver]).only_enforce_if(chosen)
                            model.add(whole[taker] == arrived).only_enforce_if(chosen)
                            continue
                        model.add(start >= ready[giver]).only_enforce_if(chosen)
                        done, work = model.new_int_var(0, most, ""), self._work(taker, k)
                        model.add(done >= arrived + work).only_enforce_if(chosen)
                        model.add(ready[taker] >= done).only_enforce_if(chosen)
                        unit = self._port(giver, taker, 1)
                        self._hold("unit", unit, done - work, work, chosen)
                        begins = start + self._latency(giver, taker)
                        parts[unit].append((chosen, begins, done - work, done))
                    model.add_exactly_one(ways)
        for intervals in self.held.values():
            model.add_no_overlap(intervals)
        if problem.reduces.any():
            for each in parts.values():
                for one, two in combinations(each, 2):
                    self._in_order_of_arrival(one, two)
        model.minimize(end)

    def _whole(self, value: float) -> int:
        assert abs(value - round(value)) < 1e-9, "whole times only"
        return round(float(value))

    def _latency(self, giver: int, taker: int) -> int:
        return self._whole(self.problem.latencies[giver, taker])

    def _work(self, taker: int, k: int) -> int:
        return self._whole(self.problem.reduces[taker] * self.problem.sizes[k])

    def _port(self, giver: int, taker: int, end: int) -> int:
        ports = self.problem.ports
        if ports is None:
            return (giver, taker)[end]
        return int((ports.sending, ports.receiving)[end][giver, taker])

    def _send(self, giver: int, taker: int, k: int, start: Any, chosen: Any) -> Any:
        """Add what a send holds; return when it has arrived."""
        problem = self.problem
        lasts = self._whole(problem.transfers[giver, taker] * problem.sizes[k])
        latency = self._latency(giver, taker)
        self._hold("send", self._port(giver, taker, 0), start, lasts, chosen)
        self._hold("take", self._port(giver, taker, 1), start + latency, lasts, chosen)
        if problem.shared is not None:
            ways = problem.shared
            shared, ahead = ways.shared[giver, taker], ways.ahead[giver, taker]
            for link, before in zip(shared.tolist(), ahead.tolist(), strict=True):
                if link >= 0:
                    self._hold("link", link, start + self._whole(before), lasts, chosen)
        return start + latency + lasts

    def _hold(self, kind: str, place: int, start: Any, lasts: int, chosen: Any) -> None:
        interval = self.model.new_optional_fixed_size_interval_var(start, lasts, chosen, "")
        self.held[kind, place].append(interval)

    def _in_order_of_arrival(self, one: Any, two: Any) -> None:
        """Of two parts that a unit combines, the one that begins to arrive first is first."""
        first = self.model.new_bool_var("")
        for (a, arrives, _, done), (b, after, begins, _), way in (
            (one, two, first),
            (two, one, first.negated()),
        ):
            self.model.add(arrives <= after).only_enforce_if(a, b, way)
            self.model.add(done <= begins).only_enforce_if(a, b, way)
