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
from makespan.divisible.model.machines import PiecewiseCosts
from makespan.divisible.model.plan import Plan, sends_then_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import seconds_scale, units_scale
from makespan.divisible.timing.dispatch import at_a_time, returns_in_turn, sends_in_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Who is sent load and who returns results, in order, and whether the master computes."""

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
    """A one-round problem in numbers near 1: amounts in ``unit``, times in ``second``."""

    # of each worker C, c, W, w, and, after what is beyond, D and d
    send_fixed: Floats
    send: Floats
    compute_fixed: Floats
    compute: Floats
    beyond: PiecewiseCosts  # what chunks cost more than w a unit beyond some sizes
    back_fixed: Floats
    back: Floats
    returns: NDArray[np.bool_]  # whether each worker returns anything
    memory: Floats  # the largest chunk of each worker
    # release, deadline: when each worker can begin to compute, and by when it has to have computed
    release: Floats
    deadline: Floats
    # price_fixed, price, rent: what each worker costs, per unit and per second of the plan, too, in
    # ``paid``; the budget is infinite without a limit
    price_fixed: Floats
    price: Floats
    rent: Floats
    budget: float
    by_price: bool  # whether the least price is sought, not the least makespan
    given: Floats | None  # the load of each worker, where it is given
    own_given: float  # the master's load, where loads are given
    own: Affine | None  # the master's cost of computing; None if it does not compute
    ports: int  # 1 or 2; 0: a link for every worker
    at_a_time: int  # how many sends may be under way at once, where links are limited; 0: no limit
    # whether a send takes one of these places while its data flow, not while it starts up
    data_lanes: bool
    # whether no send, no return begins before the one in front of it, on another link
    sends_in_turn: bool
    returns_in_turn: bool
    whole: bool  # whether chunks are whole numbers of units
    everyone: bool  # whether all workers have to take part
    load: float | None  # the load; None where the most by ``end`` is sought
    # the latest end of the plan where the load is open or the least price is sought, else infinite
    end: float
    second: float
    unit: float
    paid: float

    @classmethod
    def of(cls, problem: DivisibleLoad) -> Terms:
        """Return the terms of a problem whose master is given."""
        star = problem.star
        second, unit = seconds_scale(problem), units_scale(problem)
        rate = unit / second
        cost = star.master_cost
        own = Affine(cost.fixed / second, cost.per_unit * rate)
        paid = _paid(problem, second)
        loads = problem.loads
        given = None if loads is None else problem.given_amounts / unit
        own_load = 0.0 if loads is None else loads.get(problem.machines[0], 0.0)
        return cls(
            send_fixed=star.send_fixed / second,
            send=star.send_per_unit * rate,
            compute_fixed=star.compute_fixed / second,
            compute=star.compute_per_unit * rate,
            beyond=star.beyond.scaled(unit, rate),
            back_fixed=star.return_fixed / second,
            back=star.return_per_unit * rate,
            returns=star.returns,
            memory=star.memory / unit,
            release=star.release / second,
            deadline=star.deadline / second,
            price_fixed=star.price_fixed / paid,
            price=star.price_per_unit * unit / paid,
            rent=star.price_per_second * second / paid,
            budget=np.inf if problem.budget is None else problem.budget / paid,
            by_price=problem.objective == "price",
            given=given,
            own_given=own_load / unit,
            own=own if problem.master_computes else None,
            ports=0 if problem.ports == "many" else problem.ports,
            at_a_time=at_a_time(problem),
            data_lanes=False,
            sends_in_turn=sends_in_turn(problem),
            returns_in_turn=returns_in_turn(problem),
            whole=problem.integral,
            everyone=problem.use == "all",
            load=None if problem.load is None else problem.load / unit,
            end=_end(problem) / second,
            second=second,
            unit=unit,
            paid=paid,
        )

    def __len__(self) -> int:
        return len(self.send)

    @property
    def works(self) -> list[tuple[Floats, Floats, NDArray[np.bool_]]]:
        """Lines whose greatest is the time of computing a chunk: fixed, per unit, whose they are.

        W and w first, which are everybody's.
        """
        own = (self.compute_fixed, self.compute, np.full(len(self), True))
        return [own, *self.beyond.lines(self.compute_fixed, self.compute)]

    @property
    def start_up(self) -> Floats:
        return self.send_fixed + self.compute_fixed + self.back_fixed

    @property
    def total(self) -> Floats:
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
        """Whether the master can take part, or not, or both are to be tried.

        An open load ends at its deadline, so that a master that could take part does; but where
        each second costs rent, a plan may end before the master has begun.
        """
        if self.own is None or self.own.fixed > self.end:
            return (False,)
        if self.given is not None:
            return (self.own_given > 0,)
        may_end_before = self.load is not None or bool(self.rent.any())
        return (True, False) if self.own.fixed > 0 and may_end_before else (True,)

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
    by_end = problem.load is not None and problem.objective != "price"
    return np.inf if by_end else problem.latest


def _paid(problem: DivisibleLoad, second: float) -> float:
    """Return what prices are measured in: the budget, or what the dearest worker costs."""
    if problem.budget:
        return problem.budget
    star, load = problem.star, problem.load or 0.0
    price = star.price_fixed + star.price_per_unit * load + star.price_per_second * second
    most = float(price.max(initial=0.0))
    return most if problem.objective == "price" and most > 0 else 1.0


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
    return Orders(
        send=tuple((schedule.peer[send] - 1).tolist()),
        back=tuple((schedule.machine[back] - 1).tolist()),
        own=bool((schedule.machine[schedule.kind == Activity.COMPUTE] == 0).any()),
    )
