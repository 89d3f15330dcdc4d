"""The mixed-integer programme of one round: who is served in which slot, with how much.

Benoit 2016, "Mixed linear program for DL with latencies", made linear without big-M (corrected,
constraint 8 is bilinear): ``x[k,j]`` says that slot k serves worker j, and the amount ``a[k,j]``
is at most a cap times ``x[k,j]``. Slots are filled from the first. The sends up to slot k end at

    s[k] = s[k-1] + sum_j (C_j x[k,j] + c_j a[k,j]),

so that the programme has O(n^2) entries, and the plan ends no earlier, for every k, than

    s[k] + sum_j (W_j x[k,j] + w_j a[k,j]).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from makespan.backends.answer import Answer
from makespan.backends.highs import Programme, beside, memory_of
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad


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
    sent: Integers
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


def build(
    problem: DivisibleLoad, *, second: float, unit: float, relaxed: bool = False
) -> SlotProgramme:
    """Build the programme of a one-round, one-port problem with a given master and without returns.

    Memory, windows, budget, a fixed order, whole units and ``use="all"`` are constraints of it. So
    many seconds and units of load count as 1 in the programme. ``relaxed``: choices may be
    fractions.
    """
    count = len(problem.star)
    pairs = count**2 if problem.order is None else count
    claim(memory_of(2 * pairs, 14 * pairs), f"the mixed-integer programme of {count:,} workers")
    if problem.order is None:
        slot, worker = (axis.ravel() for axis in np.indices((count, count)))
    else:
        slot, worker = np.arange(count), problem.workers_in(problem.order)
    cap = _caps(problem)
    programme = Programme()

    def choices(count: int) -> Integers:
        return programme.variables(count, upper=1.0, integer=not relaxed)

    def amounts(most: ArrayLike, count: int) -> Integers:
        cost = -1.0 if problem.load is None else 0.0
        whole = problem.integral and not relaxed
        return programme.variables(count, cost=cost, upper=np.divide(most, unit), integer=whole)

    computes = int(problem.master_computes)
    limit = problem.latest / second
    built = SlotProgramme(
        problem=problem,
        programme=programme,
        slot=slot,
        worker=worker,
        used=choices(len(slot)),
        amount=amounts(cap[worker], len(slot)),
        own_used=choices(computes),
        own_amount=amounts(_own_cap(problem), computes),
        sent=programme.variables(count),
        end=programme.variables(1, cost=0.0 if problem.load is None else 1.0, upper=limit),
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
    own = _own_cap(problem) if problem.master_computes else 0.0
    return bool(np.isinf(_caps(problem)).any() or np.isinf(own))


def _caps(problem: DivisibleLoad) -> Floats:
    """Return the most that each worker could get, units."""
    star = problem.star
    if problem.load is not None:
        return np.minimum(star.memory, problem.load)
    per_unit = star.send_per_unit + star.compute_per_unit
    left = np.maximum(0.0, problem.latest - star.send_fixed - star.compute_fixed)
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(left > 0, left / per_unit, 0.0)
    return np.minimum(star.memory, alone)


def _own_cap(problem: DivisibleLoad) -> float:
    if problem.load is not None:
        return problem.load
    cost = problem.star.master_cost
    left = max(0.0, problem.latest - cost.fixed)
    return left / cost.per_unit if cost.per_unit > 0 else np.inf


def _amounts(built: SlotProgramme, cap: Floats) -> None:
    """All load is placed, and only where a choice was made."""
    problem, rows = built.problem, built.programme.rows
    if problem.load is not None:
        everything = np.concatenate([built.amount, built.own_amount])
        total = problem.load / built.unit
        rows(everything[np.newaxis], 1.0, low=total, high=total)
    rows(beside(built.amount, built.used), beside(1.0, -cap[built.worker] / built.unit), high=0.0)
    rows(beside(built.own_amount, built.own_used), [1.0, -_own_cap(problem) / built.unit], high=0.0)


def _slots(built: SlotProgramme) -> None:
    """A worker has one slot at most, a slot one worker; slots are filled from the first."""
    rows, by_slot = built.programme.rows, _by_slot(built, built.used)
    everyone = built.problem.use == "all"
    if built.problem.order is not None:
        mine = built.used[np.argsort(built.worker)]
        rows(mine[:, np.newaxis], 1.0, low=1.0 if everyone else 0.0, high=1.0)
        return
    rows(by_slot.T, 1.0, low=1.0 if everyone else 0.0, high=1.0)
    rows(by_slot, 1.0, high=1.0)
    rows(np.hstack([by_slot[1:], by_slot[:-1]]), np.repeat([1.0, -1.0], by_slot.shape[1]), high=0.0)


def _ends(built: SlotProgramme) -> None:
    """The plan ends after every slot's chunk was sent and computed, and after the master."""
    rows, scale = built.programme.rows, built.unit / built.second
    star, sent = built.problem.star, built.sent
    used, amount = _by_slot(built, built.used), _by_slot(built, built.amount)
    worker = _by_slot(built, built.worker)
    before = np.concatenate([[-1], sent[:-1]])[: len(sent)]
    fixed, per_unit = star.send_fixed[worker] / built.second, star.send_per_unit[worker] * scale
    rows(
        np.hstack([beside(sent, before), used, amount]),
        np.hstack([np.tile([1.0, -1.0], (len(sent), 1)), -fixed, -per_unit]),
        low=0.0,
        high=0.0,
    )
    indices, values = _finishes(built)
    rows(_with(indices, built.end), _with(values, -1.0), high=0.0)
    own = star.master_cost
    mine = beside(built.own_used, built.own_amount)
    rows(_with(mine, built.end), [own.fixed / built.second, own.per_unit * scale, -1.0], high=0.0)


