"""Local search: tasks change machines and places in the order."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.core.inputs.mistakes import quoted
from makespan.core.numeric.arrays import Floats
from makespan.core.numeric.binding import bind
from makespan.core.numeric.sorting import inverse
from makespan.core.registry import register
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.core.system.memory import claim
from makespan.taskgraph.bounds import bounds
from makespan.taskgraph.improving.back_and_forth import replanned
from makespan.taskgraph.improving.moves import improve
from makespan.taskgraph.improving.moves_waiting import LATE, improved_waiting
from makespan.taskgraph.limits import (
    lateness,
    latest_ends,
    least_price,
    most_allowed,
    price_of,
    worth,
)
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.duplication import first_copies
from makespan.taskgraph.list_scheduling.fallback import on_one_machine
from makespan.taskgraph.methods.lists.heft import heft
from makespan.taskgraph.needs import NO_GIVEN_PLAN, NO_PRICE_OF_WAITING
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks

TINY = 40
FEW, MANY = 2_000, 500_000
MAX_STEPS = 200_000_000
SLICE = 2_000_000
MIN_REACH, MAX_REACH = 0.003, 0.1
REACH_SAMPLED = 0.006
"""By which share a plan may get longer at first where many scenarios give its value."""


@register(
    "taskgraph",
    name="local-search",
    needs=(NO_GIVEN_PLAN, NO_PRICE_OF_WAITING),
    complexity="O(k (n + e)), k the moves tried; compiled for large graphs",
    source="threshold accepting (Dueck and Scheuer 1990) over an order of the tasks and "
    "the machine of each; large graphs: forward-backward improvement (Li and Willis 1992; Valls, "
    "Ballestín and Quintanilla 2005)",
)
def local_search(problem: TaskGraph, control: Control, *, moves: int | None = None) -> Solution:
    """Improve the best plan known, or that of ``heft``, by moving tasks.

    Where that misses a limit, the greatest lateness falls first, and what it costs too much. Where
    the least price is sought, plans are kept by their price.

    It makes no copies: from a plan with copies it keeps those that end first.

    Parameters
    ----------
    moves
        How many to try; None: 2,000 for graphs of up to 40 tasks and edges, else as many as
        take about a second, up to 500,000; where these are fewer than the tasks, plans are made
        backwards and forwards again instead. Where transfers wait, 500 for up to 24 tasks and
        edges, else about 100 for each pair of tasks.
    """
    if moves is not None and (isinstance(moves, bool) or not isinstance(moves, int) or moves < 0):
        raise MethodError(f"moves: {quoted(moves)} is not allowed; it is a whole number from 0")
    schedule = control.incumbent.schedule if control.incumbent else None
    if schedule is None:
        schedule = heft(problem, control).schedule
        assert schedule is not None
        if problem.transfers_wait:  # plans of HEFT may take many times as long as one machine alone
            alone = on_one_machine(problem)
            schedule = min(schedule, alone, key=lambda plan: worth(problem, plan))
    if problem.duplication and np.count_nonzero(schedule.kind == Activity.COMPUTE) > len(
        problem.dag
    ):
        schedule = first_copies(problem, schedule)
    least = max(bound.value for bound in bounds(problem))
    if problem.objective == "price":
        least = least_price(problem)
    met = worth(problem, schedule)[:2] <= (0.0, least)
    if met or control.expired():
        lower = least if problem.objective == "makespan" else None
        return Solution(schedule=schedule, lower_bound=lower)
    if moves is None and _too_large(problem):
        found = replanned(problem, control, schedule)
    elif problem.transfers_wait:
        count = len(problem.dag)
        found = improved_waiting(
            problem, control, schedule, moves, lambda moves: _reach(moves, count)
        )
    else:
        found = improved(problem, control, schedule, moves)
    best = min(schedule, found, key=lambda plan: worth(problem, plan))
    return Solution(schedule=best, stopped=True)  # by its moves, if not by the clock


def steps_of_a_move(problem: TaskGraph) -> int:
    """Return the elementary steps of a move where no transfer waits."""
    return len(problem.dag) * int(problem.cores.max()) + len(problem.dag.source)


def _too_large(problem: TaskGraph) -> bool:
    """Whether there are more tasks than moves in a second, and plans compare by their makespans."""
    free = problem.objective == "makespan" and problem.budget is None
    most = MAX_STEPS // steps_of_a_move(problem)
    return free and not problem.transfers_wait and most < len(problem.dag)


class Sample(NamedTuple):
    """What a search looks at: the plan itself, and other scenarios that give the value.

    ``seconds``, ``size``, ``fixed`` and ``per_unit`` hold a table for the plan itself and one for
    each scenario; ``ends`` when the plan ends in each that the search starts from. The value is the
    mean of the ends in scenarios from that of rank ``ranked_from`` on.
    """

    seconds: Floats
    size: Floats
    fixed: Floats
    per_unit: Floats
    ends: Floats
    ranked_from: int = 0

    @property
    def value(self) -> float:
        return float(np.sort(self.ends[1:])[self.ranked_from :].mean())


def improved(
    problem: TaskGraph,
    control: Control,
    schedule: Schedule,
    moves: int | None,
    sample: Sample | None = None,
) -> Schedule:
    """Return the best plan that so many moves of tasks lead to from ``schedule``.

    Without a ``sample`` its value is what the objective says.
    """
    dag, network, count = problem.dag, problem.network, len(problem.dag)
    large = steps_of_a_move(problem)
    missing, scale, _ = worth(problem, schedule)
    if sample is None:
        routing = network.routing
        sample = Sample(
            problem.durations, dag.size[None], routing.fixed_seconds, routing.seconds_per_unit,
            np.array([schedule.makespan]),
        )  # fmt: skip
    else:
        scale, large = sample.value, large * len(sample.ends)
    if moves is None:
        moves = FEW if large <= TINY else min(MANY, MAX_STEPS // large)
    claim(32.0 * count * len(network), f"the durations of {count:,} tasks on all machines")
    start = np.zeros(count)
    computes = schedule.kind == Activity.COMPUTE
    start[schedule.item[computes]] = schedule.start[computes]
    order = np.lexsort((dag.position, start))
    place = inverse(order)
    machine = machine_of_tasks(problem, schedule)
    best_order, best_machine = order.copy(), machine.copy()
    cores = int(problem.cores.sum())
    seed = 1 + int(control.rng.integers(2**31 - 3))
    price, rate = price_of(problem, schedule), 0.0
    if price:
        rate = schedule.makespan / price
    budget = most_allowed(problem)
    late = 0.0
    if missing:
        late = max(0.0, float(lateness(problem, schedule).max())) + max(0.0, price - budget) * rate
    most = LATE * max(scale, schedule.makespan)
    value = most + late if missing else scale
    by_price = float(problem.objective == "price")
    numbers = np.array([0.0, seed, value, value, most, scale, budget, rate, by_price])
    charge = problem.charges if network.is_priced else np.zeros(0)
    loop, column = improve.chosen(moves * large)
    given = {
        "first_in": dag.first_in, "predecessors": dag.predecessors,
        "size": sample.size[:, dag.in_edges].ravel(), "first_out": dag.first_out,
        "successors": dag.successors, "seconds": sample.seconds.ravel(),
        "fixed": sample.fixed.ravel(), "per_unit": sample.per_unit.ravel(),
        "first_core": problem.first_core, "held": dag.cores, "release": dag.release,
        "due": latest_ends(problem), "charge": charge.ravel(), "start_price": network.start_price,
        "used": np.zeros(len(network), dtype=bool), "order": order, "place": place,
        "machine": machine, "end": np.zeros(count), "cause": np.full(count, -1),
        "free": np.zeros(cores), "core_last": np.full(cores, -1),
        "moved": np.zeros(count, dtype=np.int64), "best_order": best_order,
        "best_machine": best_machine, "ends": np.zeros(len(sample.ends)), "kept": sample.ends,
        "ranked": sample.ends[1:], "numbers": numbers,
    }  # fmt: skip
    columns = {name: column(each) for name, each in given.items()}
    steps = max(1, SLICE // large)
    reach = REACH_SAMPLED if len(sample.ends) > 1 else _reach(moves, count)
    run = bind(
        loop, **columns, all_evaluations=moves, reach=reach, machines=len(network),
        ranked_from=sample.ranked_from, rigid=problem.is_rigid,
    )  # fmt: skip
    for first, last in pairwise([*range(0, moves, steps), moves]):
        run(last - first)
        if control.expired():
            break
    order, machine = np.asarray(columns["best_order"]), np.asarray(columns["best_machine"])
    return in_order(problem, machine, inverse(order))


def _reach(moves: int, count: int) -> float:
    """Return how far a plan may get longer at first: the further, the more moves there are.

    With few moves for many tasks, a search that leaves its start far behind would not come back.
    """
    return min(MAX_REACH, max(MIN_REACH, moves / (300.0 * count * count)))
