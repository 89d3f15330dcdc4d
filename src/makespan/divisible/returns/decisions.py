"""One round with returns: what a plan decides, and what its workers cost.

With one port and room for everything that arrives it loses nothing to send all chunks first and
return all results last: sends can be moved before the returns that precede them, and returns
behind. So a plan is a set of workers with an order of sends, an order of returns, and amounts
(errata of Yang and Casanova 2003, section 5). The same holds with two ports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.core.costs import Affine
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.scale import seconds_scale, units_scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Who is sent load and who returns results, each in order, and whether the master computes.

    ``back`` holds the workers of ``send`` that return anything.
    """

    send: tuple[int, ...] = ()
    back: tuple[int, ...] = ()
    own: bool = False

    @property
    def transfers(self) -> Integers:
        """The sends, numbered in their order, then the returns."""
        chunk = {worker: index for index, worker in enumerate(self.send)}
        return sends_then_returns(len(self.send), [chunk[worker] for worker in self.back])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Terms:
    """A one-round problem in numbers near 1: amounts in ``unit``, times in ``second``.

    Parameters
    ----------
    send_fixed, send, compute_fixed, compute, back_fixed, back
        C, c, W, w, D and d of each worker.
    returns
        Whether each worker returns anything.
    memory
        The largest chunk of each worker.
    own
        The master's cost of computing; None if it does not compute.
    ports
        1 or 2.
    everyone
        Whether all workers have to take part.
    load
        The load; None where the most by ``end`` is sought.
    end
        The end of the plan where the load is open, else infinite.
    """

    send_fixed: Floats
    send: Floats
    compute_fixed: Floats
    compute: Floats
    back_fixed: Floats
    back: Floats
    returns: NDArray[np.bool_]
    memory: Floats
    own: Affine | None
    ports: int
    everyone: bool
    load: float | None
    end: float
    second: float
    unit: float

    @classmethod
    def of(cls, problem: DivisibleLoad) -> Terms:
        """Return the terms of a problem whose master is given."""
        star = problem.star
        second, unit = seconds_scale(problem), units_scale(problem)
        rate = unit / second
        cost = star.master_cost
        own = Affine(cost.fixed / second, cost.per_unit * rate)
        assert problem.ports != "many"
        return cls(
            send_fixed=star.send_fixed / second,
            send=star.send_per_unit * rate,
            compute_fixed=star.compute_fixed / second,
            compute=star.compute_per_unit * rate,
            back_fixed=star.return_fixed / second,
            back=star.return_per_unit * rate,
            returns=star.returns,
            memory=star.memory / unit,
            own=own if problem.master_computes else None,
            ports=problem.ports,
            everyone=problem.use == "all",
            load=None if problem.load is None else problem.load / unit,
            end=_end(problem) / second,
            second=second,
            unit=unit,
        )

    def __len__(self) -> int:
        return len(self.send)

    @property
    def start_up(self) -> Floats:
        """C + W + D of each worker."""
        return self.send_fixed + self.compute_fixed + self.back_fixed

    @property
    def total(self) -> Floats:
        """What a unit costs each worker, c + w + d."""
        return self.send + self.compute + self.back

    @property
    def optional(self) -> NDArray[np.bool_]:
        """Whether it makes a difference that a worker is left out, beyond an empty chunk.

        With one port and no fixed costs it makes none: an empty chunk costs nothing, and nothing
        waits for it but the ports, which are busy anyway. With two ports an empty chunk may tie
        a return to a send.
        """
        matters = (self.start_up > 0) if self.ports == 1 else np.full(len(self), True)
        return matters & (not self.everyone)

    def own_choices(self) -> tuple[bool, ...]:
        """Whether the master can take part, or not, or both are to be tried."""
        if self.own is None or self.own.fixed > self.end:
            return (False,)
        return (True, False) if self.own.fixed > 0 and self.load is not None else (True,)

    def most(self, end: float) -> Floats:
        """Return the most that each worker could do alone by ``end``."""
        room = np.maximum(0.0, end - self.start_up)
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = np.where(self.total > 0, room / self.total, np.inf)
        alone[end < self.start_up] = 0.0
        limit = np.inf if self.load is None else self.load
        most: Floats = np.minimum(alone, np.minimum(self.memory, limit))
        return most


def _end(problem: DivisibleLoad) -> float:
    if problem.load is not None:
        return np.inf
    assert problem.deadline is not None
    return problem.deadline


def plan_of(problem: DivisibleLoad, orders: Orders, amount: Floats, own: float) -> Plan:
    """Return the plan with these orders and amounts (units, one entry a worker)."""
    plan = Plan.of(orders.send, amount[list(orders.send)], master=own, transfers=orders.transfers)
    return plan if problem.use == "all" else plan.without_empty()


def orders_of(problem: DivisibleLoad, schedule: Schedule) -> Orders | None:
    """Return the orders of a schedule with one chunk a worker; None if it has another master."""
    if schedule.machines != problem.machines:
        return None
    sends, returns = schedule.rows_of(Activity.SEND), schedule.rows_of(Activity.RETURN)
    send = sends[np.lexsort((schedule.end[sends], schedule.start[sends]))]
    back = returns[np.lexsort((schedule.end[returns], schedule.start[returns]))]
    computing = schedule.machine[schedule.kind == Activity.COMPUTE]
    return Orders(
        send=tuple((schedule.peer[send] - 1).tolist()),
        back=tuple((schedule.machine[back] - 1).tolist()),
        own=bool((computing == 0).any()),
    )
