"""The order-aware optimum by branch and bound in reversed time."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.binding import bind
from makespan.core.registry import Need
from makespan.core.schedule import Schedule
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.reduction import needs
from makespan.reduction.bounds import best_bound
from makespan.reduction.exact import Unbuilt
from makespan.reduction.exact.cp_sat_broadcast import BroadcastModel
from makespan.reduction.halves import planner
from makespan.reduction.halves.rarest_first import rarest_first
from makespan.reduction.halves.trees import given_plan
from makespan.reduction.heuristics.symmetry import broadcast_of, schedule_from_copies
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import sends_in

EXACT_PRESOLVE = 2**30  # see makespan.backends.cp_sat.search
FIRST_STEPS = 100
SLICE_SECONDS = 0.1
TABLE = 1 << 22
MAX_SENDS = 200
MAX_UNITS = 10**7


def _too_fine(problem: Reduction) -> str | None:
    if problem.times is None or problem.unit is None:
        return None
    if problem.times.transfer <= 0:
        return "transfer is 0"
    units = best_bound(problem) / float(problem.unit)
    return f"the bound is {units:.0f} units" if units > MAX_UNITS else None


@planner(
    name="branch-and-bound",
    needs=(
        needs.ONE_WAY,
        *needs.FREE_PLAN,
        needs.SAME_TIMES,
        needs.COMMON_UNIT,
        needs.at_most(MAX_SENDS, "sends", sends_in),
        Need("a positive transfer time, few units", _too_fine),
    ),
    proves="exhaustion of semi-active schedules for every end below the optimum",
    complexity="exponential; states are recognised up to renaming machines and segments",
    source="time reversal, copies in the order of their starts, transposition table",
)
def branch_and_bound(problem: Reduction, control: Control) -> Solution:
    """Ask whether the lower bound can be met, then one unit more, until the answer is yes."""
    start = control.incumbent
    if start is None or start.schedule is None:
        start = rarest_first(problem, control)
    schedule = start.schedule
    if len(problem.machines) == 1 or schedule is None:
        return Solution(schedule=schedule, optimal=len(problem.machines) == 1)
    # another exact method waits behind this one in a line-up
    share = control.remaining if control.incumbent is None else (control.remaining or 20.0) / 2
    with control.limited(share):
        return _rising(problem, control, start)


def _rising(problem: Reduction, control: Control, start: Solution) -> Solution:
    """Raise the end from the lower bound until it can be met."""
    schedule, unit = start.schedule, problem.unit
    assert schedule is not None
    assert unit is not None
    most = round(schedule.makespan / float(unit))
    end = max(in_units(best_bound(problem), unit), in_units(start.lower_bound or 0.0, unit))
    if control.expired():
        return Solution(schedule=schedule, lower_bound=float(end * unit), stopped=True)
    search = _Search(problem, most)
    while end < most:
        answer = search.can_end_by(end, control)
        if answer is None:
            return Solution(schedule=schedule, lower_bound=float(end * unit), stopped=True)
        if answer:
            found = schedule_from_copies(problem, search.copies())
            return Solution(schedule=found, optimal=True)
        end += 1
        control.report(schedule.makespan, float(end * unit))
    return Solution(schedule=schedule, optimal=True)


def in_units(seconds: float, unit: Any) -> int:
    """Return a lower bound in whole units, rounded up."""
    return math.ceil(round(seconds / float(unit), 6))


class _Search:
    """The state of the search; see :func:`~makespan.reduction.exact.branching.decide`."""

    def __init__(self, problem: Reduction, most: int) -> None:
        from makespan.reduction.exact.branching import growth_table

        costs = broadcast_of(problem)
        size = int(costs.size[0])
        self.machines, self.segments = len(problem.machines), len(costs.size)
        self.latency = int(costs.latency[0, 0])
        self.transfer = int(costs.transfer[0, 0]) * size
        self.prepare = int(costs.reduce[0]) * size
        self.levels = (self.machines - 1) * self.segments
        each = self.machines**2 * self.segments + 1
        claim(40 * each * (self.levels + 1), f"the choices of {self.levels} copies in a row")
        table: Any = growth_table
        period, length = max(self.transfer, self.prepare), self.latency + self.transfer
        self.growth = table(most, length, period, self.prepare)
        self.steps = FIRST_STEPS
        self.known = np.full(TABLE, -1, dtype=np.int64)
        self.rooms = np.zeros(TABLE, dtype=np.int64)

    def can_end_by(self, end: int, control: Control) -> bool | None:
        """Whether all copies can arrive by ``end``; None when time is up."""
        from makespan.reduction.exact.branching import FOUND, IMPOSSIBLE, decide

        machines, segments, levels = self.machines, self.segments, self.levels
        hold = np.full((levels + 1, machines, segments), -1, dtype=np.int64)
        hold[0, 0] = 0
        unit, out_port, in_port = (
            np.zeros((levels + 1, machines), dtype=np.int64) for _ in range(3)
        )
        now, keys = (np.zeros(levels + 1, dtype=np.int64) for _ in range(2))
        cursor = np.full(levels + 1, -1, dtype=np.int64)
        choices = np.zeros((levels + 1, machines * machines * segments + 1, 5), dtype=np.int64)
        state = {"hold": hold, "unit": unit, "out_port": out_port, "in_port": in_port, "now": now}
        decided = bind(
            decide, deadline=end, latency=self.latency, transfer=self.transfer,
            prepare=self.prepare, growth=self.growth, **state, cursor=cursor, choices=choices,
            keys=keys, known=self.known, rooms=self.rooms,
        )  # fmt: skip
        depth = 0
        while True:
            began = time.perf_counter()
            code, depth = decided(depth=depth, steps=self.steps)
            if code == FOUND:
                self._path = choices[np.arange(levels), cursor[:levels] - 1]
                return True
            if code == IMPOSSIBLE:
                return False
            if control.expired():
                return None
            longer = time.perf_counter() - began < SLICE_SECONDS / 2
            self.steps = 2 * self.steps if longer else max(FIRST_STEPS, self.steps // 2)

    def copies(self) -> Any:
        """Return the copies of the broadcast found, in the order of their starts."""
        return self._path[:, [2, 4, 3]]


def copies_by_cp_sat(problem: Reduction, control: Control) -> Solution:
    """Choose who copies what when; start from the best plan known, or a given one."""
    if len(problem.machines) == 1 or not problem.statement.copied[1].any():
        return Solution(schedule=Schedule.of_rows(problem.machines, []), optimal=True)

    def first() -> Solution:
        if problem.destinations is None and problem.sequences is None:
            return rarest_first(problem, control, restarts=20, rebuilds=0)
        return given_plan(problem, control)

    return best_by_cp_sat(problem, control, BroadcastModel, first)


def best_by_cp_sat(
    problem: Reduction, control: Control, build: Any, first: Callable[[], Solution]
) -> Solution:
    """Search with a model from the best plan known, or the ``first`` one, for a better one."""
    from makespan.backends.cp_sat import search

    incumbent = control.incumbent.schedule if control.incumbent else None
    if incumbent is None:
        start = first()
        if start.infeasible is not None:
            return start
        incumbent = start.schedule
    assert incumbent is not None
    unit, least = float(problem.unit or 1), best_bound(problem)
    solution = Solution(schedule=incumbent)
    for in_order_of_arrival in (False, True):
        try:
            model = build(problem, control, incumbent, least, in_order_of_arrival)
        except Unbuilt:
            return replace(solution, optimal=False, stopped=True)
        found = search(
            model.model,
            control,
            in_seconds=lambda value: value * unit,
            presolve=model.most < EXACT_PRESOLVE,
            settings=model.settings,
        )
        bound = None if found.bound is None else _in_seconds(problem, found.bound)
        if not found.solved:
            return replace(solution, lower_bound=bound or solution.lower_bound, stopped=True)
        schedule = model.schedule(found.value)
        assert found.objective is not None
        reached = schedule.makespan <= _in_seconds(problem, round(found.objective)) * (1 + 1e-12)
        if schedule.makespan < incumbent.makespan:
            incumbent = schedule
        solution = Solution(
            schedule=incumbent,
            lower_bound=bound,
            optimal=found.outcome == "optimal" and reached,
            stopped=found.stopped,
        )
        if reached or control.expired():
            break
    return solution


def _in_seconds(problem: Reduction, units: int) -> float:
    assert problem.unit is not None
    return float(units * problem.unit)
