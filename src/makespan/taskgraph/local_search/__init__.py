"""Local search: moves of tasks, and large graphs planned from their ends and forwards again."""

from typing import NamedTuple

import numpy as np

from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import inverse, sorted_by
from makespan.core.schedule import Schedule
from makespan.core.system.memory import claim
from makespan.taskgraph.limits import lateness, most_allowed, price_of, worth
from makespan.taskgraph.list_scheduling.assigned import in_order
from makespan.taskgraph.list_scheduling.insertion import inserted
from makespan.taskgraph.local_search.contention import LATE
from makespan.taskgraph.local_search.overlap import accept_moves, search_columns, searched
from makespan.taskgraph.model.dag import Dag
from makespan.taskgraph.problem import TaskGraph
from makespan.taskgraph.timing import machine_of_tasks, times_of_tasks

TINY = 40
FEW, MANY = 2_000, 500_000
MAX_STEPS = 200_000_000
SLICE = 2_000_000
MIN_REACH, MAX_REACH = 0.003, 0.1
REACH_SAMPLED = 0.006  # how much longer a plan may get at first, if many scenarios give its value


def steps_of_a_move(problem: TaskGraph) -> int:
    """Return the elementary steps of a move where no transfer waits."""
    return len(problem.dag) * int(problem.cores.max()) + len(problem.dag.source)


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
    """Return the best plan that so many moves lead to, by its ``sample`` or the objective."""
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
    order = np.lexsort((dag.position, times_of_tasks(problem, schedule)[0]))
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
    given = {
        **search_columns(problem, machine_of_tasks(problem, schedule), order),
        "predecessors": dag.predecessors, "size": sample.size[:, dag.in_edges].ravel(),
        "seconds": sample.seconds.ravel(), "fixed": sample.fixed.ravel(),
        "per_unit": sample.per_unit.ravel(), "charge": charge.ravel(),
        "start_price": network.start_price, "used": np.zeros(len(network), dtype=bool),
        "moved": np.zeros(count, dtype=np.int64), "best_order": order,
        "ends": np.zeros(len(sample.ends)), "kept": sample.ends, "ranked": sample.ends[1:],
        "numbers": numbers,
    }  # fmt: skip
    sampled = len(sample.ends) > 1
    columns = searched(
        accept_moves, given, moves, large, SLICE, control,
        reach=lambda moves: REACH_SAMPLED if sampled else reach_of(moves, count),
        machines=len(network), ranked_from=sample.ranked_from, rigid=problem.is_rigid,
    )  # fmt: skip
    order, machine = np.asarray(columns["best_order"]), np.asarray(columns["best_machine"])
    return in_order(problem, machine, inverse(order))


def reach_of(moves: int, count: int) -> float:
    """Return how far a plan may get longer at first: the further, the more moves there are."""
    return min(MAX_REACH, max(MIN_REACH, moves / (300.0 * count * count)))


SHARES = (1.0, 0.3, 0.1, 0.0)  # of the tasks, how many may change machines, in turn
ROUNDS, PATIENCE = 40, 2 * len(SHARES)  # rounds in all, and in a row without a better plan
SECONDS_A_STEP = 4e-7
"""What a task or an edge takes in a round besides insertion, which ends when the time is up."""


def replanned(problem: TaskGraph, control: Control, schedule: Schedule) -> Schedule:
    """Return the best plan met while the best so far is planned backwards and forwards again.

    In a round, the tasks are inserted by falling end into a plan of the graph that is turned round,
    which is the plan from its end, and by its order into a plan from the start. Each time a random
    share of the tasks goes where it ends first, the others stay on their machines: with none that
    is double justification, which makes no plan longer where cores are single; with many it leads
    further away. Releases, deadlines and the direction of links count in plans from the start only.
    Source: forward-backward improvement, Li and Willis 1992; double justification, Valls, Ballestín
    and Quintanilla 2005; with machines to choose from as in ``heft``. Complexity: O(n m + e) a
    round where gaps are found at once.
    """
    dag, network = problem.dag, problem.network
    known = control.incumbent.schedule if control.incumbent else None
    best, least, idle = schedule, worth(problem, schedule), 0
    with control.reserving(SECONDS_A_STEP * (len(dag) + len(dag.source))):
        if control.expired():
            return best
        own = problem.finite_durations if len(dag.own) else None
        reverse = Dag.from_arrays(
            work=dag.work, durations=own, source=dag.target, target=dag.source, size=dag.size,
            cores=dag.cores,
        )  # fmt: skip
        turned = TaskGraph(reverse, network)
        for turn in range(ROUNDS):
            share = SHARES[turn % len(SHARES)]
            back = _again(turned, control, problem, best, share)
            if control.expired() or back is known:
                return best
            order = _from_the_end(turned, back)
            again = in_order(problem, machine_of_tasks(turned, back), inverse(order))
            forth = _again(problem, control, turned, back, share)
            for plan in (again, forth):
                if worth(problem, plan) < least:
                    best, least, idle = plan, worth(problem, plan), -1
            idle += 1
            if control.expired() or idle == PATIENCE:
                return best
    return best


def _again(
    problem: TaskGraph, control: Control, turned: TaskGraph, plan: Schedule, share: float
) -> Schedule:
    """Return a plan of ``problem`` from one of the graph ``turned`` round."""
    free = control.rng.random(len(problem.dag)) < share
    pinned = np.where(free, -1, machine_of_tasks(turned, plan))
    return inserted(problem, control, _from_the_end(turned, plan), pinned=pinned)


def _from_the_end(problem: TaskGraph, plan: Schedule) -> Integers:
    """Return the tasks by falling end, each behind its successors."""
    start, end = times_of_tasks(problem, plan)
    return sorted_by(-end, -start, -problem.dag.position)
