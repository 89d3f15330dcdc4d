"""The mixed-integer programme of one round: who is served in which slot, with how much.

Paper 002, "Mixed linear program for DL with latencies", made linear without big-M (corrected,
constraint 8 is bilinear): ``x[k,j]`` says that slot k serves worker j, and the amount ``a[k,j]``
is at most a cap times ``x[k,j]``. Slots are filled from the first. The end of the plan is at
least, for every slot k,

    sum_{l<k,j} (C_j x[l,j] + c_j a[l,j]) + sum_j ((C_j + W_j) x[k,j] + (c_j + w_j) a[k,j]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.backends.highs import Answer, Programme
from makespan.core.control import Control
from makespan.core.schedule import Floats, Integers
from makespan.divisible.linear import problem_master_computes
from makespan.divisible.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import master_cost


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlotProgramme:
    """A built programme and where its variables are.

    ``slot`` and ``worker`` say what each pair of variables (``used``, ``amount``) stands for;
    times are in units of ``second``, amounts in units of ``unit``.
    """

    problem: DivisibleLoad
    programme: Programme
    slot: Integers
    worker: Integers
    used: Integers
    amount: Integers
    own_used: Integers
    own_amount: Integers
    end: Integers
    second: float
    unit: float

    def plan(self, answer: Answer) -> Plan:
        """Return the plan of a solution of the programme: who is served, in the order of slots."""
        values = answer.values
        chosen = np.flatnonzero(values[self.used] > 0.5)
        chosen = chosen[np.argsort(self.slot[chosen], kind="stable")]
        amounts = np.maximum(values[self.amount[chosen]], 0.0) * self.unit
        own = float(values[self.own_amount].sum()) * self.unit
        return Plan.of(self.worker[chosen], amounts, master=max(own, 0.0))

    def with_choices(self, answer: Answer, control: Control) -> Answer:
        """Solve the amounts once more for the choices of ``answer``, to the accuracy of an LP."""
        values = np.rint(answer.values)
        fixed = build(
            self.problem,
            second=self.second,
            unit=self.unit,
            used=values[self.used],
            own_used=values[self.own_used],
        )
        return fixed.programme.solve(control)


def build(
    problem: DivisibleLoad,
    *,
    second: float,
    unit: float,
    relaxed: bool = False,
    used: Floats | None = None,
    own_used: Floats | None = None,
) -> SlotProgramme:
    """Build the programme of a one-round, one-port problem without returns.

    Parameters
    ----------
    problem
        With a given master; memory, release times, deadlines, budget, a fixed order, whole units
        and ``use="all"`` are constraints of the programme.
    second, unit
        Seconds and units of load that count as 1 in the programme.
    relaxed
        Whether the choices may be fractions.
    used, own_used
        Values to fix the choices at.
    """
    star = problem.star
    count = len(star)
    if problem.order is None:
        slot, worker = (axis.ravel() for axis in np.indices((count, count)))
    else:
        slot, worker = np.arange(count), problem.workers_in(problem.order)
    cap = _caps(problem)
    programme = Programme()
    integer = not relaxed and used is None
    x = programme.variables(
        len(slot),
        upper=1.0 if used is None else used,
        lower=0.0 if used is None else used,
        integer=integer,
    )
    weigh = -1.0 if problem.load is None else 0.0
    a = programme.variables(
        len(slot),
        cost=weigh,
        upper=cap[worker] / unit,
        integer=problem.integral and not relaxed,
    )
    computes = int(problem_master_computes(problem))
    y = programme.variables(
        computes,
        upper=1.0 if own_used is None else own_used,
        lower=0.0 if own_used is None else own_used,
        integer=integer,
    )
    b = programme.variables(
        computes,
        cost=weigh,
        upper=_own_cap(problem) / unit,
        integer=problem.integral and not relaxed,
    )
    limit = np.inf if problem.deadline is None else problem.deadline / second
    end = programme.variables(1, cost=0.0 if problem.load is None else 1.0, upper=limit)
    built = SlotProgramme(
        problem=problem,
        programme=programme,
        slot=slot,
        worker=worker,
        used=x,
        amount=a,
        own_used=y,
        own_amount=b,
        end=end,
        second=second,
        unit=unit,
    )
    _amounts(built, cap)
    _slots(built)
    _ends(built)
    _windows(built)
    _prices(built)
    return built


def is_unbounded(problem: DivisibleLoad) -> bool:
    """Whether some machine could do any load by the deadline."""
    own = _own_cap(problem) if problem_master_computes(problem) else 0.0
    return bool(np.isinf(_caps(problem)).any() or np.isinf(own))


def _caps(problem: DivisibleLoad) -> Floats:
    """Return the most that each worker could get, units."""
    star = problem.star
    if problem.load is not None:
        return np.minimum(star.memory, problem.load)
    assert problem.deadline is not None
    per_unit = star.send_per_unit + star.compute_per_unit
    left = np.maximum(0.0, problem.deadline - star.send_fixed - star.compute_fixed)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(left > 0, left / per_unit, 0.0)
    return np.minimum(star.memory, alone)


def _own_cap(problem: DivisibleLoad) -> float:
    if problem.load is not None:
        return problem.load
    cost = master_cost(problem.star)
    assert problem.deadline is not None
    left = max(0.0, problem.deadline - cost.fixed)
    return left / cost.per_unit if cost.per_unit > 0 else np.inf


def _amounts(built: SlotProgramme, cap: Floats) -> None:
    """All load is placed, and only where a choice was made."""
    problem, row = built.problem, built.programme.row
    if problem.load is not None:
        everything = np.concatenate([built.amount, built.own_amount])
        total = problem.load / built.unit
        row(everything, np.ones(len(everything)), low=total, high=total)
    for x, a, worker in zip(built.used, built.amount, built.worker, strict=True):
        row([a, x], [1.0, -cap[worker] / built.unit], high=0.0)
    for y, b in zip(built.own_used, built.own_amount, strict=True):
        row([b, y], [1.0, -_own_cap(problem) / built.unit], high=0.0)


def _slots(built: SlotProgramme) -> None:
    """A worker has one slot at most, a slot one worker; slots are filled from the first."""
    row, x = built.programme.row, built.used
    everyone = built.problem.use == "all"
    count = len(built.problem.star)
    for worker in range(count):
        mine = x[built.worker == worker]
        row(mine, 1.0, low=1.0 if everyone else 0.0, high=1.0)
    if built.problem.order is not None:
        return
    for slot in range(count):
        here = x[built.slot == slot]
        row(here, 1.0, high=1.0)
        if slot:
            before = x[built.slot == slot - 1]
            signs = np.concatenate([np.ones(len(here)), -np.ones(len(before))])
            row(np.concatenate([here, before]), signs, high=0.0)


def _ends(built: SlotProgramme) -> None:
    """The plan ends after every slot's chunk was sent and computed, and after the master."""
    row, scale = built.programme.row, built.unit / built.second
    star = built.problem.star
    for slot in range(len(star)):
        indices, values = _finish_of(built, slot)
        row(np.concatenate([indices, built.end]), np.concatenate([values, [-1.0]]), high=0.0)
    own = master_cost(star)
    for y, b in zip(built.own_used, built.own_amount, strict=True):
        row([y, b, *built.end], [own.fixed / built.second, own.per_unit * scale, -1.0], high=0.0)


