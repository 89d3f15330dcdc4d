"""Plans of one round: of linear stars and of chosen loads, and what deadlines leave of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Objective, Solution
from makespan.core.steps import MAX_ROWS, Slot, Step, Table, listed, number
from makespan.divisible.model.plan import Plan, sends_by_start, sends_then_returns
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.rates.quick import best_shares, equal_finish_shares
from makespan.divisible.timing import timed

NO_MAXIMUM = Solution(schedule=None, notes=("the load by the deadline has no maximum",))
ANY_LOAD = "a machine without a cost per unit does any load by the deadline: no maximum"
REFEREED = 1e-9
"""How late, relative to its end, the referee lets a plan be: no plan is missed for less."""


def solve_linear(problem: DivisibleLoad, order: Integers, *, keep_all: bool) -> Solution:
    """Return the optimal solution of a linear, one-round star with a given master, served in
    ``order``.

    ``keep_all``: the order is known to use every worker, so that equal finish is optimal.
    """
    plan = linear_plan(problem, order, problem.star.send_per_unit, keep_all=keep_all)
    return plan if isinstance(plan, Solution) else as_optimal(problem, plan)


def linear_plan(
    problem: DivisibleLoad, order: Integers, port: Floats, *, keep_all: bool
) -> Plan | Solution:
    """Return the optimal plan of a linear star, or a solution that says why there is none.

    ``port`` is for how long a unit for each worker holds the port; else as :func:`solve_linear`.
    """
    star = problem.star
    own = star.master_cost.per_unit if problem.master_computes else None
    send, compute = port[order], star.compute_per_unit[order]
    if own == 0.0:
        return _fitting(problem, Plan.of([], [], master=_load_in_no_time(problem)))
    free = np.flatnonzero(send + compute == 0.0)
    if len(free):
        amount = _load_in_no_time(problem)
        return _fitting(problem, Plan.of(order[free[:1]], [amount] if amount else [0.0]))
    shares = equal_finish_shares(send, compute) if keep_all else best_shares(send, compute)
    own_share = 0.0 if own is None else 1.0 / own
    rate = float(shares.sum()) + own_share
    if rate == 0.0:
        if problem.load == 0.0 or problem.load is None:
            return _fitting(problem, Plan.of([], []))
        return Solution(schedule=None, infeasible="there is a load, but no machine to compute it")
    seconds = problem.latest if problem.load is None else problem.load / rate
    shares *= seconds
    return _fitting(problem, Plan.of(order, shares, master=own_share * seconds))


def _load_in_no_time(problem: DivisibleLoad) -> float:
    """Return the load that a machine without any cost does: all of it."""
    return problem.load if problem.load is not None else float("inf")


def _fitting(problem: DivisibleLoad, plan: Plan) -> Plan | Solution:
    """Return a plan with the chunks that the problem wants, unless its load has no maximum."""
    if not np.isfinite(plan.total):
        return Solution(
            schedule=None,
            notes=("a machine with no cost at all does any load by the deadline: no maximum",),
        )
    return plan.trimmed(problem.use, len(problem.star))


def as_optimal(problem: DivisibleLoad, plan: Plan) -> Solution:
    schedule = timed(problem, plan)
    if problem.load is None:
        return of_open_load(schedule, plan.total, proved=True)
    return Solution(schedule=schedule, optimal=True)


def of_open_load(
    schedule: Schedule,
    load: float,
    most: float = np.inf,
    *,
    proved: bool = False,
    stopped: bool = False,
) -> Solution:
    """Return the solution of a plan that does as much as it can; no plan does more than ``most``.

    Where it is ``proved``, none does more than this one.
    """
    bound = load if proved else max(load, most)
    goal = Objective(
        name="load", value=load, bound=bound if np.isfinite(bound) else None, maximise=True
    )
    return Solution(schedule=schedule, objective=goal, optimal=proved, stopped=stopped)


def undated(problem: DivisibleLoad) -> DivisibleLoad:
    """Return the problem of a load, to end early, without its deadline."""
    if problem.deadline is None or problem.load is None or problem.objective != "makespan":
        return problem
    return replace(problem, deadline=None)


def enforce_limits(problem: DivisibleLoad, solution: Solution) -> Solution:
    """Return a solution, or, where it ends after the deadline, what it proves."""
    limit, end = problem.deadline, solution.makespan
    if limit is None or solution.schedule is None or end - limit <= REFEREED * end:
        return solution
    if solution.optimal:
        why = f"the deadline is {limit:.12g}, but no plan ends before {end:.12g}"
        return Solution(schedule=None, lower_bound=end, infeasible=why)
    note = f"the best plan found ends at {end:.12g}, after the deadline"
    return replace(solution, schedule=None, notes=(note,))


def by_the_deadline(
    problem: DivisibleLoad, plan: Plan, behind: Sequence[int] | None = None
) -> tuple[Plan, Schedule]:
    """Return a plan for an open load, smaller where rounding made it end late, and its times."""
    schedule = timed(problem, plan, behind=behind)
    if schedule.makespan > problem.latest and not problem.integral and problem.loads is None:
        factor = problem.latest / schedule.makespan
        plan = replace(plan, amount=plan.amount * factor, master=plan.master * factor)
        schedule = timed(problem, plan, behind=behind)
    return plan, schedule


def service_order(problem: DivisibleLoad) -> Integers:
    """Return the given order of service, or the workers by non-decreasing send cost."""
    if problem.order is not None:
        return problem.workers_in(problem.order)
    return problem.star.by_send_cost


def one_round(problem: DivisibleLoad, amount: Floats, master: float) -> Solution:
    """Send each worker its amount, in the order of service; results return first in, first out.

    ``amount``: units of load per worker, in the order of the platform. ``master``: units that the
    master computes.
    """
    order = service_order(problem)
    return in_turn(problem, order, amount[order], master)


def in_turn(problem: DivisibleLoad, worker: Integers, amount: Floats, master: float) -> Solution:
    """Like :func:`one_round`, for some workers and their amounts, in the order of service."""
    plan = Plan.of(worker, amount, master=master).fitted(problem.total)
    if problem.use != "all":
        plan = plan.without_empty()
    return Solution(schedule=timed(problem, with_returns(problem, plan)))


def with_returns(problem: DivisibleLoad, plan: Plan, otherwise: str = "fifo") -> Plan:
    """Return a plan of one chunk a worker with results that return as the problem says, or by
    another discipline where it says nothing.
    """
    if not problem.has_returns:
        return plan
    back = np.flatnonzero(problem.star.returns[plan.worker])
    if problem.return_order is not None:
        position = np.empty(len(problem.star), dtype=np.int64)
        position[problem.workers_in(problem.return_order)] = np.arange(len(problem.star))
        back = back[sorted_by(position[plan.worker[back]])]
    elif (problem.discipline or otherwise) == "lifo":
        back = back[::-1]
    return replace(plan, transfers=sends_then_returns(len(plan), back))


def with_everyone(problem: DivisibleLoad, plan: Plan) -> Plan:
    """Return a plan of one round without returns with an empty chunk for every worker that it
    leaves out.

    Before the others it delays them by its fixed costs, behind them it may end last itself. The
    workers with the longest fixed costs of computing are served first (Jackson's rule); how many of
    them stand before the others is tried. In a given order each has its place. A heuristic, O(n^2).
    """
    idle = np.setdiff1d(np.arange(len(problem.star)), plan.worker)
    if not len(idle):
        return plan
    amount = np.zeros(len(problem.star))
    amount[plan.worker] = plan.amount

    def served(order: Integers) -> Plan:
        return Plan.of(order, amount[order], master=plan.master)

    if problem.order is not None:
        return served(problem.workers_in(problem.order))
    idle = idle[np.argsort(-problem.star.compute_fixed[idle], kind="stable")]
    orders = (np.concatenate([idle[:k], plan.worker, idle[k:]]) for k in range(len(idle) + 1))
    return min(map(served, orders), key=lambda each: timed(problem, each).makespan)


MOST = 6  # workers that are named as left out


def log_service_order(
    problem: DivisibleLoad, control: Control, solution: Solution, key: Floats, word: str
) -> Solution:
    """Log who is served when, and why, and return the solution.

    Workers are served by rising ``key``, of each worker of the platform, which ``word`` names: no
    exchange of two neighbours then ends earlier.
    """
    schedule = solution.schedule
    if not control.log_steps or schedule is None:
        return solution
    names, keys = schedule.machines, dict(zip(problem.star.names, key.tolist(), strict=True))
    sends = sends_by_start(schedule)
    served = [names[machine] for machine in schedule.peer[sends].tolist()]
    computes = schedule.rows_of(Activity.COMPUTE)
    computing = {names[schedule.machine[row]]: row for row in computes.tolist()}
    own = [int(schedule.item[row]) for name, row in computing.items() if name not in served]
    for place, row in enumerate(sends.tolist()):
        name, amount = served[place], float(schedule.amount[row])
        start, end = float(schedule.start[row]), float(schedule.end[row])
        done = float(schedule.end[computing[name]]) if name in computing else end
        following = served[place + 1 : place + 2]
        why = (
            f" before {following[0]} ({number(keys[following[0]])})" if following else ", the last"
        )
        item = int(schedule.item[row])
        queue = tuple((each, keys[each]) for each in served[place : place + MAX_ROWS])
        slots = [Slot(names[schedule.machine[row]], start, end, "chosen")]
        if name in computing:
            slots.append(Slot(name, float(schedule.start[computing[name]]), done, "chosen"))
        control.step(
            Step(
                text=f"{name} ({word} {number(keys[name])}){why}: gets {number(amount)}, "
                f"sent {number(start)} to {number(end)}, computed until {number(done)}",
                cells={
                    "worker": name, word: keys[name], "gets": amount,
                    "sent from": start, "to": end, "computed until": done,
                },
                items={"chosen": (item,), "placed": (item, *(own if place == 0 else ()))},
                slots=slots,
                tables=(Table("still to serve", ("worker", word), queue, 0),),
                values={"sent so far": float(schedule.amount[sends[: place + 1]].sum())},
            )
        )  # fmt: skip
    left = [name for name in problem.star.names if name not in set(served)]
    if left:
        control.step(Step(text=f"not served: {listed(left, MOST)}"))
    return solution
