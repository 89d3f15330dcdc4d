"""Problems that say nearly all: no load, the load of each machine, or the sequence of chunks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import WITHIN, Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.registry import Need, condition, register
from makespan.core.solution import Solution
from makespan.divisible import needs
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import Plan
from makespan.divisible.one_round.plans import as_optimal, enforce_limits
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.transfer_programme import size_by_programme
from makespan.divisible.returns.transfers import UNSOLVED, plan_by_speed, sequence_of
from makespan.divisible.rounds.chain import Sized, only_costs, size_by_chain
from makespan.divisible.timing import timed


@register(
    needs=(
        needs.A_STAR,
        needs.A_MASTER,
        needs.ANY_WORKERS,
        needs.NO_GIVEN_SEQUENCE,
        condition("no load", lambda problem: problem.load == 0, "there is a load"),
    ),
    proves="no plan ends before it starts",
    complexity="O(1)",
    source="definition",
)
def no_load(problem: DivisibleLoad, control: Control) -> Solution:
    """The empty plan, for a load of nothing."""
    return Solution(schedule=timed(problem, Plan.of([], [])), optimal=True)


def _open_returns(problem: DivisibleLoad) -> str | None:
    if not problem.has_returns or problem.transfers is not None:
        return None
    return "results return, and their order on the port is open"


def _shared_limit(problem: DivisibleLoad) -> str | None:
    master = problem.star.master
    for name in ("uplink", "sends"):
        if getattr(master, name, None) is not None:
            return f"platform.master.{name} is given"
    return None


@register(
    needs=(
        needs.A_STAR,
        condition("given loads", lambda problem: problem.loads, "loads is not given"),
        needs.A_MASTER,
        condition(
            "one chunk a worker",
            lambda problem: problem.served_once,
            "a worker may be served twice",
        ),
        Need("no returns, or transfers", _open_returns),
        Need("links without a shared limit", _shared_limit),
    ),
    proves="Lawler's rule: the last place goes to the worker that would end first in it",
    complexity="O(n log n), O(n^2) with release times",
    source="Lawler 1973; Jackson 1955 without release times",
)
def given_loads(problem: DivisibleLoad, control: Control) -> Solution:
    """Time the given loads; where the order of service is open, the best order is found.

    Without release times the worker that computes longest is served first.
    """
    assert problem.loads is not None
    star = problem.star
    amount = problem.given_amounts
    obstacle = _obstacle(problem, amount)
    if obstacle is not None:
        return Solution(schedule=None, infeasible=obstacle)
    order, transfers = _order(problem, amount)
    own = problem.loads.get(star.master.name, 0.0) if isinstance(star.master, Master) else 0.0
    plan = Plan.of(order, amount[order], master=own, transfers=transfers)
    plan = plan.keeping(_takes_part(problem, amount)[plan.worker])
    schedule = timed(problem, plan)
    solution = enforce_limits(problem, Solution(schedule=schedule, optimal=True))
    limit = np.concatenate([[np.inf], star.deadline])[schedule.machine]
    late = np.flatnonzero(schedule.end > limit * (1 + 1e-12))
    if not len(late) or solution.infeasible is not None:
        return solution
    row = int(late[0])
    why = f"{problem.machines[int(schedule.machine[row])]} would end at {schedule.end[row]:.12g}"
    why += f", after its deadline {limit[row]:.12g}"
    if problem.order or problem.given_sends or problem.ports == "many":
        return Solution(schedule=None, infeasible=why)
    return Solution(schedule=None, notes=(f"{why}; another order may meet it",))


def _takes_part(problem: DivisibleLoad, amount: Floats) -> NDArray[np.bool_]:
    """Whether each worker is sent a chunk: load, or a given entry that can't be left out."""
    star = problem.star
    named = np.zeros(len(star), dtype=bool)
    named[problem.workers_in(problem.given_sends or ())] = True
    costs = (star.send_fixed > 0) | (star.compute_fixed > 0) | (star.return_fixed > 0)
    made = costs | (problem.transfers is not None or problem.use == "all")
    taking: NDArray[np.bool_] = (amount > 0) | (named & made)
    return taking


def _order(problem: DivisibleLoad, amount: Floats) -> tuple[Integers, Any]:
    """Return the workers in the order of service, and the transfers where they are given."""
    if problem.transfers is not None:
        sequence = sequence_of(problem)
        return np.array(sequence.worker, dtype=np.int64), sequence.transfers
    fixed = problem.activation or problem.order
    if fixed is not None:
        return problem.workers_in(fixed), None
    busy = np.flatnonzero(amount > 0)
    star = problem.star
    tail = star.compute_seconds(np.arange(len(star)), amount)
    if not star.release[busy].any():
        return busy[np.argsort(-tail[busy], kind="stable")], None
    return _lawler(star.send_fixed + star.send_per_unit * amount, star.release, tail, busy), None