def _finishes(built: SlotProgramme) -> tuple[Integers, Floats]:
    """Return the terms of the time at which the chunk of each slot is computed."""
    star, scale = built.problem.star, built.unit / built.second
    worker = _by_slot(built, built.worker)
    used, amount = _by_slot(built, built.used), _by_slot(built, built.amount)
    fixed = star.compute_fixed[worker] / built.second
    return (
        np.hstack([built.sent[:, np.newaxis], used, amount]),
        np.hstack([np.ones((len(worker), 1)), fixed, star.compute_per_unit[worker] * scale]),
    )


def _by_slot(built: SlotProgramme, column: Integers) -> Integers:
    """Return what belongs to each slot, a row for each."""
    count = len(built.problem.star)
    return column.reshape(count, 1 if built.problem.order is not None else count)


def _with(table: Any, last: ArrayLike) -> Any:
    """Return the table with one more column, the same in all rows."""
    return np.hstack([table, np.broadcast_to(np.asarray(last), (len(table), 1))])


def _windows(built: SlotProgramme) -> None:
    """Computations start after the release and end by the deadline of their worker."""
    star, rows, scale = built.problem.star, built.programme.rows, built.unit / built.second
    limited = np.flatnonzero((star.release > 0) | np.isfinite(star.deadline))
    if not len(limited):
        return
    place = np.argsort(built.worker, kind="stable").reshape(_by_slot(built, built.used).shape)
    place = place[limited]
    used, amount = built.used[place], built.amount[place]
    begin = (star.release + star.compute_fixed)[limited, np.newaxis] / built.second
    begins = np.broadcast_to(begin, used.shape)
    per_units = np.broadcast_to(star.compute_per_unit[limited, np.newaxis] * scale, used.shape)
    indices = np.hstack([used, amount])
    rows(_with(indices, built.end), _with(np.hstack([begins, per_units]), -1.0), high=0.0)
    ends = np.isfinite(star.deadline[limited])
    if not ends.any():
        return
    limit = (star.deadline[limited] / built.second)[ends, np.newaxis]
    rows(indices[ends], np.hstack([begins[ends] - limit, per_units[ends]]), high=0.0)
    late = _latest(built.problem) / built.second
    indices, values = _finishes(built)
    worker = _by_slot(built, built.worker)
    slack = late - np.minimum(star.deadline[worker] / built.second, late)
    values[:, 1 : 1 + worker.shape[1]] += slack
    rows(indices, values, high=late)


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
    built.programme.rows(
        np.concatenate([built.used, built.amount])[np.newaxis],
        np.concatenate([fixed, star.price_per_unit[built.worker] * built.unit]),
        high=problem.budget,
    )