def _finish_of(built: SlotProgramme, slot: int) -> tuple[Integers, Floats]:
    """Return the terms of the time at which the chunk of a slot is computed."""
    star, scale = built.problem.star, built.unit / built.second
    until = built.slot <= slot
    here = (built.slot == slot)[until]
    worker = built.worker[until]
    fixed = star.send_fixed[worker] + here * star.compute_fixed[worker]
    per_unit = star.send_per_unit[worker] + here * star.compute_per_unit[worker]
    return (
        np.concatenate([built.used[until], built.amount[until]]),
        np.concatenate([fixed / built.second, per_unit * scale]),
    )


def _windows(built: SlotProgramme) -> None:
    """Computations start after the release and end by the deadline of their worker."""
    star, row, scale = built.problem.star, built.programme.row, built.unit / built.second
    late = _latest(built.problem) / built.second
    for worker in np.flatnonzero((star.release > 0) | np.isfinite(star.deadline)).tolist():
        mine = built.worker == worker
        x, a = built.used[mine], built.amount[mine]
        begin = float(star.release[worker] + star.compute_fixed[worker]) / built.second
        per_unit = float(star.compute_per_unit[worker]) * scale
        indices = np.concatenate([x, a])
        values = np.concatenate([np.full(len(x), begin), np.full(len(a), per_unit)])
        row(np.concatenate([indices, built.end]), np.concatenate([values, [-1.0]]), high=0.0)
        limit = float(star.deadline[worker]) / built.second
        if np.isfinite(limit):
            values[: len(x)] -= limit
            row(indices, values, high=0.0)
    if not np.isfinite(star.deadline).any():
        return
    for slot in range(len(star)):
        indices, values = _finish_of(built, slot)
        here = np.flatnonzero(built.slot == slot)
        slack = late - np.minimum(star.deadline[built.worker[here]] / built.second, late)
        row(
            np.concatenate([indices, built.used[here]]),
            np.concatenate([values, slack]),
            high=late,
        )


def _latest(problem: DivisibleLoad) -> float:
    """Return a time by which any plan that only waits for transfers and releases has ended."""
    star = problem.star
    load = np.minimum(_caps(problem), problem.load if problem.load is not None else np.inf)
    busy = star.send_fixed + star.compute_fixed
    busy = busy + (star.send_per_unit + star.compute_per_unit) * load
    return float(busy.sum() + star.release.max(initial=0.0))


def _prices(built: SlotProgramme) -> None:
    """The prices of the workers that take part stay within the budget."""
    problem = built.problem
    if problem.budget is None:
        return
    star = problem.star
    fixed = star.price_fixed[built.worker]
    per_unit = star.price_per_unit[built.worker] * built.unit
    built.programme.row(
        np.concatenate([built.used, built.amount]),
        np.concatenate([fixed, per_unit]),
        high=problem.budget,
    )