def _lawler(send: Floats, release: Floats, tail: Floats, workers: Integers) -> Integers:
    """Fill the places from the last: each goes to the worker that then ends first."""
    left = workers.tolist()
    backwards = []
    arrival = float(send[workers].sum())
    while left:
        ends = np.maximum(arrival, release[left]) + tail[left]
        last = left[int(np.argmin(ends))]
        left.remove(last)
        backwards.append(last)
        arrival -= float(send[last])
    return np.array(backwards[::-1], dtype=np.int64)


def _obstacle(problem: DivisibleLoad, amount: Floats) -> str | None:
    """Say which limit the given loads break, or None."""
    star = problem.star
    over = np.flatnonzero(amount > star.memory)
    if len(over):
        name, limit = star.names[int(over[0])], float(star.memory[over[0]])
        return f"loads.{name} is {float(amount[over[0]])!r}, but its memory is {limit!r}"
    given = problem.loads if problem.integral and problem.loads else {}
    broken = [name for name, load in given.items() if load != round(load)]
    if broken:
        return f"loads.{broken[0]} is {given[broken[0]]!r}: no whole number"
    served = problem.given_sends
    if served is not None:
        for worker in np.flatnonzero(amount > 0).tolist():
            if star.names[worker] not in served:
                return f"loads gives {star.names[worker]} a load, but it is sent no chunk"
    taking = _takes_part(problem, amount)
    price = float((star.price_fixed + star.price_per_unit * amount)[taking].sum())
    if problem.budget is not None and price > problem.budget * (1 + 1e-12):
        return f"the loads cost {price:.12g}, but the budget is {problem.budget:.12g}"
    return None


MAX_PROGRAMMED = 30_000
"""Chunks up to which the linear programme is solved; HiGHS looks at the clock late in longer ones.
"""


@register(
    needs=(
        *needs.SEQUENCE_OF_CHUNKS,
        condition(
            "an activation",
            lambda problem: problem.activation is not None,
            "activation is not given",
        ),
        needs.NO_WORKER_DEADLINES,
        needs.NO_BUDGET,
    ),
    proves="linear programme of the sequence, or its chain with non-negative prices",
    complexity="a sparse linear programme; O(chunks) where the chain is proved",
    source="Benoit 2016, multi-round scheduling, for a given order of chunks",
)
def activation(problem: DivisibleLoad, control: Control) -> Solution:
    """Best amounts for the given sequence of chunks, empty chunks paying their fixed costs."""
    assert problem.activation is not None
    sequence = problem.workers_in(problem.activation)
    if not len(sequence):
        if problem.total and not problem.master_computes:
            why = "activation is empty, the master can't compute"
            return Solution(schedule=None, infeasible=why)
        return as_optimal(problem, Plan.of([], [], master=problem.total))
    sized = size_by_chain(problem, sequence) if only_costs(problem) else None
    if sized is None or not sized.optimal:
        if len(sequence) > MAX_PROGRAMMED:
            return _unsolved(problem, sequence, sized)
        programme, verdict = size_by_programme(problem, sequence, control)
        if verdict is Verdict.INFEASIBLE and not _may_be_left_waiting(problem, problem.latest):
            why = "no amounts for this activation keep the limits"
            return Solution(schedule=None, infeasible=why)
        if programme is None:
            return _unsolved(problem, sequence, sized)
        sized = programme
    schedule = timed(problem, sized.plan)
    optimal = sized.optimal and schedule.makespan <= sized.makespan * (1 + WITHIN)
    optimal = optimal and not _may_be_left_waiting(problem, schedule.makespan)
    return Solution(schedule=schedule, optimal=optimal)


def _may_be_left_waiting(problem: DivisibleLoad, time: float) -> bool:
    """Whether a plan that ends before ``time`` may leave a worker without load until its release.

    A chunk without load, of a worker without fixed costs, takes no time and waits for nothing; the
    programme lets all wait. A plan that ends after the last release keeps to the programme, too.
    """
    star, sequence = problem.star, problem.workers_in(problem.activation or ())
    idle = sequence[(star.compute_fixed[sequence] == 0) & (star.release[sequence] > 0)]
    return bool((star.release[idle] >= time * (1 - WITHIN)).any())


def _unsolved(problem: DivisibleLoad, sequence: Integers, sized: Sized | None) -> Solution:
    """Return a plan that is not the best: that of the chain, or chunks by the workers' speeds."""
    if sized is None:
        return plan_by_speed(problem, sequence)
    return Solution(schedule=timed(problem, sized.plan), notes=(UNSOLVED,), stopped=True)
