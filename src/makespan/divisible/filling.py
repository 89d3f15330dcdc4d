"""How much workers do by a given time when each in turn takes all that it can."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.jit import kernel
from makespan.divisible.linear import problem_master_computes
from makespan.divisible.platform import NUMBERS
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import master_cost

COMPILE_FROM = 300  # workers


def walk(  # type: ignore[no-untyped-def]
    end, load, budget, whole, everyone, after, amount,
    send_fixed, send, compute_fixed, compute, back_fixed, back,
    memory, release, deadline, price_fixed, price,
):  # fmt: skip
    """Let each worker in turn take what it can do by ``end``, at most ``load`` in all.

    All is sent first; results return in the reverse order, at the end. So worker j, after sends
    that last until ``port`` and before returns that last ``held``, does the x for which

        port + C + c x + W + w x + D + d x + held <= end

    and which its memory, its window and the budget allow. It is left out where the workers behind
    it, who do ``after`` units a second, would do more in the time that it takes from the port.
    Fills in ``amount``, -1 for those who take no part; returns the load done, -1 where not
    ``everyone`` could take part.
    """
    port, held, done, left = 0.0, 0.0, 0.0, budget
    for j in range(len(send)):
        amount[j] = -1.0
        fixed = send_fixed[j] + compute_fixed[j] + back_fixed[j]
        per_unit = send[j] + compute[j] + back[j]
        room = end - port - held - fixed
        late = end - held - release[j] - compute_fixed[j] - back_fixed[j]
        due = deadline[j] - port - send_fixed[j] - compute_fixed[j]
        open_ = deadline[j] - release[j] - compute_fixed[j]
        paid = left - price_fixed[j]
        x = -1.0
        if min(room, late, due, open_) >= 0.0 and paid >= 0.0:
            x = min(memory[j], load - done)
            if per_unit * x > room:
                x = room / per_unit
            if (compute[j] + back[j]) * x > late:
                x = late / (compute[j] + back[j])
            if (send[j] + compute[j]) * x > due:
                x = due / (send[j] + compute[j])
            if compute[j] * x > open_:
                x = open_ / compute[j]
            if price[j] * x > paid:
                x = paid / price[j]
            if whole:
                x = np.floor(x + 1e-9)
        if x < 0.0 and everyone:
            return -1.0
        taken = send_fixed[j] + back_fixed[j] + (send[j] + back[j]) * x
        if not everyone and (x <= 0.0 or x < after[j] * taken):
            continue
        amount[j] = x
        done += x
        port += send_fixed[j] + send[j] * x
        held += back_fixed[j] + back[j] * x
        left -= price_fixed[j] + price[j] * x
    return done


@cache
def _compiled() -> Any:
    return kernel(walk)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filling:
    """A walk over the workers in one order.

    ``after`` says how many units a second the workers behind each one do, by which workers with
    fixed costs are left out; 0: nobody is.
    """

    problem: DivisibleLoad
    order: Integers
    after: Floats
    columns: tuple[Floats, ...]

    @classmethod
    def of(cls, problem: DivisibleLoad, order: Integers) -> Filling:
        """Return the walk in an order that leaves nobody out."""
        same: dict[float, Floats] = {}
        columns = tuple(_taken(getattr(problem.star, name), order, same) for name in NUMBERS)
        return cls(problem=problem, order=order, after=np.zeros(len(order)), columns=columns)

    def choosy(self) -> Filling:
        """Return the same walk, but one that leaves out workers that are not worth it."""
        after = _rates_after(self.columns[1] + self.columns[5], self.columns[3])
        return replace(self, after=after)

    def load_by(self, end: float) -> tuple[float, Floats, float]:
        """Return the load done by ``end``, what each worker does of it (-1: it takes no part), and
        what the master does.
        """
        problem = self.problem
        load = np.inf if problem.load is None else problem.load
        own = self._own(end, load)
        amount = np.empty(len(self.order))
        run: Any = _compiled() if len(amount) >= COMPILE_FROM else walk
        budget = np.inf if problem.budget is None else float(problem.budget)
        everyone = problem.use == "all"
        with np.errstate(all="ignore"):
            done = run(
                end, load - own, budget, problem.integral, everyone, self.after, amount,
                *self.columns,
            )  # fmt: skip
        return (float(done) + own if done >= 0.0 else -1.0), amount, own

    def _own(self, end: float, load: float) -> float:
        """Return what the master computes by ``end``."""
        if not problem_master_computes(self.problem):
            return 0.0
        cost = master_cost(self.problem.star)
        if end <= cost.fixed:
            return 0.0
        own = (end - cost.fixed) / cost.per_unit if cost.per_unit > 0 else np.inf
        return min(load, float(np.floor(own)) if self.problem.integral else own)


def _taken(column: Floats, order: Integers, same: dict[float, Floats]) -> Floats:
    """Return a column in an order; columns of the ``same`` number throughout are one array."""
    if len(column) and bool((column == column[0]).all()):
        value = float(column[0])
        if value not in same:
            same[value] = np.full(len(order), value)
        return same[value]
    taken: Floats = column[order]
    return taken


def _rates_after(send: Floats, compute: Floats) -> Floats:
    """Return the units a second that the workers behind each one do without fixed costs."""
    total = send + compute
    with np.errstate(divide="ignore", invalid="ignore"):
        keep = np.where(total > 0, compute / total, 0.0)
        gain = np.where(total > 0, 1.0 / total, 0.0)
    run: Any = _compiled_backwards() if len(send) >= COMPILE_FROM else _backwards
    rates = np.zeros(len(send))
    run(keep, gain, rates)
    return rates


def _backwards(keep, gain, rates):  # type: ignore[no-untyped-def]
    """Fill in r[j - 1] = max(r[j], g[j] + k[j] r[j]) from the last worker to the first."""
    for j in range(len(keep) - 1, 0, -1):
        rates[j - 1] = max(rates[j], gain[j] + keep[j] * rates[j])


@cache
def _compiled_backwards() -> Any:
    return kernel(_backwards)
